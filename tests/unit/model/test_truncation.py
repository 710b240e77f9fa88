"""An endpoint that reads less than it was sent is told of, with what to change."""

from tui.core.conversation import UserMessage
from tui.core.ports import ModelRequest, Usage
from tui.model.profile import ModelProfile
from tui.model.truncation import truncation_warning

OLLAMA = ModelProfile("ollama", "http://127.0.0.1:11434/v1", "m")
LONG = ModelRequest("", [UserMessage("word " * 20_000)])


def test_far_fewer_tokens_than_were_sent_are_told_with_the_fix() -> None:
    said = truncation_warning(OLLAMA, LONG, Usage(4_096, 10))
    assert "4,096 of about 30,004 tokens" in said and "OLLAMA_CONTEXT_LENGTH=65536" in said
    assert "num_ctx" in said


def test_a_server_that_is_not_ollama_gets_its_own_advice() -> None:
    other = ModelProfile("lmstudio", "http://127.0.0.1:1234/v1", "m")
    assert "where it is loaded" in truncation_warning(other, LONG, Usage(4_096, 10))


def test_a_count_near_the_estimate_says_nothing() -> None:
    assert truncation_warning(OLLAMA, LONG, Usage(22_000, 10)) == ""


def test_what_nobody_counted_says_nothing() -> None:
    assert truncation_warning(OLLAMA, LONG, None) == ""
    assert truncation_warning(OLLAMA, LONG, Usage(estimated=True)) == ""


def test_a_short_request_says_nothing() -> None:
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage("hi")]), Usage(1, 1)) == ""


def test_providers_elsewhere_do_not_cut_in_silence() -> None:
    assert truncation_warning(ModelProfile("x", "https://api.example.com/v1", "m"), LONG, Usage(9, 1)) == ""
