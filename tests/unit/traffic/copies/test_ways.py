"""Which ways of copying are offered, and what a copy needs before it runs."""

from dataclasses import replace
from typing import Any

from tui.traffic.copies.request import CopiedRequest, CopiedServer
from tui.traffic.copies.ways import copied, ways

STDIO = CopiedServer("s", command=("x",))
REMOTE = CopiedServer("s", url="https://x/mcp", transport="http", revision="2026-07-28")


def call(server: CopiedServer, **arguments: Any) -> CopiedRequest:
    return CopiedRequest(server, "tools/call", {"name": "t", "arguments": arguments})


def test_curl_is_offered_for_http_only() -> None:
    assert [*ways(call(STDIO))] == ["mcptui", "python", "typescript"]
    assert [*ways(call(REMOTE))] == ["mcptui", "curl", "python", "typescript"]


def test_curl_is_not_offered_if_the_protocol_is_unknown() -> None:
    assert "curl" not in ways(call(CopiedServer("s", url="https://x/mcp", transport="http")))


def test_other_requests_are_offered_for_curl_only() -> None:
    assert [*ways(CopiedRequest(REMOTE, "completion/complete", {"ref": {}}))] == ["curl"]
    assert not ways(CopiedRequest(STDIO, "ping"))


def test_a_handshake_is_not_offered_since_a_session_begins_with_its_own() -> None:
    assert not ways(CopiedRequest(REMOTE, "initialize", {}))


def test_arguments_that_no_program_reads_are_not_offered() -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    assert not ways(call(STDIO, deep=deep))


def test_a_redacted_argument_is_a_placeholder_to_fill_in() -> None:
    for way, mark in (("mcptui", "# "), ("typescript", "// "), ("python", "# ")):
        copy = copied(way, call(STDIO, password="a [redacted:password] b"))
        assert "a <FILL IN: password> b" in copy.text and "[redacted:" not in copy.text
        assert copy.text.startswith(f"{mark}Fill in before you run this: <FILL IN: password>\n")
        assert copy.remark == "Fill in what is redacted: password."


def test_a_copy_says_which_variables_to_set() -> None:
    server = CopiedServer("s", command=("x", "${A}"), env={"B": "${B}"})
    assert copied("python", call(server)).remark == "Set A, B before you run it."


def test_a_placeholder_of_a_hostile_name_is_one_line() -> None:
    copy = copied("mcptui", call(STDIO, a="[redacted:a<b>\x1b[31m]"))
    assert copy.text.splitlines()[0].isprintable()


def test_a_redacted_argument_is_a_placeholder_in_its_header_too() -> None:
    headers = {"mcp-param-password": "[redacted:password]"}
    request = CopiedRequest(REMOTE, "tools/call", {"name": "t", "arguments": {}}, headers)
    assert "'mcp-param-password: <FILL IN: password>'" in copied("curl", request).text


def test_a_url_that_only_a_recording_has_is_named_before_it_gets_a_secret() -> None:
    headers = {"Authorization": "Bearer ${GITHUB_TOKEN}"}
    foreign = replace(REMOTE, url="https://evil.example/mcp", headers=headers, is_recorded=True)
    assert copied("curl", call(foreign)).remark == (
        "Set GITHUB_TOKEN before you run it. It connects to a URL of the recording: https://evil.example/mcp"
    )
