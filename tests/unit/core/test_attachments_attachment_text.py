"""The text for attachments is accurate, and their content cannot imitate it."""

from hypothesis import given
from hypothesis import strategies as st

from tests.media import image
from tui.core.attachments import as_sent, fenced, word
from tui.core.context.tool_results import observation
from tui.core.tools import ToolResult


@given(st.text(alphabet="`a\n", max_size=40))
def test_no_text_closes_its_fence(text):
    fence, *body = fenced(text).split("\n")
    assert body[-1] == fence and all(fence not in line for line in body[:-1])


def test_the_text_has_a_note_if_an_image_is_not_sent():
    seen = observation(ToolResult((image(), image())), 1000)
    text = as_sent(seen.text, seen.attachments, ["not sent", ""])
    assert text == "[image 1: image/png 3x2, not sent]\n[image 2: image/png 3x2, attached below]"


@given(st.text(st.characters(codec=None), max_size=80))
def test_a_word_cannot_close_the_brackets_around_it(text):
    assert not set(word(text, 40)) & set("[]\n\r\x1b") and len(word(text, 40)) <= 40
