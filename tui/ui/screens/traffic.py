"""The traffic of all servers and of the model: the list, its filter, and the reading of one entry."""

import os

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from tui.core.text import clean_line
from tui.core.traffic import Cause
from tui.trace.recording import Recording
from tui.ui.actions import Context
from tui.ui.key_overrides import KeyOverrides
from tui.ui.symbols import symbols_for
from tui.ui.traffic.bars import Headings, Keys, TrafficTitle, counted
from tui.ui.traffic.glimpses import Glimpses, ReaderThread
from tui.ui.traffic.list import FrameList
from tui.ui.traffic.signs import signs_like
from tui.ui.widgets.rows import Row

LOOKS_PER_SECOND = 30

EMPTY_LIVE = (
    "Every message of every server will stand here as it travels, with what the model was asked and said, "
    "what servers wrote to stderr, and how they started and ended.",
    "Start a server or send a message, and it begins.",
)
EMPTY_FILE = ("There is nothing in this recording.",)
EMPTY_FILTER = ("No entry is like that yet.", "esc clears the filter, / changes it.")


class TrafficScreen(Screen[Cause | None]):
    """The traffic of one recording; gives back the cause of an entry whose turn is to be shown.

    Args:
        recording: what is shown.
        overrides: the person's own keys.
        filter: the filter to begin with.
    """

    DEFAULT_CSS = """
    TrafficScreen { background: $surface; layout: vertical; }
    TrafficScreen > Bar { padding: 0 1; background: $panel; }
    TrafficScreen > #traffic-heads { background: $surface; padding: 0 0 0 0; }
    TrafficScreen > #footer { background: $surface; padding: 0; }
    TrafficScreen > FrameList { height: 1fr; background: $surface; }
    """

    CONTEXTS = (Context.TRAFFIC,)
    """What the help is about while this screen is on top."""

    def __init__(self, recording: Recording, overrides: KeyOverrides, filter: str = "") -> None:
        super().__init__()
        self.recording = recording
        self.overrides = overrides
        signs = signs_like(symbols_for(os.environ))
        self._reader = ReaderThread(recording.open_reader)
        self._glimpses = Glimpses(self._reader, self._glimpsed)
        self.list = FrameList(
            recording.frames,
            live=recording.live,
            glimpse=self._glimpses.get,
            notes=recording.notes,
            empty=EMPTY_LIVE if recording.live else EMPTY_FILE,
            signs=signs,
            id="frames",
        )
        self._title = TrafficTitle()
        self._heads = Headings(self.list.heading)
        self._keys = Keys(overrides)

    def compose(self) -> ComposeResult:
        """Build the lines and the list."""
        yield self._title
        yield self._heads
        yield self.list
        yield self._keys

    def on_mount(self) -> None:
        """Begin to look."""
        self.list.focus()
        self._keys.of(Context.TRAFFIC)
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    async def on_unmount(self) -> None:
        """Let go of the recording."""
        await self._glimpses.close()
        self._reader.close()

    # ---- looking at the store ----

    def look(self) -> None:
        """Show what is new; cheap if nothing is."""
        self.list.tick()
        self._glimpses.look()
        self._title.show(*self._title_rows())

    def _glimpsed(self) -> None:
        self.list.repaint()

    def on_resize(self, event: events.Resize) -> None:
        """Other columns may fit."""
        self.call_after_refresh(self._heads.refresh)

    def _title_rows(self) -> tuple[Row, Row]:
        recording = self.recording
        left: Row = (("TRAFFIC  ", "accent bold"), (clean_line(recording.title, 60), "text"))
        if problem := recording.problem():
            left = (*left, (f"   ! {clean_line(problem)}", "bad"))
        where = "following" if self.list.following else "end follows"
        state = where if recording.live else "recorded"
        right: Row = (
            (f"{counted(len(self.list.shown), len(recording.frames))}   ", "text"),
            (state, "ok" if state == "following" else "dim"),
        )
        return left, right

    # ---- what keys do ----

    def action_traffic_back(self) -> None:
        """Leave."""
        self.dismiss(None)

    def action_traffic_follow(self) -> None:
        """Go to the newest entry and follow it."""
        self.list.go_to_end()

    def action_traffic_time(self) -> None:
        """Write the time another way."""
        self.list.next_time()
        self._heads.refresh()

    def action_traffic_pair(self) -> None:
        """Go to the partner of the entry."""
        index = self.list.selected
        if index >= 0:
            self.go_to(self.recording.frames.partner(index), "It has no partner.")

    def action_traffic_first(self) -> None:
        """Go to the first request of the call."""
        index = self.list.selected
        if index >= 0:
            self.go_to(self.recording.frames.root[index] - 1, "It is no part of a call.")

    def go_to(self, index: int, without: str) -> None:
        """Put the cursor on an entry, or say why that is not possible."""
        if index < 0:
            self.notify(without, timeout=3)
        elif not self.list.select(index):
            self.notify("The filter hides it: esc clears the filter.", timeout=4)

    def action_traffic_mark(self) -> None:
        """Mark the entry, or take its mark away, and go on to the next."""
        index, frames = self.list.selected, self.recording.frames
        if index < 0:
            return
        marked = not frames.marked[index]
        frames.mark(index, marked)
        self.recording.keep_mark(frames.seq(index), marked)
        self.list.tick()
