"""Keys that arrive in one burst edit a field as if typed one by one."""

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input

from tests.conftest import until
from tui.ui.widgets.field import Field


class OneField(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Field()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.submitted.append(event.value)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["a", "b", "backspace", "c"], "ac"),
        (["a", "b", "left", "c"], "acb"),
        (["a", "ctrl+u", "b", "c"], "bc"),
        (["a", "space", "b", "ctrl+w", "c"], "a c"),
        (["a", "b", "home", "delete", "c"], "cb"),
    ],
)
async def test_keys_of_a_burst_edit_in_order(keys, text):
    async with OneField().run_test() as pilot:
        app = pilot.app
        for key in [*keys, "enter"]:
            character = {"space": " "}.get(key, key if len(key) == 1 else None)
            app.post_message(events.Key(key, character))
        await until(lambda: app.submitted)
        assert app.submitted == [text]
