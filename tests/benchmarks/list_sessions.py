"""How long it takes to list 1,000 saved conversations: the first time, in a later run, and again.

Run it: python tests/benchmarks/list_sessions.py [SESSIONS]
The first time, every file is opened; most of the time is SQLite reading each schema. The result is cached for
the next run. Each figure is the best of five.
"""

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tui.core.conversation.conversation import AssistantMessage, UserMessage  # noqa: E402
from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.storage.sessions.file import SUFFIX  # noqa: E402
from tui.storage.sessions.folder import NAME  # noqa: E402
from tui.storage.sessions.store import SessionStore  # noqa: E402

TIMES = 5


async def fill(folder: Path, count: int) -> None:
    """Save a conversation of ten turns, and copies of it."""
    journal = await SessionStore(folder, Redactor).begin()
    for turn in range(10):
        journal.message(2 * turn, UserMessage(f"question {turn} about the weather"))
        journal.message(2 * turn + 1, AssistantMessage("It is sunny. " * 50, model="demo"))
    await journal.settled()
    await journal.close()
    for number in range(1, count):
        shutil.copyfile(folder / f"{journal.id}{SUFFIX}", folder / f"20260101T000000Z-{number:06x}{SUFFIX}")


async def milliseconds(store: SessionStore) -> float:
    """Return how long the listing takes."""
    began = time.perf_counter()
    await store.list()
    return (time.perf_counter() - began) * 1000


async def measure(folder: Path, count: int) -> None:
    """Print the figures."""
    await fill(folder, count)
    times: dict[str, list[float]] = {"first": [], "later run": [], "again": []}
    for _ in range(TIMES):
        (folder / NAME).unlink(missing_ok=True)
        times["first"].append(await milliseconds(SessionStore(folder, Redactor)))
        store = SessionStore(folder, Redactor)
        times["later run"].append(await milliseconds(store))
        times["again"].append(await milliseconds(store))
    for name, found in times.items():
        print(f"{name:10} {min(found):6.0f} ms   {count:,} conversations")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure(Path(home) / "sessions", int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
