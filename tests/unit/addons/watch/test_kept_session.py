"""What a host and its server have agreed on lives on while the server is replaced."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tui.addons.watch.kept_session import Courier, KeptSession
from tui.core.traffic import Direction

OUT, IN = Direction.OUT, Direction.IN


class Wire:
    """A session between a host and a server; keeps what reaches each."""

    source, exchange = "srv", 0

    def __init__(self) -> None:
        self.session = KeptSession()
        self.reached: dict[Direction, list[dict[str, Any]]] = {OUT: [], IN: []}

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self.reached[direction].append(json.loads(raw))

    def say(self, direction: Direction, **message: Any) -> None:
        self.session.take(direction, json.dumps({"jsonrpc": "2.0", **message}).encode(), self)

    def asks(self, known: int | str, method: str, **params: Any) -> None:
        self.say(OUT, id=known, method=method, params=params)

    def answers(self, known: int | str, **result: Any) -> None:
        self.say(IN, id=known, result=result)

    async def changed(self, *tools: str) -> list[str]:
        """Let a new server list tools, and the host hear of it; return the lists that have changed."""

        async def listed(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
            return {"tools": [{"name": name} for name in tools]}

        changed = await self.session.agreed.changed(listed)
        self.session.tell_changed(changed)
        return changed

    @property
    def at_host(self) -> list[dict[str, Any]]:
        return self.reached[IN]

    @property
    def at_server(self) -> list[dict[str, Any]]:
        return self.reached[OUT]


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_messages_pass_unchanged(wire: Wire):
    wire.session.take(OUT, b'{ "jsonrpc":"2.0", "id" : 1, "method":"ping" }', wire)
    wire.session.take(IN, b"no JSON", lambda direction, raw: wire.reached[IN].append({"raw": raw}))
    assert wire.at_server == [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    assert wire.at_host == [{"raw": b"no JSON"}]


def test_a_request_that_was_under_way_fails_and_says_why(wire: Wire):
    wire.asks(1, "tools/call", name="a")
    wire.asks(2, "tools/call", name="b")
    wire.answers(1)
    assert wire.session.lose("restarted") == 1
    failed = wire.at_host[-1]
    assert (failed["id"], failed["error"]["message"]) == (2, "restarted")


def test_a_handshake_under_way_goes_to_the_next_server(wire: Wire):
    wire.asks(1, "initialize", protocolVersion="2025-11-25")
    assert wire.session.lose("restarted") == 0
    (first,) = wire.session.under_way.repeated()
    assert json.loads(first)["method"] == "initialize"


def test_a_handshake_is_not_repeated_as_it_was_once_it_was_answered(wire: Wire):
    wire.asks(1, "initialize", protocolVersion="2025-11-25")
    wire.answers(1)
    wire.say(OUT, method="notifications/initialized")
    assert list(wire.session.under_way.repeated()) == []
    assert wire.session.agreed.introduction == {"protocolVersion": "2025-11-25"}
    assert wire.session.agreed.is_initialized


def test_a_change_stream_is_opened_again_and_acknowledged_only_once(wire: Wire):
    wire.asks(7, "subscriptions/listen", notifications={})
    meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": 7}}
    wire.say(IN, method="notifications/subscriptions/acknowledged", params=meta)
    assert wire.session.lose("restarted") == 0
    (again,) = wire.session.under_way.repeated()
    assert json.loads(again)["id"] == 7
    wire.say(IN, method="notifications/subscriptions/acknowledged", params=meta)
    wire.say(IN, method="notifications/tools/list_changed", params=meta)
    assert [one["method"] for one in wire.at_host] == [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
    ]


def test_a_question_of_a_server_that_is_gone_is_cancelled_and_its_answer_dropped(wire: Wire):
    wire.say(IN, id="q", method="elicitation/create", params={})
    wire.session.lose("restarted")
    assert wire.at_host[-1]["method"] == "notifications/cancelled"
    assert wire.at_host[-1]["params"]["requestId"] == "q"
    wire.say(OUT, id="q", result={})
    assert wire.at_server == []


async def test_the_host_is_told_of_a_list_only_if_it_has_changed(wire: Wire):
    wire.asks(0, "initialize")
    wire.answers(0)
    wire.asks(1, "tools/list")
    wire.answers(1, tools=[{"name": "a"}], nextCursor="x")
    wire.asks(2, "tools/list", cursor="x")
    wire.answers(2, tools=[{"name": "b"}])
    assert await wire.changed("a", "b") == []
    assert await wire.changed("a") == ["tools/list"]
    assert wire.at_host[-1] == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


async def test_a_change_stream_is_told_of_the_lists_that_it_asked_for(wire: Wire):
    wire.asks(1, "tools/list")
    wire.answers(1, tools=[])
    wire.asks(7, "subscriptions/listen", notifications={"toolsListChanged": True})
    wire.asks(8, "subscriptions/listen", notifications={"promptsListChanged": True})
    assert await wire.changed("a") == ["tools/list"]
    _, note = wire.at_host
    assert note["params"] == {"_meta": {"io.modelcontextprotocol/subscriptionId": 7}}


def test_what_the_host_says_meanwhile_is_sent_in_its_order(wire: Wire):
    wire.session.hold()
    wire.asks(1, "ping")
    wire.asks(2, "ping")
    assert wire.at_server == []
    wire.session.resume()
    assert [one["id"] for one in wire.at_server] == [1, 2]


def test_without_a_server_requests_fail_at_once(wire: Wire):
    wire.session.down = "it exited"
    wire.asks(1, "ping")
    wire.say(OUT, method="notifications/initialized")
    assert wire.at_server == []
    assert wire.at_host[0]["error"]["message"] == "it exited"


async def test_answers_to_our_own_requests_stay_here(wire: Wire):
    wire.session.courier = courier = Courier()
    line, answer = courier.request("tools/list", {})
    wire.say(IN, id=json.loads(line)["id"], result={"tools": []})
    assert await answer == {"tools": []}
    assert wire.at_host == []
