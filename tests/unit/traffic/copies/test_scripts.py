"""Requests as scripts; that they run is tested in tests/protocol/test_copies.py."""

import ast
from typing import Any

import pytest

from tui.traffic.copies.request import CopiedRequest, CopiedServer, Template
from tui.traffic.copies.scripts import python, scripts, typescript

STDIO = CopiedServer("s", command=("uvx", "x", "${KEY}"), revision="2025-11-25")
HEADERS = {"A": "Bearer ${T}"}


def call(server: CopiedServer, **arguments: Any) -> CopiedRequest:
    return CopiedRequest(server, "tools/call", {"name": "t", "arguments": arguments})


@pytest.mark.parametrize(
    "server",
    [
        STDIO,
        CopiedServer("s", url="https://x/mcp", transport="http"),
        CopiedServer("s", url="https://x/mcp", transport="http", headers=HEADERS),
        CopiedServer("s", url="https://x/sse", transport="sse", headers=HEADERS),
    ],
    ids=["stdio", "http", "http with headers", "sse"],
)
def test_a_script_of_python_is_valid(server: CopiedServer) -> None:
    ast.parse(python(call(server, text="a\nb" * 100, more={"x": [None, True]}), Template()))


def test_the_era_of_the_server_is_chosen() -> None:
    assert "mode='legacy'" in python(call(STDIO), Template())
    assert "versionNegotiation" not in typescript(call(STDIO), Template())
    modern = CopiedServer("s", command=("x",), revision="2026-07-28")
    assert "mode='auto'" in python(call(modern), Template())
    assert "versionNegotiation" in typescript(call(modern), Template())


def test_variables_are_read_from_the_environment() -> None:
    template = Template()
    assert "os.environ['KEY']" in python(call(STDIO), template)
    assert 'env("KEY")' in typescript(call(STDIO), template)
    assert [*template.needs] == ["KEY"]


def test_a_member_that_a_literal_takes_for_the_prototype_is_parsed() -> None:
    assert "JSON.parse(" in typescript(call(STDIO, __proto__="x"), Template())


def test_numbers_that_javascript_rounds_are_not_offered_for_typescript() -> None:
    assert [*scripts(call(STDIO, id=12345678901234567890))] == ["python"]
    assert [*scripts(call(STDIO, id=1e300, text="12345678901234567890"))] == ["python", "typescript"]


def test_half_a_character_that_python_does_not_encode_is_not_offered_for_python() -> None:
    assert [*scripts(call(STDIO, text="\ud800"))] == ["typescript"]


def test_a_later_page_of_a_list_is_asked_for() -> None:
    request = CopiedRequest(STDIO, "resources/templates/list", {"cursor": "it's"})
    assert 'list_resource_templates(cursor="it\'s")' in python(request, Template())
    assert '"cursor": "it\'s"' in typescript(request, Template())


@pytest.mark.parametrize("transport", ["websocket", "lines"])
def test_the_sdks_do_not_reach_other_transports(transport: str) -> None:
    assert not scripts(call(CopiedServer("s", command=("x",), transport=transport)))


def test_prompts_take_texts_only() -> None:
    request = CopiedRequest(STDIO, "prompts/get", {"name": "p", "arguments": {"a": 1}})
    assert not scripts(request)
