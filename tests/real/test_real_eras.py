"""Servers of each protocol revision since 2024-11-05: their offers are listed and their tools work."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.installed import (
    EVERYTHING,
    FETCH,
    GATEWAY,
    GIT,
    OLD_EVERYTHING,
    OLD_FILES,
    SQLITE,
    THINKING,
    needs,
)
from tests.real.places import free_port, served
from tests.real.reached import NAME, reached, text_of
from tui.core.servers import ServerSpec, Transport
from tui.core.tools import BinaryContent, ResourceContent

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

NEWEST = "2026-07-28"
REMOTE = Path(__file__).with_name("remote_server.py")


def spec(program: Path, *arguments: str, **env: str) -> ServerSpec:
    if missing := needs(program)[1:]:
        (mark,) = missing
        if mark.args[0]:
            pytest.skip(mark.kwargs["reason"])
    return ServerSpec(NAME, command=str(program), args=arguments, env=env)


async def test_the_everything_server_of_2024_is_called_and_its_resources_are_read():
    async with reached(spec(OLD_EVERYTHING)) as server:
        assert (await server.host.workbench.identity(NAME)).protocol == "2024-11-05"
        assert {"echo", "add", "longRunningOperation", "sampleLLM", "getTinyImage"} <= set(server.tools())
        assert "42" in await server.text("add", a=2, b=40)
        resources, _ = await server.host.workbench.resources(NAME)
        read = [await server.resource(f"test://static/resource/{number}") for number in (1, 2)]
    assert len(resources) > 100  # in pages of ten
    assert [type(one.content[0]) for one in read] == [ResourceContent, BinaryContent]


async def test_the_filesystem_server_of_2025_reads_only_allowed_directories(tmp_path: Path):
    (tmp_path / "hello.txt").write_text("hello from a file", encoding="utf-8")
    async with reached(spec(OLD_FILES, str(tmp_path))) as server:
        assert (await server.host.workbench.identity(NAME)).protocol == "2024-11-05"
        assert len(server.tools()) == 11
        assert await server.text("read_file", path=str(tmp_path / "hello.txt")) == "hello from a file"
        refused = await server.call("read_file", path="/etc/hostname")
    assert refused.is_error and "outside allowed directories" in text_of(refused)


async def test_the_sequential_thinking_server_counts_thoughts():
    thought = {"thought": "first", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    async with reached(spec(THINKING)) as server:
        assert json.loads(await server.text("sequentialthinking", **thought))["thoughtHistoryLength"] == 1
        assert any("first" in line for line in server.host.stderr(NAME))  # which it draws in a box


@pytest.fixture
def repository(tmp_path: Path) -> str:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "a.txt").write_text("a")
    return str(tmp_path)


async def test_the_git_server_shows_status_and_staged_changes(repository: str):
    async with reached(spec(GIT, "--repository", repository)) as server:
        assert len(server.tools()) == 12
        status = await server.text("git_status", repo_path=repository)
        await server.call("git_add", repo_path=repository, files=["a.txt"])
        staged = await server.text("git_diff_staged", repo_path=repository)
    assert "Untracked files" in status and "a.txt" in staged


async def test_the_fetch_server_refuses_a_local_address_with_an_error():
    async with reached(spec(FETCH)) as server:
        assert (await server.host.workbench.identity(NAME)).protocol == NEWEST
        refused = await server.call("fetch", url="http://127.0.0.1:9/")
    assert refused.is_error and text_of(refused)


async def test_the_sqlite_server_works_on_the_previous_sdk(tmp_path: Path):
    async with reached(spec(SQLITE, "--db-path", str(tmp_path / "db"))) as server:
        assert (await server.host.workbench.identity(NAME)).protocol == "2025-11-25"
        await server.call("create_table", query="CREATE TABLE notes (text TEXT)")
        await server.call("write_query", query="INSERT INTO notes VALUES ('hello')")
        assert "hello" in await server.text("read_query", query="SELECT * FROM notes")
        await server.call("append_insight", insight="notes are short")
        memo = await server.resource("memo://insights")
    assert "notes are short" in str(memo.content)


@pytest.fixture(scope="module")
def remote(shared_processes: set[int]) -> Iterator[ServerSpec]:
    port = free_port()
    with served([sys.executable, REMOTE], port, shared_processes):
        yield ServerSpec(NAME, transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")


async def test_a_server_on_the_current_sdk_works_over_http(remote: ServerSpec):
    progress: list[tuple[float, float | None, str]] = []
    async with reached(remote) as server:
        assert (await server.host.workbench.identity(NAME)).protocol == NEWEST
        added = await server.call("add", a=2, b=40)
        failed = await server.call("fail")
        counted = await server.host.workbench.call_tool(
            server.tools()["count"], {}, call="hand-6", seconds=20, progress=lambda *at: progress.append(at)
        )
        fixed, about = [await server.resource(uri) for uri in ("note://fixed", "note://Ada")]
        (prompt,), _ = await server.host.workbench.prompts(NAME)
        asked = await server.host.workbench.get_prompt(
            NAME, prompt.name, {"topic": "rain"}, call="hand-7", seconds=20
        )
    assert (text_of(added), added.structured, added.warning) == ("42", {"result": 42}, "")
    assert failed.is_error and "fail" in text_of(failed)
    assert text_of(counted) == "counted" and progress[-1] == (2, 2, "whole")  # which may replace the first
    assert "always there" in str(fixed.content) and "about Ada" in str(about.content)
    assert "Summarize rain." in str(asked.messages)


async def test_many_concurrent_calls_over_http_are_each_answered(remote: ServerSpec):
    async with reached(remote) as server:
        sums = await asyncio.gather(*(server.text("add", a=number, b=1) for number in range(50)))
    assert sums == [str(number + 1) for number in range(50)]


async def test_a_gateway_that_opens_its_upstream_with_whatever_comes_first_offers_all_tools():
    port = free_port()
    url = f"http://localhost:{port}/mcp"
    gateway = spec(GATEWAY, "--streamableHttp", url, "--outputTransport", "stdio")
    spec(EVERYTHING)
    with served([EVERYTHING, "streamableHttp"], port, set()):
        async with reached(gateway) as server:
            assert await server.text("echo", message="hello") == "Echo: hello"
            assert "get-roots-list" in server.tools()  # only offered to a client that has roots
