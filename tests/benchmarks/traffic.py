"""Filtering and statistics over a million entries, compared with a list of dicts and a list of lines.

Run it: python tests/benchmarks/traffic.py [ENTRIES]
Each of the three variants holds the same traffic in its own process: overlapping calls to 40 tools of 7
servers, of which one in a hundred fails. The list of lines is what a RichLog would keep. "whole" is the time
until every entry is checked, "first 40" the time until a screen can be filled, and "longest" the longest time
that a screen had to wait for one slice. The list of dicts is filtered by a comprehension over indices, and
responses are found through their index. The lines can only be searched for text. Finally, bodies of a real
recording are searched by a thread while a screen draws 30 times a second.
"""

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome  # noqa: E402
from tui.storage.recordings.reader import RecordingReader  # noqa: E402
from tui.storage.recordings.writer import RecordingWriter  # noqa: E402
from tui.traffic.filter.query import parse  # noqa: E402
from tui.traffic.filter.view import View  # noqa: E402
from tui.traffic.record.entry_columns import EntryColumns  # noqa: E402
from tui.traffic.stats import Stats  # noqa: E402

WALL = 1_700_000_000_000_000_000
IN_FLIGHT = 8
SCREEN = 40
FRAME_S = 1 / 30
COLUMN_GOAL_MS, FIRST_GOAL_MS, WHOLE_GOAL_MS = 300, 200, 3000
FAILED = (Outcome.ERROR, Outcome.TOOL_ERROR)

Row = dict[str, Any]

# The filter, the same test for dicts, and the text to search for in lines ("" if there is none).
CASES: list[tuple[str, Callable[[Row, list[Row]], bool] | None, str]] = [
    ("server:s1", lambda row, rows: row["server"] == "s1", " s1 "),
    ("tool:tool1*", lambda row, rows: row["tool"].startswith("tool1"), " tool1"),
    ("kind:response status:error", lambda row, rows: row["kind"] == 2 and row["outcome"] in (3, 4), ""),
    ("size:>10k", lambda row, rows: row["size"] > 10_000, ""),
    ("id:4712", lambda row, rows: row["id"] == "4712", " 4712 "),
    ("since:10s", lambda row, rows: row["wall"] >= rows[-1]["wall"] - 10**10, ""),
    ("latency:>40ms", lambda row, rows: _took(row, rows) > 40_000_000, ""),
    (
        "server:s1 size:>10k latency:>40ms",
        lambda row, rows: row["server"] == "s1" and row["size"] > 10_000 and _took(row, rows) > 40_000_000,
        "",
    ),
    ("not (dir:out or tool:tool1*) turn:>100", None, ""),
]


def _took(row: Row, rows: list[Row]) -> int:
    return abs(rows[row["pair"] - 1]["mono"] - row["mono"]) if row["pair"] else -1


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


def columns(count: int) -> EntryColumns:
    """Return the traffic as columns."""
    columns = EntryColumns()
    for entry in traffic(count):
        columns.append(entry)
    return columns


def as_row(entry: Entry) -> Row:
    """Return an entry as a program without columns would store it."""
    return {
        "seq": entry.seq,
        "mono": entry.mono_ns,
        "wall": entry.wall_ns,
        "server": entry.source,
        "dir": int(entry.direction),
        "kind": int(entry.kind),
        "method": entry.method,
        "tool": entry.tool,
        "id": entry.ident,
        "size": entry.size,
        "pair": entry.pair,
        "outcome": int(entry.outcome),
    }


def resident() -> float:
    """Return the memory of this process in MB."""
    gc.collect()
    return psutil.Process().memory_info().rss / 2**20


def measured(work: Callable[[], int]) -> list[float]:
    """Return the milliseconds of the best of three runs, and the result."""
    took = []
    for _ in range(3):
        began = time.perf_counter()
        result = work()
        took.append((time.perf_counter() - began) * 1000)
    return [min(took), result]


# ---- the three variants ---------------------------------------------------------------------------------


def inside_columns(count: int) -> Row:
    """Measure the columns that the program uses."""
    before = resident()
    entries = columns(count)
    report: Row = {"mb": resident() - before, "cases": {}}
    now = entries.wall_ns(count - 1)
    for text, _, _ in CASES:
        runs = []
        for _ in range(3):
            view = View(entries, parse(text), now_ns=now)
            began = time.perf_counter()
            first, longest, done = 0.0, 0.0, False
            while not done:
                slice_began = time.perf_counter()
                done = view.advance(4)
                longest = max(longest, time.perf_counter() - slice_began)
                first = first or (len(view) >= SCREEN and time.perf_counter() - began)
            whole = time.perf_counter() - began
            runs.append([whole * 1000, len(view), (first or whole) * 1000, longest * 1000])
        report["cases"][text] = min(runs)
    stats = Stats(entries)
    report["stats"] = measured(lambda: counted(stats := Stats(entries)) or len(stats.tools()))
    counted(stats)
    began = time.perf_counter()
    stats.tools(), stats.servers()
    report["stats read"] = (time.perf_counter() - began) * 1000
    report["mb all"] = resident() - before
    return report


def counted(stats: Stats) -> int:
    """Advance until all entries are counted."""
    while not stats.advance(4):
        pass
    return 0


def inside_dicts(count: int) -> Row:
    """Measure a list of dicts."""
    before = resident()
    rows = [as_row(entry) for entry in traffic(count)]
    for row in rows:
        if row["pair"] and not rows[row["pair"] - 1]["pair"]:
            rows[row["pair"] - 1].update(pair=row["seq"], outcome=row["outcome"])
    report: Row = {"mb": resident() - before, "cases": {}}
    for text, test, _ in CASES:
        if test is not None:
            report["cases"][text] = measured(partial(passing, test, rows))
    report["stats"] = measured(lambda: by_tool(rows))
    return report


def passing(test: Callable[[Row, list[Row]], bool], rows: list[Row]) -> int:
    """Filter dicts with a comprehension; return the number of matches."""
    return len([number for number, row in enumerate(rows) if test(row, rows)])


def having(words: str, lines: list[str]) -> int:
    """Search lines with a comprehension; return the number of matches."""
    return len([number for number, line in enumerate(lines) if words in line])


def by_tool(rows: list[Row]) -> int:
    """Compute statistics per tool from dicts; return the number of tools."""
    took: dict[tuple[str, str], list[int]] = {}
    octets: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row["server"], row["tool"]
        octets[key] = octets.get(key, 0) + row["size"]
        if row["kind"] == Kind.RESPONSE:
            took.setdefault(key, []).append(_took(row, rows))
    return len([sorted(each)[len(each) * 95 // 100] for each in took.values()])


def inside_lines(count: int) -> Row:
    """Measure a list of lines."""
    before = resident()
    lines = [
        f"{each.mono_ns} {each.source} {each.kind.name} {each.method} {each.tool} {each.ident} {each.size}"
        for each in traffic(count)
    ]
    report: Row = {"mb": resident() - before, "cases": {}}
    for text, _, words in CASES:
        if words:
            report["cases"][text] = measured(partial(having, words, lines))
    return report


def inside_bodies(count: int) -> Row:
    """Measure searches in the bodies of a recording while a screen draws."""
    columns, report = EntryColumns(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.mcptrace"
        writer = RecordingWriter(path, cap_bytes=1 << 40)
        batch: list[Entry] = []
        for entry in traffic(count):
            columns.append(entry)
            batch.append(entry._replace(body=body_of(entry)))
            if len(batch) == 5000 or entry.seq == count:
                writer.write(batch)
                batch.clear()
        writer.close()
        if writer.problem:
            raise SystemExit(writer.problem)
        for text in ("Reykjavik", "body:needle", "/nee.le-[0-9]+/", "kind:error needle", "server:s1 needle"):
            report[text] = sought(columns, path, text)
    return report


def body_of(entry: Entry) -> bytes:
    """Return a body of about 300 bytes; one in ten thousand contains the needle."""
    word = f"needle-{entry.seq}" if entry.seq % 10_000 == 0 else "hay"
    text = f"the weather of Oslo is sunny, {word}, as it was yesterday " * 4
    return json.dumps({"jsonrpc": "2.0", "id": entry.seq, "result": {"text": text}}).encode()


def sought(columns: EntryColumns, path: Path, text: str) -> list[float]:
    """Return the total milliseconds, the rows, the milliseconds to the first row, and the longest slice."""
    view = View(columns, parse(text), reader=lambda: RecordingReader(path))
    began = time.perf_counter()
    first, longest, done = 0.0, 0.0, False
    while not done:
        slice_began = time.perf_counter()
        done = view.advance(4)
        longest = max(longest, time.perf_counter() - slice_began)
        first = first or (len(view) > 0 and time.perf_counter() - began)
        if not done:
            time.sleep(max(0.0, FRAME_S - (time.perf_counter() - slice_began)))
    whole = time.perf_counter() - began
    view.close(wait=True)
    if view.problem:
        raise SystemExit(view.problem)
    return [whole * 1000, len(view), (first or whole) * 1000, longest * 1000]


INSIDE = {"columns": inside_columns, "dicts": inside_dicts, "lines": inside_lines, "bodies": inside_bodies}


# ---- the table ------------------------------------------------------------------------------------------


def run(part: str, count: int) -> Row:
    """Return the report of a variant, measured in its own process."""
    done = subprocess.run(
        [sys.executable, __file__, "--inside", part, str(count)], stdout=subprocess.PIPE, check=True
    )
    report: Row = json.loads(done.stdout)
    return report


def beside(other: list[float] | None, own: list[float]) -> str:
    """Return the time of another variant, and its ratio to ours."""
    if other is None:
        return f"{'-':>18}"
    if other[1] != own[1]:
        return f"{other[0]:7.0f} ms   other rows"
    return f"{other[0]:7.0f} ms {other[0] / own[0]:6.1f} x"


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(INSIDE[sys.argv[2]](int(sys.argv[3]))))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    ours, dicts, lines = (run(part, count) for part in ("columns", "dicts", "lines"))
    print(f"{count:,} entries, Python {sys.version.split()[0]}, {psutil.cpu_count()} cores")
    head = f"{'columns':42}{'whole':>8} {'rows':>8} {'first 40':>9} {'longest':>8}"
    print(f"{head}   {'list of dicts':>18} {'lines':>18}")
    for text, own in ours["cases"].items():
        others = " ".join(beside(each["cases"].get(text), own) for each in (dicts, lines))
        print(f"{text:42}{own[0]:5.0f} ms {own[1]:8.0f} {own[2]:6.1f} ms {own[3]:5.1f} ms   {others}")
    own = ours["stats"]
    plain = beside(dicts["stats"], own)
    print(f"{'measures of servers and tools':42}{own[0]:5.0f} ms {own[1]:8.0f} {'':22}{plain}")
    print(f"{'reading the measures':42}{ours['stats read']:5.1f} ms")
    for name, each, key in (
        ("columns", ours, "mb"),
        ("columns, after all filters and measures", ours, "mb all"),
        ("list of dicts", dicts, "mb"),
        ("lines", lines, "mb"),
    ):
        megabytes, ratio = each[key] * 1_000_000 / count, each[key] / ours["mb"]
        print(f"{'memory of a million, ' + name:62}{megabytes:5.0f} MB {ratio:5.1f} x")
    print(f"{'bodies':42}{'whole':>8} {'rows':>8} {'first':>9} {'longest':>8}")
    for text, own in run("bodies", count).items():
        print(f"{text:42}{own[0]:5.0f} ms {own[1]:8.0f} {own[2]:6.0f} ms {own[3]:5.1f} ms")
    print(f"goals: columns {COLUMN_GOAL_MS} ms, bodies first {FIRST_GOAL_MS} ms, whole {WHOLE_GOAL_MS} ms")


if __name__ == "__main__":
    main()
