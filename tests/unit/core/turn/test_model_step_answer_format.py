"""The JSON of an answer, and the instructions to the model about its format."""

import json
from typing import Any

import pytest

from tui.core.turn.model_step import AnswerFormat, answer_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" 42 ", 42),
        ('"text"', "text"),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("Here it is:\n\n```\n[1, 2]\n```\nDone.", [1, 2]),
        ('The answer is {"a": {"b": 1}}.', {"a": {"b": 1}}),
        ('\ufeff{"a": 1}', {"a": 1}),
    ],
)
def test_the_json_value_in_an_answer_is_found(text: str, value: Any) -> None:
    assert answer_value(text) == value


@pytest.mark.parametrize("text", ["", "Windy.", '{"a": ', '{"a": NaN}', "[" * 100_000])
def test_an_answer_without_a_json_value_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        answer_value(text)


async def test_a_value_is_validated_by_the_given_check() -> None:
    async def check(value: Any) -> str:
        return "too small" if value < 3 else ""

    wanted = AnswerFormat({"minimum": 3}, check)
    assert await wanted.problem("2") == "too small" and await wanted.problem("3") == ""
    assert json.dumps({"minimum": 3}, separators=(",", ":")) in wanted.instruction
    assert "too small" in AnswerFormat.correction(await wanted.problem("2"))
