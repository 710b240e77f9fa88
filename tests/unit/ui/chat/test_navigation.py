"""Opening other screens: the traffic filter, and the import of the workbench."""

import threading

import pytest

from tests.conftest import until
from tests.ui.app_stage import opened
from tests.ui.fakes import FakeRuntime
from tui.core.traffic import Cause
from tui.ui.chat import navigation
from tui.ui.chat.navigation import filter_of


@pytest.mark.parametrize(
    ("cause", "filter"),
    [
        (Cause(3), "turn:3"),
        (Cause(3, 2), "turn:3 step:2"),
        (Cause(3, 2, "call-1"), "turn:3 call:call-1"),
        (Cause(3, 2, "a b"), 'turn:3 call:"a b"'),
    ],
)
def test_the_traffic_filter_names_the_innermost_cause(cause: Cause, filter: str):
    assert filter_of(cause) == filter


async def test_the_workbench_is_imported_in_a_thread_once_the_servers_have_the_focus(
    monkeypatch: pytest.MonkeyPatch,
):
    imported: list[tuple[str, bool]] = []
    is_main = threading.main_thread()
    monkeypatch.setattr(
        navigation,
        "import_module",
        lambda name: imported.append((name, threading.current_thread() is is_main)),
    )
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.pause()
        assert not imported
        for key in ("f3", "f5", "f3"):
            await pilot.press(key)
        await until(lambda: app.focused is app.main.regions.servers and imported)
    assert imported == [("tui.ui.workbench.screen", False)]
