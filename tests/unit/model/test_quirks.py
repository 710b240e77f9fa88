"""What is learned from a refusal."""

import pytest

from tui.model.quirks import Learned

SENT = ("model", "messages", "stream_options", "temperature", "max_tokens", "tools")
TOOLS = ("a__one", "a__two")


@pytest.mark.parametrize(
    ("words", "learned"),
    [
        ("stream_options: Extra inputs are not permitted", Learned(dropped={"stream_options"})),
        ("Unsupported value: 'temperature' does not support 0.5", Learned(dropped={"temperature"})),
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            Learned(max_tokens_name="max_completion_tokens"),
        ),
        ("The reasoning_content in the thinking mode must be passed back", Learned(fill_reasoning=True)),
        ("property 'reasoning_content' is unsupported", Learned(no_echo=True)),
        ("Invalid schema for function 'a__two'", Learned(refused_tools={"a__two"})),
        ("tools[0].function.parameters: bad type", Learned(refused_tools={"a__one"})),
    ],
)
def test_a_refusal_that_names_its_reason_is_learned_once(words: str, learned: Learned) -> None:
    known = Learned()
    assert known.take_refusal(400, words, SENT, TOOLS)
    assert known == learned


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "bad request"), (500, "stream_options"), (400, "a__one and a__two"), (400, "tools[7]")],
)
def test_other_refusals_teach_nothing(status: int, words: str) -> None:
    known = Learned()
    assert known.take_refusal(status, words, SENT, TOOLS) == ""
    assert known == Learned()


def test_the_same_tool_is_not_refused_twice() -> None:
    known = Learned(refused_tools={"a__one"})
    assert known.take_refusal(400, "function a__one is invalid", SENT, TOOLS) == ""
