"""Requests as commands of a shell; that they run is tested in tests/protocol/test_copies.py."""

from typing import Any

from tests.cases import each_case
from tui.traffic.copies.request import CopiedRequest, CopiedServer, Template
from tui.traffic.copies.shell import curl, mcptui, mcptui_words

CONFIGURED = CopiedServer("weather", is_configured=True)
STDIO = CopiedServer("s", command=("python", "it's.py"), cwd="/a b", env={"K": "${K}"}, era="legacy")
REMOTE = CopiedServer(
    "s", url="https://x/mcp", transport="http", headers={"A": "${T}"}, revision="2026-07-28"
)


def call(server: CopiedServer, tool: str = "t", **more: Any) -> CopiedRequest:
    return CopiedRequest(server, "tools/call", {"name": tool, "arguments": {"a": "it's"}}, **more)


def test_a_configured_server_is_called_by_its_name() -> None:
    assert mcptui(call(CONFIGURED), Template()) == """mcptui call weather t --args '{"a": "it'"'"'s"}'"""


def test_a_failed_call_is_repeated_without_checking_its_arguments() -> None:
    assert mcptui(call(CONFIGURED, is_unchecked=True), Template()).endswith(" --unchecked")


def test_the_command_of_a_server_comes_last_and_starts_in_its_folder() -> None:
    line = mcptui(call(STDIO), Template())
    assert line.startswith("(cd '/a b' && mcptui call t --args ")
    assert line.endswith(" --era legacy --env 'K=${K}' -- python 'it'\"'\"'s.py')")


def test_values_of_headers_are_replaced_by_mcptui_itself() -> None:
    template = Template()
    assert mcptui(call(REMOTE), template).endswith(" --header 'A: ${T}'")
    assert [*template.needs] == ["T"]


def test_a_list_and_a_prompt_have_commands_of_their_own() -> None:
    prompt = {"name": "p", "arguments": {"a": "b=c"}}
    assert mcptui(CopiedRequest(CONFIGURED, "resources/templates/list"), Template()) == (
        "mcptui list weather resources"
    )
    assert mcptui(CopiedRequest(CONFIGURED, "prompts/get", prompt), Template()) == (
        "mcptui prompt weather p a=b=c"
    )


@each_case("tool", ["-t", "", "a\0b", "\ud800", "x" * 200_000])
def test_a_name_that_no_command_line_can_have_is_not_a_command(tool: str) -> None:
    assert mcptui_words(call(CONFIGURED, tool)) is None


def test_a_prompt_with_values_that_are_no_texts_is_not_a_command() -> None:
    params = {"name": "p", "arguments": {"a": 1}}
    assert mcptui_words(CopiedRequest(CONFIGURED, "prompts/get", params)) is None


def test_arguments_that_are_no_object_are_not_a_command() -> None:
    request = CopiedRequest(CONFIGURED, "tools/call", {"name": "t", "arguments": [1]})
    assert mcptui_words(request) is None


def test_curl_needs_one_request_without_a_handshake() -> None:
    line = curl(call(REMOTE), Template())
    assert line.count("curl") == 1
    assert "-H 'mcp-method: tools/call'" in line and "-H 'mcp-name: t'" in line
    assert "-H 'A: '\"${T:?}\"" in line


def test_headers_that_repeat_arguments_are_sent_again() -> None:
    line = curl(call(REMOTE, headers={"mcp-param-a": "it's ${x}"}), Template())
    assert "-H 'mcp-param-a: it'\"'\"'s ${x}'" in line


def test_curl_opens_a_session_with_a_handshake() -> None:
    server = CopiedServer("s", url="https://x/mcp", transport="http", revision="2025-06-18")
    text = curl(call(server), Template())
    assert text.index('"initialize"') < text.index("notifications/initialized") < text.index("tools/call")
    assert "MCP-Protocol-Version: 2025-06-18" in text
