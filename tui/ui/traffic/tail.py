"""The newest of the traffic, a few lines of it, to keep an eye on beside the conversation."""

from textual.message import Message

from tui.traffic.record.entry_columns import Recording
from tui.ui.traffic.list import FrameList
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols

LOOKS_PER_SECOND = 10
LINES = 5

EMPTY = ("The newest of the traffic will stand here.",)


class TrafficTail(FrameList, can_focus=False):
    """The last lines of the list, always following; a click asks for the whole.

    Args:
        recording: what is shown.
        signs: what the terminal can show.
    """

    DEFAULT_CSS = f"""
    TrafficTail {{ height: {LINES}; background: $surface; scrollbar-size-vertical: 0; }}
    """

    class Opened(Message):
        """The person wants to see the whole list."""

    def __init__(self, recording: Recording, signs: Symbols) -> None:
        super().__init__(recording.frames, live=recording.live, empty=EMPTY, signs=signs, id="tail")

    def on_mount(self) -> None:
        """Begin to look."""
        self.set_interval(1 / LOOKS_PER_SECOND, self.tick)

    def row(self, index: int) -> Row:
        """Return the line of an entry, without the marks of a cursor."""
        row = super().row(index)
        return ((" ", ""), *row[1:]) if self.row_selectable(index) else row

    def row_ground(self, index: int) -> str:
        """No line stands out."""
        return ""

    def row_clicked(self, index: int, x: int) -> None:
        """Ask for the whole list."""
        self.post_message(self.Opened())
