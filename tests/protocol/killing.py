"""Kills running programs at any moment, and checks that everything acknowledged is still on disk."""

import json
import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import programs
from tui.core.conversation.conversation import AssistantMessage, ToolMessage, sanitised
from tui.core.conversation.message_json import message_of
from tui.core.conversation.sessions import NEVER_SENT
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.store import SessionStore

SCRIPT = Path(__file__).with_name("scripted_session.py")


@dataclass
class Acknowledged:
    """What a session has acknowledged as saved.

    Attributes:
        messages: by their index.
        sent: ids of the calls whose intent was saved.
        draft: the saved part of a reply after the last message, "" if none.
        rounds: number of kills.
    """

    messages: dict[int, Any] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    draft: str = ""
    rounds: int = 0

    def hear(self, line: dict[str, Any]) -> None:
        if "message" in line:
            self.messages[line["index"]] = message_of(line["message"])
            self.draft = ""
        elif "sent" in line:
            self.sent.add(line["sent"])
        elif "draft" in line:
            self.draft = line["draft"]


def lines_of(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def hear(lines: Sequence[dict[str, Any]], known: dict[str, Acknowledged]) -> str:
    """Read the output of programs, one session after the other. Return the last session."""
    session = ""
    for line in lines:
        if "session" in line:
            session = line["session"]
            known.setdefault(session, Acknowledged()).rounds += 1
        else:
            known[session].hear(line)
    return session


def kill_once(folder: Path, dice: random.Random, known: dict[str, Acknowledged], session: str = "") -> str:
    """Run a program, kill it at a random moment, and read its output. Return its session."""
    words = programs.command(SCRIPT, folder, "1000", *([session] if session else []))
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(dice.randint(1, 60))]
        time.sleep(dice.uniform(0, 0.005))
        process.kill()
        said.append(process.stdout.read())
    assert process.returncode == -9, "it ended by itself"
    return hear(lines_of(b"".join(said)), known)


async def check(folder: Path, known: dict[str, Acknowledged]) -> int:
    """Check every session. Return the number of acknowledged messages."""
    store = SessionStore(folder, lambda: Redactor())
    listed = {info.id: info for info in await store.list(limit=10_000)}
    assert [info for info in listed.values() if info.problem or info.in_use] == []
    for session, told in known.items():
        if session not in listed:
            assert not told.messages, f"{session}: all {len(told.messages)} messages are gone"
            continue
        await check_one(store, session, told)
    return sum(len(told.messages) for told in known.values())


async def check_one(store: SessionStore, session: str, told: Acknowledged) -> None:
    found, journal = await store.reopen(session)
    await journal.close()
    assert journal.problem == ""
    talk = found.conversation.messages
    assert sanitised(talk) == talk
    for index, message in told.messages.items():
        assert talk[index] == message, f"{session}: message {index} is not as it was acknowledged"
    never = {one.call_id for one in talk if isinstance(one, ToolMessage) and one.text == NEVER_SENT}
    assert not told.sent & never, f"{session}: a call that was sent is said not to be"
    if told.draft:
        replies = talk[max(told.messages) + 1 :]
        assert any(isinstance(one, AssistantMessage) and one.text.startswith(told.draft) for one in replies)
    again = await store.read(session)
    assert again.conversation.messages == talk, f"{session}: reads otherwise than it was opened"
    assert again.unknown == found.unknown
