"""The place of the terminal's own cursor: at the caret of the focused field, where input methods compose.

Textual hides that cursor, but moves it at the end of each frame. It only computes the place when a text or
the focus changes, so it is wrong in the first frame, and after each layout and resize. At the end of an input
it is one cell too far, and in a hidden one it counts the cells of the secret (8.2.8). So it is computed for
each frame.
"""

from rich.cells import cell_len
from textual.app import App
from textual.expand_tabs import expand_tabs_inline
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Input, TextArea


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
    if isinstance(widget, Input):
        return _caret_of_input(widget)
    if isinstance(widget, TextArea):
        return _caret_of_area(widget)
    return None


def _caret_of_input(field: Input) -> Offset:
    before = field.value[: field.cursor_position]
    cells = len(before) if field.password else cell_len(expand_tabs_inline(before, 8))
    x, y, _, _ = field.content_region
    return Offset(x + cells - round(field.scroll_offset.x), y)


def _caret_of_area(area: TextArea) -> Offset:
    location = area.cursor_location
    place = area.wrapped_document.location_to_offset(location) if area.soft_wrap else None
    if place is None:
        before = area.document.get_line(location[0])[: location[1]]
        place = Offset(cell_len(expand_tabs_inline(before, area.indent_width)), location[0])
    x, y, _, _ = area.content_region
    left, top = area.scroll_offset
    return Offset(x + area.gutter_width + place.x - round(left), y + place.y - round(top))
