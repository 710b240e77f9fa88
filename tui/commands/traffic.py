"""`mcptui traffic`: list, filter, lint, follow, export or replay recordings, or print statistics."""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.commands.recordings import About, about, is_export, last_entry, newest, recordings, row_of
from tui.core.addons import load
from tui.core.errors import UsageError
from tui.core.text import clean_line
from tui.core.units import local_rfc3339, size

if TYPE_CHECKING:
    import argparse

_DEEDS = ("list", "prune", "lint", "stats", "slowest", "follow", "export")
_CHOICES = ("filter", "failed", "since", "all", "json")


def traffic(args: "argparse.Namespace", open_screen: Callable[[Path], int] | None = None) -> int:
    """Run `mcptui traffic`. `open_screen` shows a recording and returns the exit code; without it, print."""
    _check(args)
    if args.list:
        return list_recordings(args)
    if args.prune:
        from tui.commands.traffic_prune import prune

        return prune(args)
    is_printed = _given(args, (*_DEEDS, *_brought(args), *_CHOICES))
    if open_screen is not None and not is_printed and sys.stdin.isatty() and sys.stdout.isatty():
        path = newest().kept.path if args.recording is None else recordings().find(args.recording)
        if not is_export(path):
            return open_screen(path)
    from tui.commands.traffic_selection import RecordingChoice

    choice = RecordingChoice(args)
    if not args.json:
        choice.say_which()
    for deed, run in _brought(args).items():
        if _given(args, (deed,)):
            return int(load(run)(args, choice))
    from tui.commands.traffic_output import carry_out

    return carry_out(args, choice)


def _given(args: "argparse.Namespace", names: Iterable[str]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in names if vars(args)[name] not in (None, False)]


def _brought(args: "argparse.Namespace") -> dict[str, str]:
    """Return the arguments that let an add-on act in place of the command, given or not, with what runs."""
    return {deed: flags["run"] for flags in args.addon_flags for deed in flags["deeds"]}


def _check(args: "argparse.Namespace") -> None:
    chosen = _given(args, _DEEDS)
    for flags in args.addon_flags:
        chosen += _given(args, flags["deeds"])[:1]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} cannot be combined")
    _check_outputs(args)
    for flags in args.addon_flags:
        flags["check"](args)
    if args.live_command and not _given(args, _brought(args)):
        raise UsageError("unexpected arguments after --")
    _check_whole_folder(args)
    if args.recording is not None:
        return
    alone = [deed for flags in args.addon_flags if not flags.get("several") for deed in flags["deeds"]]
    many, single = _given(args, ("since", "all")), _given(args, ("follow", "export", *alone))
    if many and single:
        raise UsageError(
            f"{single[0]} requires one recording, but {many[0]} selects several",
            next_step=f"Name the recording: mcptui traffic NAME {single[0]}.",
        )


def _check_whole_folder(args: "argparse.Namespace") -> None:
    picking = ("filter", "failed", "all")
    for deed, others in (("list", picking), ("prune", (*picking, "since"))):
        if vars(args)[deed] and (picks := _given(args, others)):
            raise UsageError(f"--{deed} cannot be combined with {' and '.join(picks)}")
    if args.recording is not None and (deeds := _given(args, ("all", "list", "prune"))):
        raise UsageError(f"{deeds[0]} cannot be combined with a name")
    if args.prune and not args.older_than:
        raise UsageError("--prune requires --older-than, such as --older-than 30d")
    if args.yes and not args.prune and vars(args).get("replay") is None:
        raise UsageError("--yes requires --prune or --replay")
    if not args.prune and (given := _given(args, ("older_than", "keeps", "dry_run"))):
        raise UsageError(f"{given[0].replace('--keeps', '--except')} requires --prune")


def _check_outputs(args: "argparse.Namespace") -> None:
    if args.output and not args.export:
        raise UsageError("-o requires --export")
    for name in ("redact", "without"):
        if getattr(args, name) and not args.export:
            raise UsageError(f"--{name} requires --export")
    if args.report and not args.lint:
        raise UsageError("--report requires --lint")
    if args.report and args.report[0] != "sarif":
        raise UsageError("--report: the only report of the linter is sarif=FILE")
    if args.report and args.report[1].endswith(".mcptrace"):
        raise UsageError("--report: a recording is not overwritten")


_HEAD = ("name", "started", "duration", "entries", "size", "recorded by", "servers")


def list_recordings(args: "argparse.Namespace") -> int:
    """Print the recordings, the one with the newest entry first."""
    from tui.commands.progress import progress
    from tui.commands.table import json_line
    from tui.commands.traffic_selection import beginning

    begin_ns = beginning(args.since, time.time_ns())[1] if args.since is not None else 0
    with progress("reading the recordings", quiet=args.json):
        everything = recordings().list()
        found = [about(one, with_servers=True) for one in everything]
    found = [one for one in found if one.kept.live or not begin_ns or one.ended_ns >= begin_ns]
    found.sort(key=last_entry, reverse=True)
    if args.json:
        for one in found:
            print(json_line(_object(one)))
    elif found:
        sys.stdout.write(recording_table(found) + "\n")
        used = size(sum(one.size for one in everything))
        print(f"· disk use of all recordings: {used}", file=sys.stderr)
    elif begin_ns:
        sys.stdout.write("nothing recorded in that time\n")
    else:
        sys.stdout.write("no recordings yet\n")
    return 0


def recording_table(found: Iterable[About]) -> str:
    """Return recordings as a table with a header."""
    from tui.commands.streams import width
    from tui.commands.table import table

    return table([*map(row_of, found)], {0, 1, 5, 6}, width(), head=_HEAD)


def _object(one: About) -> dict[str, Any]:
    return {
        "name": one.kept.name,
        "path": str(one.kept.path),
        "began": local_rfc3339(one.began_ns / 1e9),
        "ended": local_rfc3339(one.ended_ns / 1e9),
        "live": one.kept.live,
        "servers": [clean_line(name, 80) for name in one.servers],
        "entries": one.entries,
        "bytes": one.kept.size,
        "of": "" if one.problem else one.of,
        "problem": one.problem or one.damage,
    }
