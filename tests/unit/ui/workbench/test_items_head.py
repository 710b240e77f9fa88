"""The lines about a tool above its form."""

from tui.core.context.context_parts import DefinitionTokens
from tui.core.tools import Tool
from tui.ui.widgets.rows import text_of
from tui.ui.workbench.items import head_of, of_tools


def about(tool: Tool, columns: int) -> str:
    """Return the line under the name of a tool whose definition takes about 120 tokens."""
    (item,) = of_tools([tool], tokens=DefinitionTokens(tools={tool.name: 120}))
    return text_of(head_of(item, has_output_schema=True).facts(columns)[0])


def test_facts_below_the_name_are_dropped_as_a_whole_and_tokens_come_first() -> None:
    tool = Tool("s", "add", destructive=False, idempotent=True)
    whole = "  ~120 tokens · marked non-destructive by the server · marked idempotent by the server"
    assert about(tool, 200) == f"{whole} · structured result"
    assert about(tool, len(whole)) == whole
    assert about(tool, len(whole) - 1) == "  ~120 tokens · marked non-destructive by the server"


def test_a_destructive_tool_is_labelled_destructive_first() -> None:
    tool = Tool("s", "drop", destructive=True, idempotent=True)
    assert about(tool, 46) == "  ! destructive · ~120 tokens"


def test_a_read_only_tool_of_a_trusted_server_is_labelled_read_only_first() -> None:
    assert about(Tool("s", "see", read_only=True, trusted=True), 26) == "  read-only · ~120 tokens"
