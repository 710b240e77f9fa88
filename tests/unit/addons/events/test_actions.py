from types import SimpleNamespace

from tui.addons.events.actions import BRINGS, why_no_events
from tui.core.addons import ADDONS


def test_every_key_is_in_the_table_of_addons():
    assert set(BRINGS["action"]) == set(ADDONS["events"]["action"])


def test_the_key_of_the_tab_says_why_there_is_none():
    tabs = SimpleNamespace(names=("overview", "events"))
    assert why_no_events(SimpleNamespace(tabs=tabs)) == ""
    assert (
        why_no_events(SimpleNamespace(tabs=SimpleNamespace(names=()))) == "This server does not offer events."
    )
