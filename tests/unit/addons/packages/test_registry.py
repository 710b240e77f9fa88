"""Choosing a package or remote of a registry entry. The rest is in tests/protocol."""

import asyncio
from dataclasses import replace

import pytest

from tests.http_server import Asked, reply
from tests.registry_server import registry_server
from tui.addons.packages import registry as registry_module
from tui.addons.packages.registry import Registry, _chosen
from tui.addons.packages.registry_entry import LaunchOption
from tui.commands.command_line import build_parser
from tui.core.errors import ServerError, UsageError

NPM, REMOTE, BROKEN = (
    LaunchOption("npm", "x 1"),
    LaunchOption("remote", "https://h"),
    LaunchOption("nuget", "x", problem="not supported"),
)


def test_an_unusable_package_or_remote_is_not_offered():
    assert _chosen([BROKEN, NPM], None, "n") is NPM
    with pytest.raises(UsageError, match="n cannot be used: not supported"):
        _chosen([BROKEN], None, "n")
    with pytest.raises(UsageError, match="n cannot be used:\n  not supported\n  too old"):
        _chosen([BROKEN, replace(BROKEN, problem="too old")], None, "n")
    with pytest.raises(UsageError, match="no package and no URL"):
        _chosen([], None, "n")


def test_the_package_or_remote_is_asked_for_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("tui.addons.packages.registry.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "2")
    assert _chosen([NPM, REMOTE], None, "n") is REMOTE
    assert "2  remote: https://h" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda prompt: "3")
    with pytest.raises(UsageError, match="nothing was chosen"):
        _chosen([NPM, REMOTE], None, "n")


def entry(name: str, **more: str) -> dict[str, str]:
    return {"name": f"io.example/{name}", "version": "1.0.0", "description": f"All about {name}.", **more}


async def test_a_search_requires_all_words_and_follows_all_pages():
    names = ["weather-a", "weather-b", "weather-c", "news"]
    async with registry_server(*map(entry, names)) as server:
        found = await Registry(server.url).search(["weather", "ABOUT"], 30)
        assert [one["server"]["name"] for one in found] == [f"io.example/{name}" for name in names[:3]]
        assert len(await Registry(f"{server.url}/").search(["weather"], 1)) == 1
        assert "search=weather&version=latest" in server.asked[0].path


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply(b"oops", "503 Service Unavailable"), "returned HTTP 503"),
        (reply(b"<html>", kind="text/html"), "did not return a JSON object"),
        (reply(b"[" * 100_000), "did not return a JSON object"),
        (reply({"servers": 5}), "has no list of servers"),
        (
            reply(b"", "302 Found", location="https://elsewhere.example/x?token=1"),
            "redirects to https://elsewhere",
        ),
        (
            b"HTTP/1.1 200 OK\r\nset-cookie: sid=token\0\r\n\r\n",
            "cannot connect: a header line of the response is not valid HTTP",
        ),
    ],
)
async def test_an_unusable_response_is_reported_in_one_sentence(answer: bytes, said: str):
    async with registry_server() as server:
        server.instead = answer
        with pytest.raises(ServerError, match=said) as caught:
            await Registry(server.url).search(["x"], 5)
        assert "token" not in str(caught.value)


async def test_an_endless_response_is_cut_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry_module, "MAX_BYTES", 1000)
    async with registry_server() as server:
        server.instead = reply(b" " * 2000)
        with pytest.raises(ServerError, match="more than"):
            await Registry(server.url).search(["x"], 5)


async def test_a_registry_that_never_responds_times_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry_module, "SECONDS", 0.1)
    async with registry_server() as server:

        async def silent(*_: object) -> None:
            pass

        server.answers["GET"] = silent
        with pytest.raises(ServerError, match="no response within"):
            await Registry(server.url).search(["x"], 5)


async def test_the_endless_body_of_a_redirect_is_not_read():
    sent = 0

    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 302 Found\r\nlocation: /v0.1/moved/x/versions/latest\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    async with registry_server(entry("news")) as server:
        server.once["GET"] = endless
        with pytest.raises(ServerError, match="returned HTTP 404"):
            await Registry(server.url).search(["news"], 5)
    assert sent < 32 * 2**20  # what fits into the buffers of the socket


@pytest.mark.parametrize(("bound", "most"), [("MAX_ENTRIES", 1000), ("MAX_PAGES", 2)])
async def test_an_endless_registry_is_read_to_a_limit(monkeypatch: pytest.MonkeyPatch, bound: str, most: int):
    monkeypatch.setattr(registry_module, bound, most)
    pages = 0

    def endless(asked: Asked) -> bytes:
        nonlocal pages
        pages += 1
        return reply({"servers": [{"server": entry("news")}] * 600, "metadata": {"nextCursor": str(pages)}})

    async with registry_server() as server:
        monkeypatch.setattr(server, "usual", endless)
        registry = Registry(server.url)
        assert await registry.search(["weather"], 5) == []
        assert (pages, registry.is_cut) == (2, True)
        assert len(await registry.search(["news"], 1)) == 1
        assert not registry.is_cut


@pytest.mark.parametrize("version", ["latest", "1.0.0"])
async def test_an_entry_with_another_name_or_version_is_refused(version: str):
    async with registry_server() as server:
        client = Registry(server.url)
        server.instead = reply({"server": entry("evil")})
        with pytest.raises(ServerError, match="returned the server “io"):
            await client.server("io.example/news", version)
        server.instead = reply({"server": entry("News", version="1.0.1")})
        if version == "latest":
            assert await client.server("io.example/news", version)
            return
        with pytest.raises(ServerError, match="returned the version “1"):
            await client.server("io.example/news", version)


@pytest.mark.parametrize("limit", ["0", "x", "-1", "1000001"])
def test_a_limit_must_be_an_integer(limit: str):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["search", "x", f"--limit={limit}"])
