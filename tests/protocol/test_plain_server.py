"""The module under the sample servers speaks MCP in both eras, line by line."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tui.settings.locations import sample_server

RESERVED = "io.modelcontextprotocol/"
META = {RESERVED + "protocolVersion": "2026-07-28", RESERVED + "clientCapabilities": {}}
CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Peer:
    """A client that writes lines and reads lines."""

    def __init__(self, process: "subprocess.Popen[str]", *, modern: bool) -> None:
        self._process = process
        self._modern = modern
        self._last = 0
        if not modern:
            self.ask("initialize", protocolVersion="2025-11-25", **CLIENT)
            self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: Any) -> None:
        self.line(json.dumps(message))

    def line(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its id."""
        self._last += 1
        meta = {**META, **params.pop("_meta", {})} if self._modern else params.pop("_meta", {})
        self.write(
            {"jsonrpc": "2.0", "id": self._last, "method": method, "params": {**params, "_meta": meta}}
        )
        return self._last

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return the next line, its response."""
        sent = self.send(method, **params)
        message = self.read()
        assert message["id"] == sent
        return message

    def end(self) -> list[dict[str, Any]]:
        """Close stdin and return the remaining output."""
        rest, _ = self._process.communicate(timeout=20)
        assert self._process.returncode == 0
        return [json.loads(line) for line in rest.splitlines()]


@contextmanager
def running(name: str, *, modern: bool) -> Iterator[Peer]:
    command = [sys.executable, str(sample_server(name))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as process:
        try:
            yield Peer(process, modern=modern)
        finally:
            process.kill()


@pytest.fixture(params=[True, False], ids=["modern", "legacy"])
def modern(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_accepts_each_version_with_a_handshake(version: str):
    with running("weather", modern=False) as peer:
        result = peer.ask("initialize", protocolVersion=version, **CLIENT)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "weather", "version": "1.0"}


def test_initialize_with_an_unknown_version_gets_the_latest():
    with running("weather", modern=False) as peer:
        result = peer.ask("initialize", protocolVersion="1999-01-01", **CLIENT)["result"]
    assert result["protocolVersion"] == "2025-11-25"


def test_discover_answers_with_the_modern_envelope():
    with running("weather", modern=True) as peer:
        result = peer.ask("server/discover")["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["_meta"] == {RESERVED + "serverInfo": {"name": "weather", "version": "1.0"}}
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")


def test_a_legacy_result_has_no_fields_of_the_modern_envelope():
    with running("weather", modern=False) as peer:
        assert peer.ask("tools/list")["result"].keys() == {"tools"}


def test_another_modern_version_is_refused_with_the_supported_one():
    with running("weather", modern=True) as peer:
        error = peer.ask("tools/list", _meta={RESERVED + "protocolVersion": "2099-01-01"})["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    ("modern", "method", "code"),
    [
        (True, "initialize", -32022),
        (True, "ping", -32601),
        (False, "server/discover", -32601),
        (False, "subscriptions/listen", -32601),
    ],
)
def test_methods_of_the_other_era_are_refused(modern: bool, method: str, code: int):
    with running("weather", modern=modern) as peer:
        peer.ask("tools/list")
        assert peer.ask(method, notifications={})["error"]["code"] == code


def test_a_modern_request_is_refused_after_a_handshake():
    with running("weather", modern=False) as peer:
        assert peer.ask("tools/list", _meta=META)["error"]["code"] == -32600


def test_requests_before_the_handshake_are_refused_except_ping():
    with running("weather", modern=True) as peer:
        peer.write({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert peer.read()["error"]["code"] == -32602
        peer.write({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert peer.read()["result"] == {}


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "\ufeff{}",
        "[" * 100_000,
        "[]",
        "3",
        '{"jsonrpc":"1.0","id":7,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":true,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[1]}',
        '{"jsonrpc":"2.0","id":7,"result":{}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    ],
)
def test_a_line_that_cannot_be_answered_is_ignored(line: str):
    with running("weather", modern=True) as peer:
        peer.line(line)
        assert "result" in peer.ask("tools/list")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {"cursor": 5}),
        ("tools/call", {}),
        ("tools/call", {"name": "get_weather", "arguments": []}),
        ("resources/read", {"uri": "notes://none"}),
        ("resources/read", {}),
        ("prompts/get", {"name": "none"}),
    ],
)
def test_wrong_parameters_are_a_protocol_error(method: str, params: dict[str, Any], modern: bool):
    with running("notes", modern=modern) as peer:
        assert peer.ask(method, **params)["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "text"),
    [
        ("weather", "get_weather", {}, "location is required."),
        ("weather", "get_weather", {"location": 5}, "location must be a string."),
        ("notes", "add_note", {"text": "x" * 10_001}, "text must be a string of at most 10000 characters."),
        ("slow", "count_slowly", {"seconds": None}, "seconds must be a number greater than 0"),
        ("slow", "count_slowly", {"seconds": 0}, "seconds must be a number greater than 0"),
        ("slow", "count_slowly", {"seconds": 3601}, "and at most 3600."),
        ("slow", "count_slowly", {"seconds": "nan"}, "seconds must be a number greater than 0"),
    ],
)
def test_wrong_arguments_are_an_error_result_for_the_model(
    name: str, tool: str, arguments: dict[str, Any], text: str
):
    with running(name, modern=True) as peer:
        result = peer.ask("tools/call", name=tool, arguments=arguments)["result"]
    assert result["isError"]
    assert result["content"][0]["text"].startswith(f"Error executing tool {tool}: ")
    assert text in result["content"][0]["text"]


def test_an_unknown_argument_is_ignored():
    with running("weather", modern=True) as peer:
        arguments = {"location": "NYC", "unit": "K"}
        result = peer.ask("tools/call", name="get_weather", arguments=arguments)["result"]
    assert not result["isError"]


def test_a_slow_call_leaves_the_server_free_for_others(modern: bool):
    with running("slow", modern=modern) as peer:
        peer.send("tools/call", name="count_slowly", arguments={"seconds": 3600})
        assert "result" in peer.ask("tools/list")


def test_a_cancelled_call_gets_no_response(modern: bool):
    with running("slow", modern=modern) as peer:
        call = peer.send("tools/call", name="count_slowly", arguments={"seconds": 3600})
        peer.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        assert "result" in peer.ask("tools/list")
        assert peer.end() == []


def test_progress_is_reported_to_the_token_of_the_request(modern: bool):
    with running("slow", modern=modern) as peer:
        peer.send(
            "tools/call", name="count_slowly", arguments={"seconds": 0.01}, _meta={"progressToken": "t"}
        )
        reported = [peer.read()["params"] for _ in range(2)]
        assert peer.read()["result"]["content"][0]["text"] == "Counted to 0.01."
    assert [(one["progressToken"], one["progress"], one["total"]) for one in reported] == [
        ("t", 0, 0.01),
        ("t", 0.01, 0.01),
    ]


def test_a_running_call_ends_when_the_client_closes_stdin():
    with running("slow", modern=True) as peer:
        peer.send("tools/call", name="count_slowly", arguments={"seconds": 3600})
        assert peer.end() == []


def test_a_subscription_is_acknowledged_and_ends_with_the_connection():
    with running("notes", modern=True) as peer:
        wanted = {"resourceSubscriptions": ["notes://all"]}
        sent = peer.send("subscriptions/listen", notifications=wanted)
        ack = peer.read()
        assert ack["method"] == "notifications/subscriptions/acknowledged"
        assert ack["params"] == {"_meta": {RESERVED + "subscriptionId": sent}, "notifications": wanted}
        (last,) = peer.end()
    assert last["id"] == sent
    assert last["result"]["_meta"][RESERVED + "subscriptionId"] == sent


def test_a_cancelled_subscription_gets_no_response():
    with running("notes", modern=True) as peer:
        sent = peer.send("subscriptions/listen", notifications={})
        peer.read()
        peer.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": sent}})
        assert peer.end() == []


@pytest.mark.parametrize("name", ["weather", "notes", "slow"])
def test_a_sample_copied_without_its_module_says_what_it_needs(name: str, tmp_path: Path):
    copied = shutil.copy(sample_server(name), tmp_path)
    done = subprocess.run([sys.executable, copied], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip() == f"{name}.py needs plain_server.py in the same directory."


@pytest.mark.parametrize("name", ["weather", "notes", "slow"])
def test_a_sample_starts_with_only_the_standard_library(name: str):
    isolated = [sys.executable, "-S", "-E", str(sample_server(name))]
    done = subprocess.run(isolated, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
