"""Saved arguments in the state folder, without the add-on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tui.core.workbench import CallKey, CallKind, SavedCall
from tui.settings.state.stored_calls import StoredCalls
from tui.ui.workbench import saved_calls
from tui.ui.workbench.saved_calls import RememberedCalls

KEY = CallKey("weather", CallKind.TOOL, "get")


async def test_without_the_addon_arguments_are_saved_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(saved_calls, "service", lambda name: None)
    runtime = cast(Any, SimpleNamespace(calls=StoredCalls(tmp_path / "calls.json")))
    found = saved_calls.saved_calls(runtime, "weather")
    assert isinstance(found, RememberedCalls)
    assert await found.save(KEY, "usual", {"city": "Oslo"}) == "Saved as usual."
    assert await found.of(KEY) == [SavedCall("usual", {"city": "Oslo"})]
    assert await found.forget(KEY, "usual") == "Deleted usual."
    assert await found.of(KEY) == []
