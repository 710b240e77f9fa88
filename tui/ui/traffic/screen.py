"""The traffic of all servers and of the model: the list, its filter, and the reading of one entry."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.timer import Timer

from tui.core.text import clean_line
from tui.core.traffic import Cause
from tui.traffic.filter.query import EVERYTHING, Query, parse
from tui.traffic.record.entry_columns import Recording
from tui.ui.keys.actions import Context
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.traffic.bars import FilterLine, Headings, Keys, TrafficTitle, counted
from tui.ui.traffic.filter_bar import FilterBar
from tui.ui.traffic.filtering import Sifting
from tui.ui.traffic.list import FrameList
from tui.ui.traffic.previews import Glimpses, ReaderThread
from tui.ui.traffic.reading import Reading
from tui.ui.traffic.sending import Sending
from tui.ui.traffic.session import Session
from tui.ui.widgets.prompt import PromptLine
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import symbols_for

LOOKS_PER_SECOND = 30
FLOOD_REST = 3
"""Looks left out after one that brought more than a page: nobody reads so fast, and keys come first."""

SHORT = 20
"""Below so many rows the reading of an entry takes the place of the list."""

TYPING_SECONDS = 0.12
"""So long a filter that is being typed waits for the next character."""

EMPTY_LIVE = (
    "Every message of every server will stand here as it travels, with what the model was asked and said, "
    "what servers wrote to stderr, and how they started and ended.",
    "Start a server or send a message, and it begins.",
)
EMPTY_FILE = ("There is nothing in this recording.",)
EMPTY_FILTER = ("No entry is like that so far.", "esc takes the filter away, / changes it.")
EMPTY_OPENED = ("No entry is like that so far.", "esc goes back, / changes the filter.")


class TrafficScreen(Sending, Screen[Cause | None]):
    """The traffic of one recording; gives back the cause of an entry whose turn is to be shown.

    Args:
        recording: what is shown.
        overrides: the person's own keys.
        filter: the filter to begin with.
        session: what stands behind live traffic; None for a recording that is read from a file.
        place: filter and seq of an entry to begin at.
        folder: where files are saved.
    """

    DEFAULT_CSS = """
    TrafficScreen { background: $surface; layout: vertical; }
    TrafficScreen > Bar { padding: 0 1; background: $panel; }
    TrafficScreen > #filter-line { display: none; }
    TrafficScreen > #traffic-heads { background: $surface; padding: 0; }
    TrafficScreen > #footer { background: $surface; padding: 0; }
    TrafficScreen > FrameList { height: 1fr; background: $surface; }
    TrafficScreen > Reading { display: none; }
    """

    CONTEXTS = (Context.TRAFFIC, Context.FRAME)
    """What the help is about while this screen is on top."""

    def __init__(
        self,
        recording: Recording,
        overrides: KeyOverrides,
        filter: str = "",
        *,
        session: Session | None = None,
        place: tuple[str, int] = ("", 0),
        folder: Callable[[], Path] = Path.cwd,
    ) -> None:
        super().__init__()
        self.recording = recording
        self.session = session
        self.folder = folder
        self.signs = signs = symbols_for(os.environ)
        self.reader = ReaderThread(recording.open_reader)
        self._glimpses = Glimpses(self.reader, self._glimpsed)
        self.sifting = Sifting(recording)
        self.list = FrameList(
            recording.frames,
            live=recording.live,
            glimpse=self._glimpses.get,
            notes=recording.notes,
            empty=EMPTY_LIVE if recording.live else EMPTY_FILE,
            signs=signs,
            id="frames",
        )
        self.prompt = PromptLine()
        self.reading = Reading(recording, self.reader, signs, prompt=self.prompt, folder=folder)
        self.filter_bar = FilterBar(recording.frames)
        self.filter_line = FilterLine()
        self._title = TrafficTitle()
        self.heads = Headings(self.list.heading)
        self._keys = Keys(overrides)
        self.opened_with = filter
        self._place = place
        self._before: Query = EVERYTHING
        self._typing: Timer | None = None
        self._rest = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def compose(self) -> ComposeResult:
        """Build the lines, the list and the reading of an entry."""
        yield self._title
        yield self.filter_line
        yield self.filter_bar
        yield self.heads
        yield self.list
        yield self.reading
        yield self.prompt
        yield self._keys

    def on_mount(self) -> None:
        """Begin to look."""
        self.set_focus(self.list, scroll_visible=False)  # at once: the next key may be here
        self.sift(parse(self._place[0] or self.opened_with))
        self._keys.of(Context.TRAFFIC)
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    async def on_unmount(self) -> None:
        """Let go of the recording, and of what was sent."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self.sifting.close()
        await self._glimpses.close()
        self.reader.close()

    def keep_task(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run `work` beside the screen, and no longer than it."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---- looking at the store ----

    def look(self) -> None:
        """Show what is new; cheap if nothing is."""
        if not self.recording.live and not len(self.recording.frames) and self.list.empty == EMPTY_FILE:
            self._say_why_it_is_empty()
        if self._place[1] and self.list.select(self._place[1]):
            self._place = ("", 0)
        if self._rest:
            self._rest -= 1
            return
        rows = len(self.list.view)
        self.list.tick()
        if len(self.list.view) - rows > self.list.page:
            self._rest = FLOOD_REST
        self.sifting.advance()
        if not (self._rest and self.list.following):  # what flies by is not read
            self._glimpses.look()
        self.follow_search()
        self.follow_sent()
        self._note_partner()
        self._title.show(*self._title_rows())
        if not self.filter_bar.is_open:
            self.filter_line.show(*self.sifting.line(self.list.selected))

    def _say_why_it_is_empty(self) -> None:
        if problem := self.recording.problem():
            self.list.empty = ("Nothing of this recording can be shown.", clean_line(problem, 400))
            self.list.rows_changed()

    def _glimpsed(self) -> None:
        self.list.repaint()

    def _note_partner(self) -> None:
        """Read the entry again once its answer is there."""
        loaded = self.reading.loaded
        if loaded is not None and loaded.partner is None and self.is_reading:
            index = self.recording.frames.index(loaded.entry.seq)
            if index >= 0 and self.recording.frames.partner(index) >= 0:
                self.reading.refresh_entry()

    def on_resize(self, event: events.Resize) -> None:
        """Other columns may fit, and a pair side by side."""
        self.reading.wide_enough(event.size.width)
        self.share_room()
        self.call_after_refresh(self.heads.refresh)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of what has the focus."""
        self._keys.of(Context.FRAME if self.reading.has_pseudo_class("focus-within") else Context.TRAFFIC)

    def _title_rows(self) -> tuple[Row, Row]:
        recording = self.recording
        left: Row = (("TRAFFIC  ", "accent bold"), (clean_line(recording.title, 60), "text"))
        if problem := recording.problem():
            left = (*left, (f"   ! {clean_line(problem)}", "bad"))
        if self.compared:
            left = (*left, (f"   comparing entry {self.compared} with…", "accent"))
        if self.export_note:
            left = (*left, (f"   {self.export_note}", "warn"))
        where = "following" if self.list.following else "end follows"
        state = where if recording.live else "recorded"
        right: Row = (
            (f"{counted(len(self.list.view), len(recording.frames))}   ", "text"),
            (state, "ok" if state == "following" else "dim"),
        )
        return left, right

    # ---- reading an entry ----

    @property
    def is_reading(self) -> bool:
        """Whether an entry is open."""
        return self.has_class("-reading")

    def share_room(self, *, whole: bool | None = None) -> None:
        """Share the screen between the list and the entry."""
        short = self.size.height < SHORT
        if whole is None:
            whole = short or (self.has_class("-whole") and self.is_reading)
        hidden = whole and self.is_reading
        self.set_class(hidden, "-whole")
        # Not by stylesheet: that comes later, and the next key is for what is there now.
        self.reading.display = self.is_reading
        self.list.display = self.heads.display = not hidden

    def on_frame_list_moved(self, event: FrameList.Moved) -> None:
        """Read the entry under the cursor, if one is read."""
        if self.is_reading:
            self.reading.read(self.list.selected)

    def on_frame_list_read(self, event: FrameList.Read) -> None:
        """Read an entry that was clicked."""
        self.action_traffic_read()

    # ---- filtering ----

    def sift(self, query: Query) -> None:
        """Put a filter in force."""
        if not query.is_sound:
            return
        live = EMPTY_LIVE if self.recording.live else EMPTY_FILE
        if query.root is not None:
            live = EMPTY_OPENED if query.text == self.opened_with else EMPTY_FILTER
        self.list.empty = live
        self.list.show(self.sifting.filter(query))

    def on_filter_line_clicked(self, event: FilterLine.Clicked) -> None:
        """Change the filter."""
        self.action_traffic_filter()

    def action_traffic_filter(self) -> None:
        """Ask for a filter."""
        self._before = self.sifting.query
        self.filter_line.show((), ())
        self.filter_bar.open(self._before.text)

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        """Filter while the person types."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_SECONDS, lambda: self.sift(event.query))

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Keep the filter, or go back to the one before."""
        if self._typing is not None:
            self._typing.stop()
        query = event.query if event.query is not None else self._before
        if query.text != self.sifting.query.text:
            self.sift(query)
        self.set_focus(self.list, scroll_visible=False)
        self.look()
