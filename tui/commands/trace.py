"""`mcptui trace`: a recording without a screen: list, filter, judge, measure, follow, export, replay."""

import argparse
import heapq
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.commands.recordings import OpenRecording, named, open_entries, recordings
from tui.commands.trace_lines import (
    READ,
    WITH_BODY,
    entry_line,
    figure_lines,
    finding_line,
    table,
)
from tui.commands.trace_reading import Selection, query_of
from tui.core.errors import McptuiError, StorageError, UsageError
from tui.core.text import clean, clean_line
from tui.core.traffic import REQUESTS, Entry, Severity
from tui.core.units import count, size

if TYPE_CHECKING:
    from tui.storage.recordings import Kept

LOOK_SECONDS = 0.2
"""How often --follow looks for more."""

USAGE, FOUND = 2, 1

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
            return _list(args.json)
        path = named(args.recording)
        if open_screen is not None and not _without_screen(args) and path.suffix.lower() != ".jsonl":
            return open_screen(path)
        if args.replay is not None:
            from tui.commands.trace_replay import replay

            return replay(args, path)
        with open_entries(path) as recording:
            return _read(args, recording)
    except McptuiError as error:
        print(f"mcptui trace: {clean(str(error))}", file=sys.stderr)
        return USAGE
    finally:
        sys.stdout.flush()


def _check(args: argparse.Namespace) -> None:
    deeds = ("list", "lint", "stats", "slowest", "follow", "export", "replay")
    chosen = [f"--{name}" for name in deeds if vars(args)[name] not in (None, False)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together")
    if args.output and not args.export:
        raise UsageError("-o belongs to --export")
    if (args.server or args.mask or args.live_command) and args.replay is None:
        raise UsageError("--server, --mask and a command behind -- belong to --replay")


def _without_screen(args: argparse.Namespace) -> bool:
    options = ("list", "filter", "json", "lint", "stats", "slowest", "follow", "export", "replay")
    asked = any(vars(args)[name] not in (None, False) for name in options)
    return asked or not (sys.stdin.isatty() and sys.stdout.isatty())


def _read(args: argparse.Namespace, recording: OpenRecording) -> int:
    from tui.storage.liveness import is_live

    selection = Selection(recording, query_of(args.filter))
    with closing(selection):
        if args.export:
            return _export(args, recording, selection)
        if args.lint:
            return _lint(args, recording, selection)
        if args.stats:
            return _stats(args, selection)
        if args.slowest:
            return _slowest(args, recording, selection)
        show = _shown_as_json if args.json else _shown_as_text
        last = 0
        while True:
            live = args.follow and is_live(recording.path)
            selection.read_on()
            for entry, line in show(recording, selection, last):
                sys.stdout.write(line + "\n")
                last = entry.seq
            if not live:
                return 0
            sys.stdout.flush()
            time.sleep(LOOK_SECONDS)


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _slowest(args: argparse.Namespace, recording: OpenRecording, selection: Selection) -> int:
    """Print the requests that took longest, slowest first."""
    from tui.storage.export_jsonl import entry_object

    asked = (entry for entry in selection.entries() if entry.kind in REQUESTS)
    answered = (entry for entry in asked if selection.latency_ns(entry) >= 0)
    found = heapq.nlargest(args.slowest, answered, key=selection.latency_ns)
    for entry in found:
        if args.json:
            whole = recording.reader.entry(entry.seq) or entry
            sys.stdout.write(_json(entry_object(whole)) + "\n")
        else:
            sys.stdout.write(_line(recording, selection, entry, _colour()) + "\n")
    if not found and not args.json:
        sys.stdout.write("no request was answered\n")
    return 0


def _shown_as_text(recording: OpenRecording, selection: Selection, after: int) -> Iterator[tuple[Entry, str]]:
    colour = _colour()
    for entry in selection.entries(after):
        yield entry, _line(recording, selection, entry, colour)


def _line(recording: OpenRecording, selection: Selection, entry: Entry, colour: bool) -> str:
    head = recording.reader.body(entry.seq, 0, READ) if entry.kind in WITH_BODY else b""
    return entry_line(entry, selection.outcome(entry), selection.latency_ns(entry), head, colour)


def _shown_as_json(recording: OpenRecording, selection: Selection, after: int) -> Iterator[tuple[Entry, str]]:
    from tui.storage.export_jsonl import entry_object

    for entry in selection.whole(after):
        yield entry, _json(entry_object(entry))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _lint(args: argparse.Namespace, recording: OpenRecording, selection: Selection) -> int:
    """Print what is wrong; 1 if anything of it is an error."""
    wanted = {entry.seq for entry in selection.entries()} if args.filter else None
    worst, number, colour = Severity.NONE, 0, _colour()
    for finding in selection.findings():
        if wanted is not None and finding.seq not in wanted:
            continue
        worst, number = max(worst, finding.severity), number + 1
        if args.json:
            shown = asdict(finding) | {"severity": finding.severity.name.lower()}
            sys.stdout.write(_json(shown) + "\n")
        else:
            (entry,) = recording.reader.columns(finding.seq - 1, 1)
            sys.stdout.write(finding_line(finding, entry, colour) + "\n")
    if not args.json:
        said = f"{number} findings" if number != 1 else "1 finding"
        sys.stdout.write(f"{said if number else 'nothing is wrong'} in {len(selection.frames)} entries\n")
    return FOUND if worst is Severity.ERROR else 0


def _stats(args: argparse.Namespace, selection: Selection) -> int:
    from tui.storage.export_jsonl import renumbered
    from tui.trace.frames import Frames
    from tui.trace.stats import Stats

    frames = selection.frames
    if args.filter:
        frames, numbers = Frames(), dict[int, int]()
        for entry in selection.entries():
            frames.append(renumbered(entry, numbers))
    stats = Stats(frames)
    while not stats.advance(100):
        pass
    figures = stats.tools()
    if args.json:
        for one in figures:
            sys.stdout.write(_json(asdict(one)) + "\n")
    elif figures:
        sys.stdout.write("\n".join(figure_lines(figures)) + "\n")
    else:
        sys.stdout.write("no calls\n")
    return 0


def _export(args: argparse.Namespace, recording: OpenRecording, selection: Selection) -> int:
    from tui.storage.export import Format, exported, write_whole

    title = clean_line(recording.path.name, 120)
    pieces = exported(Format(args.export), selection.whole(), title)
    if not args.output or args.output == "-":
        for piece in pieces:
            sys.stdout.write(piece)
        return 0
    target = Path(args.output).expanduser()
    write_whole(target, pieces)
    print(f"wrote {clean_line(str(target), 4096)}", file=sys.stderr)
    return 0


def _list(as_json: bool) -> int:
    """Print the recordings kept, newest first."""
    found = [_described(one) for one in recordings().list()]
    if as_json:
        for one in found:
            sys.stdout.write(_json(one) + "\n")
    elif found:
        rows = [(one["name"], count(one["entries"]), size(one["bytes"]), _what(one)) for one in found]
        lines = table([("name", "entries", "size", "of"), *rows], left=1)
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        sys.stdout.write("nothing has been recorded yet\n")
    return 0


def _what(one: dict[str, Any]) -> str:
    return str(one["problem"] or one["of"]) + (", live" if one["live"] else "")


def _described(kept: "Kept") -> dict[str, Any]:
    from tui.storage.traffic_reader import RecordingReader

    told: dict[str, Any] = {
        "name": kept.name,
        "path": str(kept.path),
        "entries": 0,
        "bytes": kept.size,
        "live": kept.live,
        "of": "",
        "problem": "",
    }
    try:
        with closing(RecordingReader(kept.path)) as reader:
            first, last = reader.span()
            told["entries"] = last - first + 1 if last else 0
            tapped = reader.meta().get("tap")
            told["of"] = f"tap of {clean_line(tapped, 60)}" if tapped else "a session"
    except StorageError as error:
        told["problem"] = clean_line(str(error), 120)
    return told
