"""Time to open a recording of a million entries with `mcptui traffic FILE` and to filter it.

The recording is written by the recorder's own writer, with bodies of about 300 bytes. Measured are:
- the time from the start until the first entry is painted, and until the last one is;
- filters on a column, on text in bodies and on a regular expression in bodies: the time from the first key
  (all keys are written at once) until the first match is counted, and until the final count is painted;
- the memory of the program once everything is loaded.
"""

import json
import re
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.program import ENTER, ESCAPE, bare, program, rest, wait
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome
from tui.storage.recordings.writer import RecordingWriter

ENTRIES, RUNS = 1_000_000, 5
WALL = 1_700_000_000_000_000_000
IN_FLIGHT = 8
LAST = b"this is the last entry"
COLUMN, TEXT, REGEX = "size:>10k", "needle-", "/nee.le-[0-9]+/"
FOUND = re.compile(rb"[1-9][0-9 ]* of [0-9]")


def traffic(count: int) -> Iterator[Entry]:
    """Yield requests and, shortly after, their responses."""
    waiting: list[Entry] = []
    mono = 10**12
    for seq in range(1, count + 1):
        mono += 20_000 + seq % 9 * 900_000
        if len(waiting) < IN_FLIGHT and seq + len(waiting) <= count:
            cause = Cause(seq // 5000 + 1, seq % 10 + 1, f"call_{seq}")
            names = (f"s{seq % 7}", Direction.OUT, Kind.REQUEST, "tools/call", f"tool{seq % 40}", str(seq))
            asked = Entry(seq, mono, WALL + mono, *names, 100 + seq % 400, 0, seq, cause=cause)
            waiting.append(asked)
            yield asked
            continue
        asked = waiting.pop(seq % len(waiting))
        outcome = Outcome.TOOL_ERROR if seq % 99 == 0 else Outcome.OK
        names = (asked.source, Direction.IN, Kind.RESPONSE, asked.method, asked.tool, asked.ident)
        size = 200 + seq * 7919 % 50_000
        yield Entry(seq, mono, WALL + mono, *names, size, asked.seq, asked.root, outcome, asked.cause)


def body_of(entry: Entry) -> bytes:
    """Return a body of about 300 bytes; eleven in ten thousand contain the needle."""
    word = f"needle-{entry.seq}" if entry.seq % 10_000 == 0 or entry.seq % 1000 == 500 else "hay"
    text = f"the weather of Oslo is sunny, {word}, as it was yesterday " * 4
    return json.dumps({"jsonrpc": "2.0", "id": entry.seq, "result": {"text": text}}).encode()


def recording(folder: Path, count: int) -> Path:
    """Write a recording with `count` entries; the last entry is recognized by its text."""
    path = folder / f"{count}.mcptrace"
    writer = RecordingWriter(path, cap_bytes=1 << 40, meta={"program": "mcptui"})
    batch: list[Entry] = []
    for entry in traffic(count - 1):
        batch.append(entry._replace(body=body_of(entry)))
        if len(batch) == 2000:
            writer.write(batch)
            batch.clear()
    times, kind = (entry.mono_ns + 1, entry.wall_ns + 1), (Direction.NONE, Kind.STDERR)
    writer.write([*batch, Entry(count, *times, "s1", *kind, size=len(LAST), body=LAST)], judged=count)
    writer.close()
    if writer.problem:
        raise SystemExit(writer.problem)
    return path


def expected(path: Path) -> dict[str, int]:
    """Return how many entries each filter must find."""
    with closing(sqlite3.connect(path)) as connection:
        needles, large = (
            int(connection.execute(f"SELECT count(*) FROM {query}").fetchone()[0])
            for query in (
                "bodies WHERE instr(body, CAST('needle-' AS BLOB))",
                "entries WHERE size > 10000",
            )
        )
    return {COLUMN: large, TEXT: needles, REGEX: needles}


def opened(path: Path, home: str, times: dict[str, list[float]], matches: dict[str, int]) -> None:
    """Open a recording, run all steps, and quit."""
    began = time.perf_counter()
    with program(home, "traffic", str(path)) as app:
        for what, sign in (("first line", b"tools/call"), ("last entry", LAST)):
            wait(app, lambda sign=sign: sign in app.raw, what)
            times[what].append(time.perf_counter() - began)
        rest(app, 10)  # until all entries are loaded
        for query, count in matches.items():
            app.send("/")
            rest(app, 0.5)
            counted = f"{count:,} of ".replace(",", " ").encode()
            seen, pressed = len(app.raw), time.perf_counter()
            app.send(query + ENTER)
            wait(app, lambda seen=seen: FOUND.search(app.raw, seen), f"a match of {query}")
            times[f"{query}, first match"].append(time.perf_counter() - pressed)
            wait(app, lambda seen=seen, sign=counted: sign in app.raw[seen:], f"matches of {query}")
            times[f"{query}, all matches"].append(time.perf_counter() - pressed)
            rest(app, 1)
            app.send(ESCAPE)
            rest(app, 1)
        times["memory"].append(psutil.Process(app.process.pid).memory_full_info().pss / (1 << 20))


def floor(home: str) -> str:
    """Return how long the first frame of a bare Textual app takes."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        with bare(home) as app:
            wait(app, lambda app=app: b"ready" in app.raw, "bare Textual")
            took.append(time.perf_counter() - began)
    return f"bare Textual {statistics.median(took):.3g} s"


def measure(entries: int = ENTRIES, runs: int = RUNS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        path = recording(Path(home), entries)
        matches, times = expected(path), defaultdict[str, list[float]](list)
        opened(path, home, times, matches)  # compiles modules and warms caches
        times.clear()
        for _ in range(runs):
            opened(path, home, times, matches)
        beside = floor(home)
    what = "1 M entries"
    return [
        middle(f"{what}: first line", times["first line"], "s", 0.5, beside),
        middle(f"{what}: last entry", times["last entry"], "s", 0.5, beside),
        middle(f"{what}, opened from a file: memory (PSS)", times["memory"], "MB", 140),
        middle(f"{what}: {COLUMN}, all matches", times[f"{COLUMN}, all matches"], "s", 0.2),
        *(
            middle(f"{what}: {query}, {which}", times[f"{query}, {which}"], "s", budget)
            for query in (TEXT, REGEX)
            for which, budget in (("first match", 0.1), ("all matches", 2))
        ),
    ]
