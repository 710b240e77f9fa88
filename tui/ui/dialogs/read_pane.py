"""ReadPane: the text of a question, which tracks what part has not been on screen yet."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.core.background import Tasks
from tui.core.language.translate import _, n_
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import PREPARING, Row, wrap

AT_ONCE = 4_000
"""A longer text is laid out in a thread, so as not to delay keys."""


class ReadPane(LinePane):
    """Lines that the user must read before an answer counts. Posts `Read` when the read part changes.

    A row counts as read once it was painted; rows skipped by a jump do not. `lines` of a long text are a
    function, which is called once, in a thread, where the text is also laid out. `hang`: a row with a label
    continues behind it, so that no text can look like a row of its own.
    """

    FOLLOWS: ClassVar[bool] = False

    DEFAULT_CSS = "ReadPane { background: $panel; height: 3; }"

    class Read(Message):
        """More of the text was on screen, or it was laid out again."""

    def __init__(self, lines: Iterable[Row] | Callable[[], Iterable[Row]], *, hang: bool = False) -> None:
        super().__init__()
        self._hang = hang
        self._make = lines if callable(lines) else None
        self._lines = [] if callable(lines) else list(lines)
        self._is_long = callable(lines)
        self._width = 0
        self._unread: set[int] = set()
        self.is_ready = False
        self.is_painted = False
        """Whether any of the text has been on screen since it was laid out."""
        self._tasks = Tasks()
        self._work: asyncio.Task[None] | None = None

    @property
    def unread(self) -> str:
        """What has not been on screen, and the key that goes there; "" if all of it has."""
        if not self._width:
            return _("nothing shown yet")
        if not self.is_ready:
            return _("not prepared yet")
        if not self._unread:
            return ""
        is_below = max(self._unread) >= self.scroll_offset.y + self.scrollable_content_region.height
        unread, key = len(self._unread), "pgdn" if is_below else "pgup"
        return n_("{n} line not shown yet ({key})", "{n} lines not shown yet ({key})", unread, key=key)

    def rewrap(self) -> None:
        width = max(10, self.columns)
        if width == self._width:
            return
        self._width = width
        self.is_ready = False
        if not self._is_long:
            self._show(_wrapped(self._lines, width, hang=self._hang))
            return
        self._shown_rows, self._unread = [PREPARING], set()
        self.rows_changed()
        self.post_message(self.Read())
        if self._work is None or self._work.done():
            self._work = self._tasks.start(self._prepare(), "prepare a question")

    async def _prepare(self) -> None:
        """Create the lines, and lay them out for the pane's width at that time."""
        if self._make is not None:
            make, self._make = self._make, None
            self._lines = await asyncio.to_thread(lambda: list(make()))
        while not self.is_ready:
            width = self._width
            rows = await asyncio.to_thread(_wrapped, self._lines, width, hang=self._hang)
            if width == self._width:
                self._show(rows)

    def _show(self, rows: Sequence[Row]) -> None:
        self._shown_rows, self.is_ready, self.is_painted = rows, True, False
        self._unread = set(range(len(rows)))
        self.rows_changed()
        self.post_message(self.Read())

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint a part of the pane, and mark it as read."""
        strips = super().render_lines(crop)
        if self._unread:
            top = self.scroll_offset.y
            before = len(self._unread)
            self._unread.difference_update(range(top + crop.y, top + crop.bottom))
            if len(self._unread) != before:
                self.is_painted = True
                self.post_message(self.Read())
        return strips


def _wrapped(lines: Iterable[Row], width: int, *, hang: bool) -> list[Row]:
    def wrapped(line: Row) -> list[Row]:
        return wrap(line[1:], width, line[:1]) if hang and len(line) > 1 else wrap(line, width)

    return [row for line in lines for row in (wrapped(line) if line else [()])]
