"""The parts of `mcptui test` that other folders bring."""

import sys
from types import ModuleType

import pytest

from tui.addons.tests.run import parts
from tui.addons.tests.run.parts import part, part_if_there
from tui.core.errors import UsageError


@pytest.mark.parametrize("name", parts.PARTS)
def test_each_part_can_be_loaded_or_is_missing(name: str):
    assert part_if_there(name) is None or part(name) is not None


def test_a_missing_part_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parts, "PARTS", {"review": "no_such_folder.review:review"})
    with pytest.raises(UsageError, match=r"^this version of mcptui test has no review\.$"):
        part("review")


def test_a_part_that_is_broken_is_not_taken_for_a_missing_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parts, "PARTS", {"review": "broken_part:review"})

    class Finder:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "tui.addons.tests.broken_part":
                raise ModuleNotFoundError("No module named 'tomato'", name="tomato")

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match="tomato"):
        part_if_there("review")


def test_a_module_without_the_part_is_a_missing_part(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tui.addons.tests.empty_part", ModuleType("empty_part"))
    monkeypatch.setattr(parts, "PARTS", {"review": "empty_part:review"})
    assert part_if_there("review") is None
