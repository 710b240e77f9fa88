"""The handshake in both eras, with a scripted server."""

import asyncio
import gc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import version as sdk

from tests.conftest import until
from tui.core.jsonrpc.messages import Failure, Response
from tui.core.jsonrpc.protocol import REVISIONS, is_modern
from tui.core.questions import Questioner
from tui.core.servers import ServerSpec
from tui.host.frames.id_gate import PROBE, UNANSWERED_PROBE, random_id
from tui.host.frames.inbox import Inbox
from tui.host.frames.link import Link, NoCommonVersion, RequestError
from tui.host.session.handshake import Handshake
from tui.host.session.server_requests import ServerRequests
from tui.host.session.session import Session

DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
INITIALIZED = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "a"}}
NOT_FOUND = RequestError(-32601, "no such method")
SILENT = RequestError(-32601, f"{UNANSWERED_PROBE} within 2 s")


def refused(*supported):
    return RequestError(-32022, "unsupported", {"supported": list(supported), "requested": ""})


class Server:
    """Answers the requests of a handshake in turn; an answer to a probe may come late."""

    def __init__(self, *answers, late=None):
        self.answers = list(answers)
        self.late = late
        self.sent = []
        self.headers = []
        self.inbox = Inbox()
        requests = ServerRequests(ServerSpec("srv"), Questioner())
        self.session = Session(Link(self.inbox, self.take, random_id), lambda *_: None, requests)

    def take(self, message, headers):
        self.sent.append(message)
        self.headers.append(headers())
        if "id" not in message:
            return True
        if message["method"] == "initialize" and self.late is not None:
            self.say(self.probe, self.late)
        self.probe = message["id"] if message["method"] == PROBE else getattr(self, "probe", None)
        self.say(message["id"], self.answers.pop(0))
        return True

    def say(self, known, answer):
        if answer is None:
            return
        if isinstance(answer, RequestError):
            self.inbox.put(Failure(known, answer.code, answer.message, answer.data))
        else:
            self.inbox.put(Response(known, answer))

    @property
    def asked(self):
        return [one["method"] for one in self.sent]


async def shaken(server, **how):
    """Shake hands; return the handshake and the error that it raised, or None."""
    handshake = Handshake(server.session, **{"probes": True, "initializes": True} | how)
    reading = asyncio.create_task(server.session.run())
    try:
        async with asyncio.timeout(5):
            await handshake.shake()
    except RequestError as error:
        return handshake, error
    finally:
        await server.session.end()
        await reading
    assert server.session._waiting == {}
    return handshake, None


async def test_a_newer_server_answers_the_probe():
    server = Server(DISCOVERED)
    handshake, error = await shaken(server)
    assert error is None and handshake.introduction.version == "2026-07-28"
    assert server.asked == [PROBE] and not handshake.was_probed
    assert server.headers == [{"mcp-method": PROBE}]


@pytest.mark.parametrize(
    "answer",
    [
        NOT_FOUND,
        SILENT,
        {},
        {"supportedVersions": "2026-07-28"},
        {"supportedVersions": ["2025-11-25"]},
        refused(),
        refused("2025-11-25"),
    ],
)
async def test_anything_but_a_newer_server_gets_initialize(answer):
    server = Server(answer, INITIALIZED)
    handshake, error = await shaken(server)
    assert error is None and handshake.introduction.version == "2025-11-25" and handshake.was_probed
    assert server.asked == [PROBE, "initialize", "notifications/initialized"]
    assert server.headers[1:] == [{}, {}]


async def test_the_limit_of_the_probe_pauses_while_the_user_is_asked():
    server = Server(None, INITIALIZED)
    given_up = []

    def give_up(known, seconds):
        given_up.append((known, seconds))
        server.say(known, SILENT)

    server.session._link = replace(server.session._link, probe_seconds=0.0, give_up_probe=give_up)
    server.session.requests.clocks.pause()
    shaking = asyncio.create_task(shaken(server))
    await until(lambda: server.asked == [PROBE])
    await asyncio.sleep(0)
    assert not given_up
    server.session.requests.clocks.resume()
    handshake, error = await shaking
    assert error is None and handshake.introduction.version == "2025-11-25"
    assert given_up == [(server.sent[0]["id"], 0.0)]


async def test_a_server_that_names_our_version_in_a_rejection_is_asked_once_more():
    server = Server(refused("2026-07-28"), DISCOVERED)
    _, error = await shaken(server)
    assert error is None and server.asked == [PROBE, PROBE]


async def test_a_server_with_only_unknown_newer_versions_is_given_up():
    server = Server(refused("2031-01-01"))
    handshake, error = await shaken(server)
    assert error.code == -32022 and handshake.versions == ("2031-01-01",) and server.asked == [PROBE]


@pytest.mark.parametrize("refusal", [NOT_FOUND, refused("2026-07-28"), RequestError(-32012, "HTTP 400.")])
async def test_the_late_answer_to_a_probe_counts_once_initialize_is_refused(refusal):
    server = Server(SILENT, refusal, late=DISCOVERED)
    handshake, error = await shaken(server)
    assert error is None and handshake.introduction.version == "2026-07-28" and not handshake.was_probed
    assert server.asked == [PROBE, "initialize"]


async def test_a_late_rejection_of_the_probe_leaves_the_error_of_initialize():
    server = Server(SILENT, RequestError(-32602, "no"), late=NOT_FOUND)
    handshake, error = await shaken(server)
    assert error.message == "no" and handshake.was_refused


async def test_a_late_rejection_that_nobody_needs_is_no_error(caplog):
    server = Server(SILENT, INITIALIZED, late=NOT_FOUND)
    handshake, error = await shaken(server)
    assert error is None and handshake.introduction.version == "2025-11-25"
    del server, handshake
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_server_whose_initialize_shows_that_it_is_newer_is_probed_again():
    server = Server(NOT_FOUND, refused("2026-07-28"), DISCOVERED)
    _, error = await shaken(server)
    assert error is None and server.asked == [PROBE, "initialize", PROBE]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"protocolVersion": "2099-01-01"}, NoCommonVersion),
        ({}, RequestError),
        ({"protocolVersion": 5}, RequestError),
    ],
)
async def test_a_version_that_mcptui_does_not_speak_ends_the_handshake(said, kind):
    server = Server(said)
    handshake, error = await shaken(server, probes=False)
    assert type(error) is kind and server.asked == ["initialize"]
    assert handshake.versions == (("2099-01-01",) if kind is NoCommonVersion else ())


async def test_without_a_probe_initialize_is_the_first_request():
    server = Server(INITIALIZED)
    handshake, error = await shaken(server, probes=False)
    assert error is None and not handshake.was_probed
    assert server.asked == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize(
    ("how", "answer"),
    [({"initializes": False}, NOT_FOUND), ({"leaves": True}, NOT_FOUND), ({"initializes": False}, {})],
)
async def test_a_server_that_rejects_the_probe_is_left_if_it_must_not_get_initialize(how, answer):
    server = Server(answer)
    handshake, error = await shaken(server, **how)
    assert error is not None and handshake.was_refused and server.asked == [PROBE]


async def test_a_silent_server_gets_initialize_even_if_rejections_end_the_session():
    server = Server(SILENT, INITIALIZED)
    _, error = await shaken(server, leaves=True)
    assert error is None


async def test_a_closed_connection_ends_the_handshake():
    server = Server()
    server.take = None
    server.session._link = Link(server.inbox, lambda *_: False, random_id)
    _, error = await shaken(server)
    assert error.message == "Connection closed"


async def test_requests_of_the_handshake_are_neither_stamped_nor_cancelled():
    server = Server(NOT_FOUND, INITIALIZED)
    server.session._stamp = lambda modern: {"traceparent": "00-1"}
    await shaken(server)
    assert "traceparent" not in str(server.sent)
    silent = Server()
    silent.say = lambda *_: None
    silent.answers = [None]
    task = asyncio.create_task(Handshake(silent.session, probes=True, initializes=True).shake())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert silent.asked == [PROBE] and task.cancelled()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["capabilities", "serverInfo", "instructions", "_meta"]), JSON),
    st.booleans(),
)
def test_only_the_version_of_an_answer_has_to_be_valid(odd, modern):
    async def begin():
        server = Server((DISCOVERED if modern else INITIALIZED) | odd)
        handshake, error = await shaken(server, probes=modern)
        assert error is None
        assert all(isinstance(switches, dict) for switches in handshake.introduction.offers.values())
        assert all(isinstance(handshake.introduction.info(key), str) for key in ("name", "title", "version"))

    asyncio.run(begin())


async def offers_of(said):
    handshake, _ = await shaken(Server(INITIALIZED | {"capabilities": said}), probes=False)
    return handshake.introduction.offers


@pytest.mark.parametrize("said", [None, [], "tools", 7])
async def test_a_server_without_capabilities_is_assumed_to_have_tools(said):
    assert await offers_of(said) == {"tools": {}}


async def test_a_capability_of_the_wrong_type_still_counts():
    said = {"tools": True, "prompts": [], "resources": None, "completions": False}
    assert await offers_of(said) == {"tools": {}, "prompts": {}}


async def test_a_name_of_megabytes_is_truncated():
    handshake, _ = await shaken(Server(INITIALIZED | {"serverInfo": {"name": "n" * 5_000_000}}), probes=False)
    assert handshake.introduction.info("name") == "n" * 200


def test_the_protocol_versions_are_those_of_the_sdk():
    """A newer SDK may know another revision, which mcptui then has to learn."""
    assert REVISIONS == sdk.KNOWN_PROTOCOL_VERSIONS
    assert tuple(filter(is_modern, REVISIONS)) == sdk.MODERN_PROTOCOL_VERSIONS
