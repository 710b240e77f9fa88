"""Opening an entry on the traffic screen, and dividing the room between it and the list."""

import asyncio
from typing import Any

from textual.screen import Screen
from textual.widget import Widget

from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.entry_view import EntryView

SHORT = 20
"""Rows below which an open entry covers the list."""

LOAD_SECONDS, LOAD_CHECKS = 0.01, 200
"""How often, and how many times, a key checks whether the entry that it needs is loaded."""


class EntryPanel:
    """Opens and closes the selected entry below the list.

    Args:
        headings: the line over the list, hidden with it.
    """

    def __init__(self, screen: Screen[Any], list: EntryList, headings: Widget, entry: EntryView) -> None:
        self._screen, self._list, self._headings, self._entry = screen, list, headings, entry

    @property
    def is_open(self) -> bool:
        return self._screen.has_class("-reading")

    def open(self) -> None:
        """Open the selected entry and focus it."""
        if not self._list.selected:
            return
        self._screen.add_class("-reading")
        self.share_room()
        self._entry.show_entry(self._list.selected)
        self._screen.set_focus(self._entry.pages[0], scroll_visible=False)
        self._screen.call_after_refresh(lambda: self._list.show_row(self._list.cursor))

    def close(self) -> None:
        self._screen.remove_class("-reading")
        self.share_room()
        self._screen.set_focus(self._list, scroll_visible=False)

    def toggle_whole(self) -> None:
        """Give the entry the whole screen, or a part of it."""
        self.share_room(whole=not self._screen.has_class("-whole"))

    def share_room(self, *, whole: bool | None = None) -> None:
        """Divide the screen between the list and the entry."""
        screen, is_open = self._screen, self.is_open
        if whole is None:
            whole = screen.size.height < SHORT or (screen.has_class("-whole") and is_open)
        hidden = whole and is_open
        screen.set_class(hidden, "-whole")
        # Not by stylesheet, which is applied later: the next key is for what is visible now.
        self._entry.display = is_open
        self._list.display = self._headings.display = not hidden

    async def copy(self) -> None:
        """Copy the selected entry once it is loaded. Keys that follow wait: they are for the question how."""
        if not self._list.selected:
            return
        if not self.is_open:
            self.open()
            self._screen.set_focus(self._list, scroll_visible=False)
        for _ in range(LOAD_CHECKS):
            loaded = self._entry.loaded
            if loaded is not None and loaded.entry.seq == self._list.selected:
                self._entry.clipboard.copy_as(loaded)
                return
            await asyncio.sleep(LOAD_SECONDS)
        self._screen.notify("It is still being read: try again in a moment.", timeout=3)
