"""The app while a model streams: CPU, bytes to the terminal, delay of a key.

The app resumes a session of 1,000 messages, with two servers, and asks a model whose endpoint streams 100
tokens of Markdown per second. CPU and bytes are measured while nobody types. Then keys are typed, alternately
in the app and in a bare Textual app with one input. The delay is measured from writing the key to the
terminal until its character is painted.
"""

import asyncio
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import islice

from tests.benchmarks.figures import Figure, late, latest, noise
from tests.benchmarks.program import BARE, STUB, bare, cpu_seconds, echo, program, rest, with_servers
from tests.configurations import model
from tests.endpoint import Answer, chunk
from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import endpoint_beside
from tui.core.conversation.conversation import AssistantMessage, Conversation
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore

SECONDS, MESSAGES, A_SECOND = 20, 1_000, 100
PRESSES, PAUSE = 60, 0.2
LEAST_SHARE = 0.9
"""The minimum share of the expected tokens that must be painted while measuring."""

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
SECTION = re.compile(rb"Section (\d+)")


def tokens() -> Iterator[str]:
    """Yield an endless reply in pieces of about four characters."""
    number = 0
    while True:
        text = PASSAGE.format(n=number)
        yield from (text[start : start + 4] for start in range(0, len(text), 4))
        number += 1


async def talked() -> str:
    """Save a session of many messages; return its id."""
    store = SessionStore(data_dir() / "sessions", lambda: Redactor({}))
    journal = await store.begin()
    conversation, source = Conversation("", journal=journal), tokens()
    for number in range(MESSAGES // 2):
        conversation.say(f"Question {number}: " + "word " * 60)
        conversation.add(AssistantMessage("".join(next(source) for _ in range(200))))
    await journal.settled()
    await journal.close()
    return journal.id


def sections(app: TerminalApp) -> int:
    """Return the number of the last section that is painted, of the two or three on the screen."""
    return max(int(number) for number in SECTION.findall(app.raw)[-4:])


def streamed(app: TerminalApp, seconds: int) -> tuple[list[float], list[float]]:
    """Ask the model; return the CPU and the kB to the terminal for each second of the reply."""
    app.until(lambda: b"beta" in app.raw, 60)
    rest(app, 6)  # until the work of the start is done
    app.raw.clear()
    app.send("go on\r")
    app.until(lambda: b"Section 0" in app.raw)
    rest(app, 3)
    cpu, sent, first = [], [], sections(app)
    for _ in range(seconds):
        before, seen, began = cpu_seconds(app), len(app.raw), time.perf_counter()
        rest(app, 1)
        took = time.perf_counter() - began
        cpu.append((cpu_seconds(app) - before) / took * 100)
        sent.append((len(app.raw) - seen) / took / 1000)
    expected = seconds * A_SECOND / (len(PASSAGE) / 4)
    if sections(app) - first < expected * LEAST_SHARE - 1:
        raise SystemExit("the machine is too busy: the reply was not streamed at full speed")
    return cpu, sent


def measure(seconds: int = SECONDS) -> list[Figure]:
    reply = [chunk(content=token) for token in islice(tokens(), A_SECOND * (seconds + 60))]
    with (
        tempfile.TemporaryDirectory() as home,
        endpoint_beside([Answer(reply, delay=1 / A_SECOND)]) as endpoint,
    ):
        os.environ.update(home_in(home))
        config = with_servers(home, STUB, STUB, more=model(endpoint))
        session = asyncio.run(talked())
        with program(home, "--config", config, "--session", session) as app, bare(home, BARE) as textual:
            textual.until(lambda: b"eady" in textual.raw)
            cpu, sent = streamed(app, seconds)
            keys, floor = [], []
            for number in range(PRESSES):  # alternately, so that other load delays both
                for each, delays in ((app, keys), (textual, floor)):
                    rest(app, PAUSE / 2 * (0.5 + number % 11 / 10))
                    delays.append(echo(each, number))
    beside = f"bare Textual {late(floor):.1f} ms, median {statistics.median(floor):.1f}"
    return [
        Figure("CPU of the app", statistics.mean(cpu), "%", 20, noise(cpu)),
        Figure("to the terminal", statistics.mean(sent), "kB/s", 40, noise(sent)),
        latest("key until painted", keys, 25, beside),
    ]
