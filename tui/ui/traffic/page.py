"""The pane that reads: a sheet of rows with a cursor, folding, and a search."""

import asyncio
from collections.abc import Callable

from textual.message import Message

from tui.ui.traffic.sheet import Lines, Sheet, Work
from tui.ui.widgets.cursor_pane import CursorPane
from tui.ui.widgets.rows import Row, crop, marked, text_of


class Page(CursorPane, inherit_bindings=True):
    """Shows one sheet.

    Attributes:
        busy: something large is looked through in the background.
    """

    FOLLOWS = False

    class Busy(Message):
        """Something large is looked through now, or no longer."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet: Sheet = Lines(())
        self.sought = ""
        self.busy = False
        self._job: asyncio.Task[None] | None = None

    def show(self, sheet: Sheet) -> None:
        """Show another sheet, from its start."""
        self.sheet = sheet
        self.cursor = 0
        sheet.fit(self.columns)
        self.rows_changed()
        self._place(0)

    def seek(self, text: str) -> None:
        """Mark a text wherever it stands."""
        self.sought = text.lower()
        self.rows_changed()

    def work(self, work: Work) -> None:
        """Do something in a thread, and with what was found here; one thing at a time."""
        if not self.busy:
            self._job = asyncio.create_task(self._work(work), name="look through a large body")

    async def _work(self, work: Work) -> None:
        self.busy = True
        self.post_message(self.Busy())
        try:
            finish: Callable[[], None] = await asyncio.to_thread(work)
            finish()
        finally:
            self.busy = False
        self.rows_changed()
        self.post_message(self.Busy())

    async def on_unmount(self) -> None:
        """Wait for what is looked through; it cannot be broken off."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.wait({self._job})

    # ---- what the pane shows ----

    def row_count(self) -> int:
        """Return how many rows there are."""
        return max(1, self.sheet.count())

    def row(self, index: int) -> Row:
        """Return a row, with what is searched for marked."""
        if index >= self.sheet.count():
            return ()
        row = self.sheet.row(index, self.columns)
        if self.sought:
            text = text_of(row).lower()
            at = text.find(self.sought)
            while at >= 0 and len(text) == len(text_of(row)):
                row = marked(row, at, at + len(self.sought), "selected bold")
                at = text.find(self.sought, at + len(self.sought))
        return crop(row, self.columns)

    def row_chosen(self, index: int) -> None:
        """Fold or unfold."""
        work = self.sheet.toggle(index, self.columns)
        if work is not None:
            self.work(work)
        self.rows_changed()

    def row_ground(self, index: int) -> str:
        """Paint the cursor's row while keys go here."""
        return super().row_ground(index) if self.has_focus else ""

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a row."""
        self.rows_changed()
        self.move_cursor(min(row, self.row_count() - 1))

    def rewrap(self) -> None:
        """The width changed."""
        self.sheet.fit(self.columns)
