"""Saved arguments of the workbench in the test file of their server."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tui.addons.tests.keep.saved import SuiteSavedCalls
from tui.core.errors import UsageError
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec
from tui.core.workbench import CallKey, CallKind, SavedCall
from tui.settings.state.stored_calls import StoredCalls
from tui.ui.workbench.saved_calls import RememberedCalls

TOOL = CallKey("weather", CallKind.TOOL, "get")
TEMPLATE = CallKey("weather", CallKind.RESOURCE, "note://{name}")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SuiteSavedCalls:
    """Return the saved calls of a configured server, in a project that is the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    status = SimpleNamespace(spec=ServerSpec("weather", "python", (str(tmp_path / "server.py"),)))
    runtime = cast(
        Any,
        SimpleNamespace(
            host=SimpleNamespace(find=lambda name: status),
            calls=StoredCalls(tmp_path / "calls.json"),
            redactor=Redactor(),
            is_unconfigured=False,
        ),
    )
    return SuiteSavedCalls(runtime, "weather", RememberedCalls(runtime))


def names(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith("name = ")]


async def test_arguments_are_saved_replaced_and_deleted(calls: SuiteSavedCalls, tmp_path: Path):
    assert await calls.save(TOOL, "usual", {"city": "${x}"}) == "Saved as usual in weather.mcp.toml."
    assert await calls.of(TOOL) == [SavedCall("usual", {"city": "${x}"})]
    await calls.save(TOOL, "usual", {"city": "NYC"})
    assert await calls.of(TOOL) == [SavedCall("usual", {"city": "NYC"})]
    assert names(tmp_path / "weather.mcp.toml") == ['name = "usual"']
    assert await calls.forget(TOOL, "usual") == "Deleted usual."
    assert await calls.of(TOOL) == []


async def test_calls_of_the_state_folder_are_listed_and_move_when_one_is_saved(
    calls: SuiteSavedCalls, tmp_path: Path
):
    stored = StoredCalls(tmp_path / "calls.json")
    stored.write(lambda memory: memory.with_saved(TOOL, "old", {"city": "Oslo"}))
    await calls._runtime.calls.load()
    assert await calls.of(TOOL) == [SavedCall("old", {"city": "Oslo"})]
    await calls.save(TOOL, "new", {})
    assert not stored.read().saved
    assert [one.name for one in await calls.of(TOOL)] == ["old", "new"]


async def test_a_kept_call_is_listed_and_neither_replaced_nor_deleted(calls: SuiteSavedCalls, tmp_path: Path):
    file = tmp_path / "weather.mcp.toml"
    kept = 'server = "weather"\n\n[[call]]\nname = "rain"\ntool = "get"\ntext = "Rain."\n'
    file.write_text(kept)
    assert await calls.of(TOOL) == [SavedCall("rain", {}, kept=True)]
    with pytest.raises(UsageError, match="rain is a kept call"):
        await calls.save(TOOL, "rain", {})
    await calls.forget(TOOL, "rain")
    assert file.read_text() == kept


async def test_what_a_test_file_cannot_have_stays_in_the_state_folder(calls: SuiteSavedCalls, tmp_path: Path):
    await calls.save(TEMPLATE, "mine", {"name": "milk"})
    assert await calls.of(TEMPLATE) == [SavedCall("mine", {"name": "milk"})]
    assert not (tmp_path / "weather.mcp.toml").exists()


async def test_a_bad_name_is_refused(calls: SuiteSavedCalls):
    with pytest.raises(ValueError, match="Use letters"):
        await calls.save(TOOL, "../x", {})
