from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tui import pytest_plugin
from tui.addons.tests.python.items import SuiteFile
from tui.core import addons


def collected(name: str, *, wanted: bool = True) -> Any:
    config = SimpleNamespace(getini=lambda setting: wanted)
    return pytest_plugin.pytest_collect_file(Path(name), SimpleNamespace(config=config))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SuiteFile, "from_parent", lambda parent, *, path: path.name)


def test_a_test_file_is_collected():
    assert collected("/x/shop.mcp.toml") == "shop.mcp.toml"


@pytest.mark.parametrize("name", ["/x/shop.toml", "/x/test_shop.py", "/x/mcp.toml"])
def test_other_files_are_not(name: str):
    assert collected(name) is None


def test_the_setting_turns_it_off():
    assert collected("/x/shop.mcp.toml", wanted=False) is None


def test_without_the_addon_a_warning_says_that_a_file_is_not_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(addons, "brings", lambda addon: None)
    with pytest.warns(pytest.PytestWarning, match="^shop.mcp.toml needs the add-on tests, .* not run"):
        assert collected("/x/shop.mcp.toml") is None


def test_the_package_registers_the_plugin():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nmcptui = "tui.pytest_plugin"\n' in text
