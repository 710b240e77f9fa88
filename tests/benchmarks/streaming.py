"""What streaming a reply costs, in a real terminal: CPU, delay of keys, lag of the loop, memory.

Run it: python tests/benchmarks/streaming.py
Each case is an app of its own in a pty of 120 x 40 that this script reads as a terminal would. The last
two cases stream the same sample into the transcript and into Textual's own Markdown; the ratio says how
they compare on the machine of the moment.
"""

import argparse
import asyncio
import fcntl
import gc
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

COLUMNS, LINES = 120, 40
KEYS = [chr(0x2801 + number) for number in range(200)]  # signs that no reply contains

PASSAGE = """## Section {n}

The **quick** brown fox number {n} jumps over the `lazy` dog, and *then* it rests for a while because
the next part needs a [link](https://example.org/{n}) and some more words to fill a few lines of text.

- first point with a little text
- second point, **bold** here
  - nested point number {n}

| name | value |
|:-----|------:|
| alpha | {n} |
| beta | 2 |

```python
def step_{n}(value: int) -> int:
    # a comment in the code
    return value * {n} + len("text")
```

1. one
2. two with `code`

"""


@dataclass(frozen=True)
class Case:
    """One run: what streams where, and how fast."""

    name: str
    sink: str
    tokens: int
    per_second: int
    earlier: int


CASES = [
    Case("20 000 tokens, as fast as 2 000/s", "transcript", 20_000, 2_000, 0),
    Case("100 tokens/s after 1 000 messages", "transcript", 1_500, 100, 1_000),
    Case("sample, transcript", "transcript", 800, 100, 0),
    Case("sample, Textual's Markdown", "markdown", 800, 100, 0),
]


def tokens() -> Iterator[str]:
    """Yield pieces of about four characters of a reply that never ends."""
    number = 0
    while True:
        text = PASSAGE.format(n=number)
        yield from (text[start : start + 4] for start in range(0, len(text), 4))
        number += 1


# ---- the app, in the pty -----------------------------------------------------------------------------


def run_app(case: Case, report: Path) -> None:
    """Run one case inside the terminal and write what was measured."""
    from textual.app import App, ComposeResult
    from textual.widget import Widget
    from textual.widgets import Input

    class Bench(App[dict[str, float]]):
        CSS = "Transcript, VerticalScroll { height: 1fr; }"

        def compose(self) -> ComposeResult:
            yield sink_of(case)
            yield Input(id="composer")

        async def on_mount(self) -> None:
            self.query_one(Input).focus()
            self.stream = asyncio.create_task(measured(self, case))

    def sink_of(case: Case) -> Widget:
        if case.sink == "transcript":
            from tui.ui.chat.transcript.transcript import Transcript

            return Transcript()
        from textual.containers import VerticalScroll
        from textual.widgets import Markdown

        return VerticalScroll(Markdown())

    report.write_text(json.dumps(Bench().run()))


async def measured(app, case: Case) -> None:
    """Stream, watch the loop meanwhile, leave with what was measured."""
    write, close = await prepare(app, case)
    await asyncio.sleep(1.5)
    lags: list[float] = []
    watch = asyncio.create_task(watch_loop(lags))
    started, cpu = time.perf_counter(), time.process_time()
    source = tokens()
    for number in range(case.tokens):
        await write(next(source))
        wait = started + (number + 1) / case.per_second - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
    await close()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    watch.cancel()
    lags.sort()
    app.exit(
        {
            "cpu_us_per_token": cpu / case.tokens * 1e6,
            "cpu_percent": cpu / seconds * 100,
            "lag_p99_ms": lags[int(len(lags) * 0.99)] * 1000,
            "lag_worst_ms": lags[-1] * 1000,
            "rss_mb": resident_mb(),
        }
    )


async def prepare(app, case: Case):
    """Fill in the earlier messages; return what writes a token and what ends the reply."""
    if case.sink == "markdown":
        from textual.containers import VerticalScroll
        from textual.widgets import Markdown

        app.query_one(VerticalScroll).anchor()
        stream = Markdown.get_stream(app.query_one(Markdown))
        return stream.write, stream.stop
    from tui.ui.chat.transcript.transcript import Transcript

    transcript = app.query_one(Transcript)
    transcript.warm()
    gc.freeze()  # as the app does once everything is imported
    source = tokens()
    for _ in range(case.earlier // 2):
        transcript.add_user("word " * 160, "14:02")
        transcript.begin_reply("model")
        transcript.add_text("".join(next(source) for _ in range(200)))
        transcript.end_reply(1.0)
        await asyncio.sleep(0)
    transcript.add_user("go on", "14:03")
    transcript.begin_reply("model")

    async def write(token: str) -> None:
        transcript.add_text(token)

    async def close() -> None:
        transcript.end_reply(1.0)

    return write, close


async def watch_loop(lags: list[float]) -> None:
    """Note how late the loop wakes up, a hundred times a second."""
    while True:
        due = time.perf_counter() + 0.01
        await asyncio.sleep(0.01)
        lags.append(time.perf_counter() - due)


def resident_mb() -> float:
    """Return the resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


# ---- the terminal ------------------------------------------------------------------------------------


def drive(case: Case, number: int) -> dict[str, float]:
    """Run a case in a pty, press a key five times a second, return what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TEXTUAL_ANIMATIONS": "none",
        }
        command = [sys.executable, __file__, "--case", str(number), "--report", str(report)]
        process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        delays = press_keys(master, process, start_after=3.0)
        process.wait(30)
        os.close(master)
        measured_values = json.loads(report.read_text())
    delays.sort()
    measured_values["key_p95_ms"] = delays[int(len(delays) * 0.95)] * 1000
    measured_values["key_worst_ms"] = delays[-1] * 1000
    return measured_values


def press_keys(master: int, process: subprocess.Popen[bytes], start_after: float) -> list[float]:
    """Press signs and note how long each takes to be painted, until the app ends."""
    delays: list[float] = []
    pressed, waiting, seen = 0.0, b"", b""
    next_press = time.perf_counter() + start_after
    turn = 0
    while process.poll() is None:
        ready, _, _ = select.select([master], [], [], 0.02)
        now = time.perf_counter()
        if ready:
            try:
                seen = seen[-16:] + os.read(master, 65536)
            except OSError:
                break
            if waiting and waiting in seen:
                delays.append(now - pressed)
                waiting = b""
        if not waiting and now >= next_press:
            if turn % 30 == 29:
                os.write(master, b"\x15")
            waiting, pressed = KEYS[turn % len(KEYS)].encode(), now
            os.write(master, waiting)
            next_press = now + 0.2
            turn += 1
    return delays or [0.0]


def main() -> None:
    """Run the cases, print a table and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        run_app(CASES[options.case], options.report)
        return
    results = []
    for number, case in enumerate(CASES):
        results.append(drive(case, number))
        print(
            json.dumps(asdict(case) | {key: round(value, 1) for key, value in results[-1].items()}),
            flush=True,
        )
    ratio = results[3]["cpu_us_per_token"] / results[2]["cpu_us_per_token"]
    print(f"Textual's Markdown takes {ratio:.1f} times the CPU of the transcript for the same sample")


if __name__ == "__main__":
    main()
