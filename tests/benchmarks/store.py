"""The recording store with a million entries, compared with JSON lines (append, load, grep).

Run it: python tests/benchmarks/store.py [ENTRIES] [FOLDER]
Both store the same calls, with bodies of about 300 bytes, in batches of 1000. Each batch is synced to disk
(fsync) before the next. "reopen" is the time until all columns are in memory. "search" is a case-insensitive
search for text in bodies: a term near the end, three terms, and a term in every body. "first" is the time to
search the first 20,000 bodies, as a view does. Both stores run alternately in one process. Compare the
ratios: the times depend on the machine.
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.core.traffic import BodyTerm, Cause, Direction, Entry, Kind, Outcome  # noqa: E402
from tui.storage.recordings.reader import RecordingReader  # noqa: E402
from tui.storage.recordings.writer import RecordingWriter  # noqa: E402
from tui.traffic.record.entry_columns import EntryColumns  # noqa: E402

BATCH = 1000
FIRST = 20_000
PAGE = 5000
WALL = 1_790_000_000_000_000_000
PADDING = b"the quick brown fox jumps over the lazy dog; " * 4


def batches(count: int) -> Iterator[list[Entry]]:
    """Yield batches of requests and their responses."""
    for start in range(1, count + 1, BATCH):
        yield [entry(seq) for seq in range(start, min(start + BATCH, count + 1))]


def entry(seq: int) -> Entry:
    """Return a request (odd numbers) or the response to the previous request (even numbers)."""
    answer = seq % 2 == 0
    body = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_weather","arguments":' % seq
    body += b'{"city":"Berlin","note":"%s"}}}' % PADDING
    return Entry(
        seq, seq * 50_000, WALL + seq * 50_000, "weather", Direction.IN if answer else Direction.OUT,
        Kind.RESPONSE if answer else Kind.REQUEST, "tools/call", "get_weather", str(seq - answer), len(body),
        seq - 1 if answer else 0, seq - answer, Outcome.OK if answer else Outcome.NONE,
        Cause(seq // 100 + 1, 1, f"call-{seq // 2}"), body=body,
    )  # fmt: skip


def line(entry: Entry) -> bytes:
    """Return an entry as a line of a plain JSON log."""
    cause = entry.cause
    return json.dumps(
        {
            "seq": entry.seq, "mono": entry.mono_ns, "wall": entry.wall_ns, "server": entry.source,
            "kind": entry.kind, "method": entry.method, "tool": entry.tool, "id": entry.ident,
            "pair": entry.pair, "turn": cause.turn if cause else 0, "body": entry.body.decode(),
        }
    ).encode() + b"\n"  # fmt: skip


def timed(work: Callable[[], Any]) -> float:
    """Return how many seconds a function takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def write_both(count: int, recording: Path, log: Path) -> tuple[float, float]:
    """Write the same entries to both; return the seconds of each, without creating the entries."""
    ours = theirs = 0.0
    writer = RecordingWriter(recording, cap_bytes=1 << 40)
    with log.open("wb", buffering=0) as file:
        for batch in batches(count):
            ours += timed(lambda batch=batch: writer.write(batch))
            theirs += timed(lambda batch=batch: (file.write(b"".join(map(line, batch))), os.fsync(file)))
    ours += timed(writer.close)
    if writer.problem:
        raise SystemExit(writer.problem)
    return ours, theirs


def reopen(reader: RecordingReader) -> EntryColumns:
    """Read the columns of a recording."""
    columns, after = EntryColumns(), 0
    while rows := reader.column_rows(after, PAGE):
        columns.extend(rows)
        after = rows[-1][0]
    return columns


def load(log: Path) -> list[Any]:
    """Read the columns of a log, for which every line must be parsed."""
    with log.open("rb") as file:
        return [(entry["seq"], entry["kind"], entry["method"]) for entry in map(json.loads, file)]


def grep(log: Path, needles: list[bytes], last: int) -> list[set[int]]:
    """Search for text in the lines of a log up to `last`."""
    lowered = [needle.lower() for needle in needles]
    found: list[set[int]] = [set() for _ in needles]
    with log.open("rb") as file:
        for seq, text in enumerate(file, start=1):
            if seq > last:
                break
            folded = text.lower()
            for needle, seqs in zip(lowered, found, strict=True):
                if needle in folded:
                    seqs.add(seq)
    return found


def show(what: str, ours: float, theirs: float) -> None:
    """Print one line of the result."""
    print(f"{what:34} store {ours:8.3f} s   JSON lines {theirs:8.3f} s   ratio {ours / theirs:5.2f}")


def redaction() -> None:
    """Print the cost of redacting a body that contains no secret."""
    redactor = Redactor({f"TOKEN_{number}": f"a-configured-secret-{number}-x9" for number in range(6)})
    body = entry(1).body
    took = timed(lambda: [redactor.redact_bytes(body) for _ in range(100_000)])
    print(f"redaction of {len(body)} bytes, 6 secrets configured, none in it: {took * 10:.2f} µs")


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        recording, log = Path(folder) / "r.mcptrace", Path(folder) / "r.jsonl"
        ours, theirs = write_both(count, recording, log)
        show(f"write {count:,}", ours, theirs)
        print(f"{'':34} {count / ours:,.0f} entries/s and {count / theirs:,.0f} lines/s, each batch on disk")
        print(f"{'':34} {recording.stat().st_size / 1e6:,.0f} MB and {log.stat().st_size / 1e6:,.0f} MB")
        with closing(RecordingReader(recording)) as reader:
            show("reopen", timed(lambda: reopen(reader)), timed(lambda: load(log)))
            rare = b'"ID":%d,' % (count - 7)
            for name, needles in (
                ("one rare term", [rare]),
                ("three rare terms", [rare, b"no such thing", b"nor this"]),
                ("a term in every body", [b"berlin"]),
            ):
                terms = [BodyTerm(needle.decode()) for needle in needles]
                for what, last in (("first", min(FIRST, count)), ("whole", count)):
                    show(
                        f"search, {name}, {what}",
                        timed(lambda terms=terms, last=last: reader.search(terms, 1, last)),
                        timed(lambda needles=needles, last=last: grep(log, needles, last)),
                    )
        expressions(recording, count)
    redaction()


def expressions(recording: Path, count: int) -> None:
    """Print the times of searches for regular expressions, each with a new reader."""
    for name, needle in (("rare", rb'"id":%d\b' % (count - 7)), ("in every body", rb"b[a-z]+lin\b")):
        for what, last in (("first 2,048", min(2048, count)), ("whole", count)):
            with closing(RecordingReader(recording)) as reader:
                took = timed(lambda: reader.search([BodyTerm(needle.decode(), regex=True)], 1, last))  # noqa: B023
            print(f"search, expression, {name}, {what}: {took:.3f} s")
    expensive(recording)


def expensive(recording: Path) -> None:
    """Print how long keys wait during an expensive search, and how soon it can be interrupted."""
    path = recording.with_name("letters.mcptrace")
    writer = RecordingWriter(path)
    writer.write([entry(1)._replace(body=b"a" * 256 * 1024)])
    writer.close()
    with closing(RecordingReader(path)) as reader:
        search = threading.Thread(target=lambda: reader.search([BodyTerm(r"\w+\w+@", regex=True)], 1, 1))
        search.start()
        waits = [timed(lambda: time.sleep(0.001)) for _ in range(1000)]
        reader.interrupt()
        print(f"expensive expression: keys wait {(max(waits) - 0.001) * 1000:.1f} ms at most,", end="")
        print(f" interrupted in {timed(search.join) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
