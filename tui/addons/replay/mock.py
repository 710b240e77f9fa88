"""`mcptui mock`: answers over stdio as the recorded server did."""

import argparse
import heapq
import os
import select
import sys
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from tui.addons.replay.mock_server import MockServer
from tui.commands.recordings import named, open_entries
from tui.core.errors import McptuiError, UsageError
from tui.core.jsonrpc.framing import Framer
from tui.core.text import clean_line
from tui.core.traffic import Direction, Entry, Kind

CHUNK = 64 * 1024
MAX_REPORTED = 1000
UNANSWERED, UNUSABLE, NOBODY_READS = 1, 2, 141
MAX_LINE = 64 * 1024 * 1024
"""Maximum bytes of a line. After a longer line, the client is ignored."""


def mock(args: argparse.Namespace) -> int:
    """Run `mcptui mock`.

    Return 0 at the end of stdin, 1 if a request could not be answered, 2 if the recording cannot be read or
    does not have the server, or if the output cannot be written, 141 if the client closed the output.
    """
    try:
        with open_entries(named(args.recording)) as recording:
            source = server_of(recording.entries(), args.server, recording.path)
            ours = (entry for entry in recording.whole_entries() if entry.source == source)
            server = MockServer(ours, recording.body)
            if recording.reader.damage:
                shown = clean_line(str(recording.path), 400)
                print(f"mcptui mock: {shown}: {recording.reader.damage}", file=sys.stderr)
            complete = answer(server, timing=args.timing)
    except McptuiError as error:
        print(f"mcptui mock: {error}", file=sys.stderr)
        return UNUSABLE
    except _Unwritable as error:
        print(f"mcptui mock: cannot write to stdout: {error}", file=sys.stderr)
        return NOBODY_READS if isinstance(error.__cause__, BrokenPipeError) else UNUSABLE
    return 0 if complete else UNANSWERED


class _Unwritable(Exception):
    """Cannot write to stdout. The message says why."""


def server_of(entries: Iterable[Entry], wanted: str | None, path: Path) -> str:
    """Return the selected server of a recording.

    Raises UsageError if it has no server, none of this name, or several and none was selected.
    """
    names = sorted(
        {entry.source for entry in entries if entry.direction is Direction.OUT and entry.kind is Kind.REQUEST}
    )
    shown = ", ".join(clean_line(name, 80) for name in names)
    if wanted is not None and wanted not in names:
        raise UsageError(f"server not in the recording. It has: {shown or 'none'}", where=wanted)
    if wanted is not None:
        return wanted
    if len(names) != 1:
        what = (
            f"the recording has several servers: {shown}"
            if names
            else "the recording has no requests to servers"
        )
        raise UsageError(what, where=str(path), next_step="Choose one with --server NAME." if names else "")
    return names[0]


def answer(server: MockServer, *, timing: bool) -> bool:
    """Answer stdin on stdout until stdin ends and everything is sent.

    With `timing`, delay each response as the recorded server did. Requests that cannot be answered are
    reported on stderr, each distinct sentence once. Return whether all requests were answered.
    """
    said: set[str] = set()
    due: list[tuple[int, int, bytes]] = []
    order = count()
    framer, ended = Framer(MAX_LINE), False
    while due or not ended:
        wait = None if not due else max(0.0, (due[0][0] - time.monotonic_ns()) / 1e9)
        if not ended and select.select([0], [], [], wait)[0]:
            chunk = os.read(0, CHUNK)
            now = time.monotonic_ns()
            for line in framer.feed(chunk) if chunk else [framer.finish()]:
                for send in server.take(line) if isinstance(line, bytes) else ():
                    heapq.heappush(due, (now + send.after_ns if timing else now, next(order), send.raw))
            _report(server, said)
            ended = not chunk or framer.partial > MAX_LINE
        elif ended and wait:
            time.sleep(wait)
        while due and (not timing or due[0][0] <= time.monotonic_ns()):
            _write(heapq.heappop(due)[2])
    return not said


def _report(server: MockServer, said: set[str]) -> None:
    while server.unanswered:
        text = clean_line(server.unanswered.pop(0), 1000)
        if text not in said and len(said) < MAX_REPORTED:
            said.add(text)
            print(f"mcptui mock: not answered: {text}", file=sys.stderr, flush=True)


def _write(raw: bytes) -> None:
    left = memoryview(raw + b"\n")
    try:
        while left:
            left = left[os.write(1, left) :]
    except OSError as error:
        raise _Unwritable(error.strerror) from error
