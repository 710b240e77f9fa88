"""The dialog that asks how to copy."""

from typing import Any

import pytest
from textual.app import App

from tests.conftest import until
from tests.ui.stage import Stage
from tui.core.errors import UsageError
from tui.traffic.copies.request import CopiedRequest, CopiedServer
from tui.ui.dialogs import copy_as
from tui.ui.dialogs.copy_as import ToCopy, ask_to_copy
from tui.ui.dialogs.picker import Picker

SERVER = CopiedServer("s", is_configured=True)
CALL = CopiedRequest(SERVER, "tools/call", {"name": "t", "arguments": {"key": "[redacted:key]"}})


class Copying(Stage):
    """An app that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def notify(self, message: str, **options: Any) -> None:
        self.said.append(message)


@pytest.fixture
def clipboard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is copied."""
    found: list[str] = []
    monkeypatch.setattr(copy_as, "copy_text", lambda app, text, what, save: found.append(text))
    return found


def labels(app: App[Any]) -> list[str]:
    assert isinstance(app.screen, Picker)
    return [content.plain for _, content in app.screen._choices]


async def asked(app: App[Any], what: ToCopy) -> None:
    """Open the dialog, and wait until it gets keys."""
    ask_to_copy(app, what)
    await until(lambda: isinstance(app.screen, Picker) and app.focused)


async def test_only_ways_that_apply_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_as, "service", lambda name: None)
    app = Copying()
    async with app.run_test():
        await asked(app, ToCopy("it", CALL, app, {"raw bytes": str}))
        assert labels(app) == ["mcptui call …", "raw bytes"]


async def test_the_user_is_told_what_to_fill_in(clipboard: list[str]) -> None:
    app = Copying()
    async with app.run_test() as pilot:
        await asked(app, ToCopy("it", CALL))
        await pilot.press("enter")
        await until(lambda: clipboard and app.said)
        assert "<FILL IN: key>" in clipboard[0]
        assert app.said == ["Fill in what is redacted: key."]


async def test_a_call_that_cannot_be_a_test_case_says_why(
    monkeypatch: pytest.MonkeyPatch, clipboard: list[str]
) -> None:
    async def fails(owner: object) -> str:
        raise UsageError("No result yet.")

    monkeypatch.setattr(copy_as, "service", lambda name: fails)
    app = Copying()
    async with app.run_test() as pilot:
        await asked(app, ToCopy("it", CALL, app))
        await pilot.press("down", "enter")
        await until(lambda: app.said)
        assert (app.said, clipboard) == (["No result yet."], [])


async def test_what_cannot_be_copied_says_so() -> None:
    app = Copying()
    async with app.run_test():
        ask_to_copy(app, ToCopy("it"))
        assert app.said == ["This cannot be copied as a command or a script."]
