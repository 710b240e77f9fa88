"""Time to open a recording with `mcptui traffic FILE` and to filter it: 10,000 and 1 M entries.

Run it: python tests/benchmarks/opening.py [FOLDER] [RUNS]
The recordings are written by the recorder's own writer, with bodies of about 300 bytes, and kept in FOLDER if
it is given. The program runs in a pty of 120x40. For each length, the benchmark measures:
- the time from the start until the first entry is painted, and until the last one is;
- the memory of the program once everything is loaded;
- filters on a column, on text in bodies and on a regular expression in bodies: the time from the first key
  (all keys are written at once) until the frame that counts the first match, and until the frame with the
  final count.
In the same run it measures the first frame of bare Textual, and the time that plain Python and sqlite3 take
for the same rows.

A frame is timed when it arrives. It is drawn later, when the program is quiet, because pyte needs longer to
draw a frame than the program to paint it. On a busy machine there are fewer runs: no run starts after 100 s,
and a run that hangs ends the benchmark without losing the earlier figures.
"""

import json
import os
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
import pyte  # noqa: E402

from tests.benchmarks.figures import Figure, judged, noise  # noqa: E402
from tests.benchmarks.first_paint import HELLO, compiled_in  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome  # noqa: E402
from tui.storage.recordings.writer import RecordingWriter  # noqa: E402

LENGTHS = (10_000, 1_000_000)
WALL = 1_700_000_000_000_000_000
IN_FLIGHT = 8
LAST = b"this is the last entry"
QUIT, ESCAPE, ENTER, HOME, END = "\x11", "\x1b", "\r", "\x1b[H", "\x1b[F"
LIMIT_S, ALL_RUNS_S = 120.0, 100.0
QUIET_S, UNDRAWN_S = 0.04, 0.4
"""Frames are drawn after a pause of the first length, or once the oldest has waited for the second."""
COLUMN, TEXT, REGEX = "size:>10k", "needle-", "/nee.le-[0-9]+/"


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
    """Return a body of about 300 bytes; one in ten thousand contains the needle."""
    word = f"needle-{entry.seq}" if entry.seq % 10_000 == 0 else "hay"
    text = f"the weather of Oslo is sunny, {word}, as it was yesterday " * 4
    return json.dumps({"jsonrpc": "2.0", "id": entry.seq, "result": {"text": text}}).encode()


@dataclass
class Times:
    """The measurements of all runs for one length."""

    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    hits: dict[str, list[float]] = field(default_factory=dict)
    whole: dict[str, list[float]] = field(default_factory=dict)


def recording(folder: Path, count: int) -> Path:
    """Return a recording with `count` entries; the last entry is recognized by its text."""
    path = folder / f"{count}.mcptrace"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        half = Path(unfinished) / path.name
        writer = RecordingWriter(half, cap_bytes=1 << 40, meta={"program": "mcptui"})
        batch: list[Entry] = []
        mono = wall = 0
        for entry in traffic(count - 1):
            body = body_of(entry)
            if entry.seq % 1000 == 500:
                body = body.replace(b"hay", b"needle-%d" % entry.seq)
            batch.append(entry._replace(body=body))
            mono, wall = entry.mono_ns, entry.wall_ns
            if len(batch) == 2000:
                writer.write(batch)
                batch.clear()
        kind = (Direction.NONE, Kind.STDERR)
        last = Entry(count, mono + 1, wall + 1, "s1", *kind, size=len(LAST), body=LAST)
        writer.write([*batch, last], judged=count)
        writer.close()
        if writer.problem:
            raise SystemExit(writer.problem)
        half.rename(path)
    return path


class Shown:
    """The screen of the terminal, frame by frame, with the time at which each frame arrived."""

    def __init__(self, app: TerminalApp) -> None:
        self._app = app
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = self._read = 0
        self._frames: deque[tuple[int, float]] = deque()

    def line(self, row: int) -> str:
        """Return a line of the screen."""
        cells = self._screen.buffer[row]
        return "".join(cells[column].data for column in range(self._screen.columns))

    def has(self, text: str) -> bool:
        """Return whether any line contains a text."""
        return any(text in self.line(row) for row in range(self._screen.lines))

    def when(self, condition: Callable[[], object], what: str) -> float:
        """Draw frames until a condition holds; return when the last frame arrived."""
        deadline = at = time.perf_counter()
        deadline += LIMIT_S
        while not condition():
            while not self._frames:
                if time.perf_counter() > deadline:
                    raise SystemExit(f"{what}: not within {LIMIT_S:.0f} s")
                self._wait()
            end, at = self._frames.popleft()
            self._stream.feed(bytes(self._app.raw[self._fed : end]))
            self._fed = end
        return at

    def _wait(self) -> None:
        """Collect frames until there is a pause."""
        began = last = time.perf_counter()
        while (now := time.perf_counter()) - last < QUIET_S and now - began < UNDRAWN_S:
            self._app.pump(QUIET_S / 4)
            if (end := self._app.painted) > self._read:
                self._read, last = end, time.perf_counter()
                self._frames.append((end, last))


def until(app: TerminalApp, condition: Callable[[], object], what: str) -> None:
    """Read output until a condition holds."""
    deadline = time.perf_counter() + LIMIT_S
    while not condition():
        if time.perf_counter() > deadline:
            raise SystemExit(f"{what}: not within {LIMIT_S:.0f} s")
        app.pump(0.002)


def opened(path: Path, home: str, times: Times, expected: dict[str, int]) -> None:
    """Open a recording, run all steps, and quit."""
    argv = [sys.executable, "-m", "tui", "traffic", str(path)]
    began = time.perf_counter()
    with TerminalApp(argv, env=home_in(home) | compiled_in(home), draws=False, fresh=True) as app:
        until(app, lambda: b"tools/call" in app.raw, "the first line")
        times.first.append(time.perf_counter() - began)
        until(app, lambda: LAST in app.raw, "the last entry")
        times.last.append(time.perf_counter() - began)
        shown = Shown(app)
        app.send(HOME)
        shown.when(lambda: shown.has("entries") and not shown.has(LAST.decode()), "the first entry")
        pressed = time.perf_counter()
        app.send(END)
        times.again.append(shown.when(lambda: shown.has(LAST.decode()), "the last entry again") - pressed)
        loaded = shown.when(lambda: "loading" not in shown.line(0), "all entries")
        times.loaded.append(max(loaded, pressed) - began)
        process = psutil.Process(app.process.pid)
        spent = process.cpu_times()
        times.cpu.append(spent.user + spent.system)
        for query, count in expected.items():
            filtered(app, shown, query, count, times)
        times.memory.append(process.memory_full_info().pss / (1 << 20))
        app.send(QUIT)
        app.ended(20)


def filtered(app: TerminalApp, shown: Shown, query: str, count: int, times: Times) -> None:
    """Apply a filter; record when the first match is shown and when all matches are counted."""
    counted = f" {count:,} of ".replace(",", " ")
    shown.when(lambda: " of " not in shown.line(0) and "entries" in shown.line(0), "no filter")
    app.send("/")
    shown.when(lambda: shown.has("filter ›"), "the filter's line")
    rest(app)
    began = time.perf_counter()
    app.send(query + ENTER)
    first = shown.when(lambda: re.search(r" [1-9][0-9 ]* of ", shown.line(0)), f"a match of {query}")
    times.hits.setdefault(query, []).append(first - began)
    whole = first
    if counted not in shown.line(0):
        whole = shown.when(lambda: counted in shown.line(0), f"all {count} matches of {query}")
    times.whole.setdefault(query, []).append(whole - began)
    shown.when(lambda: not shown.has("esc stops"), f"the end of {query}")
    app.send(ESCAPE)
    rest(app)


def rest(app: TerminalApp) -> None:
    """Read output for a moment."""
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end:
        app.pump(0.01)


def bare(home: str) -> float:
    """Return the seconds to the first frame of bare Textual."""
    began = time.perf_counter()
    argv = [sys.executable, "-c", HELLO]
    with TerminalApp(argv, env=home_in(home) | compiled_in(home), draws=False, fresh=True) as app:
        until(app, lambda: b"Hello there" in app.raw, "bare Textual")
        return time.perf_counter() - began


def floor(path: Path) -> dict[str, float]:
    """Return what plain Python and sqlite3 take for the same rows, in seconds."""
    took: dict[str, float] = {}
    connection = sqlite3.connect(path)

    def timed(name: str, work: Callable[[], object]) -> None:
        began = time.perf_counter()
        work()
        took[name] = time.perf_counter() - began

    timed("ids", lambda: connection.execute("SELECT seq FROM entries").fetchall())
    sizes = [row[0] for row in connection.execute("SELECT size FROM entries")]
    timed("column", lambda: [place for place, size in enumerate(sizes) if size > 10_000])
    bodies = "SELECT seq, body FROM bodies"
    timed("text", lambda: [seq for seq, body in connection.execute(bodies) if b"needle-" in body])
    search = re.compile(rb"nee.le-[0-9]+").search
    timed("regex", lambda: [seq for seq, body in connection.execute(bodies) if search(body)])
    connection.close()
    return took


def expected(path: Path) -> dict[str, int]:
    """Return how many entries each filter must find."""
    connection = sqlite3.connect(path)
    count = lambda query: int(connection.execute(query).fetchone()[0])  # noqa: E731
    needles = count("SELECT count(*) FROM bodies WHERE instr(body, CAST('needle-' AS BLOB))")
    large = count("SELECT count(*) FROM entries WHERE size > 10000")
    connection.close()
    return {COLUMN: large, TEXT: needles, REGEX: needles}


def figure(
    what: str, seconds: list[float], budget: float | None = None, unit: str = "s", beside: str = ""
) -> Figure:
    """Return a figure with the median and its noise."""
    return Figure(what, statistics.median(seconds), unit, budget, noise(seconds), beside)


def figures(all_times: dict[int, Times], bares: list[float], floors: dict[str, float]) -> list[Figure]:
    """Return the figures of the longest recording, then the slopes."""
    few, many = (all_times[count] for count in (LENGTHS[0], LENGTHS[-1]))
    textual = f"bare Textual {statistics.median(bares):.3g} s"
    found = [
        figure("1 M entries: first line", many.first, 0.5, beside=textual),
        figure("1 M entries: last entry", many.last, 0.5, beside=textual),
        figure("1 M entries: `end` after `home`", many.again),
        figure("1 M entries: all loaded", many.loaded, beside=f"all ids in sqlite3 {floors['ids']:.3g} s"),
        figure("1 M entries: CPU until all are loaded", many.cpu),
        figure("1 M entries, opened from a file: memory (PSS)", many.memory, 140, "MB"),
    ]
    for name, query, first, whole in (
        ("column", COLUMN, None, 0.2),
        ("text", TEXT, 0.1, 2),
        ("regex", REGEX, 0.1, 2),
    ):
        plain = f"plain Python {floors[name]:.3g} s"
        found.append(figure(f"1 M entries: {query}, first match", many.hits[query], first))
        found.append(figure(f"1 M entries: {query}, all matches", many.whole[query], whole, beside=plain))
    for name, one, other in (
        ("first line", few.first, many.first),
        ("last entry", few.last, many.last),
        ("all loaded", few.loaded, many.loaded),
        (f"{COLUMN}, all", few.whole[COLUMN], many.whole[COLUMN]),
        (f"{TEXT}, all", few.whole[TEXT], many.whole[TEXT]),
        (f"{REGEX}, all", few.whole[REGEX], many.whole[REGEX]),
    ):
        middle, long = statistics.median(one), statistics.median(other)
        beside = f"10,000 entries {middle:.3g} s, 1 M {long:.3g} s"
        slope = (long - middle) / (LENGTHS[-1] - LENGTHS[0]) * 1e6
        found.append(Figure(f"slope of {name}, a million entries", slope, "s", beside=beside))
    return found


def main() -> int:
    """Measure."""
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    all_times = {count: Times() for count in LENGTHS}
    bares: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else home)
        folder.mkdir(parents=True, exist_ok=True)
        paths = {count: recording(folder, count) for count in LENGTHS}
        matches = {count: expected(path) for count, path in paths.items()}
        opened(paths[LENGTHS[0]], home, Times(), matches[LENGTHS[0]])  # compiles modules and warms caches
        began = time.perf_counter()
        for _ in range(runs):
            if bares and time.perf_counter() - began > ALL_RUNS_S:
                break
            try:
                bares.append(bare(home))
                for count, path in paths.items():
                    opened(path, home, all_times[count], matches[count])
            except SystemExit as late:
                if len(bares) < 2:
                    raise
                print(f"the last run is incomplete: {late}")
                break
        floors = floor(paths[LENGTHS[-1]])
        print(f"{len(bares)} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        return judged(figures(all_times, bares, floors))


if __name__ == "__main__":
    sys.exit(main())
