"""The last filter: no control character in a painted line."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tui.ui.platform.textual_internals import ControlFilter

BLACK = Color(0, 0, 0)


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF)))
def test_no_control_character_is_painted(text):
    (segment,) = ControlFilter().apply([Segment(text)], BLACK)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in segment.text)


def test_the_rest_of_an_escape_sequence_is_plain_text_in_the_same_style():
    bold = Style(bold=True)
    assert ControlFilter().apply([Segment("a\x1b]52;c;aGk=\x07b", bold)], BLACK) == [
        Segment("a]52;c;aGk=b", bold)
    ]


def test_clean_lines_are_passed_on_unchanged():
    line = [Segment("北京 ▸ "), Segment("ok")]
    assert ControlFilter().apply(line, BLACK) is line
