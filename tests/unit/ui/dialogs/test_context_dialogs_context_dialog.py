"""The rows of the dialog that shows the parts of a request."""

from tui.core.context.context_parts import ContextPart
from tui.ui.dialogs.context_dialogs import context_rows
from tui.ui.widgets.rows import width_of

PARTS = [
    ContextPart("System prompt", 80),
    ContextPart("2 tools", 7_700, "crm"),
    ContextPart("1 tool", 5, "evil\x1b[2J" + "x" * 100),
]


def shown(width: int, window: int | None = 32_768) -> list[str]:
    return ["".join(text for text, _ in row) for row in context_rows(PARTS, window, width, sign="~")]


def test_each_part_has_a_line_with_its_tokens_and_the_last_line_is_the_total():
    lines = shown(78)
    assert lines[0].startswith("System prompt") and lines[0].endswith("~80")
    assert lines[1].startswith("crm, 2 tools") and "━" in lines[1]
    assert lines[-1].startswith("Total") and lines[-1].endswith("~7.8 k of 33 k (24%)")


def test_without_a_known_window_there_is_no_share():
    assert shown(78, None)[-1].endswith("~7.8 k")


def test_a_narrow_dialog_has_no_bars_and_truncates_a_long_name():
    rows = context_rows(PARTS, None, 40, sign="")
    assert all(width_of(row) <= 40 for row in rows)
    assert "━" not in "".join(shown(40)) and "\x1b" not in "".join(shown(78))


def test_an_empty_context_has_no_tokens():
    assert ["".join(text for text, _ in row) for row in context_rows([], None, 40, sign="")][-1].endswith("0")
