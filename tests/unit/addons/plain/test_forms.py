"""Forms that are filled in line by line."""

from typing import Any

import pytest

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.forms import fill, review
from tui.core.forms.elicitation import blank_form, content_of
from tui.core.questions import Action

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As on the ticket."},
        "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue", "green"]}},
        "news": {"type": "boolean", "default": False},
    },
    "required": ["name"],
}


async def filled(*typed: str) -> tuple[Action | None, Any, Stage]:
    stage, form = Stage(*typed), blank_form(SCHEMA)
    action = await fill(stage.asking, form, declines=True)
    return action, content_of(SCHEMA, form.value()[0]), stage


async def test_each_field_says_its_type_its_default_and_whether_it_is_required():
    *_, stage = await filled("Ada", "", "", "", "")
    text = "\n".join(stage.lines)
    assert "question: Field 1 of 5: “name” (Your name), text, required.\nquestion: As on the ticket." in text
    assert "question: Field 2 of 5: “days”, integer 1…7, optional.\nquestion: Default: 3" in text
    assert "question: 1. metric\nquestion: 2. imperial" in text


async def test_empty_lines_keep_defaults_and_numbers_choose():
    action, content, _ = await filled("Ada", "", "2", "1, 3", "1")
    assert action is Action.ACCEPT
    assert content == {
        "name": "Ada",
        "days": 3,
        "unit": "imperial",
        "colours": ["red", "green"],
        "news": True,
    }


async def test_an_invalid_value_is_asked_for_again():
    _, content, stage = await filled("", "Ada", "9", "7", "x", "", "9", "", "")
    assert content == {"name": "Ada", "days": 7, "news": False}
    problems = [line for line in stage.lines if line.endswith("Try again.")]
    assert problems[0] == "question: “name” is required. Try again." and len(problems) == 4


@pytest.mark.parametrize(
    ("typed", "action"), [("/decline", Action.DECLINE), ("/cancel", Action.CANCEL), (None, None)]
)
async def test_a_form_can_be_left(typed: str | None, action: Action | None):
    assert (await filled("Ada", *filter(None, [typed])))[0] is action


async def test_a_field_can_be_left_out():
    assert (await filled("Ada", "/skip", "", "", ""))[1] == {"name": "Ada", "news": False}


async def test_the_review_shows_values_and_problems():
    form = blank_form(SCHEMA)
    form.set(("days",), "9")
    assert [line for line in review(form) if line.startswith("! days")]
