"""The estimate grows with the text and counts other scripts dearer."""

from tui.core.conversation import AssistantMessage, CallRequest, UserMessage
from tui.core.ports import ModelRequest, ToolSpec
from tui.core.tokens import estimate, estimate_request


def test_ascii_is_about_three_tokens_in_ten_characters():
    assert estimate("a" * 100) == 30


def test_chinese_is_more_than_a_token_a_character():
    assert estimate("北京天气如何") == 8


def test_a_request_counts_messages_calls_and_tools():
    empty = estimate_request(ModelRequest("", []))
    call = AssistantMessage(calls=(CallRequest("1", "get_weather", '{"a": 1}'),))
    full = ModelRequest("system", [UserMessage("hi"), call], [ToolSpec("t", "d", {"type": "object"})])
    assert empty == 0 < estimate_request(full)
