"""Tabs of add-ons: there at once, or once the server declares an extension."""

from types import SimpleNamespace
from typing import Any

import pytest

from tui.ui.workbench import addon_tabs
from tui.ui.workbench.addon_tabs import AddonTab, AddonTabs
from tui.ui.workbench.bars import BenchTab


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the extensions that the server declares. The services return the name of their tab."""
    rows = (AddonTab(BenchTab.TESTS, "tests"), AddonTab(BenchTab.SKILLS, "skills", "ext/skills"))
    monkeypatch.setattr(addon_tabs, "TABS", rows)
    monkeypatch.setattr(addon_tabs, "service", lambda name: None if name == "gone" else lambda shared: name)
    return set()


def tabs(declared: set[str]) -> AddonTabs:
    def extension(server: str, name: str) -> dict[str, Any] | None:
        return {} if name in declared else None

    bench = SimpleNamespace(extension=extension)
    return AddonTabs(SimpleNamespace(server="docs", runtime=SimpleNamespace(workbench=bench)))


def test_a_tab_is_due_once(declared: set[str]):
    found = tabs(declared)
    assert [*found.due()] == [(BenchTab.TESTS, "tests")] and [*found.due()] == []


def test_a_tab_for_an_extension_is_due_once_the_server_declares_it(declared: set[str]):
    found = tabs(declared)
    assert BenchTab.SKILLS not in dict(found.due())
    declared.add("ext/skills")
    assert [*found.due()] == [(BenchTab.SKILLS, "skills")] and [*found.due()] == []


def test_a_missing_add_on_has_no_tab(declared: set[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(addon_tabs, "TABS", (AddonTab(BenchTab.TESTS, "gone"),))
    assert [*tabs(declared).due()] == []
