"""A program killed at any moment loses nothing of a conversation that was acknowledged as saved.

tests/soak/kill_sessions.py does the same for longer.
"""

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.protocol.command import start
from tests.protocol.killing import SCRIPT, Acknowledged, check, hear, kill_once, lines_of
from tui.core.conversation.conversation import sanitised
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


async def test_a_session_killed_at_random_moments_keeps_acknowledged_messages(tmp_path: Path):
    dice = random.Random()
    known: dict[str, Acknowledged] = {}
    session = ""
    for _ in range(20):
        session = kill_once(tmp_path / "s", dice, known, session if session and dice.random() < 0.5 else "")
        told = known[session]
        if not told.messages:  # killed before anything was saved: there is nothing to continue
            session = ""
    assert await check(tmp_path / "s", known) > 100


async def test_a_session_killed_before_each_statement_keeps_acknowledged_messages(tmp_path: Path):
    words = [sys.executable, str(SCRIPT), "--each", str(tmp_path / "s")]
    done = await asyncio.to_thread(subprocess.run, words, stdout=subprocess.PIPE, timeout=50)
    assert done.returncode == 0
    known: dict[str, Acknowledged] = {}
    lines = lines_of(done.stdout)
    hear(lines, known)
    assert lines[-1] == {"closed": True} and len(known) > 50
    await check(tmp_path / "s", known)


async def test_the_session_of_a_killed_run_contains_what_it_printed():
    dice = random.Random()
    words = ("run", "--demo", "--json", "--session", "trip", "What is the weather in Beijing?")
    printed: list[dict] = []
    for _ in range(2):
        process = await start(*words, "--server", "weather", piped=False)
        assert process.stdout is not None
        await process.stdout.readline()
        await asyncio.sleep(dice.uniform(0, 0.1))
        if process.returncode is None:
            process.kill()
        printed += lines_of(await process.stdout.read())
        await process.communicate()
    store = SessionStore(data_dir() / "sessions", lambda: Redactor())
    told: list[str] = []
    for info in await store.list():
        assert (info.title, info.problem, info.in_use) == ("trip", "", False)
        found, journal = await store.reopen(info.id)
        await journal.close()
        talk = found.conversation.messages
        assert sanitised(talk) == talk
        told += [message.text for message in talk]
    for line in printed:
        if line["type"] in ("tool_result", "turn_ended"):
            assert line["text"] in told
