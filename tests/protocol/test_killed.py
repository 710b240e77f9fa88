"""What a killed host, run or session leaves behind: no server, and everything acknowledged is on disk.

`KILLS=500 pytest` with this file kills more often.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import programs
from tests.configurations import config_file, model, server
from tests.conftest import wait_until
from tests.endpoint import Endpoint, calls
from tests.protocol.command import mcptui, start
from tests.strict import FLAVOURS, Strict
from tui.core.conversation.conversation import AssistantMessage, ToolMessage, sanitised
from tui.core.conversation.message_json import message_of
from tui.core.conversation.sessions import NEVER_SENT
from tui.core.secrets.redact import Redactor
from tui.settings.locations import data_dir
from tui.storage.sessions.store import SessionStore

SCRIPT = Path(__file__).with_name("scripted_session.py")


@dataclass
class Acknowledged:
    """What a session has acknowledged as saved.

    Attributes:
        messages: by their index.
        sent: ids of the calls whose intent was saved.
        draft: the saved part of a reply after the last message, "" if none.
    """

    messages: dict[int, Any] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    draft: str = ""

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
            known.setdefault(session, Acknowledged())
        else:
            known[session].hear(line)
    return session


def kill_once(
    program: subprocess.Popen[bytes], dice: random.Random, known: dict[str, Acknowledged], session: str = ""
) -> str:
    """Let the program run or continue a session, kill it at a random moment, and read its output.

    Return its session.
    """
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write(f"{session}\n".encode())
    program.stdin.flush()
    child = json.loads(program.stdout.readline())["child"]
    said = [program.stdout.readline() for _ in range(dice.randint(1, 60))]
    time.sleep(dice.uniform(0, 0.005))
    os.kill(child, signal.SIGKILL)
    while not (line := program.stdout.readline()).startswith(b'{"killed"'):
        said.append(line)
    assert line == b'{"killed":true}\n', "it ended by itself"
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


FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
ROOT = Path(__file__).parents[2]

HOST = """
import asyncio, sys
from tests.hosts import called, host_of
from tui.core.servers import ServerSpec

async def main(ending, *servers):
    host = host_of(*(ServerSpec(path, sys.executable, (path,)) for path in servers))
    await host.start_all()
    await asyncio.gather(*(called(host, tool) for tool in host.toolbox.tools()))
    print(host._around.watchdog.owner, flush=True)
    if ending == "crash":
        raise SystemExit(1)
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""
SERVERS = ("crlf", "ignore_sigterm_and_eof", "grandchild_holds_pipes", "grandchild_escapes_session")


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a host with servers. Return its process and the mark of its servers."""
    paths = [str(FAULTS / f"{name}.py") for name in SERVERS]
    words = programs.command("-c", HOST, request.param, *paths)
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield process, process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()


def left_of(owner: str) -> list[psutil.Process]:
    """Return the live processes with the mark of a host, and its guards."""
    assert owner
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        mark = (process.info["environ"] or {}).get("MCPTUI_OWNER", "")
        if (mark.startswith(owner) or owner in (process.info["cmdline"] or [])) and lives(process):
            found.append(process)
    return found


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_the_end_of(processes: Sequence[psutil.Process]) -> None:
    wait_until(lambda: not any(map(lives, processes)), 5, "the servers and the guard to be gone")


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes by their environment")
@pytest.mark.parametrize("host", ["wait"], indirect=True)
def test_servers_of_a_killed_host_exit_within_five_seconds(host):
    process, owner = host
    left = left_of(owner)
    assert len(left) >= 7
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for_the_end_of(left)
    assert not left_of(owner)


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes by their environment")
@pytest.mark.parametrize("host", ["crash"], indirect=True)
def test_servers_of_a_crashed_host_exit(host):
    process, owner = host
    process.wait(20)
    wait_for_the_end_of(left_of(owner))
    assert not left_of(owner)


SAMPLES = Path(__file__).parents[2] / "sample_config" / "servers"
SLOW = ("slow__count_slowly", {"seconds": 500})
WEATHER = ("weather__get_weather", {"location": "Beijing"})
TRUSTED = ("--trust", "slow", "--trust", "weather")
"""Calls marked as read-only run in parallel if the servers are trusted."""

KILLS = int(os.environ.get("KILLS", "10"))

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def config(folder: Path, endpoint: Endpoint) -> str:
    servers = (server(name, SAMPLES / f"{name}.py") for name in ("slow", "weather"))
    models = (model(endpoint, name, model=asked) for name, asked in FLAVOURS.items())
    return config_file(folder, *servers, *models)


async def test_a_run_killed_during_its_calls_is_resumed_with_other_models(tmp_path: Path) -> None:
    strict = Strict(calls(SLOW, WEATHER, text="Let me look."))
    async with Endpoint([strict]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--approve", "all", "--json", *TRUSTED)
        asked = ("--model", "vllm", "--session", "trip", "What is the weather?")
        process = await start(*given, *asked, piped=False)
        assert process.stdout is not None
        async for line in process.stdout:
            if b'"tool_result"' in line:
                break
        process.kill()
        await process.communicate()
        for name in ("mistral", "template"):
            strict.then(calls(WEATHER))
            done = await mcptui(*given, "--model", name, "--session", "trip", "and now?")
            assert strict.refused == [] and done.code == 0, done.err
        told = endpoint.requests[-1].json["messages"]
    assert any("outcome unknown" in str(one["content"]) for one in told), told


def kill_often(folder: Path, known: dict[str, Acknowledged]) -> None:
    dice, session = random.Random(), ""
    words = programs.command(SCRIPT, folder)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        for _ in range(KILLS):
            session = kill_once(program, dice, known, session if session and dice.random() < 0.5 else "")
            if not known[session].messages:  # killed before anything was saved: nothing to continue
                session = ""


async def test_a_session_killed_at_random_moments_keeps_acknowledged_messages(tmp_path: Path):
    known: dict[str, Acknowledged] = {}
    await asyncio.to_thread(kill_often, tmp_path / "s", known)
    assert await check(tmp_path / "s", known) > 5 * KILLS


async def test_a_session_killed_before_a_statement_keeps_acknowledged_messages(tmp_path: Path):
    words = [sys.executable, str(SCRIPT), "--statements", str(tmp_path / "s")]
    done = await asyncio.to_thread(subprocess.run, words, stdout=subprocess.PIPE, timeout=50)
    assert done.returncode == 0
    known: dict[str, Acknowledged] = {}
    lines = lines_of(done.stdout)
    hear(lines, known)
    assert lines[-1] == {"closed": True} and len(known) > 25
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
