"""The request of an item of the workbench with arguments that were not sent."""

from types import SimpleNamespace
from typing import Any, cast

from tui.core.secrets.redact import Redactor
from tui.core.secrets.secret_names import mark_of
from tui.core.servers import ServerSpec, ServerStatus
from tui.core.tools import Tool
from tui.core.workbench import PromptInfo, ResourceInfo
from tui.ui.workbench.bench_context import BenchContext
from tui.ui.workbench.copies import request_of
from tui.ui.workbench.items import Item, of_prompts, of_resources, of_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}


def context(**status: Any) -> BenchContext:
    """Return the workbench of a server that runs; its forms have no secret fields."""
    found = ServerStatus("s", ServerSpec("s", "run"), **status)
    host = SimpleNamespace(find=lambda name: found if name == "s" else None, statuses=lambda: [found])
    options = SimpleNamespace(config=None, trust_config=False)
    runtime = SimpleNamespace(host=host, redactor=Redactor(), is_unconfigured=False, options=options)
    screen, nothing = SimpleNamespace(query=lambda kind: ()), cast(Any, None)
    return BenchContext(cast(Any, screen), cast(Any, runtime), "s", nothing, nothing, nothing, nothing)


def item(about: Any) -> Item:
    made: Any = {Tool: of_tools, ResourceInfo: of_resources, PromptInfo: of_prompts}[type(about)]
    (found,) = made([about])
    return cast(Item, found)


def test_a_tool_has_its_arguments_and_a_mark_for_each_secret() -> None:
    found = request_of(context(), item(Tool("s", "t")), {"a": 1, "password": "x"})
    assert found is not None
    assert found.params == {"name": "t", "arguments": {"a": 1, "password": mark_of("password")}}
    assert found.server.is_configured


def test_headers_repeat_arguments_since_2026() -> None:
    tool = item(Tool("s", "t", schema=SCHEMA))
    modern = request_of(context(protocol="2026-07-28"), tool, {"city": "Oslo"})
    legacy = request_of(context(protocol="2025-11-25"), tool, {"city": "Oslo"})
    assert modern is not None and modern.headers == {"Mcp-Param-City": "Oslo"}
    assert legacy is not None and not legacy.headers


def test_an_argument_that_no_header_can_have_is_copied_without_one() -> None:
    found = request_of(
        context(protocol="2026-07-28"), item(Tool("s", "t", schema=SCHEMA)), {"city": "\ud800"}
    )
    assert found is not None and not found.headers


def test_a_template_is_filled_in() -> None:
    found = request_of(context(), item(ResourceInfo("s", "note://{name}", template=True)), {"name": "a b"})
    assert found is not None
    assert (found.method, found.params) == ("resources/read", {"uri": "note://a%20b"})


def test_the_arguments_of_a_prompt_are_texts() -> None:
    found = request_of(context(), item(PromptInfo("s", "p")), {"n": 1})
    assert found is not None
    assert found.params == {"name": "p", "arguments": {"n": "1"}}
