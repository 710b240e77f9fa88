"""`mcptui trace`: recordings without a screen: list, filter, judge, measure, follow, export, replay."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tui.commands.traffic_choice import Choice
from tui.commands.traffic_list import list_recordings
from tui.commands.traffic_output import carry_out
from tui.core.errors import McptuiError, UsageError
from tui.core.text import clean

USAGE = 2

_DEEDS = ("list", "lint", "stats", "slowest", "follow", "export", "replay")
_CHOICES = ("filter", "failed", "since", "all", "json")

OpenScreen = Callable[[Path], int]


def trace(args: argparse.Namespace, open_screen: OpenScreen | None = None) -> int:
    """Carry out `mcptui trace`.

    Args:
        args: the command line.
        open_screen: shows a recording on the terminal and returns an exit code; without one it is printed.
    """
    try:
        _check(args)
        if args.list:
            return list_recordings(args)
        choice = Choice(args)
        if open_screen is not None and not _without_screen(args):
            (path,) = choice.paths
            if path.suffix.lower() != ".jsonl":
                return open_screen(path)
        if not args.json:
            choice.say_which()
        if args.replay is not None:
            from tui.commands.traffic_replay import replay

            return replay(args, choice)
        return carry_out(args, choice)
    except McptuiError as error:
        print(f"mcptui trace: {clean(str(error))}", file=sys.stderr)
        return USAGE
    finally:
        sys.stdout.flush()


def _given(args: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    return [f"--{name}" for name in names if vars(args)[name] not in (None, False)]


def _check(args: argparse.Namespace) -> None:
    chosen = _given(args, _DEEDS)
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together")
    if args.output and not args.export:
        raise UsageError("-o belongs to --export")
    if (args.server or args.mask or args.live_command) and args.replay is None:
        raise UsageError("--server, --mask and a command behind -- belong to --replay")
    if args.list and (picks := _given(args, ("filter", "failed", "all"))):
        raise UsageError(f"--list and {' and '.join(picks)} do not go together")
    if args.recording is not None:
        if args.all or args.list:
            raise UsageError(f"{'--all' if args.all else '--list'} and a name do not go together")
        return
    many, single = _given(args, ("since", "all")), _given(args, ("follow", "export", "replay"))
    if many and single:
        raise UsageError(
            f"{single[0]} is for one recording, {many[0]} reads many",
            next_step=f"Name one: mcptui trace NAME {single[0]}.",
        )


def _without_screen(args: argparse.Namespace) -> bool:
    return bool(_given(args, _DEEDS + _CHOICES)) or not (sys.stdin.isatty() and sys.stdout.isatty())
