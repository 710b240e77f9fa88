"""Connections to servers, as attributes and as sessions."""

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import Script
from tui.addons.telemetry.connections import MAX_SERVERS, Connections, place


def seen(script: Script) -> Connections:
    connections = Connections()
    for entry in script.entries:
        connections.see(entry)
    return connections


@each_case(
    ("url", "found"),
    [
        ("https://h.example/mcp", {"server.address": "h.example", "server.port": 443}),
        ("http://[::1]:8000", {"server.address": "::1", "server.port": 8000}),
        ("http://h:99999999", {}),
        ("http://[", {}),
        ("", {}),
    ],
)
def test_an_address_is_host_and_port(url: str, found: dict[str, object]):
    assert place(url) == found


def test_a_local_server_is_a_pipe_and_a_remote_one_has_an_address():
    script = Script()
    script.event("spawn", pid=1)
    assert seen(script).of("weather").network == {"network.transport": "pipe"}
    script.event("connect", url="wss://h/mcp")
    assert seen(script).of("weather").network == {
        "network.transport": "tcp",
        "network.protocol.name": "websocket",
        "server.address": "h",
        "server.port": 443,
    }


def test_a_session_lasts_from_the_start_to_the_exit():
    script = Script()
    script.event("spawn", pid=1)
    script.wait(500)
    script.event("exit", code=3)
    ((seconds, attributes),) = seen(script).sessions
    assert seconds == pytest.approx(0.51)
    assert attributes == {"network.transport": "pipe", "error.type": "exit"}


def test_a_session_that_mcptui_ended_has_not_failed():
    script = Script()
    script.event("spawn", pid=1)
    script.event("stop")
    script.event("exit", code=-15)
    assert [attributes for _, attributes in seen(script).sessions] == [{"network.transport": "pipe"}]


def test_a_remote_session_ends_when_it_is_stopped():
    script = Script()
    script.event("connect", url="http://h/mcp")
    script.event("stop")
    script.event("stop")
    assert len(seen(script).sessions) == 1


def test_any_number_of_servers_takes_no_more_room():
    connections = Connections()
    connections.of("first").version = "1"
    for number in range(MAX_SERVERS):
        connections.of(str(number))
    assert connections.of("first").version == ""
