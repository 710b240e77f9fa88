"""Subscriptions to resources, in both eras, across interruptions."""

from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.hosts import far, running
from tests.http_server import STREAM, Asked, HttpServer, event
from tests.protocol.test_list_changes import HurriedClock, Stage, both_eras, modern
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import WebSocketServer
from tui.core.servers import ServerState, Transport
from tui.host.frames import reconnection


@pytest.fixture
async def stage(era, tmp_path):
    made = Stage(era, tmp_path / "steering.json")
    yield made
    await made.host.shutdown()


def updates(stage, uri="memo://r1"):
    return stage.host.workbench.subscriptions("srv")[uri].updates


async def subscribe(stage):
    """Subscribe, and wait until the server has received it."""
    assert stage.host.workbench.subscribe("srv", "memo://r1") == ""
    wanted = (
        "resources/subscribe" if stage.state["era"] == "legacy" else '"resourceSubscriptions": ["memo://r1"]'
    )
    await until(lambda: stage.count(wanted) >= 1)


async def say_updated(stage, uri="memo://r1"):
    await stage.call("say", method="notifications/resources/updated", uri=uri)


@both_eras
async def test_only_updates_of_subscribed_resources_are_counted(stage):
    await stage.start()
    await subscribe(stage)
    await say_updated(stage, "memo://r2")
    await say_updated(stage)
    await until(lambda: updates(stage) == 1)


@both_eras
async def test_unsubscribing_is_sent_and_removes_the_subscription(stage):
    await stage.start()
    await subscribe(stage)
    stage.host.workbench.unsubscribe("srv", "memo://r1")
    wanted = '"resources/unsubscribe"' if stage.state["era"] == "legacy" else "notifications/cancelled"
    await until(lambda: stage.count(wanted) >= 1)
    assert stage.host.workbench.subscriptions("srv") == {}


@both_eras
async def test_a_restarted_server_gets_its_subscriptions_again_and_they_count_as_updated(stage):
    await stage.start()
    await subscribe(stage)
    await stage.host.restart("srv")
    await until(lambda: updates(stage) == 1)
    await say_updated(stage)
    await until(lambda: updates(stage) >= 2)


@modern
async def test_a_change_stream_that_ends_is_reopened_with_the_subscriptions(stage):
    await stage.start()
    stage.host.workbench.subscribe("srv", "memo://r1")
    await stage.streams_open(2)
    await stage.call("end", how="result")
    await until(lambda: updates(stage) == 1)
    await say_updated(stage)
    await until(lambda: updates(stage) == 2)


@both_eras
async def test_the_reason_for_a_refused_subscription_is_kept(stage):
    stage.steer(refusing=["memo://r1"])
    await stage.start()
    stage.host.workbench.subscribe("srv", "memo://r1")
    said = "The server rejected it." if stage.state["era"] == "modern" else "error -32602: not that one"
    await until(lambda: said in stage.host.workbench.subscriptions("srv")["memo://r1"].problem)


@both_eras
async def test_subscribing_fails_for_a_stopped_server_and_for_one_without_support(stage):
    stage.steer(offers=["tools"])
    await stage.start()
    said = "The server “srv” does not support resource subscriptions."
    assert stage.host.workbench.subscribe("srv", "memo://r1") == said
    await stage.host.stop("srv")
    assert stage.status.state is ServerState.STOPPED
    assert "not running" in stage.host.workbench.subscribe("srv", "memo://r1")
    assert stage.host.workbench.subscriptions("srv") == {}
    assert stage.host.workbench.subscriptions("unknown") == {}


# ---- over HTTP ----

URI = "memo://r1"


class Memos(HttpServer):
    """A remote server with a resource that can be subscribed to."""

    def result(self, asked):
        found = super().result(asked)
        if found is not None and "capabilities" in found:
            found["capabilities"] = {"tools": {}, "resources": {"subscribe": True}, "logging": {}}
        if asked.method in ("resources/subscribe", "logging/setLevel"):
            return {}
        return {"resources": []} if asked.method == "resources/list" else found


@asynccontextmanager
async def subscribed(server, transport):
    """A host that has subscribed to the resource of a server."""
    await server.start()
    spec = far(server, transport, name="srv", log_level="debug")
    try:
        async with running(spec, clock=HurriedClock()) as host:
            assert host.workbench.subscribe("srv", URI) == ""
            yield host
    finally:
        await server.stop()


@asynccontextmanager
async def remote(**how):
    server = Memos(**how)
    async with subscribed(server, Transport.HTTP) as host:
        yield server, host


async def test_a_reopened_session_gets_its_subscriptions_and_log_level_again():
    async with remote(modern=False) as (server, host):
        await until(lambda: server.methods().count("resources/subscribe") == 1)
        await until(lambda: server.methods().count("logging/setLevel") == 1)
        server.sessions.clear()
        tool = host.workbench.tools("srv")[0]
        await host.workbench.call_tool(tool, {}, call="hand-1", seconds=10, progress=lambda *_: None)
        await until(lambda: server.methods().count("resources/subscribe") == 2)
        await until(lambda: server.methods().count("logging/setLevel") == 2)
        assert host.workbench.subscriptions("srv")[URI].updates == 1


async def test_a_reopened_http_sse_stream_gets_its_subscriptions_again():
    server = Memos(modern=False)
    stream = SseServer(server)
    server.answers |= dict.fromkeys(("resources/subscribe", "logging/setLevel"), stream.answer)
    async with subscribed(server, Transport.SSE) as host:
        await until(lambda: server.methods().count("resources/subscribe") == 1)
        stream.streams[-1].write(b"retry: 10\ndata:\n\n")
        stream.drop()
        await until(lambda: server.methods().count("resources/subscribe") == 2)
        await until(lambda: server.methods().count("logging/setLevel") == 2)
        await until(lambda: host.workbench.subscriptions("srv")[URI].updates == 1)


async def test_a_reopened_websocket_gets_its_subscriptions_again(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)

    async def usual(peer, message):
        result = Memos(modern=False).result(Asked("POST", "", {}, message))
        peer.say({"jsonrpc": "2.0", "id": message["id"], "result": result})

    known = ("initialize", "resources/list", "resources/subscribe", "logging/setLevel")
    server = WebSocketServer(modern=False, answers=dict.fromkeys(known, usual))

    def count(method):
        return [one.get("method") for one in server.asked].count(method)

    async with subscribed(server, Transport.WEBSOCKET) as host:
        await until(lambda: count("resources/subscribe") == 1)
        server.peers[-1].writer.transport.abort()
        await until(lambda: count("resources/subscribe") == 2)
        await until(lambda: count("logging/setLevel") == 2)
        await until(lambda: host.workbench.subscriptions("srv")[URI].updates == 1)


async def test_a_dropped_http_stream_is_reopened_with_the_subscriptions():
    streams = []

    async def listen(asked, writer):
        wanted = asked.message["params"]["notifications"]
        stamp = {"_meta": {"io.modelcontextprotocol/subscriptionId": asked.message["id"]}}
        told = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}
        writer.write(STREAM + b"\r\n" + event(told | {"params": {"notifications": wanted} | stamp}))
        streams.append((wanted, stamp, writer))

    async with remote(answers={"subscriptions/listen": listen}) as (_, host):
        await until(lambda: len(streams) == 1)
        streams[0][2].close()
        await until(lambda: len(streams) == 2 and host.workbench.subscriptions("srv")[URI].updates == 1)
        wanted, stamp, writer = streams[1]
        assert wanted["resourceSubscriptions"] == [URI]
        told = {"jsonrpc": "2.0", "method": "notifications/resources/updated"}
        writer.write(event(told | {"params": {"uri": URI} | stamp}))
        await until(lambda: host.workbench.subscriptions("srv")[URI].updates == 2)
