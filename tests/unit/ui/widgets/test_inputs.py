"""Fields, choices and buttons of a form; a burst of keys edits a field as if typed one by one."""

from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.ui.widgets.inputs import Button, Choices, Field, FormField, first_shown


class OneField(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Field()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.submitted.append(event.value)


async def test_a_focused_field_shows_the_end_of_a_long_value() -> None:
    class Path(App[None]):
        def compose(self) -> ComposeResult:
            yield Field("/a-long-folder" * 10 + "/report.md", select_on_focus=False)

    async with Path().run_test(size=(80, 24)) as pilot:
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
    class Secret(App[None]):
        def compose(self) -> ComposeResult:
            yield Field("sk-1", password=password)

    async with Secret().run_test() as pilot:
        await pilot.press("home", "shift+end", key)
        assert pilot.app.clipboard == copied
        assert pilot.app.query_one(Field).value == ("" if key == "ctrl+x" else "sk-1")


class OneForm(Stage):
    """A form with a text, a choice and a button."""

    def __init__(self) -> None:
        super().__init__()
        self.text = FormField("Name", Field(compact=True), kind="text", required=True, about="Of the parcel")
        self.choices = Choices([("s", "small"), ("m", "medium"), ("l", "large")], "m")
        self.saved = 0

    def compose(self) -> ComposeResult:
        yield self.text
        yield FormField("Size", self.choices)
        yield Button("Save", "ctrl+j", self.save)

    def save(self) -> None:
        self.saved += 1


async def test_an_error_appears_and_disappears_without_moving_other_widgets():
    async with OneForm().run_test() as pilot:
        app = pilot.app
        await until(lambda: "Of the parcel" in screen_text(app))
        assert "Name  text · required" in screen_text(app)
        places = {widget: widget.region for widget in app.query("*")}
        app.text.complain("must not be empty")
        await until(lambda: "! must not be empty" in screen_text(app))
        assert {widget: widget.region for widget in app.query("*")} == places
        app.text.complain("")
        await until(lambda: "must not" not in screen_text(app))


async def test_choices_follow_keys_and_clicks():
    async with OneForm().run_test() as pilot:
        app = pilot.app
        await pilot.press("tab", "tab", "right")
        assert app.choices.chosen == "l"
        await pilot.press("right")
        assert app.choices.chosen == "s"
        await pilot.click(app.choices, offset=(14, 0))
        assert app.choices.chosen == "m"
        await until(lambda: "( ) small  (•) medium  ( ) large" in screen_text(app))


@pytest.mark.parametrize(("chosen", "first"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_the_selected_one_of_many_values_stays_in_view(chosen: int, first: int) -> None:
    assert first_shown([10, 10, 10, 10], chosen, 25) == first


async def test_a_button_is_pressed_by_enter_and_by_a_click():
    async with OneForm().run_test() as pilot:
        app = pilot.app
        await pilot.press("tab", "tab", "tab", "enter")
        await pilot.click(app.query_one(Button))
        assert app.saved == 2
        assert "Save  ctrl+j" in screen_text(app)


async def test_letters_choose_by_their_first_letter_and_enter_goes_on():
    async with OneForm().run_test(size=(80, 30), notifications=True) as pilot:
        app = pilot.app
        app.set_focus(app.choices)
        await pilot.press("l")
        assert app.choices.chosen == "l"
        await pilot.press("q")
        assert app.choices.chosen == "l"
        await until(lambda: "No choice starts with “q”." in screen_text(app))
        await pilot.press("enter")
        assert app.focused is app.query_one(Button)


async def test_a_sign_that_no_choice_starts_with_is_a_key_of_the_screen():
    class WithHelp(OneForm):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "help", "Help")]
        helped = 0

        def action_help(self) -> None:
            self.helped += 1

    async with WithHelp().run_test(size=(80, 30), notifications=True) as pilot:
        app = pilot.app
        app.set_focus(app.choices)
        await pilot.press("question_mark")
        await until(lambda: app.helped == 1)
        assert "No choice" not in screen_text(app)
