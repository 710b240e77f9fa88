"""The pane that reads: a sheet of rows with a cursor, folding, pictures, and a search."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from textual.message import Message

from tui.core.text import fold
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.picture import Picture, can_show_pictures
from tui.ui.widgets.rows import Row, crop, highlighted, text_of, wrap
from tui.ui.widgets.symbols import symbols_for

Work = Callable[[], Callable[[], None]]
"""Something that takes time: called in a thread, it returns what is to be done with what was found."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A picture that is to be decoded.

    Attributes:
        encoded: gives the base64 of it.
        indent: cells to the left of it.
        put: takes the picture, or why there is none.
    """

    encoded: Callable[[], bytes]
    indent: int
    put: Callable[[Picture | str], None]


class Pictures(Protocol):
    """The images in a sheet, which are pictures once somebody has decoded them."""

    def begin(self) -> None:
        """Show images as pictures from now on, the first of them at once; asked for again, do nothing."""
        ...

    def wanted(self) -> Wanted | None:
        """Return the next picture that is in sight and not decoded yet."""
        ...

    def again(self) -> None:
        """Want those once more that may be larger or must be smaller: there is another room for them."""
        ...


class Sheet(Protocol):
    """Rows to read, some of which fold."""

    @property
    def pictures(self) -> Pictures | None:
        """The images in it, if it can have any."""
        ...

    def count(self) -> int:
        """Return how many rows there are."""
        ...

    def row(self, index: int, width: int) -> Row:
        """Return a row."""
        ...

    def toggle(self, index: int, width: int) -> Work | None:
        """Fold or unfold a row; return what is to be done in a thread first, if it takes long."""
        ...

    def value(self, index: int) -> str:
        """Return the value in a row as text, for the clipboard."""
        ...

    def path(self, index: int) -> str:
        """Return where the value in a row stands, "" for nowhere."""
        ...

    def fit(self, width: int) -> None:
        """The width is another one now."""
        ...


class Lines:
    """Paragraphs, wrapped."""

    pictures: Pictures | None = None

    def __init__(self, paragraphs: Sequence[Row]) -> None:
        self._paragraphs = paragraphs
        self._rows: list[Row] = list(paragraphs)

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        """Return a row."""
        return self._rows[index]

    def toggle(self, index: int, width: int) -> Work | None:
        """Nothing folds here."""
        return None

    def value(self, index: int) -> str:
        """Return a row as text."""
        return text_of(self._rows[index]).strip()

    def path(self, index: int) -> str:
        """Lines stand nowhere."""
        return ""

    def fit(self, width: int) -> None:
        """Wrap again."""
        self._rows = [row for one in self._paragraphs for row in wrap(one, max(10, width))]


SETTLED_SECONDS = 0.12
"""A sheet that is shown so long gets its pictures: whoever pages through entries starts no processes."""

LEAST_ROWS = 6
"""Rows that a picture may have in the lowest of panes."""


class Page(LinePane, inherit_bindings=True):
    """Shows one sheet.

    Attributes:
        sought: what is searched for, folded.
        busy: something large is looked through in the background.
    """

    CURSOR = True

    FOLLOWS = False

    class Busy(Message):
        """Something large is looked through now, or no longer."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet: Sheet = Lines(())
        self.sought = ""
        self.busy = False
        self._job: asyncio.Task[None] | None = None
        self._stop: Event | None = None
        self._next: tuple[Work, Event | None] | None = None
        self._decoding: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def show(self, sheet: Sheet) -> None:
        """Show another sheet, from its start."""
        self._stop_work()
        self.sheet = sheet
        self.cursor = 0
        sheet.fit(self.columns)
        self._show_pictures()
        self.rows_changed()
        self._place(0)

    def seek(self, text: str) -> None:
        """Mark a text wherever it stands."""
        self._stop_work()
        self.sought = fold(text)
        self.rows_changed()

    def work(self, work: Work, stop: Event | None = None) -> None:
        """Do something in a thread, and with what was found here; one thing at a time.

        Args:
            work: what to do.
            stop: ends it early; set when another text is searched for or another sheet is shown.
        """
        if not self.busy:
            self._job = asyncio.create_task(self._work(work, stop), name="look through a large body")
        elif self._stop is not None and self._stop.is_set():
            self._next = (work, stop)

    def _stop_work(self) -> None:
        if self._stop is not None:
            self._stop.set()
        self._next = None

    async def _work(self, work: Work, stop: Event | None) -> None:
        self.busy, self._stop = True, stop
        self.post_message(self.Busy())
        try:
            finish: Callable[[], None] = await asyncio.to_thread(work)
            if stop is None or not stop.is_set():
                finish()
        finally:
            self.busy, self._stop = False, None
            following, self._next = self._next, None
        if following is not None:
            self.work(*following)
        self.rows_changed()
        self.post_message(self.Busy())

    # ---- pictures ----

    def _show_pictures(self) -> None:
        """Have the sheet show its images as pictures, where the terminal can, and decode them."""
        if self._decoding is not None:
            self._decoding.cancel()
            self._decoding = None
        pictures = self.sheet.pictures
        app = self.app
        can = can_show_pictures(symbols_for(os.environ), app.console.color_system, app.no_color)
        if pictures is not None and can:
            pictures.begin()
            self._decode()

    def _decode(self) -> None:
        pictures = self.sheet.pictures
        is_idle = self._decoding is None or self._decoding.done()
        if is_idle and pictures is not None and pictures.wanted() is not None:
            self._decoding = asyncio.create_task(self._decode_all(pictures), name="decode pictures")
            self._ending.add(self._decoding)
            self._decoding.add_done_callback(self._ending.discard)

    async def _decode_all(self, pictures: Pictures) -> None:
        from tui.ui.widgets.decoding import PictureError, decoded

        await asyncio.sleep(SETTLED_SECONDS)
        while (wanted := pictures.wanted()) is not None:
            columns = self.columns - wanted.indent
            rows = max(LEAST_ROWS, self.size.height - 2)
            try:
                found: Picture | str = await decoded(wanted.encoded(), columns, rows, self._ground())
            except PictureError as error:
                found = str(error)
            wanted.put(found)
            self.rows_changed()

    def _ground(self) -> tuple[int, int, int]:
        """Return the colour behind rows; black or white where the terminal alone knows it."""
        if self.app.native_ansi_color:
            return (0, 0, 0) if self.app.current_theme.dark else (255, 255, 255)
        return self.palette.colors["surface"].rgb

    async def on_unmount(self) -> None:
        """End what is decoded; stop a search, and wait for what else is looked through."""
        self._stop_work()
        tasks = self._ending | {task for task in (self._job,) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # ---- what the pane shows ----

    def row_count(self) -> int:
        """Return how many rows there are."""
        return max(1, self.sheet.count())

    def row(self, index: int) -> Row:
        """Return a row, with what is searched for marked."""
        if index >= self.sheet.count():
            return ()
        return crop(highlighted(self.sheet.row(index, self.columns), self.sought), self.columns)

    def row_chosen(self, index: int) -> None:
        """Fold or unfold."""
        work = self.sheet.toggle(index, self.columns)
        if work is not None:
            self.work(work)
        self._decode()
        self.rows_changed()

    def row_ground(self, index: int) -> str:
        """Paint the cursor's row while keys go here."""
        return super().row_ground(index) if self.has_focus else ""

    def go_to_row(self, row: int) -> None:
        """Put the cursor on a row."""
        self.rows_changed()
        self.move_cursor(min(row, self.row_count() - 1))

    def rewrap(self) -> None:
        """The width changed, or the height: pictures are as large as there is room."""
        self.sheet.fit(self.columns)
        if self.sheet.pictures is not None:
            self.sheet.pictures.again()
            self._decode()
