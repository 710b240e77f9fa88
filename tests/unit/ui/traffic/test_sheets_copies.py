"""The formats in which an entry is copied."""

import shlex

from tui.core.traffic import Direction, Entry, Kind
from tui.ui.traffic.sheets import copied

BODY = b'{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"q":"it\'s"}}}'


def entry(**fields: object) -> Entry:
    return Entry(7, 0, 0, "notes", Direction.OUT, Kind.REQUEST, "tools/call", body=BODY, **fields)  # type: ignore[arg-type]


def test_raw_copies_the_recorded_bytes() -> None:
    assert copied("raw", entry(), BODY) == BODY.decode()


def test_json_is_indented_and_other_text_is_unchanged() -> None:
    assert copied("json", entry(), b'{"a":1}') == '{\n  "a": 1\n}'
    assert copied("json", entry(), b"{broken") == "{broken"


def test_curl_contains_only_the_headers_of_mcp() -> None:
    headers = {"Mcp-Session-Id": "s-1", "Authorization": "secret"}
    line = copied("curl", entry(detail={"headers": headers, "url": "http://127.0.0.1/mcp"}), BODY)
    words = shlex.split(line.replace("\\\n", ""))
    assert words[:3] == ["curl", "-N", "http://127.0.0.1/mcp"]
    assert words[-2:] == ["--data-raw", BODY.decode()]
    assert "Mcp-Session-Id: s-1" in words
    assert "secret" not in line


def test_a_message_to_a_stdio_server_is_copied_as_a_line_for_stdin() -> None:
    assert shlex.split(copied("curl", entry(), BODY))[-1] == BODY.decode()


def test_a_tool_call_is_copied_as_python() -> None:
    assert copied("python", entry(), BODY) == (
        "arguments = {'q': \"it's\"}\nresult = await session.call_tool('t', arguments)"
    )
    assert copied("python", entry(), b"{") == "line = b'{'"
