"""Fields and buttons; a burst of keys edits a field as if typed one by one."""

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.ui.widgets.inputs import Button, Field, LinesField


class OneField(App[None]):
    def __init__(self, value: str = "", password: bool = False) -> None:
        super().__init__()
        self.value, self.password = value, password
        self.submitted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Field(self.value, password=self.password, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.submitted.append(event.value)


async def test_a_focused_field_shows_the_end_of_a_long_value() -> None:
    async with OneField("/a-long-folder" * 10 + "/report.md").run_test(size=(80, 24)) as pilot:
        await until(lambda: "/report.md" in screen_text(pilot.app))


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
async def test_a_burst_of_keys_is_applied_in_order(keys, text):
    async with OneField().run_test() as pilot:
        app = pilot.app
        for key in [*keys, "enter"]:
            character = {"space": " "}.get(key, key if len(key) == 1 else None)
            app.post_message(events.Key(key, character))
        await until(lambda: app.submitted)
        assert app.submitted == [text]


@pytest.mark.parametrize(("password", "copied"), [(True, ""), (False, "sk-1")])
@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+x"])
async def test_a_secret_is_not_copied(key: str, password: bool, copied: str) -> None:
    async with OneField("sk-1", password).run_test() as pilot:
        await pilot.press("home", "shift+end", key)
        assert pilot.app.clipboard == copied
        assert pilot.app.query_one(Field).value == ("" if key == "ctrl+x" else "sk-1")


async def test_a_button_is_pressed_by_enter_and_by_a_click():
    saved: list[int] = []
    button = Button("Save", "ctrl+j", lambda: saved.append(1))
    async with Stage(button).run_test() as pilot:
        await pilot.press("tab", "enter")
        await pilot.click(button)
        assert len(saved) == 2
        assert "Save  ctrl+j" in screen_text(pilot.app)


async def test_undoing_text_removes_the_scroll_bar_and_moves_the_cursor():
    field = LinesField()
    async with Stage(field).run_test(size=(40, 10)) as pilot:
        field.focus()
        await pilot.pause()
        field.insert("a\nb\n" * 50)
        await pilot.pause()
        assert field.show_vertical_scrollbar
        field.undo()
        await pilot.pause()
        assert (field.text, field.cursor_location, field.show_vertical_scrollbar) == ("", (0, 0), False)
        field.redo()
        await pilot.pause()
        assert field.cursor_location == (100, 0) and pilot.app.is_running
