"""Finding the running mcptuis, and asking at one."""

import asyncio
import os

import pytest

from tui.addons.up.running import Door, doors, result_of, running
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.runtime.local_socket import line_of, listening, removed, sockets_folder
from tui.runtime.runtime import Runtime


async def test_a_process_does_not_find_itself(runtime: Runtime):
    assert list(doors()) == running() == []


def test_an_error_is_raised_as_it_was_there_and_cleaned():
    for kind, expected in (("usage", UsageError), ("config", ConfigError), ("", McptuiError)):
        error = {"why": "no\x1b[2J", "where": "files", "next_step": "Try.", "kind": kind}
        with pytest.raises(expected) as caught:
            result_of({"error": error})
        assert caught.value.where == "files" and "\x1b" not in str(caught.value)
    assert result_of({"result": [1]}) == [1] and result_of({}) is None


async def ask_at(*lines: object) -> object:
    """Ask at a process that writes these lines and ends the connection."""
    path = sockets_folder("up") / f"app-{os.getpid() + 1}.sock"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for line in lines:
            writer.write(line if isinstance(line, bytes) else line_of(line))
        await reader.readline()
        writer.close()

    server = await asyncio.start_unix_server(answer, sock=listening(path))
    try:
        return await Door(path, {"pid": 7, "kind": "app"}).request("servers", {})
    finally:
        server.close()
        removed(path)


async def test_a_connection_that_ends_before_the_answer_is_an_unknown_outcome():
    with pytest.raises(McptuiError, match=r"^mcptui \(pid 7\) ended the connection.* unknown"):
        await ask_at({"version": "1"}, {"id": 1, "note": "working"})


async def test_one_that_refuses_was_asked_nothing():
    with pytest.raises(McptuiError, match=r"^mcptui \(pid 7\) refuses commands$"):
        await ask_at({"refused": "its user refuses commands"})


async def test_what_is_not_an_answer_has_no_result():
    assert await ask_at({"version": "1"}, b"garbage\n") is None


async def test_one_that_ends_while_it_asks_its_user_has_done_nothing():
    asks, answered = ({"id": 1, "note": {"wait": wait}} for wait in (True, False))
    with pytest.raises(McptuiError, match=r"^mcptui \(pid 7\) ended before its user answered, so nothing"):
        await ask_at({"version": "1"}, asks)
    with pytest.raises(McptuiError, match="outcome is unknown"):
        await ask_at({"version": "1"}, asks, answered)
