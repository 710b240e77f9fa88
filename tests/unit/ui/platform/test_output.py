"""The stream that Textual writes to, and output shortened for it; `pyte` is the terminal."""

import os
import sys
from importlib import import_module

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.ui.platform.output import _Screen, shortened

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has Textual's own driver")


def test_a_closed_terminal_raises_no_error():
    read, write = os.pipe()
    screen = _Screen(write)
    screen.write("a")
    screen.flush()
    assert os.read(read, 10) == b"a"
    os.close(read)
    screen.write("b")
    screen.flush()
    screen.close()


def test_with_textual_8_2_the_robust_driver_is_used():
    from tui.ui.platform.driver import RobustDriver

    assert all(hasattr(RobustDriver, name) for name in ("_sigtstp_application", "_sigcont_application"))


def test_without_the_private_parser_the_driver_of_textual_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "textual._xterm_parser", None)
    monkeypatch.delitem(sys.modules, "tui.ui.platform.driver", raising=False)
    with pytest.raises(ImportError):
        import_module("tui.ui.platform.driver")


COLUMNS, LINES = 30, 6

colours = st.one_of(
    st.integers(0, 255).map(lambda number: f"5;{number}"),
    st.tuples(*[st.integers(0, 255)] * 3).map(lambda rgb: "2;" + ";".join(map(str, rgb))),
)
styles = st.builds(
    lambda attributes, fore, back: ";".join(
        [*attributes, *([f"38;{fore}"] if fore else []), *([f"48;{back}"] if back else [])]
    ),
    st.lists(st.sampled_from(["1", "3", "4", "7", "9"]), unique=True),
    st.none() | colours,
    st.none() | colours,
)
texts = st.text(alphabet="ab 天─", max_size=12) | st.integers(1, 25).map(lambda number: " " * number)


def segment(text: str, style: str) -> str:
    """Return a text with the escape sequences of Textual."""
    return f"\x1b[{style}m{text}\x1b[0m" if style else text


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Return part of a row after a cursor movement to it, within the edges of the terminal."""
    row, column = draw(st.integers(1, LINES)), draw(st.integers(1, COLUMNS))
    parts = [f"\x1b[{row};{column}H"]
    for text, style in draw(st.lists(st.tuples(texts, styles), max_size=6)):
        column += cell_len(text)
        if column <= COLUMNS + 1:
            parts.append(segment(text, style))
    return "".join(parts) + draw(st.sampled_from(["", "\x1b[2;9H", *(["\r\n"] if row < LINES else [])]))


frames = st.lists(lines(), min_size=1, max_size=5).map(lambda found: "".join([*found, "\x1b[1;3H"]))


def shown(*written: str) -> list[list[object]]:
    """Return what is visible: only the background of a blank, unless an attribute shows on blanks."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    for text in written:
        stream.feed(text)
    found: list[list[object]] = []
    for row in range(LINES):
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        found.append(
            [
                (" ", cell.bg)
                if cell.data == " " and not (cell.underscore or cell.reverse or cell.strikethrough)
                else cell
                for cell in cells
            ]
        )
    return [*found, [screen.cursor.x, screen.cursor.y]]


@given(st.lists(frames, min_size=1, max_size=3), st.booleans())
def test_shortened_output_gives_the_same_screen_and_cursor(written: list[str], erases: bool):
    assert shown(*(shortened(frame, erases=erases) for frame in written)) == shown(*written)


@given(frames, st.booleans())
def test_shortened_output_is_longer_by_one_reset_at_most(frame: str, erases: bool):
    assert len(shortened(frame, erases=erases)) <= len(frame) + len("\x1b[m")


@given(st.text(alphabet="\x1b[]m;0123456789HX\\ab \r\n", max_size=40))
def test_the_text_of_any_output_is_kept(written: str):
    kept = [letter for letter in shortened(written, erases=False) if letter in "ab"]
    assert kept == [letter for letter in written if letter in "ab"]


LINK = "\x1b]8;;https://example.com\x1b\\"


@pytest.mark.parametrize(
    ("frame", "written"),
    [
        (
            segment("a", "38;5;1;48;5;16")
            + segment("b", "1;38;5;1;48;5;16")
            + segment("c", "38;5;2;48;5;16"),
            "\x1b[38;5;1;48;5;16ma\x1b[1mb\x1b[22;38;5;2mc\x1b[m",
        ),
        (segment("a", "1;7") + segment("b", "7;1"), "\x1b[1;7mab\x1b[m"),
        ("\x1b[3;75H\r\n\x1b[4;1Ha", "\x1b[4;1Ha"),
        (f"{LINK}here", f"{LINK}here"),
    ],
    ids=["what differs between styles", "the same in another order", "the last movement", "links"],
)
def test_only_what_has_an_effect_is_written(frame: str, written: str):
    assert shortened(frame, erases=False) == written


def test_blanks_are_erased_where_the_terminal_keeps_their_background():
    frame = f"\x1b[1;1H{segment(' ' * 20, '48;5;16')}\x1b[2;1H"
    assert shortened(frame, erases=True) == "\x1b[1;1H\x1b[48;5;16m\x1b[20X\x1b[2;1H\x1b[m"
    assert " " * 20 in shortened(frame, erases=False)
    frame = segment(" " * 20, "4;48;5;16") + segment(" " * 20, "7;48;5;16")  # underlined and reversed
    assert shortened(frame, erases=True).count(" ") == 40
