"""Every raw result becomes something that can be shown."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.context.content import MAX_ITEMS, content_of, contents_of, prompt_of, result_of
from tui.core.tools import Annotations, BinaryContent, LinkContent, ResourceContent, TextContent

EMBEDDED = {"type": "resource"}


@each_case(
    ("item", "read"),
    [
        ({"type": "text", "text": "a\x1b[2J"}, TextContent("a\x1b[2J")),
        (
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            BinaryContent("image", "image/png", 5, "aGVsbG8="),
        ),
        ({"type": "audio", "mimeType": "a/b", "data": ""}, BinaryContent("audio", "a/b", 0, "")),
        (
            EMBEDDED | {"resource": {"uri": "x:y", "blob": "aGk="}},
            BinaryContent("blob", "", 2, "aGk=", "x:y"),
        ),
        ({"type": "resource_link", "uri": "x:y", "name": "n"}, LinkContent("x:y", "n")),
        (EMBEDDED | {"resource": {"uri": "x:y", "text": "t"}}, ResourceContent("x:y", "", "t")),
        ({"type": "hologram", "x": 1}, TextContent('{"type": "hologram", "x": 1}')),
    ],
)
def test_each_kind_of_item_is_read_and_an_unknown_one_is_shown_as_json(item, read):
    assert content_of(item) == read


def test_content_that_is_not_a_list_is_shown_with_a_warning():
    result = result_of({"content": "hello"})
    assert result.content == (TextContent("hello"),)
    assert result.warning == "content is not a list"


def test_too_many_items_are_truncated_and_counted():
    result = result_of({"content": [{"type": "text", "text": "x"}] * (MAX_ITEMS + 5)})
    assert len(result.content) == MAX_ITEMS
    assert result.warning == "5 more content items omitted"


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "text", "uri", "data", "resource", "blob", "mimeType"]), inner
        )
    ),
    max_leaves=20,
)


@given(json_values, json_values, json_values)
def test_any_json_value_can_be_read_as_a_result(content, structured, is_error):
    result = result_of({"content": content, "structuredContent": structured, "isError": is_error})
    assert isinstance(result.is_error, bool)


def test_the_number_of_resource_contents_is_bounded():
    raw = {"contents": [{"uri": "a:", "text": "x"}] * (MAX_ITEMS + 2)}
    read = contents_of(raw)
    assert len(read.content) == MAX_ITEMS
    assert read.warning == "2 more contents omitted"


@given(json_values)
def test_no_response_to_a_resource_or_prompt_request_raises(value):
    for raw in ({"contents": value, "messages": value}, {"contents": [value], "messages": [value]}):
        contents_of(raw)
        prompt_of(raw)
        prompt_of({"messages": [{"role": value, "content": value}]})


@each_case(
    ("said", "read"),
    [
        ({"audience": ["user"], "priority": 0.2}, Annotations(("user",), 0.2)),
        ({"audience": ["assistant", "user", "cat"]}, Annotations(("user", "assistant"))),
        ({"audience": "user", "priority": 7}, Annotations()),
        ({"audience": [["user"]], "priority": True}, Annotations()),
        ("user", Annotations()),
        ({"priority": float("nan")}, Annotations()),
    ],
)
def test_valid_annotations_are_read_and_malformed_ones_ignored(said, read):
    assert content_of({"type": "text", "text": "x", "annotations": said}).annotations == read


def test_every_kind_of_item_may_have_annotations():
    said = {"annotations": {"audience": ["user"]}}
    resource = {"uri": "a://1", "text": "x"}
    for item in (
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "a://1"},
        {"type": "resource", "resource": resource},
        {"type": "resource", "resource": {"uri": "a://1", "blob": "AAAA"}},
    ):
        assert not content_of(item | said).annotations.for_model
