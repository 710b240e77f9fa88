"""Page: a pane that shows a sheet of rows with a cursor, folding, pictures, search, and its values copied."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from typing import Any

from textual.app import App
from textual.message import Message

from tui.core.background import Tasks
from tui.core.language.translate import _, sentences
from tui.core.search.readings import places
from tui.core.secrets.encodings import standard_base64
from tui.core.text import fold
from tui.ui.platform import clipboard
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.pictures import Image, Picture, PictureError, can_show_pictures, decoded
from tui.ui.widgets.rows import Row, crop, highlighted, text_of, wrap

Work = Callable[[], Callable[[], None]]
"""Work for a thread; returns a function to call in the main thread."""

Place = tuple[int, int]
"""Where a text occurs in a sheet: a part of the sheet, and an offset or row in that."""

MOST_COPIED = 1024 * 1024
"""Maximum characters for the clipboard."""

AT_ONCE = 64 * 1024
"""Sheets of up to this size are searched on the event loop, larger ones in a thread."""


class Sheet:
    """Rows, some of which can be folded; the methods here are those of a sheet without images and folds."""

    size = 0
    """About how many bytes a search reads."""

    def images(self, *, begin: bool = False) -> Sequence[Image]:
        """Return the unfolded images; `begin` shows images as pictures, and unfolds the first. Idempotent."""
        return ()

    def count(self) -> int:
        return 0

    def row(self, index: int, width: int) -> Row:
        return ()

    def toggle(self, index: int, width: int) -> Work | None:
        """Fold or unfold a row; return the work if it needs a thread."""
        return None

    def value(self, index: int) -> str:
        """Return the value in a row as text, for the clipboard."""
        return text_of(self.row(index, 0)).strip()

    def path(self, index: int) -> str:
        """Return the path of the value in a row, "" if it has none."""
        return ""

    def fit(self, width: int) -> None:
        """Lay out the rows for another width."""

    def places(self, folded: str, stop: Event) -> Sequence[Place]:
        """Return where a folded text occurs, in order; `stop` ends the search early."""
        return [(0, row) for row in range(self.count()) if folded in fold(text_of(self.row(row, 0)))]

    def place(self, row: int) -> Place:
        """Return where a row is."""
        return 0, row

    def reveal(self, place: Place) -> int:
        """Unfold what hides a place, and return its row."""
        return place[1]


class BytesSheet(Sheet):
    """A sheet of bytes; a place in it is an offset."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)
        self._searched: tuple[str, Sequence[Place]] = ("", ())

    def places(self, folded: str, stop: Event) -> Sequence[Place]:
        if self._searched[0] != folded:
            found = places(self.data, folded, stop)
            if stop.is_set():
                return ()
            self._searched = folded, [(0, offset) for offset in found]
        return self._searched[1]


class Lines(Sheet):
    """A sheet of wrapped paragraphs."""

    def __init__(self, paragraphs: Sequence[Row]) -> None:
        self._paragraphs = paragraphs
        self._rows: list[Row] = list(paragraphs)

    def count(self) -> int:
        return len(self._rows)

    def row(self, index: int, width: int) -> Row:
        return self._rows[index]

    def fit(self, width: int) -> None:
        self._rows = [row for each in self._paragraphs for row in wrap(each, max(10, width))]


SETTLED_SECONDS = 0.12
"""How long a sheet is shown before its pictures are decoded, so that paging through entries is cheap."""

LEAST_ROWS = 6
"""Minimum rows of a picture, even in a low pane."""


class Page(LinePane, inherit_bindings=True):
    """Shows one sheet; `busy` while work runs in a thread. `search_text` is case-folded.

    `follow` follows the link under the cursor, if there is one, and returns whether there is.
    """

    CURSOR = True

    FOLLOWS = False

    class Busy(Message):
        """Work in a thread has started or ended."""

    def __init__(self, follow: Callable[["Page"], bool] = lambda page: False) -> None:
        super().__init__()
        self._follow = follow
        self.sheet: Sheet = Lines(())
        self.search_text = ""
        self.busy = False
        self._tasks, self._turn = Tasks(), asyncio.Lock()
        self._stop: Event | None = None
        self._decoding: asyncio.Task[None] | None = None
        self._last: tuple[Sheet | None, int, Place] = (None, -1, (0, 0))  # of the last match, with its row

    def show(self, sheet: Sheet) -> None:
        self._stop_work()
        self.sheet = sheet
        self.cursor = 0
        sheet.fit(self.columns)
        if self._decoding is not None:
            self._decoding.cancel()
            self._decoding = None
        app = self.app
        if can_show_pictures(app.console.color_system, app.no_color):
            sheet.images(begin=True)
            self._decode()
        self.rows_changed()
        self._place(0)

    def seek(self, text: str) -> None:
        self._stop_work()
        self.search_text = fold(text)
        self.rows_changed()

    def search(self, text: str) -> None:
        """Highlight a text, and go to the first match."""
        self.seek(text)
        self.next_match(1, first=True)

    def next_match(self, direction: int, *, first: bool = False) -> None:
        """Go to the next match, or with -1 to the previous one; with `first`, the current row is one."""
        if not self.search_text:
            return
        stop = Event()
        search = partial(self._match, self.sheet, direction, first, stop)
        if self.sheet.size <= AT_ONCE:
            search()()
        else:
            self.work(search, stop)

    def _match(self, sheet: Sheet, direction: int, first: bool, stop: Event) -> Callable[[], None]:
        """Find the next match; return a function that goes to it."""
        places = sheet.places(self.search_text, stop)
        if not places:
            return lambda: self.app.notify(_("No matches"), timeout=2)
        found_in, row, here = self._last
        if (found_in, row) != (sheet, self.cursor):
            here = sheet.place(self.cursor)
        at = bisect_right(places, here) if direction > 0 else bisect_left(places, here) - 1
        place = places[(bisect_left(places, here) if first else at) % len(places)]
        row = max(0, sheet.reveal(place))

        def go() -> None:
            self.rows_changed()
            self.move_cursor(min(row, self.row_count() - 1))
            self._last = (sheet, self.cursor, place)

        return go

    def copy_value(self, save: str) -> None:
        """Copy the value under the cursor; the action `save` saves it to a file."""
        if self.sheet.count():
            copy_text(self.app, self.sheet.value(self.cursor), _("the value"), save)

    def work(self, work: Work, stop: Event | None = None) -> None:
        """Run work in a thread, one at a time. `stop` is set to end useless work early."""
        if not self.busy or (self._stop is not None and self._stop.is_set()):
            self._stop = stop
            self._tasks.start(self._work(work, stop), "work on a large body")

    def _stop_work(self) -> None:
        if self._stop is not None:
            self._stop.set()

    async def _work(self, work: Work, stop: Event | None) -> None:
        async with self._turn:
            if stop is not None and stop.is_set():
                return
            self.busy = True
            self.post_message(self.Busy())
            try:
                finish: Callable[[], None] = await asyncio.to_thread(work)
                if stop is None or not stop.is_set():
                    finish()
            finally:
                self.busy = False
            self.rows_changed()
            self.post_message(self.Busy())

    def _decode(self) -> None:
        is_idle = self._decoding is None or self._decoding.done()
        if is_idle and any(one.is_wanted for one in self.sheet.images()):
            self._decoding = self._tasks.start(self._decode_all(self.sheet), "decode pictures")

    async def _decode_all(self, sheet: Sheet) -> None:
        await asyncio.sleep(SETTLED_SECONDS)
        ground = self.palette.colors["surface"].rgb
        if self.app.native_ansi_color:  # only the terminal knows the color
            ground = (0, 0, 0) if self.app.current_theme.dark else (255, 255, 255)
        while (image := next((one for one in sheet.images() if one.is_wanted), None)) is not None:
            columns, rows = self.columns - image.indent, max(LEAST_ROWS, self.size.height - 2)
            try:
                data = standard_base64(image.encoded()).encode("ascii", "replace")
                found: Picture | str = await decoded(data, columns, rows, ground)
            except PictureError as error:
                found = str(error)
            image.put(found)
            self.rows_changed()

    async def on_unmount(self) -> None:
        self._stop_work()
        await self._tasks.cancel()

    def row_count(self) -> int:
        return max(1, self.sheet.count())

    def row(self, index: int) -> Row:
        if index >= self.sheet.count():
            return ()
        return crop(highlighted(self.sheet.row(index, self.columns), self.search_text), self.columns)

    def action_choose(self) -> None:
        if not self._follow(self):
            super().action_choose()

    def row_chosen(self, index: int) -> None:
        work = self.sheet.toggle(index, self.columns)
        if work is not None:
            self.work(work)
        self._decode()
        self.rows_changed()

    def row_ground(self, index: int) -> str:
        """Highlight the cursor's row while the page has the focus."""
        return super().row_ground(index) if self.has_focus else ""

    def rewrap(self) -> None:
        """Lay out for another size; pictures use the available space."""
        self.sheet.fit(self.columns)
        for image in self.sheet.images():
            image.again()
        self._decode()


def copy_text(app: App[Any], text: str, what: str, save: str = "") -> None:
    """Copy a text to the clipboard, unless it is too large. The action `save` saves it to a file."""
    if len(text) <= MOST_COPIED:
        clipboard.copy(app, text, what)
        return
    overrides = getattr(app, "overrides", None)
    how = _("Press {key} to save it to a file.", key=overrides.first_of(save)) if save and overrides else ""
    app.notify(sentences(_("Too large for the clipboard."), how), timeout=4)
