"""What a connection has shown, from captured traffic."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.addons.doctor.wire import Observed
from tui.core.traffic import Captured, Direction, Kind


def captured(
    way: Direction, raw: bytes = b"", at: int = 1, kind: Kind | None = None, **detail: Any
) -> Captured:
    return Captured("s", way, at, 0, raw, kind, detail=detail)


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def test_the_first_byte_and_the_answers_are_those_of_the_last_process():
    wire, waited = Observed("s"), list[str]()
    wire.waits = waited.append
    for start in (1_000, 5_000):
        wire.take(captured(Direction.NONE, at=start, kind=Kind.EVENT, event="spawn", pid=7))
        wire.take(captured(Direction.OUT, message(id=1, method="initialize"), start + 1))
        wire.take(captured(Direction.IN, message(id=1, error={"code": -1, "message": "no"}), start + 2))
    assert (wire.pid, wire.first_ns, wire.answers) == (7, 5_002, 1)
    assert waited == ["first byte", "handshake"] * 2
    assert wire.of("initialize").problem == "error -1: no"


def test_a_line_that_was_buffered_until_the_end_is_seen():
    wire = Observed("s")
    wire.take(captured(Direction.NONE, kind=Kind.EVENT, event="stop"))
    wire.take(captured(Direction.IN, message(id=1, result={})))
    wire.take(captured(Direction.IN, b"hello\x1b[2J"))
    assert wire.late.startswith("hello") and "\x1b" not in wire.late


def test_the_tools_of_the_last_listing_are_counted_as_often_as_they_are_in_it():
    wire = Observed("s")
    for number, cursor in ((1, ""), (2, ""), (3, "next")):
        params = {"cursor": cursor} if cursor else {}
        wire.take(captured(Direction.OUT, message(id=number, method="tools/list", params=params)))
        tools = [{"name": "a"}, {"name": f"b{number}"}, None]
        wire.take(captured(Direction.IN, message(id=number, result={"tools": tools})))
    assert wire.listed == ["a", "b2", "a", "b3"]


def test_an_exchange_has_its_status_session_and_challenge():
    wire = Observed("s")
    headers = [["Mcp-Session-Id", "abc"], ["WWW-Authenticate", "Bearer"]]
    body = message(id=1, method="initialize")
    wire.take(captured(Direction.OUT, body, exchange=1, http="POST", url="http://h/", headers=[]))
    wire.take(captured(Direction.IN, b"{}", 2_000_001, exchange=1, status=401, headers=headers))
    (one,) = wire.http("POST")
    assert (one.method, one.status, one.opened, one.challenge, one.ms) == (
        "initialize",
        401,
        "abc",
        "Bearer",
        2,
    )


def test_other_servers_are_ignored():
    wire = Observed("other")
    wire.take(captured(Direction.IN, b"{}"))
    assert wire.first_ns == 0


@given(st.lists(st.tuples(st.sampled_from(Direction), st.binary(max_size=60), st.booleans()), max_size=12))
def test_any_traffic_is_taken(several: list[tuple[Direction, bytes, bool]]):
    wire = Observed("s")
    for number, (way, raw, is_http) in enumerate(several):
        wire.take(captured(way, raw, **({"exchange": number} if is_http else {})))
    assert wire.answers <= len(several)
