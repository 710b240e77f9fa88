"""What ends with a server, and what its host is promised."""

import json

from tui.addons.watch.agreed import Agreed
from tui.addons.watch.under_way import UnderWay, promising
from tui.core.jsonrpc.messages import Request


def introduced(capabilities: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": capabilities}}).encode()


def test_a_handshake_promises_what_the_tap_tells_of_the_lists_that_the_server_has():
    way = UnderWay(Agreed())
    way.went(Request(1, "initialize"))
    passed = way.came(introduced({"tools": {}, "prompts": {"listChanged": False}, "logging": {}}))
    promised = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "logging": {}}
    assert passed is not None and json.loads(passed)["result"]["capabilities"] == promised


def test_a_handshake_that_promises_it_already_is_passed_as_it_is():
    raw = introduced({"tools": {"listChanged": True}}).replace(b", ", b",  ")
    assert promising(raw) == raw


def test_other_answers_are_passed_as_they_are():
    way, raw = UnderWay(Agreed()), introduced({"tools": {}})
    way.went(Request(1, "tools/call"))
    assert way.came(raw) == raw
