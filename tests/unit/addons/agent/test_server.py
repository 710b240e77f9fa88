"""`mcptui agent` as a process, with the SDK's client, in both eras."""

import asyncio
import json
import os
import signal
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import until
from tests.terminal.forking_python import Python
from tests.unit.addons.agent.agent_stage import NAME, connected, files, keep, text_of
from tests.unit.traffic.traffic_script import Script
from tui.addons.agent.answer import Answer
from tui.addons.agent.context import AgentContext
from tui.addons.agent.server import Handlers
from tui.commands.recordings import about, open_entries, recordings
from tui.core.traffic import Direction

ERAS = ("legacy", "auto")


def failing() -> Script:
    script = files(2)
    script.error(script.out("tools/call", {"name": "read", "arguments": {"path": 7}}), -32603, "no such path")
    return script


@pytest.mark.parametrize("mode", ERAS)
async def test_an_agent_finds_and_reads_a_failure(mode: str):
    keep(failing())
    async with connected(mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"recordings", "find_entries", "read_entry", "explain", "lint", "statistics"} <= tools
        assert {"slowest", "turn", "compare"} <= tools
        said = text_of(await client.call_tool("explain", {}))
        assert "1 failed, cancelled or unanswered" in said and "no such path" in said
        found = await client.call_tool("find_entries", {"limit": 2})
        assert not found.is_error and found.meta["mcptui/next"] == {"limit": 2, "cursor": 10}
        wrong = await client.call_tool("find_entries", {"filter": "status:faled"})
        assert wrong.is_error and "Did you mean failed?" in text_of(wrong)
        unknown = await client.call_tool("find", {})
        assert unknown.is_error and "Tools: recordings, find_entries" in text_of(unknown)


@pytest.mark.parametrize("mode", ERAS)
async def test_resources_and_prompts_are_served(mode: str):
    keep(failing())
    async with connected(mode=mode) as client:
        uris = [str(one.uri) for one in (await client.list_resources()).resources]
        assert f"mcptui://recordings/{NAME}" in uris
        templates = (await client.list_resource_templates()).resource_templates
        assert "mcptui://recordings/{name}/entries/{entry}" in [one.uri_template for one in templates]
        read = await client.read_resource(f"mcptui://recordings/{NAME}/entries/11")
        assert "no such path" in read.contents[0].text
        assert len((await client.list_prompts()).prompts) == 2
        prompt = await client.get_prompt("why_did_this_fail", {})
        assert "no such path" in prompt.messages[0].content.text


async def test_the_agent_is_recorded_and_its_recording_is_marked_and_not_read():
    keep(failing())
    async with connected() as client:
        await client.call_tool("find_entries", {"filter": "body:told-by-the-agent"})
        assert "0 of 11 entries" in text_of(
            await client.call_tool("find_entries", {"filter": "body:told-by-the-agent"})
        )
    (own,) = [one for one in map(about, recordings().list()) if one.command == "agent"]
    assert own.of == "mcptui agent"
    with open_entries(own.kept.path) as recording:
        entries = list(recording.entries())
    calls = [one for one in entries if one.method == "tools/call" and one.direction is Direction.OUT]
    assert [one.tool for one in calls] == ["find_entries", "find_entries"]
    assert {one.source for one in entries} == {"mcptui"}


async def test_nothing_is_recorded_if_the_configuration_says_so(separate_home: Any):
    (separate_home / "config" / "mcptui").mkdir(parents=True)
    (separate_home / "config" / "mcptui" / "config.toml").write_text("[traffic]\nrecord = false\n")
    keep(failing())
    async with connected() as client:
        await client.call_tool("explain", {})
    assert [one.name for one in recordings().list()] == [NAME]


async def test_nothing_is_recorded_before_the_first_question():
    async with connected() as client:
        await client.list_tools()
    assert list(recordings().list()) == []


async def test_a_client_that_wants_progress_gets_it_while_it_waits(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("tui.addons.agent.server.PROGRESS_SECONDS", 0.01)
    told: list[str | None] = []

    async def report_progress(number: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def work() -> Answer:
        await until(lambda: len(told) > 1)
        return Answer(["done"])

    about = SimpleNamespace(session=SimpleNamespace(report_progress=report_progress))
    with closing(AgentContext(None, None)) as context:
        assert (await Handlers(context, None)._told(about, work())).parts == ["done"]
    assert set(told) == {"Waiting for the user or the server."}


async def started(*options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(Python.command, "-m", "tui", "agent", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(os.environ),
    )


async def talk(*lines: str, options: tuple[str, ...] = ()) -> tuple[bytes, bytes, int]:
    """Return what the process writes for lines on its stdin, and its exit code."""
    process = await started(*options)
    out, err = await asyncio.wait_for(process.communicate("".join(lines).encode()), 60)
    return out, err, process.returncode or 0


INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INFO}) + "\n"


async def begun() -> asyncio.subprocess.Process:
    """Return a process that has answered the handshake."""
    process = await started()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(HELLO.encode())
    assert b'"id":1' in await asyncio.wait_for(process.stdout.readline(), 60)
    return process


async def test_stdout_has_only_messages_and_the_end_of_stdin_ends_it():
    keep(files())
    out, _, code = await talk("no message\n", HELLO)
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [one["id"] for one in answers if "result" in one] == [1]


async def test_a_recording_that_does_not_exist_is_an_error_before_anything_is_served():
    out, err, code = await talk(options=("--recording", "nope"))
    assert (out, code) == (b"", 2) and b"recording not found" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_in_order(number: signal.Signals):
    keep(files())
    process = await begun()
    process.send_signal(number)
    _, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, err) == (128 + number, b"")


async def test_a_client_that_closed_the_output_ends_it():
    keep(files())
    process = await begun()
    assert process.stdin is not None and process.stdout is not None
    process._transport.get_pipe_transport(1).close()
    process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
    assert await asyncio.wait_for(process.wait(), 30) == 141
    process.stdin.close()


@pytest.mark.parametrize("text", [None, "[servers"])
async def test_a_configuration_that_cannot_be_read_is_an_error(text: str | None, tmp_path: Path):
    config = tmp_path / "mine.toml"
    if text is not None:
        config.write_text(text)
    out, err, code = await talk(HELLO, options=("--config", str(config)))
    assert (out, code) == (b"", 2) and b"mine.toml" in err and b"Internal error" not in err
