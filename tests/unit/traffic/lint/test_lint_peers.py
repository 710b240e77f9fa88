"""The linter over the traffic of several clients of one server (`mcptui tap --listen`)."""

import json
from typing import Any

from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Direction

OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
OPENED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


class Clients(Script):
    """Messages of clients, each in an HTTP exchange of its own."""

    def send(self, peer: int, exchange: int, **message: Any) -> None:
        about = {"http": "POST", "exchange": exchange, "peer": peer}
        self.raw(Direction.OUT, json.dumps({"jsonrpc": "2.0", **message}).encode(), detail=about)

    def answer(self, peer: int, exchange: int, **message: Any) -> None:
        about = {"status": 200, "exchange": exchange, "peer": peer}
        self.raw(Direction.IN, json.dumps({"jsonrpc": "2.0", **message}).encode(), detail=about)

    def opened(self, peer: int, exchange: int) -> None:
        self.send(peer, exchange, id=0, method="initialize", params=OPENING)
        self.answer(peer, exchange, id=0, result=OPENED)
        self.send(peer, exchange + 1, method="notifications/initialized")


def test_two_clients_may_use_the_same_ids_one_after_the_other_and_at_the_same_time():
    script = Clients()
    script.opened(1, 1)
    script.send(1, 3, id=1, method="ping")
    script.opened(2, 4)
    script.send(2, 6, id=1, method="ping")
    script.answer(2, 6, id=1, result={})
    script.answer(1, 3, id=1, result={})
    assert script.codes() == []


def test_an_id_that_one_of_several_clients_uses_twice_is_reported():
    script = Clients()
    script.opened(1, 1)
    script.opened(2, 4)
    script.send(1, 6, id=1, method="ping")
    script.send(1, 7, id=1, method="ping")
    assert script.codes() == ["reused-id"]


def test_another_connection_of_a_client_without_a_session_has_no_findings():
    script = Clients()
    script.opened(1, 1)
    script.send(2, 3, id=1, method="ping")
    script.answer(2, 3, id=1, result={})
    assert script.codes() == []
