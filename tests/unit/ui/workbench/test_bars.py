"""The lines at the top of the workbench."""

from textual.geometry import Size
from textual.widget import Widget

from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import laid_out
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.workbench.bars import BenchTab, BenchTabs, keys_of, title_rows


def test_the_title_shows_injected_faults():
    spec = ServerSpec("a", "x")
    status = ServerStatus("a", spec, ServerState.RUNNING, fault_rules=("repeat",), injected=3)
    _, right = title_rows("a", status, 0, str, 80)
    assert ("faults: 1 rule, 3 injected   ", "warn") in right


class Narrow(BenchTabs):
    size = Size(80, 1)


EXTENSIONS = (BenchTab.SKILLS, BenchTab.EVENTS)
NOTES = {"tools": "2, 1 changed", "resources": "0", "prompts": "0"}


def test_all_tabs_are_shown_in_80_columns_if_items_have_changed():
    tabs = Narrow({tab: Widget() for tab in BenchTab if tab not in EXTENSIONS})
    tabs.notes = NOTES
    row = tabs.row(80)
    assert width_of(row) <= 80 and text_of(row).rstrip().endswith("7 tests")
    assert "2 tools 2 ~" in text_of(row)


def test_counts_give_way_to_the_tab_of_an_extension_in_80_columns():
    tabs = Narrow({tab: Widget() for tab in BenchTab if tab is not BenchTab.EVENTS})
    tabs.notes = NOTES
    row = tabs.row(80)
    assert width_of(row) <= 80 and text_of(row).rstrip().endswith("7 tests 8 skills")
    assert "1 overview 2 tools 3 resources 4 prompts" in text_of(row)


def test_blanks_after_keys_give_way_to_the_tabs_of_two_extensions_in_80_columns():
    row = Narrow({tab: Widget() for tab in BenchTab}).row(80)
    assert width_of(row) <= 80 and text_of(row).rstrip().endswith("8skills 9events")


def test_a_tab_keeps_its_key_whichever_others_are_there():
    tabs = Narrow({tab: Widget() for tab in BenchTab if tab not in (BenchTab.TESTS, BenchTab.EVENTS)})
    assert text_of(tabs.row(80)).rstrip().endswith("6 traffic  8 skills")


def test_the_footer_of_the_overview_shows_how_to_watch_files() -> None:
    entries = keys_of(KeyOverrides(), Context.BENCH_LIST, BenchTab.OVERVIEW, is_raw=False)
    shown = [words for _, (_, words, _) in laid_out(entries, KeyOverrides(), 120)]
    assert "watch" in shown
