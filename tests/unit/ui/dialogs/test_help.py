"""The help: filtered, ordered by use, nothing truncated."""

import pytest

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, shows
from tests.ui.fakes import FakeRuntime
from tui.ui.dialogs.help import groups, help_rows
from tui.ui.keys.action_table import ACTIONS, EVERY, MAIN, OF_TRAFFIC, Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.rows import text_of, width_of

NONE = KeyOverrides()
EVERYTHING = tuple(groups(NONE))


def shown(query: str = "", width: int = 76) -> list[str]:
    return [text_of(row) for row in help_rows(EVERYTHING, query, width)]


@pytest.mark.parametrize("width", [30, 76, 92, 120])
def test_no_help_text_is_truncated_or_missing(width):
    rows = help_rows(EVERYTHING, "", width)
    assert all(width_of(row) <= width for row in rows)
    words = " ".join(text_of(row) for row in rows).split()
    for action in ACTIONS:
        if action.context in MAIN:
            assert " ".join(action.help.split()) in " ".join(words)


def test_the_most_used_keys_come_first():
    headings = [heading for heading, _ in EVERYTHING]
    assert headings[:2] == ["Input", "Anywhere"]
    anywhere = dict(EVERYTHING)["Anywhere"]
    assert [line.keys for line in anywhere[:3]] == ["ctrl+p", "f1, ?", "ctrl+q"]
    assert dict(EVERYTHING)["Input"][0].keys == "enter"


def test_the_focused_pane_comes_first():
    assert next(groups(NONE, first=Context.SERVERS))[0] == "Servers"


def test_help_is_filtered_by_keys_actions_and_names():
    assert [row.split("  ")[0] for row in shown("retry")] == ["Conversation", "r", "", "Commands", "/retry"]
    assert any("Quit" in row for row in shown("ctrl+q"))
    assert any("Restart" in row for row in shown("servers.restart"))
    assert shown("no such thing") == ["No matches"]


def test_the_keys_of_the_other_screens_come_after_those_of_this_one():
    headings = [heading for heading, _ in groups(NONE, (Context.RULES,), others=EVERY)]
    assert headings[:3] == ["Rules", "In every pane", "Input"]
    assert [one for one in headings if one.startswith("Rules")] == ["Rules"]
    assert {
        "Traffic screen (f4)",
        "Workbench (enter in servers)",
        "Commands",
        "Server log (l in servers)",
    } <= {*headings}


def test_every_key_is_in_the_help_once_on_any_screen():
    for contexts in (MAIN, (Context.WORKBENCH, Context.BENCH_LIST, Context.BENCH_FORM)):
        lines = [line for _, found in groups(NONE, contexts, others=EVERY) for line in found]
        ids = [line.words.rpartition(" ")[2] for line in lines if line.words]
        assert sorted(ids) == sorted(action.id for action in ACTIONS)


def test_the_key_that_opens_a_screen_is_that_of_the_configuration():
    headings = [heading for heading, _ in groups(KeyOverrides([("traffic.open", "f11")]), others=EVERY)]
    assert "Traffic screen (f11)" in headings
    assert "Traffic screen" in dict(groups(NONE, (), others=OF_TRAFFIC))  # f4 does not open it there


def test_configured_keys_are_shown():
    rows = help_rows(tuple(groups(KeyOverrides([("app.quit", "f11")]))), "quit", 76)
    assert any(text_of(row).startswith("f11 ") for row in rows)


async def test_typing_filters_and_escape_clears_then_closes():
    async with opened(FakeRuntime(), (80, 24)) as (app, pilot):
        await pilot.press("f1")
        await shows(app, "Input", "enter")
        await pilot.press(*"retry")
        await shows(app, "Retry the selected question")
        await until(lambda: "Send, or queue" not in screen_text(app))
        await pilot.press("escape")
        await shows(app, "Send, or queue")
        await pilot.press("escape")
        await until(lambda: len(app.screen_stack) == 1)


def test_the_name_of_a_section_matches_the_whole_section():
    found = next(name for name, lines in EVERYTHING if name == "Servers")
    whole = next(lines for name, lines in EVERYTHING if name == found)
    assert all(any(line.help[:20] in row for row in shown("servers")) for line in whole)
