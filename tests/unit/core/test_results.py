"""What the model is told of a result is whole, honest and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from tui.core.results import cut, observation, result_text
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult


def test_text_items_stand_in_order():
    assert result_text(ToolResult((TextContent("a"), TextContent("b")))) == "a\nb"


def test_an_empty_result_says_so():
    assert result_text(ToolResult()) == "(empty result)"


def test_an_error_is_marked():
    assert observation(ToolResult((TextContent("no"),), is_error=True), 1000) == "ERROR: no"


def test_structured_content_is_added_only_if_no_text_says_the_same():
    assert result_text(ToolResult((TextContent('{"n": 1}'),), structured={"n": 1})) == '{"n": 1}'
    assert result_text(ToolResult((TextContent("one"),), structured={"n": 1})) == 'one\n{"n":1}'


def test_what_is_not_text_is_named():
    text = result_text(
        ToolResult(
            (
                BinaryContent("image", "image/png", 1234),
                LinkContent("file:///a", "a"),
                ResourceContent("notes://1", "text/plain", "milk"),
            )
        )
    )
    assert "image/png, 1234 bytes" in text and "file:///a" in text and "milk" in text


def test_invisible_tag_characters_never_reach_the_model():
    assert result_text(ToolResult((TextContent("hi\U000e0041\U000e0042"),))) == "hi"


def test_lone_surrogates_can_be_sent():
    result_text(ToolResult((TextContent("\ud800"),))).encode("utf-8")


def test_a_warning_stands_first():
    assert observation(ToolResult((TextContent("x"),), warning="odd"), 100).startswith("[warning: odd]")


def test_a_large_result_keeps_head_and_tail_and_says_what_is_missing():
    text = cut("A" * 5000 + "B" * 5000, 1000)
    assert text.startswith("AAA") and text.endswith("BBB") and "of 10000 bytes omitted" in text


@given(st.text(max_size=3000), st.integers(200, 2000))
def test_a_cut_result_is_never_much_larger_than_the_limit(text: str, limit: int):
    assert len(cut(text, limit).encode("utf-8", "replace")) <= limit + 80
