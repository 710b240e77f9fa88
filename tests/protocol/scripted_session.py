"""A program that runs a conversation, saves it and reports what is acknowledged as saved. Made to be killed.

python scripted_session.py FOLDER                 for each line of input, a child runs or continues a session
python scripted_session.py --statements FOLDER    kills a child at every other statement of SQLite

Each line of its output is JSON: a session, or something acknowledged by `settled()`.
"""

import asyncio
import os
import random
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tui.core.conversation.conversation import (  # noqa: E402
    AssistantMessage,
    CallRequest,
    Conversation,
    Intent,
    Journal,
    SessionMeta,
    ToolMessage,
)
from tui.core.conversation.message_json import dumps, message_object  # noqa: E402
from tui.core.ports import Usage  # noqa: E402
from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.storage.sessions.store import SessionStore  # noqa: E402


def tell(**what: Any) -> None:
    """Print in one write, so that a line is complete or missing."""
    os.write(1, dumps(what).encode() + b"\n")


class Talk:
    """A scripted conversation: a question, reasoning, two parallel calls, an answer."""

    def __init__(self, journal: Journal, conversation: Conversation) -> None:
        self._journal = journal
        self._said = self._told = len(conversation.messages)
        self._talk = conversation
        conversation.journal = journal

    async def turns(self, count: int) -> None:
        """Talk."""
        for _ in range(count):
            await self._turn(len(self._talk.messages))

    async def _turn(self, number: int) -> None:
        self._talk.say(f"Question {number}: " + "what about it? " * (number % 40))
        await self._acknowledged()
        for words in range(1, 4):
            self._journal.draft("word " * words, "thinking")
        if number % 2:
            await self._journal.settled()
            tell(draft="word " * 3)
        calls = tuple(CallRequest(f"c{number}-{each}", "w__get", '{"a": 1}') for each in (1, 2))
        self._talk.add(AssistantMessage("word " * 3 + "and so on", calls=calls, model="scripted"))
        self._journal.usage("scripted", Usage(100, 10), 0.01)
        for call in calls:
            self._journal.intent(Intent(call.id, "w", "get", {"a": 1}))
            await self._acknowledged()
            tell(sent=call.id)
        for call in calls:
            self._journal.result(f"r-{call.id}", "rain " * 500)
            self._talk.add(ToolMessage(call.id, "w__get", "rain", kept=f"r-{call.id}"))
            if number % 3:
                await self._acknowledged()
        self._talk.add(AssistantMessage("It rains.", model="scripted"))
        self._journal.describe(SessionMeta(model="scripted"))
        await self._acknowledged()

    async def _acknowledged(self) -> None:
        await self._journal.settled()
        if self._journal.problem:
            raise SystemExit(self._journal.problem)
        for index in range(self._told, len(self._talk.messages)):
            tell(index=index, message=message_object(self._talk.messages[index]))
        self._told = len(self._talk.messages)


async def run(folder: Path, turns: int, session: str = "") -> None:
    """Run a new session, or continue one."""
    store = SessionStore(folder, lambda: Redactor({"KEY": "a-configured-secret"}))
    conversation = Conversation()
    if session:
        found, journal = await store.reopen(session)
        conversation = found.conversation
    else:
        journal = await store.begin()
    tell(session=journal.id)
    await Talk(journal, conversation).turns(turns)
    await journal.close()
    tell(closed=True)


class _Counted(sqlite3.Connection):
    """Kills the process before one statement."""

    left = 0

    def execute(self, *args: Any) -> sqlite3.Cursor:
        return self._counted(super().execute, *args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        return self._counted(super().executemany, *args)

    def _counted(self, run: Callable[..., sqlite3.Cursor], *args: Any) -> sqlite3.Cursor:
        _Counted.left -= 1
        if not _Counted.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return run(*args)


def kill_at_statements(folder: Path) -> None:
    """Before every other statement, kill a child that runs two turns, until one is not killed."""
    connect = sqlite3.connect
    for number in range(random.choice((1, 2)), 10_000, 2):
        child = os.fork()
        if not child:
            _Counted.left = number
            sqlite3.connect = lambda *args, **named: connect(*args, factory=_Counted, **named)
            asyncio.run(run(folder, 2))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return


def run_until_killed(folder: Path) -> None:
    """For each line of input, a session or nothing, run a child that talks until it is killed."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            tell(child=os.getpid())
            asyncio.run(run(folder, 1000, line.strip()))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        tell(killed=os.WIFSIGNALED(status))


if __name__ == "__main__":
    if sys.argv[1] == "--statements":
        kill_at_statements(Path(sys.argv[2]))
    else:
        run_until_killed(Path(sys.argv[1]))
