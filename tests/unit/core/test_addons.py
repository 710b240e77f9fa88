"""The table of add-ons, and what each add-on brings."""

from pathlib import Path

import pytest

import tui.addons
from tests.cases import each_case
from tui.core import addons
from tui.core.addons import ADDONS, FLAGS, brings, brought, every, load, missing, service
from tui.core.errors import ConfigError


def test_the_table_names_each_folder():
    folders = Path(next(iter(tui.addons.__path__))).glob("*/addon.py")
    assert {path.parent.name for path in folders} == set(ADDONS)


@each_case("addon", ADDONS)
def test_an_addon_brings_what_the_table_says(addon: str):
    found = brings(addon)
    assert found is not None
    if "action" in ADDONS[addon]:
        found = {**found, **(brings(addon, "actions") or {})}
    assert {kind: set(names) for kind, names in found.items()} == {
        kind: set(names) for kind, names in ADDONS[addon].items()
    }
    for kind in found.keys() - {"action", "flags", "key", "parser", "setting"}:
        assert all(callable(load(value)) for value in found[kind].values())
    calls = [call for *_texts, call in (row[:6] for row in found.get("action", {}).values())]
    assert all(callable(load(call)) for call in calls if ":" in call)  # others are methods of its screens


def test_the_flags_of_the_table_are_those_of_the_addons():
    named = {(command, addon) for command, found in FLAGS.items() for addon in found}
    assert named == {(name, addon) for addon, kinds in ADDONS.items() for name in kinds.get("flags", ())}


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"absent": {"transport": ("pigeon",), "service": ("nest",), "parser": ("coo",)}}
    monkeypatch.setattr(addons, "ADDONS", table)


@pytest.mark.usefixtures("absent")
def test_what_a_missing_addon_brings_is_an_error_that_names_it():
    said = 'transport = "pigeon" needs the add-on absent, which is not installed'
    assert missing("transport", "pigeon") == said
    with pytest.raises(ConfigError, match=said):
        brought("transport", "pigeon")


@pytest.mark.usefixtures("absent")
def test_a_service_of_a_missing_addon_is_none_and_its_commands_are_not_listed():
    assert service("nest") is None and [*every("parser")] == []


def test_what_no_addon_brings_is_not_missing():
    assert missing("transport", "stdio") == ""
