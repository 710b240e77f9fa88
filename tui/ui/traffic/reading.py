"""What a person does with the entry that is read: folds it, searches it, copies and saves parts of it."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from tui.core.text import fold
from tui.traffic.record.entry_columns import Recording
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.keys.actions import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.traffic import copies
from tui.ui.traffic.detail import Detail
from tui.ui.traffic.finding import places
from tui.ui.traffic.loading import Loaded
from tui.ui.traffic.previews import ReaderThread
from tui.ui.traffic.raw import Raw
from tui.ui.traffic.tabs import Tab
from tui.ui.widgets.files import path_problem, save_new, typed_path
from tui.ui.widgets.page import Page
from tui.ui.widgets.prompt import PromptLine
from tui.ui.widgets.rows import text_of
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.tree import Tree

_TABS = tuple(Tab)


class Reading(Detail):
    """The reading of one entry, with its keys.

    Args:
        recording: whose entries.
        reader: the thread that reads bodies.
        signs: what the terminal can show.
        prompt: asks for what is searched for.
        folder: where files are saved.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.FRAME)

    class Asked(Message):
        """Something that the screen does: "close", "older", "newer", "pair" or "maximise"."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def __init__(
        self,
        recording: Recording,
        reader: ReaderThread,
        signs: Symbols,
        *,
        prompt: PromptLine,
        folder: Callable[[], Path] = Path.cwd,
    ) -> None:
        super().__init__(recording, reader, signs)
        self._prompt = prompt
        self._folder = folder
        self._finds: list[int] = []
        self._sought: tuple[str, object] = ("", None)
        self._found: tuple[object, int, int] = (None, -1, 0)  # sheet, row and offset of the last find

    # ---- going about ----

    def action_frame_close(self) -> None:
        """Go back to the list."""
        self.post_message(self.Asked("close"))

    def action_frame_older(self) -> None:
        """Read the entry before."""
        self.post_message(self.Asked("older"))

    def action_frame_newer(self) -> None:
        """Read the next entry."""
        self.post_message(self.Asked("newer"))

    def action_frame_pair(self) -> None:
        """Read the partner."""
        self.post_message(self.Asked("pair"))

    def action_frame_maximise(self) -> None:
        """Take the whole screen, or give it back."""
        self.post_message(self.Asked("maximise"))

    def action_frame_next_tab(self) -> None:
        """Show the next view."""
        self.show_tab(_TABS[(_TABS.index(self.tab) + 1) % len(_TABS)])

    def action_frame_last_tab(self) -> None:
        """Show the view before."""
        self.show_tab(_TABS[_TABS.index(self.tab) - 1])

    def action_frame_fold(self) -> None:
        """Fold or unfold the row under the cursor."""
        self.page.action_choose()

    def action_frame_fold_all(self) -> None:
        """Fold or unfold everything."""
        sheet = self.page.sheet
        if isinstance(sheet, Tree) and not self.page.busy:
            sheet.fold_all()
            self.page.rows_changed()

    # ---- searching ----

    def action_frame_search(self) -> None:
        """Ask what to search for."""
        self._prompt.ask(
            "search in this entry",
            self._seek,
            value=self.page.sought,
            cancelled=lambda: self._seek(""),
            replaces=True,
        )

    def action_frame_next(self) -> None:
        """Go to the next find."""
        self._step(1)

    def action_frame_previous(self) -> None:
        """Go to the find before."""
        self._step(-1)

    def _seek(self, text: str) -> None:
        for page in self.pages:
            page.seek(text)
        if text:
            self._step(1, first=True)

    def _step(self, direction: int, *, first: bool = False) -> None:
        page, loaded = self.page, self.read_in_page
        if not page.sought:
            self.action_frame_search()
        elif isinstance(page.sheet, Tree | Raw) and loaded is not None:
            stop = Event()
            page.work(lambda: self._find_in_body(page, loaded, direction, first, stop), stop)
        else:
            self._find_in_rows(page, direction)

    def _find_in_rows(self, page: Page, direction: int) -> None:
        count = page.sheet.count()
        for step in range(1, count + 1):
            row = (page.cursor + direction * step) % count
            if page.sought in fold(text_of(page.sheet.row(row, page.columns))):
                page.go_to_row(row)
                return
        self.app.notify("nothing found", timeout=2)

    def _find_in_body(
        self, page: Page, loaded: Loaded, direction: int, first: bool, stop: Event
    ) -> Callable[[], None]:
        """Find the next place, in a thread; return how to go there."""
        sought, finds = (page.sought, loaded), self._finds
        if self._sought != sought:
            finds = places(loaded.body, page.sought, stop)
            if not stop.is_set():
                self._sought, self._finds = sought, finds
        if not finds:
            return lambda: self.app.notify("nothing found", timeout=2)
        here = self._offset(page)
        at = bisect_right(finds, here) if direction > 0 else bisect_left(finds, here) - 1
        if first:
            at = bisect_left(finds, here)
        offset = finds[at % len(finds)]
        sheet = page.sheet
        row = sheet.reveal(offset) if isinstance(sheet, Tree) else -1

        def go() -> None:
            page.go_to_row(sheet.row_of(offset) if isinstance(sheet, Raw) else max(0, row))
            self._found = (sheet, page.cursor, offset)

        return go

    def _offset(self, page: Page) -> int:
        """Return the place in the body from which to search on."""
        sheet = page.sheet
        found_in, row, offset = self._found
        if found_in is sheet and row == page.cursor:
            return offset
        if isinstance(sheet, Tree):
            return sheet.offset(page.cursor)
        return sheet.start_of(page.cursor) if isinstance(sheet, Raw) else 0

    # ---- copying and saving ----

    def action_frame_copy_value(self) -> None:
        """Copy the value under the cursor."""
        self._copy(self.page.sheet.value(self.page.cursor), "the value")

    def action_frame_copy_path(self) -> None:
        """Copy the path of the value under the cursor."""
        path = self.page.sheet.path(self.page.cursor)
        if path:
            self._copy(path, path)

    def action_frame_copy(self) -> None:
        """Copy the entry, one way or another."""
        loaded = self.read_in_page
        if loaded is not None:
            self.copy_as(loaded)

    def copy_as(self, loaded: Loaded) -> None:
        """Ask how an entry is to be copied."""
        entry = loaded.entry

        def copy(way: str | None) -> None:
            if way is not None:
                url = self._recording.urls.get(entry.source, "")
                self._copy(copies.copied(way, entry, loaded.body, url), f"entry {entry.seq}")

        if len(loaded.body) > copies.MOST:
            self.app.notify("This is too much for the clipboard: w saves it to a file.", timeout=4)
            return
        choices = [Choice(way, Content(words)) for way, words in copies.WAYS.items()]
        self.app.push_screen(Picker("Copy as", choices), copy)

    def _copy(self, text: str, what: str) -> None:
        if len(text) > copies.MOST:
            self.app.notify("This is too much for the clipboard: w saves it to a file.", timeout=4)
            return
        self.app.copy_to_clipboard(text)
        self.app.notify(f"copied {what}", timeout=2)

    def action_frame_save(self) -> None:
        """Save the image under the cursor, or the whole body."""
        loaded, sheet = self.read_in_page, self.page.sheet
        if loaded is None:
            return
        found = sheet.binary(self.page.cursor) if isinstance(sheet, Tree) else None
        data, ending = found or (loaded.body, "json" if loaded.tree.is_json else "txt")
        path = self._folder() / f"mcptui-{loaded.entry.seq}.{ending}"
        self._prompt.ask("save as", lambda name: self._save(name, data), value=str(path), check=path_problem)

    def _save(self, name: str, data: bytes) -> None:
        if not name.strip():
            return
        task = asyncio.create_task(save_new(self.app, typed_path(name), data), name="save a body")
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
