"""What keys do on the traffic screen: going about, searching, marking, noting, copying, leaving."""

import asyncio
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.traffic import Cause
from tui.traffic.filter.query import Query, parse
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.traffic.reading import Reading
from tui.ui.traffic.turns import Turns

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.traffic.record.entry_columns import Recording
    from tui.ui.traffic.bars import Headings
    from tui.ui.traffic.filtering import Sifting
    from tui.ui.traffic.list import FrameList
    from tui.ui.traffic.previews import ReaderThread
    from tui.ui.traffic.session import Session
    from tui.ui.widgets.prompt import PromptLine
    from tui.ui.widgets.symbols import Symbols

    Base = Screen[Cause | None]
else:
    Base = object

READ_SECONDS, READ_CHECKS = 0.01, 200
"""So often, and so many times, a key looks whether the entry is read that it needs."""

KEEP = "+"
"""What stands in the list of saved filters for keeping the one in force."""


class Deeds(Base):
    """The doing of the screen's keys; the screen supplies what they act on."""

    recording: "Recording"
    list: "FrameList"
    reading: Reading
    prompt: "PromptLine"
    sifting: "Sifting"
    heads: "Headings"
    reader: "ReaderThread"
    signs: "Symbols"
    session: "Session | None"
    opened_with = ""
    """The filter with which the screen was opened: leaving it leaves the screen."""
    compared = 0
    """Seq of the entry that the next one is compared with, 0 for none."""
    _hurry = 0
    """Direction in which the search goes on by itself until it has found something; 0 for none."""

    @property
    def is_reading(self) -> bool:
        """Whether an entry is open."""
        raise NotImplementedError

    def share_room(self, *, whole: bool | None = None) -> None:
        """Share the screen between the list and the entry."""
        raise NotImplementedError

    def sift(self, query: Query) -> None:
        """Put a filter in force."""
        raise NotImplementedError

    # ---- leaving ----

    def action_traffic_back(self) -> None:
        """Leave what is open: a search that runs, the entry, the search, a filter, the screen."""
        if self.sifting.is_busy and (self.sifting.query.root is not None or self.sifting.sought):
            self.sifting.cancel()
        elif self.is_reading:
            self._close_entry()
        elif self.sifting.sought:
            self.sifting.search("")
        elif self.compared:
            self.compared = 0
        elif self.sifting.query.root is not None and self.sifting.query.text != self.opened_with:
            self.sift(parse(self.opened_with))
        else:
            self.dismiss(None)

    def _close_entry(self) -> None:
        self.remove_class("-reading")
        self.share_room()
        self.screen.set_focus(self.list, scroll_visible=False)

    # ---- going about ----

    def action_traffic_follow(self) -> None:
        """Go to the newest entry and follow it."""
        self.list.go_to_end()

    def action_traffic_time(self) -> None:
        """Write the time another way."""
        self.list.next_time()
        self.heads.refresh()
        self.list.paint_now(self.heads)

    def action_traffic_pair(self) -> None:
        """Go to the partner of the entry."""
        if (index := self.list.index) >= 0:
            self._go_to(self.recording.frames.partner(index), "It has no partner.")

    def action_traffic_first(self) -> None:
        """Go to the first request of the call."""
        if (index := self.list.index) >= 0:
            self._go_to(self.recording.frames.root[index] - 1, "It is no part of a call.")

    def _go_to(self, index: int, without: str) -> None:
        if index < 0:
            self.notify(without, timeout=3)
        elif not self.list.select(self.recording.frames.seq(index)):
            self.notify("The filter hides it: esc takes the filter away.", timeout=4)

    def action_traffic_turn(self) -> None:
        """Go to the turn that caused the entry."""
        frames, index = self.recording.frames, self.list.index
        if index < 0:
            return
        turn = frames.turn[index]
        if not turn:
            self.notify("No turn caused this entry.", timeout=3)
        elif not self.recording.live:
            self.notify(f"It belongs to turn {turn} of the conversation that was recorded.", timeout=4)
        else:
            self.dismiss(Cause(turn, frames.step[index]))

    # ---- measuring ----

    def action_traffic_stats(self) -> None:
        """Show how often, how long and how much, for each server and tool."""
        from tui.ui.traffic.figures import FiguresScreen

        self.app.push_screen(FiguresScreen(self.recording), self._filtered)

    def action_traffic_waterfall(self) -> None:
        """Show where the time of the entry's turn went."""
        from tui.ui.traffic.waterfall import WaterfallScreen

        frames, index = self.recording.frames, self.list.index
        if index < 0:
            return
        turn, last = frames.turn[index], max(frames.turn)
        if not turn:
            self.notify("No turn caused this entry.", timeout=3)
            return
        spans = self.session.spans if self.session is not None else None
        look_up = Turns(self.recording, self.reader, spans).look_up
        self.app.push_screen(WaterfallScreen(turn, last, look_up, self.signs), self._filtered)

    def _filtered(self, filter: str | None) -> None:
        if filter is not None:
            self.sift(parse(filter))

    # ---- reading ----

    def action_traffic_read(self) -> None:
        """Open the entry and go to it."""
        if not self.list.selected:
            return
        self.add_class("-reading")
        self.share_room()
        self.reading.read(self.list.selected)
        self.screen.set_focus(self.reading.pages[0], scroll_visible=False)
        self.call_after_refresh(lambda: self.list.show_row(self.list.cursor))

    def on_reading_asked(self, event: Reading.Asked) -> None:
        """Do what the keys of the entry ask of the screen."""
        match event.what:
            case "close":
                self._close_entry()
            case "older":
                self.list.action_row_up()
            case "newer":
                self.list.action_row_down()
            case "pair":
                self.action_traffic_pair()
            case "maximise":
                self.share_room(whole=not self.has_class("-whole"))

    async def action_traffic_copy(self) -> None:
        """Copy the entry, one way or another. Keys that follow wait: they are for the question how."""
        if not self.list.selected:
            return
        if not self.is_reading:
            self.action_traffic_read()
            self.screen.set_focus(self.list, scroll_visible=False)
        for _ in range(READ_CHECKS):
            loaded = self.reading.loaded
            if loaded is not None and loaded.entry.seq == self.list.selected:
                self.reading.copy_as(loaded)
                return
            await asyncio.sleep(READ_SECONDS)
        self.notify("It is still being read: try again in a moment.", timeout=3)

    # ---- marks and notes ----

    def action_traffic_mark(self) -> None:
        """Mark the entry, or take its mark away."""
        index, frames = self.list.index, self.recording.frames
        if index < 0:
            return
        marked = not frames.marked[index]
        frames.mark(index, marked)
        self.recording.keep_mark(frames.seq(index), marked)
        self.list.tick()

    def action_traffic_note(self) -> None:
        """Ask for a note."""
        seq, notes = self.list.selected, self.recording.notes
        if not seq:
            return

        def keep(text: str) -> None:
            text = text.strip()
            if text:
                notes[seq] = text
            else:
                notes.pop(seq, None)
            self.recording.keep_note(seq, text)
            self.sifting.noted(seq)
            self.list.repaint()
            self.reading.refresh_entry()

        self.prompt.ask(f"note on entry {seq}", keep, value=notes.get(seq, ""), placeholder="empty: no note")

    # ---- searching ----

    def action_traffic_search(self) -> None:
        """Ask what to search for; the finds are shown while the person types."""
        self.prompt.ask(
            "search",
            self._seek,
            value=self.sifting.sought,
            placeholder="words in names and bodies, or a filter",
            cancelled=lambda: self._seek(""),
            replaces=True,
        )

    def _seek(self, text: str) -> None:
        self.sifting.search(text)
        self._hurry = 1 if text else 0
        self.follow_search()

    def action_traffic_next(self) -> None:
        """Go to the next find."""
        self._next(1)

    def action_traffic_previous(self) -> None:
        """Go to the find before."""
        self._next(-1)

    def _next(self, direction: int) -> None:
        if not self.sifting.sought:
            self.action_traffic_search()
            return
        self._hurry = direction
        self.follow_search()

    def follow_search(self) -> None:
        """Go to the find that was asked for, once it is known."""
        if not self._hurry:
            return
        seq = self.sifting.found(self.list.selected, self._hurry)
        if seq and self.list.select(seq):
            self._hurry = 0
        elif not self.sifting.is_searching:
            self._hurry = 0

    # ---- saved filters ----

    def action_traffic_filters(self) -> None:
        """Take a saved filter, or keep the one in force."""
        saved, text = self.recording.filters, self.sifting.query.text
        choices = [Choice(name, Content(f"{name}   {clean_line(saved[name], 60)}")) for name in sorted(saved)]
        if text and text not in saved.values():
            choices.append(Choice(KEEP, Content(f"keep: {clean_line(text, 60)}")))
        note = "There is none yet: filter with /, then keep the filter here."
        self.app.push_screen(Picker("Saved filters", choices, note=note), self._filter_chosen)

    def _filter_chosen(self, name: str | None) -> None:
        if name == KEEP:
            self.prompt.ask("name of the filter", self._keep_filter)
        elif name is not None:
            self.sift(parse(self.recording.filters[name]))

    def _keep_filter(self, name: str) -> None:
        name = clean_line(name.strip(), 60)
        if name and name != KEEP:
            self.run_worker(self._save_filter(name, self.sifting.query.text), name="save a filter")

    async def _save_filter(self, name: str, text: str) -> None:
        try:
            await asyncio.to_thread(self.recording.keep_filter, name, text)
        except McptuiError as error:
            self.notify(clean_line(str(error), 600), title=f"Filter {name} not saved", severity="error")
            if self.is_current and not self.prompt.display:
                self.prompt.ask("name of the filter", self._keep_filter, value=name)
        else:
            self.recording.filters[name] = text
            self.notify(f"kept as {name}", timeout=2)
