"""The common part of all remote transports: ending, stopping, and showing the address."""

import asyncio

import pytest

from tests.conftest import until
from tests.hosts import called, far, running
from tests.http_server import MODERN, http_server, reply
from tests.unit.host.client import Client
from tests.unit.host.transports.test_streamable_http import Sink, remote
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerState
from tui.host.frames.link import RequestError
from tui.host.passthrough.learned_secrets import MAX_AT_ONCE
from tui.host.transports.http_faults import HttpFault


async def test_a_stop_drops_pending_calls_and_ends_the_session():
    async def hold(asked, writer):
        await writer.wait_closed()

    sink = Sink()
    async with http_server(modern=False, answers={"tools/call": hold}) as server:
        async with Client(remote(server, sink)) as client:
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: "tools/call" in server.methods())
        with pytest.raises(RequestError, match="Connection closed"):
            await call
        assert server.asked[-1].verb == "DELETE"
    assert [one["event"] for one in (sink.events("connect") + sink.events("stop"))] == ["connect", "stop"]


async def test_a_server_that_holds_the_last_request_does_not_delay_the_stop(monkeypatch):
    monkeypatch.setattr("tui.host.transports.remote.CLOSE_SECONDS", 0.1)

    async def hold(asked, writer):
        await writer.wait_closed()

    async with http_server(modern=False, answers={"DELETE": hold}) as server:
        async with asyncio.timeout(20), Client(remote(server)) as client:
            await client.list_tools()


async def test_pending_calls_fail_with_the_reason_before_the_connection_ends():
    async def hold(asked, writer):
        await writer.wait_closed()

    async with http_server(answers={"tools/call": hold}) as server:
        async with Client(transport := remote(server)) as client:
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: "tools/call" in server.methods())
            transport.end(HttpFault("it is over.", next_step="Go home."))
            with pytest.raises(RequestError, match=r"it is over\. Go home\."):
                await call
            await transport.exited.wait()
    assert (transport.fatal, transport.next_step) == ("it is over.", "Go home.")


async def test_a_secret_in_the_address_is_not_shown():
    async with http_server() as server:
        server.path = "/mcp?api_key=s3cr3t"
        transport = remote(server)
    assert transport.reach.where.endswith("/mcp?api_key=[redacted:api_key]")
    assert (transport.pid, transport.exit) == (None, None)


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "400 Bad Request"])
async def test_a_slow_modern_server_is_still_recognized(status, monkeypatch):
    monkeypatch.setattr("tui.host.transports.streamable_http.StreamableHttp.probe_seconds", 0.1)
    asked = asyncio.Event()

    async def late(asked_for, writer):
        await asked.wait()
        writer.write(server.usual(asked_for))

    async def refuse(asked_for, writer):
        error = {"code": -32601, "message": "Method not found"}
        refusal = reply({"jsonrpc": "2.0", "id": asked_for.message["id"], "error": error}, status)
        if status == "400 Bad Request":
            refusal = reply(b"Missing MCP-Protocol-Version header", status, "text/plain")
        writer.write(refusal)
        await writer.drain()
        asked.set()

    async with http_server(answers={"server/discover": late, "initialize": refuse}) as server:
        async with running(far(server)) as host:
            assert host.status("far").protocol == MODERN
        assert server.methods().count("server/discover") == 1


async def test_a_slow_server_known_to_be_modern_gets_no_handshake(monkeypatch):
    monkeypatch.setattr("tui.host.transports.streamable_http.StreamableHttp.probe_seconds", 0.05)

    async def late(asked_for, writer):
        await asyncio.sleep(0.2)
        writer.write(server.usual(asked_for))

    async with http_server() as server, running(far(server)) as host:
        server.answers["server/discover"] = late
        await host.restart("far")
        assert host.status("far").protocol == MODERN
    assert "initialize" not in server.methods()


@pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])
async def test_a_server_that_sends_more_cookies_than_can_be_redacted_is_cut_off_before_it_repeats_one(modern):
    async def answer(asked, writer):
        cookies = "".join(f"set-cookie: c=canary-{number}\r\n" for number in range(MAX_AT_ONCE + 1))
        said = {"jsonrpc": "2.0", "id": asked.message["id"]}
        body = {
            **said,
            "result": {"resultType": "complete", "content": [{"type": "text", "text": "canary-7"}]},
        }
        writer.write(reply(body).replace(b"\r\n", f"\r\n{cookies}".encode(), 1))
        await writer.drain()

    sink = Sink()
    async with http_server(modern=modern, answers={"tools/call": answer}) as server:
        async with running(far(server), sink=sink, redactor=Redactor()) as host:
            result = await called(host)
            await until(lambda: host.status("far").state is ServerState.STOPPED)
            assert result.is_error and "canary" not in repr(result)
            assert "different cookies, session IDs and tokens" in repr(host.status("far"))
    assert "canary" not in repr(sink)
