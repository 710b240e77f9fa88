"""Calls in program syntax: what is one, and what only looks like one."""

import json

import pytest

from tests.texts import read

CALL = 'web__search(query="a, (b)")'


@pytest.mark.parametrize(
    "text",
    [
        f"[{CALL}]",
        f"<|python_start|>[{CALL}]<|python_end|>",
        f"```tool_code\nprint({CALL})\n```",
        f"<function_calls>\n{CALL}\n</function_calls>",
    ],
)
def test_a_call_is_found_with_and_without_the_marks_of_a_model(text: str) -> None:
    found = read("native", [text])
    assert [(call.name, json.loads(call.arguments)) for call in found.calls] == [
        ("web__search", {"query": "a, (b)"})
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"You could write `{CALL}`.",
        f"[{CALL}] is how it is called.",
        "[other__search(query=1)]",
        '>>> web__search\n{"query": "a"} is what the shell printed',
    ],
)
def test_a_call_that_is_not_the_whole_reply_or_names_no_tool_stays_text(text: str) -> None:
    found = read("native", [text])
    assert not found.calls and found.text == text
