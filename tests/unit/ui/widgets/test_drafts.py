"""What was typed is not lost when a prompt closes: it is a draft, or the dialog says so first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input

import tui
from tests.ui.app_stage import screen_text
from tui.ui.widgets.drafts import Draft
from tui.ui.widgets.inputs import Field, PromptLine

FIELDS = {"Field", "LinesField", "JsonArea", "TextArea", "_field"}
DRAFTS = {"PromptLine", "FilterBar"}
FILTERS = {"FinderScreen", "HelpScreen", "Picker", "Bench"}
"""Lists with a field that filters them at once: `esc` empties it before it closes them."""

IN_QUESTIONS = {"address_dialog", "sampling_dialog"}
"""Functions that return a `QuestionDialog`, which says what is not saved."""


def with_fields() -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for path in Path(tui.__path__[0]).rglob("*.py"):
        text = path.read_text("utf-8")
        if "TextArea" in text or "from tui.ui.widgets.inputs" in text:
            for found in ast.parse(text).body:
                calls = (node.func for node in ast.walk(found) if isinstance(node, ast.Call))
                is_made = any(isinstance(call, ast.Name) and call.id in FIELDS for call in calls)
                if is_made and isinstance(found, ast.ClassDef | ast.FunctionDef) and found.name not in FIELDS:
                    yield found


def test_every_field_is_a_prompt_with_drafts_or_in_a_dialog_that_says_what_is_not_saved() -> None:
    without = {
        found.name
        for found in with_fields()
        if not any(isinstance(node, ast.FunctionDef) and node.name == "typed" for node in found.body)
    }
    assert without == FILTERS | DRAFTS | IN_QUESTIONS


class Prompts(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.prompt, self.given = PromptLine(), list[str]()

    def compose(self) -> ComposeResult:
        yield Field()
        yield self.prompt

    def ask(self, label: str, value: str = "", about: str = "") -> str:
        """Ask, and return what the prompt shows."""
        self.prompt.ask(label, self.given.append, value=value, about=about)
        return self.prompt.query_one(Input).value


async def test_a_line_that_was_given_up_is_there_when_the_same_prompt_opens_again() -> None:
    app = Prompts()
    async with app.run_test() as pilot:
        app.ask("note", "old", "1")
        await pilot.press(*" text", "escape")
        assert app.ask("note", "old", "2") == "old", "another prompt"
        await pilot.press("escape")
        assert app.ask("note", "old", "1") == "old text"
        await pilot.pause()
        assert "note (draft) › old text" in screen_text(app)
        await pilot.press("enter")
        assert app.given == ["old text"] and app.ask("note", "old", "1") == "old"


@pytest.mark.parametrize("leave", ["tab", "ask"])
async def test_a_line_is_kept_when_the_focus_moves_and_when_another_prompt_replaces_it(leave: str) -> None:
    app = Prompts()
    async with app.run_test() as pilot:
        app.ask("rule")
        await pilot.press("x")
        if leave == "ask":
            app.ask("note")
        await pilot.press("tab", "escape")
        assert app.ask("rule") == "x"


async def test_an_accepted_line_that_cannot_be_saved_is_a_draft() -> None:
    async def full() -> None:
        raise OSError("disk full")

    app = Prompts()
    async with app.run_test() as pilot:
        app.ask("rule")
        await pilot.press("x", "enter")
        with pytest.raises(OSError, match="disk full"):
            await app.prompt.saving(full())
        assert app.given == ["x"] and app.ask("rule") == "x"


@pytest.mark.parametrize("typed", ["", "  ", "old"])
def test_an_emptied_or_unchanged_line_is_no_draft(typed: str) -> None:
    app: App[None] = App()
    Draft(app, "note", "old").keep("new")
    draft = Draft(app, "note", "old")
    assert draft.text == "new"
    draft.keep(typed)
    assert Draft(app, "note", "old").text == "old" and draft.label("note") == "note ›"
