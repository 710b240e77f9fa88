"""How many frames a second are recorded, and what the event loop notices of it.

Run it: python tests/benchmarks/recording.py [FRAMES] [PER_SECOND]
Requests and answers as a chatty server would cause them go through the whole recorder: read, paired,
redacted, stored, put into the columns. First as fast as they go, with a store that does nothing and with
the real one; then at PER_SECOND (default 20,000) from an event loop whose ticker of 5 ms tells how late the
loop was, beside the same loop without a recorder.
"""

import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.core.traffic import Captured, Direction, Entry, Finding, TrafficWriter  # noqa: E402
from tui.storage.recordings.writer import RecordingWriter  # noqa: E402
from tui.traffic.record.entry_columns import EntryColumns  # noqa: E402
from tui.traffic.record.recorder import Recorder  # noqa: E402

TICK = 0.005
GOAL = 20_000
LAG_MS = 10
PORTION = 1000
SECRETS = {"WEATHER_TOKEN": "a-secret-of-the-weather-1"}


class Nowhere:
    """A store that keeps nothing."""

    problem = ""
    gone = 0

    def write(self, entries: Sequence[Entry], findings: Sequence[Finding] = ()) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def columns(count: int) -> list[Captured]:
    """Return requests and answers in turns, some 250 bytes each."""
    made = []
    arguments = {"city": "Prague", "units": "metric", "days": [1, 2, 3]}
    content = [{"type": "text", "text": "Sunny with a light breeze from the west. " * 4}]
    for number in range(count // 2):
        meta = {"progressToken": number, "io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        params = {"name": "get_forecast", "arguments": arguments, "_meta": meta}
        asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        result = {"content": content, "isError": False, "resultType": "complete"}
        answer = {"jsonrpc": "2.0", "id": number, "result": result}
        for way, message in ((Direction.OUT, asked), (Direction.IN, answer)):
            raw = json.dumps(message, separators=(",", ":")).encode()
            made.append(Captured("weather", way, time.monotonic_ns(), time.time_ns(), raw))
    return made


def recorder_of(store: Callable[[], TrafficWriter]) -> Recorder:
    """Return a recorder that runs."""
    made = Recorder(store, EntryColumns(), redact=Redactor(SECRETS).redact_bytes)
    made.start()
    return made


def race(what: str, store: Callable[[], TrafficWriter], captured: Sequence[Captured]) -> None:
    """Print how fast `captured` is recorded when nobody else wants to run."""
    recorder = recorder_of(store)
    cpu, began = time.process_time(), time.perf_counter()
    handed_over = 0.0
    for start in range(0, len(captured), PORTION):
        while recorder.waiting > 4 * PORTION:
            time.sleep(0.001)
        started = time.perf_counter()
        for one in captured[start : start + PORTION]:
            recorder.capture(one)
        handed_over += time.perf_counter() - started
    stored = recorder.flush(600)
    took, spent = time.perf_counter() - began, time.process_time() - cpu
    recorder.close(60)
    count = len(captured)
    print(
        f"{what:>16}: {count / took:>9,.0f} frames/s ({count / took / GOAL:.1f} of the goal), "
        f"CPU {spent / count * 1e6:.1f} us a frame, capture {handed_over / count * 1e6:.2f} us a frame"
        + ("" if stored and len(recorder.entries) == count else "  NOT ALL STORED")
    )


async def ticks(stop: asyncio.Event) -> list[float]:
    """Return how late the loop was in ms at each tick."""
    late = []
    while not stop.is_set():
        before = time.perf_counter()
        await asyncio.sleep(TICK)
        late.append((time.perf_counter() - before - TICK) * 1e3)
    return late


async def pace(captured: Sequence[Captured], take: Callable[[Captured], None], rate: int) -> list[float]:
    """Hand over `rate` frames a second from the loop, and return how late it was."""
    stop = asyncio.Event()
    watching = asyncio.create_task(ticks(stop))
    began, done = time.perf_counter(), 0
    while done < len(captured):
        due = min(len(captured), int((time.perf_counter() - began) * rate))
        for one in captured[done:due]:
            take(one)
        done = due
        await asyncio.sleep(0.002)
    stop.set()
    return await watching


def beside_a_loop(store: Callable[[], TrafficWriter], captured: Sequence[Captured], rate: int) -> None:
    """Print how late a loop is that hands over frames, with and without a recorder behind it."""
    bare = asyncio.run(pace(captured, lambda one: None, rate))
    recorder = recorder_of(store)
    began = time.perf_counter()
    watched = asyncio.run(pace(captured, recorder.capture, rate))
    behind = recorder.waiting
    recorder.flush(600)
    took = time.perf_counter() - began
    recorder.close(60)
    print(f"at {rate:,} frames/s from an event loop, {len(recorder.frames) / took:,.0f} frames/s stored:")
    for what, late in (("bare loop", bare), ("with recorder", watched)):
        median, slow, worst = share(late, 50), share(late, 95), max(late)
        print(f"{what:>16}: late by {median:.2f} ms in the median, p95 {slow:.2f} ms, at most {worst:.1f} ms")
    verdict = "within" if share(watched, 95) < LAG_MS else "NOT within"
    print(f"{'':>16}  p95 {verdict} {LAG_MS} ms; {behind:,} frames waited at the end")


def share(values: Sequence[float], percent: int) -> float:
    """Return the value that `percent` of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def main(count: int, rate: int) -> None:
    """Measure and print."""
    captured = columns(count)
    gc.freeze()  # what this benchmark made is nothing that the collector should look at
    with tempfile.TemporaryDirectory() as folder:
        names = iter(range(100))

        def store() -> TrafficWriter:
            return RecordingWriter(Path(folder) / f"{next(names)}.mcptrace")

        race("nothing stored", Nowhere, captured)
        race("stored", store, captured)
        beside_a_loop(store, captured, rate)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, int(sys.argv[2]) if len(sys.argv) > 2 else GOAL)
