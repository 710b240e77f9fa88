"""Inputs and text areas edit what a reader takes for characters, and the terminal's cursor is at the caret.

Textual edits by code points (8.2.8): backspace turns a family into its parents and a flag into a letter, and
the caret cuts an emoji, whose parts are then painted one by one. Rich cuts flags in two cells.

Input methods compose at the terminal's own cursor, which Textual hides, but moves at the end of each frame.
It only computes the place when a text or the focus changes, so it is wrong in the first frame, and after each
layout and resize. At the end of an input it is one cell too far, and in a hidden one it counts the cells of
the secret. So it is computed for each frame.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import rich.cells
import textual.document._wrapped_document as wrapped_document
from rich.cells import cell_len
from rich.text import Text
from textual.app import App
from textual.expand_tabs import expand_tabs_inline
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.widgets.input import Selection as InputSelection
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tui.core.text import grapheme_end, grapheme_start, graphemes

_CHUNK = re.compile(r"\S+\s*|\s+")
_FLAG_LETTER = "[\U0001f1e6-\U0001f1ff]"


class WholeText(Text):
    """A text in which a style is never applied to a part of an emoji."""

    def stylize(self, style: Any, start: int = 0, end: int | None = None) -> None:
        text = self.plain
        if not text.isascii() and end is not None and start >= 0 and end >= 0:
            start, end = grapheme_start(text, start), grapheme_end(text, end)
        super().stylize(style, start, end)


def edit_by_graphemes() -> None:
    """Make every input and text area created from now on move, delete and paint by graphemes."""
    for kind, name, new in (
        (Input, "validate_selection", _selection_of_input),
        (Input, "delete", _delete_in_input),
        (Input, "_value", property(_value_of_input)),
        (TextArea, "_validate_selection", _selection_of_area),
        (TextArea, "edit", _edit_area),
        (TextArea, "get_line", _line_of_area),
    ):
        if hasattr(kind, name):
            setattr(kind, name, new)
    setattr(wrapped_document, "compute_wrap_offsets", _wrap_offsets)  # noqa: B010
    setattr(rich.cells, "split_graphemes", _split)  # noqa: B010


_validate_input = Input.validate_selection
_delete: Callable[[Input, int, int], None] = Input.delete
_value: Any = getattr(Input, "_value", None)
_validate_area: Any = getattr(TextArea, "_validate_selection", None)
_edit = TextArea.edit
_line = TextArea.get_line
_offsets: Callable[..., list[int]] = getattr(wrapped_document, "compute_wrap_offsets")  # noqa: B009
_rich_split: Callable[..., Any] = getattr(rich.cells, "split_graphemes", lambda *_: ([], 0))


def _snapped(text: str, index: int, *, forward: bool) -> int:
    """Return the nearest index that is not within a grapheme, in the direction of a movement."""
    if text.isascii():
        return index
    return grapheme_end(text, index) if forward else grapheme_start(text, index)


def _selection_of_input(field: Input, selection: InputSelection) -> InputSelection:
    start, end = _validate_input(field, selection)
    forward = end > field.selection.end
    return InputSelection(
        _snapped(field.value, start, forward=forward and start == end),
        _snapped(field.value, end, forward=forward),
    )


def _delete_in_input(field: Input, start: int, end: int) -> None:
    start, end = sorted((max(0, start), min(len(field.value), end)))
    if start < end and not field.value.isascii():
        start, end = grapheme_start(field.value, start), grapheme_end(field.value, end)
    _delete(field, start, end)


def _value_of_input(field: Input) -> Text:
    text: Text = _value.fget(field)
    whole = WholeText(text.plain, no_wrap=True, overflow="ignore", end="")
    whole.spans = text.spans
    return whole


def _selection_of_area(area: TextArea, selection: Selection) -> Selection:
    start, end = _validate_area(area, selection)
    forward = end > area.selection.end and end[0] == area.selection.end[0]

    def snapped(place: Location, *, forward: bool) -> Location:
        return place[0], _snapped(area.document.get_line(place[0]), place[1], forward=forward)

    return Selection(snapped(start, forward=forward and start == end), snapped(end, forward=forward))


def _edit_area(area: TextArea, edit: Edit) -> EditResult:
    if edit.top != edit.bottom:
        (top, left), (bottom, right) = edit.top, edit.bottom
        left = grapheme_start(area.document.get_line(top), left)
        if bottom < area.document.line_count:
            right = grapheme_end(area.document.get_line(bottom), right)
        if ((top, left), (bottom, right)) != (edit.top, edit.bottom):
            edit = Edit(edit.text, (top, left), (bottom, right), edit.maintain_selection_offset)
    return _edit(area, edit)


def _line_of_area(area: TextArea, line_index: int) -> Text:
    line = _line(area, line_index)
    return line if line.plain.isascii() else WholeText(line.plain, end="", no_wrap=True)


def _wrap_offsets(text: str, width: int, tab_size: int, *args: Any, **options: Any) -> list[int]:
    """Return where a line is broken: between graphemes, if a word is longer than a line."""
    if text.isascii():
        return _offsets(text, width, tab_size, *args, **options)
    if "\t" in text or width < 2:
        starts = list(accumulate(map(len, graphemes(text)), initial=0))
        broken = _offsets(text, width, tab_size, *args, **options)
        found = (starts[bisect_right(starts, offset) - 1] for offset in broken)
        return list(dict.fromkeys(offset for offset in found if offset))
    breaks: list[int] = []
    used = 0
    for chunk in _CHUNK.finditer(text):
        cells = cell_len(chunk[0])
        if used + cells > width and cells <= width:
            if chunk.start():
                breaks.append(chunk.start())
            used = cells
        elif used + cells > width:
            if used:
                breaks.append(chunk.start())
            used, at = 0, chunk.start()
            for part in graphemes(chunk[0]):
                size = cell_len(part)
                if used + size > width:
                    breaks.append(at)
                    used = 0
                used += size
                at += len(part)
        else:
            used += cells
    return breaks


def _split(text: str, *args: Any) -> tuple[list[tuple[int, int, int]], int]:
    """Return rich's graphemes of a text, with the two letters of a flag as one."""
    spans, total = _rich_split(text, *args)
    if not re.search(_FLAG_LETTER, text):
        return spans, total
    joined: list[tuple[int, int, int]] = []
    half = -1  # where the last span ends if it is a letter without its second one
    for start, end, cells in spans:
        if start == half and re.match(_FLAG_LETTER, text[start]):
            first, _, before = joined[-1]
            joined[-1] = (first, end, before + cells)
            half = -1
        else:
            joined.append((start, end, cells))
            half = end if re.fullmatch(_FLAG_LETTER, text[start:end]) else -1
    return joined, total


class CaretApp(App[int]):
    """An app whose terminal cursor is at the caret.

    A widget that draws a caret itself has `caret`, its place on the screen, None if there is none now.
    """

    _caret = Offset(0, 0)
    _edited: Widget | None = None

    @property
    def cursor_position(self) -> Offset:
        """The place of the caret. Without a focused field, of the last one, which may still get letters."""
        focused = self.focused
        if focused is not None and caret_of(focused) is not None:
            self._edited = focused
        edited = self._edited
        if edited is not None and not edited.is_attached:
            edited = self._edited = None
        if edited is not None and edited.screen is self.screen and edited.content_region:
            self._caret = caret_of(edited) or self._caret
        return self._caret

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        """Ignore the place that a widget computed before the frame."""


def caret_of(widget: Widget) -> Offset | None:
    """Return the place of a widget's caret on the screen, None if nothing is edited in it."""
    own = getattr(widget, "caret", None)
    if isinstance(own, Offset):
        return own
    if not isinstance(widget, Input | TextArea):
        return None
    x, y, _, _ = widget.content_region
    left, top = widget.scroll_offset
    if isinstance(widget, Input):
        before = widget.value[: widget.cursor_position]
        cells = len(before) if widget.password else cell_len(expand_tabs_inline(before, 8))
        return Offset(x + cells - round(left), y)
    location = widget.cursor_location
    place = widget.wrapped_document.location_to_offset(location) if widget.soft_wrap else None
    if place is None:
        before = widget.document.get_line(location[0])[: location[1]]
        place = Offset(cell_len(expand_tabs_inline(before, widget.indent_width)), location[0])
    return Offset(x + widget.gutter_width + place.x - round(left), y + place.y - round(top))
