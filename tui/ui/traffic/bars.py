"""The lines around the list and around an entry: headings, tabs, filter, keys."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from time import monotonic

from textual import events
from textual.message import Message

from tui.core.language.translate import N_, _, localized, n_
from tui.core.text import clean_line
from tui.core.units import exact
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import Recording
from tui.ui.widgets.bar import Bar, SplitBar, part_at, spread
from tui.ui.widgets.rows import Row, crop

LAG_SECONDS = 1.0
"""Seconds by which the linter of a live run may lag behind before this is shown."""


class TrafficTitle(SplitBar):
    """Title: the displayed recording, the number of entries, and whether the newest entry is followed."""

    _awaited, _since, _lags = 0, 0.0, False

    def update_from(self, recording: Recording, shown: int, following: bool, notes: Row) -> None:
        """Show the state of a recording whose list has `shown` entries."""
        left: Row = ((_("TRAFFIC") + "  ", "text bold"), (clean_line(localized(recording.title), 60), "text"))
        if problem := recording.problem():
            left = (*left, (f"   ! {clean_line(localized(problem))}", "bad"))
        where = _("following") if following else _("press end to follow")
        state = where if recording.live else _("recorded")
        entries = recording.entries
        count = (f"{shown_of(shown, len(entries), entries.loaded)}   ", "text")
        busy = (*loading_of(entries), *self._linting(recording))
        style = "ok" if recording.live and following else "dim"
        self.show((*left, *notes), (*busy, count, (state, style)))

    def _linting(self, recording: Recording) -> Row:
        """Return the progress of the linter; nothing while it keeps up, or when it has finished."""
        row = linting_of(recording)
        if not row:
            self._awaited, self._lags = 0, False
            return ()
        now = monotonic()
        if recording.judged() >= self._awaited:
            self._awaited, self._since = recording.entries.last, now
        self._lags |= not recording.live or now - self._since >= LAG_SECONDS
        return row if self._lags else ()


class Headings(Bar):
    """The column headings."""

    def __init__(self, heading: Callable[[], Row]) -> None:
        super().__init__(id="traffic-heads")
        self._heading = heading
        self._painted: Row = ()

    def look(self) -> None:
        """Paint the headings again if the columns have changed."""
        if self._painted and (row := self._heading()) != self._painted:
            self._painted = row
            self.refresh()

    def row(self, width: int) -> Row:
        self._painted = self._heading()
        return self._painted


class FilterLine(SplitBar):
    """The active filter and the search, with progress and results; a click edits the filter."""

    def show(self, left: Row, right: Row = ()) -> None:
        """Show these texts. Without a left text, the line is hidden."""
        super().show(left, right)
        self.display = bool(left)

    async def on_click(self) -> None:
        await self.run_action("screen.act('traffic.filter')")


class EntryTab(StrEnum):
    """A view of an entry."""

    TREE = N_("tree")
    PAIR = N_("pair")
    RAW = N_("raw")
    TIMING = N_("timing")
    EXPLAIN = N_("explain")
    FINDINGS = N_("findings")


class Tabs(Bar):
    """The names of tabs, each with a note; a click selects one."""

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Iterable[str], *, id: str) -> None:
        super().__init__(id=id)
        self._tabs = tuple(tabs)
        self.active = self._tabs[0]
        self.notes: Mapping[str, str] = {}
        self.right: Row = ()

    def part(self, number: int, tab: str, note: str) -> Row:
        name = (f" {_(tab)}", "accent bold" if tab == self.active else "dim")
        return (name, (f" {note}" if note else "", "warn"), (" ", ""))

    def _parts(self) -> list[tuple[str, Row]]:
        return [(tab, self.part(at, tab, self.notes.get(tab, ""))) for at, tab in enumerate(self._tabs, 1)]

    def row(self, width: int) -> Row:
        left = tuple(span for _, part in self._parts() for span in part)
        return spread(left, self.right, width) if self.right else crop(left, width)

    def on_click(self, event: events.Click) -> None:
        if (tab := part_at(self._parts(), event.x)) is not None:
            self.post_message(self.Chosen(tab))


def entry_count(number: int) -> str:
    """Return a number of entries as text."""
    return n_("{count} entry", "{count} entries", number, count=exact(number))


def loading_of(entries: EntryColumns) -> Row:
    """Return which part of a recording is loaded; nothing once all of it is."""
    loaded, count = entries.loaded, len(entries)
    return (
        ()
        if loaded == count
        else ((_("loading {percent} %", percent=loaded * 100 // count) + "   ", "warn"),)
    )


def linting_of(recording: Recording) -> Row:
    """Return which part of a recording has been linted; nothing once all of it has."""
    judged, first, last = recording.judged(), recording.entries.first, recording.entries.last
    if judged >= last:
        return ()
    done = max(0, judged - first + 1)
    percent = done * 100 // (last - first + 1)
    return ((_("linting {percent} %", percent=percent) + "   ", "warn"),)


def shown_of(shown: int, total: int, loaded: int) -> str:
    """Return how many entries are shown, and of how many; a filter only applies to loaded entries."""
    if shown == total:
        return entry_count(total)
    places = {"shown": exact(shown), "all": exact(loaded)}
    return _("{shown} of {all} loaded", **places) if loaded < total else _("{shown} of {all}", **places)
