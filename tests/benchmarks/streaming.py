"""Cost of a streamed reply for the whole app: CPU, bytes to the terminal, and delay of keys.

Run it: python tests/benchmarks/streaming.py [SECONDS]
The program runs in a pty of 120 x 40 with two servers and resumes a session of 1,000 messages. A local
endpoint streams 100 tokens of Markdown per second. CPU and bytes are measured while nobody types. Then keys
are typed, alternately in the app and in a bare Textual app with one input. The delay is measured from writing
the key to the terminal until its character is painted. Exits with 1 if a budget is missed or too few tokens
arrive.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, late, noise, noise_of  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402
from tui.core.conversation.conversation import AssistantMessage, Conversation  # noqa: E402
from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.settings.locations import data_dir  # noqa: E402
from tui.storage.sessions.store import SessionStore  # noqa: E402

MESSAGES, A_SECOND = 1_000, 100
PRESSES, PAUSE = 60, 0.2
MOST_CPU, MOST_KB, MOST_KEY_MS = 20.0, 40.0, 25.0
SENT: list[float] = []
"""The time at which the endpoint sent each token."""

LEAST_SHARE = 0.95
"""The minimum share of the expected tokens that must be streamed while measuring."""

STUB = str(ROOT / "tests" / "corpus" / "faults" / "crlf.py")
TICKS = os.sysconf("SC_CLK_TCK")
QUIT, CLEAR = "\x11", "\x15"

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
BARE = """
from textual.app import App
from textual.widgets import Input
class Bare(App):
    def compose(self):
        yield Input(placeholder="ready")
Bare().run()
"""


def tokens() -> Iterator[str]:
    """Yield an endless reply in pieces of about four characters."""
    number = 0
    while True:
        text = PASSAGE.format(n=number)
        yield from (text[start : start + 4] for start in range(0, len(text), 4))
        number += 1


# ---- the endpoint ------------------------------------------------------------------------------------


def chunk(delta: dict[str, str]) -> bytes:
    """Return a server-sent event with a piece of a reply."""
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    body = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request for a reply with an endless stream."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if length := re.search(rb"content-length: (\d+)", head, re.IGNORECASE):
                await reader.readexactly(int(length[1]))
            if b"/chat/completions" in head:
                break
            models = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
            kind = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            writer.write(kind + b"content-length: %d\r\n\r\n" % len(models) + models)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        began = time.monotonic()
        for number, token in enumerate(tokens(), 1):
            writer.write(chunk({"content": token}))
            await writer.drain()
            SENT.append(time.monotonic())
            await asyncio.sleep(max(0.0, began + number / A_SECOND - time.monotonic()))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def endpoint() -> int:
    """Serve in a daemon thread; return the port."""
    ports: list[int] = []
    there = threading.Event()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        there.set()
        await server.serve_forever()

    threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    there.wait()
    return ports[0]


# ---- measuring ---------------------------------------------------------------------------------------


async def talked() -> str:
    """Save a session of many messages; return its id."""
    store = SessionStore(data_dir() / "sessions", lambda: Redactor({}))
    journal = await store.begin()
    conversation, source = Conversation("", journal=journal), tokens()
    for number in range(MESSAGES // 2):
        conversation.say(f"Question {number}: " + "word " * 60)
        conversation.reply(AssistantMessage("".join(next(source) for _ in range(200))))
    await journal.settled()
    await journal.close()
    return journal.id


def spent(app: TerminalApp) -> float:
    """Return the CPU seconds that the program has used."""
    stat = Path(f"/proc/{app.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def rest(app: TerminalApp, seconds: float) -> None:
    """Read the program's output for a while."""
    over = time.perf_counter() + seconds
    while (left := over - time.perf_counter()) > 0:
        app.pump(left)


def echo(app: TerminalApp, number: int) -> float:
    """Type a character that is nowhere else on the screen; return the milliseconds until it is painted."""
    sign, seen, began = chr(0x2801 + number).encode(), len(app.raw), time.perf_counter()
    app.send(sign)
    while sign not in app.raw[seen:]:
        app.pump(1)
        if time.perf_counter() - began > 20:
            raise SystemExit("a key was not painted within 20 s")
    took = (time.perf_counter() - began) * 1000
    if number % 20 == 19:
        app.send(CLEAR)
    return took


def measured(app: TerminalApp, seconds: int) -> tuple[list[float], list[float]]:
    """Ask the model; return the CPU and the kB to the terminal for each second of the reply."""
    app.until(lambda: b"beta" in app.raw, 60)
    rest(app, 6)  # until the work of the start is done
    app.send("go on\r")
    app.until(lambda: b"Section 0" in app.raw, 30)
    rest(app, 3)
    cpu, sent = [], []
    start = time.monotonic()
    for _ in range(seconds):
        before, seen, began = spent(app), len(app.raw), time.perf_counter()
        rest(app, 1)
        took = time.perf_counter() - began
        cpu.append((spent(app) - before) / took * 100)
        sent.append((len(app.raw) - seen) / took / 1000)
    end = time.monotonic()
    rate = sum(start <= at <= end for at in list(SENT)) / (end - start)
    if rate < A_SECOND * LEAST_SHARE:
        raise SystemExit(f"the machine is too busy: {rate:.0f} of {A_SECOND} tokens a second were streamed")
    return cpu, sent


def main(seconds: int) -> int:
    """Measure both apps; return the exit code."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(home_in(home))
        config = Path(home) / "config.toml"
        model = f'base_url = "http://127.0.0.1:{endpoint()}/v1"\nmodel = "m"\napi_key = "sk-none"\n'
        server = f"command = {json.dumps(sys.executable)}\nargs = [{json.dumps(STUB)}]\n"
        config.write_text(f"[servers.one]\n{server}[servers.two]\n{server}[models.streaming]\n{model}")
        session = asyncio.run(talked())
        argv = [sys.executable, "-m", "tui", "--trust-config", "--config", str(config), "--session", session]
        with TerminalApp(argv, draws=False) as app, TerminalApp([sys.executable, "-c", BARE]) as bare:
            bare.shows("ready")
            cpu, sent = measured(app, seconds)
            keys, floor = [], []
            for number in range(PRESSES):  # alternately, so that other load delays both
                for each, delays in ((app, keys), (bare, floor)):
                    rest(app, PAUSE / 2 * (0.5 + number % 11 / 10))
                    delays.append(echo(each, number))
    beside = f"bare Textual {late(floor):.1f} ms, median {median(floor):.1f}"
    return judged(
        [
            Figure("CPU of the app", sum(cpu) / seconds, "%", MOST_CPU, noise(cpu)),
            Figure("to the terminal", sum(sent) / seconds, "kB/s", MOST_KB, noise(sent)),
            Figure("key until painted, p95", late(keys), "ms", MOST_KEY_MS, noise_of(late, keys), beside),
            Figure("key until painted, median", median(keys), "ms"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
