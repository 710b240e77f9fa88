"""Whatever a server does with the probe, `initialize` is tried; the configured era, and one that changes."""

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import session
from wsproto.events import CloseConnection

from tests.hosts import called, far, running
from tests.http_server import LEGACY, MODERN, STREAM, event, http_server, reply, says
from tests.protocol.command import mcptui
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import websocket_server
from tui.core.eras import Era, KnownEras, era_key
from tui.core.permission.definitions import KnownDefinitions
from tui.core.servers import EraChoice, ServerSpec, ServerState, StopReason, Transport
from tui.core.traffic import Direction
from tui.host.server.host_context import Remembered
from tui.settings.state.server_memory import stored_eras

GATEWAY = str(Path(__file__).with_name("gateway_server.py"))


def memory():
    """Return what outlives a run: eras, and accepted definitions."""
    return Remembered(eras=KnownEras(), definitions=KnownDefinitions())


@asynccontextmanager
async def started(spec, remembered=None):
    """Yield a host that has started the server, and the methods that it sends."""
    sent = []

    def note(captured):
        if captured.direction is Direction.OUT and captured.raw:
            message = json.loads(captured.raw)
            sent.extend([message["method"]] if "method" in message and "id" in message else [])

    async with running(spec, sink=note, remembered=remembered or memory()) as host:
        yield host, sent


def near(*how, **spec):
    return ServerSpec("near", sys.executable, (GATEWAY, *how), **spec)


def shown(host):
    (status,) = host.statuses()
    return status.state, status.protocol


OLDER = (ServerState.RUNNING, LEGACY)
NEWER = (ServerState.RUNNING, MODERN)


def answer(**message):
    """Return an answerer with a JSON-RPC message that has the id of the request, unless it names another."""

    async def write(asked, writer):
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], **message}))

    return write


ANSWERS = {
    "202": says(reply(b"", "202 Accepted", "")),
    "202 text": says(reply(b"Accepted", "202 Accepted", "text/plain")),
    "204": says(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "empty": says(reply(b"")),
    "empty, no type": says(reply(b"", kind="")),
    "blank": says(reply(b" \n")),
    "html": says(reply(b"<html><title>Hello</title></html>", kind="text/html")),
    "text": says(reply(b"ok", kind="text/plain")),
    "json": says(reply({"status": "ok"})),
    "object": says(reply({})),
    "array": says(reply(b"[]")),
    "null": says(reply(b"null")),
    "number": says(reply(b"1")),
    "half": says(reply(b'{"jsonrpc": "2.0", "id"')),
    "not utf-8": says(reply(b"\xff\xfe\x00")),
    "wrong id": answer(id=9),
    "null result": answer(result=None),
    "empty result": answer(result={}),
    "odd versions": answer(result={"supportedVersions": "2026-07-28", "capabilities": {}}),
    "no versions": answer(result={"supportedVersions": [], "capabilities": {}}),
    "result and error": answer(result={}, error={"code": 1, "message": "no"}),
    "error": answer(error={"code": -32601, "message": "Method not found"}),
    "error without id": answer(id=None, error={"code": -32700, "message": "Parse error"}),
    "notification": answer(id=9, method="notifications/message", params={}),
    "empty stream": says(STREAM + b"\r\n", close=True),
    "stream without answer": says(STREAM + b"\r\n: hello\n\n", close=True),
    "stream with another answer": says(STREAM + b"\r\n" + event({"jsonrpc": "2.0", "id": 9}), close=True),
    "resumable stream": says(STREAM + b"\r\nid: 1\ndata:\n\n", close=True),
    "redirect": says(reply(b"", "302 Found", "", location="/login")),
    "redirect away": says(reply(b"", "307 Temporary Redirect", "", location="http://127.0.0.1:9/mcp")),
    **{
        str(status): says(reply(b"no", f"{status} No", "text/plain"))
        for status in (400, 404, 405, 406, 410, 411, 413, 415, 422, 426, 500, 501, 502, 503, 504, 520)
    },
    "409 json": says(reply({"error": "no"}, "409 Conflict")),
    "500 error": says(
        reply({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "no"}}, "500 No")
    ),
    "closed": says(b"", close=True),
    "half a head": says(b"HTTP/1.1 200 OK\r\ncontent-", close=True),
    "half a body": says(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", close=True),
    "not http": says(b"hello\r\n\r\n", close=True),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_initialize_follows_an_answer_to_the_probe_that_is_not_modern(name):
    async with http_server(modern=False, answers={"server/discover": ANSWERS[name]}) as server:
        async with started(far(server)) as (host, sent):
            assert shown(host) == OLDER, host.status("far").detail
            assert sent[:2] == ["server/discover", "initialize"]


@pytest.mark.parametrize("name", ["202", "empty", "html", "500", "closed", "empty stream"])
async def test_initialize_is_sent_in_another_connection_if_it_is_rejected_after_the_probe(name):
    refusals = {"server/discover": ANSWERS[name]}
    async with http_server(modern=False, answers=refusals, once={"initialize": ANSWERS[name]}) as server:
        known = memory()
        async with started(far(server), known) as (host, sent):
            assert shown(host) == OLDER, host.status("far").detail
            assert sent[:3] == ["server/discover", "initialize", "initialize"]
            assert known.eras.find(era_key(far(server))) == Era(modern=False, version="1")


@pytest.mark.parametrize("status", [401, 403, 429])
async def test_a_rejection_that_has_nothing_to_do_with_the_era_ends_the_start(status):
    refusal = says(reply(b"no", f"{status} No", "text/plain"))
    async with http_server(modern=False, answers={"server/discover": refusal}) as server:
        async with started(far(server)) as (host, sent):
            assert host.status("far").reason is StopReason.FAILED_TO_START
            assert sent == ["server/discover"]


async def test_an_address_where_nobody_listens_is_tried_once():
    async with http_server() as server:
        spec = far(server)
    async with started(spec) as (host, sent):
        status = host.status("far")
        assert status.detail == f"cannot connect to http://127.0.0.1:{server.port}: Connection refused."
        assert status.next_step.startswith("Check the URL") and status.reach.answers is False
        assert sent == ["server/discover"]


async def test_a_failing_probe_does_not_hide_an_error_of_initialize():
    both = {"server/discover": ANSWERS["500"], "initialize": ANSWERS["502"]}
    async with http_server(modern=False, answers=both) as server:
        async with started(far(server)) as (host, sent):
            assert host.status("far").detail.startswith("HTTP 502 (Bad Gateway)")
            assert sent == ["server/discover", "initialize", "initialize"]


async def test_a_websocket_that_is_closed_after_the_probe_is_opened_again_with_initialize():
    async def leave(peer, message):
        peer.send(CloseConnection(code=1002))

    async with websocket_server(modern=False, answers={"server/discover": leave}) as server:
        async with started(far(server, Transport.WEBSOCKET)) as (host, sent):
            assert shown(host) == OLDER, host.status("far").detail
            assert sent[-2:] == ["initialize", "tools/list"]


@pytest.mark.parametrize("name", ["closed", "202", "500", "html"])
async def test_an_sse_server_that_drops_the_stream_at_the_probe_is_opened_again(name):
    async with http_server(modern=False) as server:
        streams = SseServer(server)

        async def leave(asked, writer):
            await ANSWERS[name](asked, writer)
            streams.drop()

        server.answers["server/discover"] = leave
        async with started(far(server, Transport.SSE)) as (host, sent):
            assert shown(host) == OLDER, host.status("far").detail
            assert sent[:2] == ["server/discover", "initialize"]


@pytest.mark.parametrize("status", [401, 403, 429])
async def test_a_rejected_probe_over_sse_that_has_nothing_to_do_with_the_era_ends_the_start(status):
    async with http_server(modern=False) as server:
        SseServer(server)
        server.answers["server/discover"] = says(reply(b"no", f"{status} No", "text/plain"))
        async with started(far(server, Transport.SSE)) as (host, sent):
            assert host.status("far").reason is StopReason.FAILED_TO_START
            assert sent == ["server/discover"]


@pytest.mark.parametrize("kind", ["error", "dies", "closes", "offers"])
async def test_a_process_that_rejected_the_probe_is_replaced_by_one_that_is_opened_with_initialize(kind):
    known = memory()
    async with started(near(kind), known) as (host, sent):
        assert shown(host) == OLDER, host.status("near").detail
        assert sent == ["server/discover", "initialize", "tools/list"]
        assert host.status("near").tools == 2
    async with started(near(kind), known) as (host, sent):
        assert sent[0] == "initialize"


@pytest.mark.parametrize("kind", ["error", "dies", "closes"])
async def test_initialize_is_sent_to_another_process_if_it_is_rejected_after_the_probe(kind, monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    async with started(near(kind, "silent")) as (host, sent):
        assert shown(host) == OLDER, host.status("near").detail
        assert sent == ["server/discover", "initialize", "initialize", "tools/list"]


async def test_a_silent_server_that_accepts_initialize_keeps_its_process(monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    async with started(near("offers", "silent")) as (host, sent):
        assert shown(host) == OLDER
        assert sent == ["server/discover", "initialize", "tools/list"]


async def test_what_a_gateway_that_ignored_the_probe_lists_later_is_accepted_once(monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    known = memory()
    for tools in (1, 2):
        async with started(near("offers", "silent"), known) as (host, _):
            status = host.status("near")
            assert (status.tools, status.withheld, status.changes) == (tools, 0, 0)


async def test_tools_listed_in_the_first_run_of_a_gateway_are_those_of_later_runs(tmp_path):
    config = tmp_path / "config.toml"
    args = json.dumps([GATEWAY, "offers"])
    config.write_text(f"[servers.near]\ncommand = {json.dumps(sys.executable)}\nargs = {args}\n")
    for _ in range(2):
        done = await mcptui("servers", "--json", "--config", str(config))
        (status,) = json.loads(done.out)
        assert (status["tools"], status["changed_definitions"]) == (2, 0)


async def test_a_configured_era_needs_no_probe():
    async with started(near("error", era=EraChoice.LEGACY)) as (host, sent):
        assert shown(host) == OLDER
        assert sent[0] == "initialize" and "server/discover" not in sent


async def test_a_configured_era_is_stronger_than_the_remembered_one_and_does_not_change_it():
    async with http_server() as server:
        known, spec = memory(), far(server)
        known.eras.connected(era_key(spec), Era(modern=False))
        async with started(far(server, era=EraChoice.MODERN), known) as (host, sent):
            assert shown(host) == NEWER
            assert sent[0] == "server/discover"
        assert known.eras.find(era_key(spec)) == Era(modern=False)


@pytest.mark.parametrize(
    "name", ["202", "404", "500", "closed", "error", "no versions", "empty stream", "html"]
)
async def test_a_server_configured_as_modern_gets_no_initialize_and_the_error_says_why(name):
    async with http_server(modern=False, answers={"server/discover": ANSWERS[name]}) as server:
        async with started(far(server, era=EraChoice.MODERN)) as (host, sent):
            status = host.status("far")
            assert status.reason is StopReason.FAILED_TO_START
            assert status.detail.endswith('initialize was not tried because era is "modern".')
            assert sent == ["server/discover"]


@pytest.mark.parametrize("kind", ["error", "dies"])
async def test_a_process_configured_as_modern_gets_no_initialize(kind):
    async with started(near(kind, era=EraChoice.MODERN)) as (host, sent):
        detail = "it responded to server/discover with an error: Method not found. initialize was not tried"
        assert host.status("near").detail.startswith(detail)
        assert sent == ["server/discover"]


async def test_a_modern_server_configured_as_legacy_is_not_probed_and_the_error_says_why():
    async with http_server() as server:
        async with started(far(server, era=EraChoice.LEGACY)) as (host, sent):
            detail = host.status("far").detail
            assert detail.endswith('server/discover was not tried because era is "legacy".')
            assert sent == ["initialize"]


SERVER = str(Path(__file__).with_name("steered_server.py"))


@pytest.fixture
def steer(tmp_path):
    path = tmp_path / "steering.json"

    def write(**state):
        path.write_text(json.dumps({"tools": ["say"], **state}))
        return path

    return write


@pytest.fixture
async def host(hosting, steer):
    return await hosting(ServerSpec("steered", sys.executable, (SERVER, str(steer(era="legacy")))))


def states(host):
    status = host.status("steered")
    return status.state, status.protocol


async def test_a_server_upgraded_to_the_modern_era_is_recognized_at_its_restart(host, steer):
    assert states(host) == (ServerState.RUNNING, "2025-11-25")
    steer(era="modern")
    await host.restart("steered")
    assert states(host) == (ServerState.RUNNING, "2026-07-28")


async def test_a_server_downgraded_to_the_legacy_era_is_recognized_at_its_restart(host, steer):
    steer(era="modern")
    await host.restart("steered")
    steer(era="legacy")
    await host.restart("steered")
    assert states(host) == (ServerState.RUNNING, "2025-11-25")


async def test_the_reason_of_a_failed_start_is_cleared_once_the_server_runs(host, steer):
    steer(era="dies")
    await host.restart("steered")
    assert host.status("steered").failed
    steer(era="legacy")
    await host.start("steered")
    assert (host.status("steered").state, host.status("steered").reason) == (ServerState.RUNNING, None)


async def requests_of(spec, book):
    """Return the methods that a host with these memories sends in one start."""
    async with started(spec, Remembered(eras=book)) as (host, sent):
        assert host.status(spec.name).state is ServerState.RUNNING
    return sent


def steered(path):
    return ServerSpec("steered", sys.executable, (SERVER, str(path)))


async def test_a_server_with_a_handshake_is_probed_only_in_the_first_run(steer, tmp_path):
    spec, path = steered(steer(era="legacy")), tmp_path / "eras.json"
    first = stored_eras(path)
    assert (await requests_of(spec, KnownEras(first)))[:2] == ["server/discover", "initialize"]
    first.close()
    assert "server/discover" not in await requests_of(spec, KnownEras(stored_eras(path)))


async def test_a_wrong_remembered_era_costs_one_more_process(steer):
    spec, book = steered(steer(era="legacy")), KnownEras()
    await requests_of(spec, book)
    steer(era="modern")
    assert (await requests_of(spec, book))[:2] == ["initialize", "server/discover"]
    assert (await requests_of(spec, book))[0] == "server/discover"


@pytest.fixture
def slow(tmp_path):
    """Return the spec of a modern server that takes some seconds to start, and some for each probe."""

    def spec(*, start=0.0, probe=0.0, tools=("say",)):
        script = tmp_path / "slow.py"
        script.write_text(
            "import sys, time\n"
            "sys.argv[:] = sys.argv[1:]\n"
            f"sys.path.insert(0, {str(Path(SERVER).parent)!r})\n"
            "import steered_server\n"
            "usual = steered_server.answer\n"
            "def late(method, params, ident):\n"
            f"    time.sleep({probe} if method == 'server/discover' else 0)\n"
            "    return usual(method, params, ident)\n"
            "steered_server.answer = late\n"
            f"time.sleep({start})\n"
            "steered_server.main()\n"
        )
        steering = tmp_path / "steering.json"
        steering.write_text(json.dumps({"era": "modern", "tools": list(tools)}))
        return ServerSpec("slow", sys.executable, (str(script), SERVER, str(steering)))

    return spec


async def test_a_slow_modern_server_starts_every_time_and_its_era_is_kept(slow, monkeypatch):
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    spec, book = slow(probe=0.4), KnownEras()
    asked = [(await requests_of(spec, book))[:3] for _ in range(4)]
    assert asked[0][:2] == ["server/discover", "initialize"]
    assert all(methods[0] == "server/discover" and "initialize" not in methods for methods in asked[1:])
    assert book.find(spec.digest()) == Era(modern=True, version="1")


async def test_a_slow_modern_server_is_probed_once(slow, monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    assert (await requests_of(slow(probe=0.4), KnownEras())).count("server/discover") == 1


async def test_a_modern_server_that_is_slow_once_keeps_its_era(slow, monkeypatch):
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    spec, book = slow(), KnownEras()
    book.connected(spec.digest(), Era(modern=True, version="1"))
    for start in (0.4, 0.0):
        slow(start=start)
        assert "initialize" not in await requests_of(spec, book)
    assert book.find(spec.digest()) == Era(modern=True, version="1")


async def test_a_tool_added_to_a_slow_modern_server_after_its_first_run_is_not_accepted(slow, monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    known = memory()
    for tools, changes in ((["say"], 0), (["say", "more"], 1)):
        async with started(slow(probe=0.4, tools=tools), known) as (host, _):
            await called(host, method="notifications/message")
            assert host.status("slow").changes == changes
