"""A mock plays what the user sent, for a message that a breakpoint held."""

from typing import Any

from tests.unit.addons.replay.test_mock_server import ask, call, stand_in
from tests.unit.traffic.recorded import Recorded


def called(recorded: Recorded) -> dict[str, Any]:
    """Record a call, and return what an event about its response says."""
    call(recorded, 1, "weather", {"content": "rain"})
    return {"id": 1, "method": "tools/call", "tool": "weather", "dir": "in"}


def test_a_response_that_was_edited_is_played_as_it_was_sent():
    recorded = Recorded()
    recorded.event("edited", **called(recorded), sent={"id": 1, "result": {"content": "sun"}})
    (answer,) = ask(stand_in(recorded), 9, "tools/call", name="weather", arguments={})
    assert (answer["id"], answer["result"]) == (9, {"content": "sun"})


def test_a_response_that_was_dropped_is_not_played():
    recorded = Recorded()
    recorded.event("discarded", **called(recorded))
    assert ask(stand_in(recorded), 9, "tools/call", name="weather", arguments={}) == []


def test_a_request_that_was_answered_by_hand_is_answered_so():
    recorded = Recorded()
    params = {"name": "weather", "arguments": {}}
    was, sent = {"id": 1, "method": "tools/call", "params": params}, {"id": 1, "error": {"code": 1}}
    recorded.event("answered", id=1, method="tools/call", dir="out", was=was, sent=sent)
    (answer,) = ask(stand_in(recorded), 9, "tools/call", **params)
    assert (answer["id"], answer["error"]) == (9, {"code": 1})


def test_faults_are_not_played():
    recorded = Recorded()
    recorded.event("fault", **called(recorded), fault="lose=answer")
    (answer,) = ask(stand_in(recorded), 9, "tools/call", name="weather", arguments={})
    assert answer["result"] == {"content": "rain"}
