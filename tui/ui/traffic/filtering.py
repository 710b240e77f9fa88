"""The filter in force and the search inside of it: their views, how far they are, what they found."""

from tui.core.text import clean_line
from tui.traffic.filter.nodes import quoted
from tui.traffic.filter.query import EVERYTHING, Query, parse
from tui.traffic.filter.view import View
from tui.traffic.record.entry_columns import Recording
from tui.ui.traffic.bars import exact
from tui.ui.widgets.rows import Row

SEARCH_MS = 3.0
"""So long a search may look on in one look of the screen."""


class Sifting:
    """Keeps the view that the list shows, and the view of what is searched for.

    Attributes:
        query: the filter in force.
        view: what it lets through.
        sought: what is searched for, as it was typed; "" for nothing.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.query = EVERYTHING
        self.view = self._view(EVERYTHING)
        self.sought = ""
        self._search: View | None = None

    def _view(self, query: Query) -> View:
        recording = self._recording
        return View(
            recording.frames,
            query,
            reader=recording.open_reader,
            notes=recording.notes,
            now_ns=recording.ended_ns or None,
        )

    def filter(self, query: Query) -> View:
        """Put a sound filter in force; return its view, which has no rows yet."""
        self.view.close()
        self.query, self.view = query, self._view(query)
        self.search(self.sought)
        return self.view

    def search(self, text: str) -> None:
        """Search for what a person typed: a filter, if it can be read as one, else the words as they are."""
        if self._search is not None:
            self._search.close()
            self._search = None
        self.sought = text
        if text.strip():
            query = parse(text)
            if not query.is_sound:
                query = parse(quoted(text))
            self._search = self._view(query.within(self.query))

    def found(self, seq: int, direction: int) -> int:
        """Return the seq of the next find after an entry, or of the one before; 0 for none, or none yet."""
        if self._search is None:
            return 0
        self._search.advance(SEARCH_MS)
        match = self._search.next(seq) if direction > 0 else self._search.previous(seq)
        return match.seq if match is not None else 0

    def advance(self) -> None:
        """Search on for a moment."""
        if self._search is not None:
            self._search.advance(SEARCH_MS)

    @property
    def is_searching(self) -> bool:
        """Whether something is searched for that is not found everywhere yet."""
        return self._search is not None and not self._search.is_done

    @property
    def is_busy(self) -> bool:
        """Whether filter or search still look."""
        return not self.view.is_done or self.is_searching

    def cancel(self) -> None:
        """Leave what is not looked at yet."""
        self.view.cancel()
        if self._search is not None:
            self._search.cancel()

    def noted(self, seq: int) -> None:
        """A note was written: look at its entry again."""
        for view in (self.view, self._search):
            if view is not None:
                view.recheck([seq])

    def close(self) -> None:
        """End the threads of the views."""
        self.view.close()
        if self._search is not None:
            self._search.close()

    def line(self, position: int) -> tuple[Row, Row]:
        """Return the line of the filter: what is in force, and how far it is; empty rows for nothing.

        Args:
            position: seq of the entry under the cursor, for "3 of 12".
        """
        left: Row = ()
        right: Row = ()
        if self.query.root is not None:
            left = (("filter › ", "accent"), (clean_line(self.query.text, 400), "text"))
            right = self._progress(self.view)
        if self._search is not None:
            left = (
                *left,
                ("   " if left else "", ""),
                ("search › ", "accent"),
                (clean_line(self.sought), "text"),
            )
            right = (*self._progress(self._search), *self._finds(self._search, position), ("   ", ""), *right)
        if problem := self.view.problem or (self._search.problem if self._search is not None else ""):
            right = ((clean_line(problem, 120), "bad"), ("  ", ""), *right)
        return left, right

    def _progress(self, view: View) -> Row:
        done, all = view.progress
        if view.is_done or not all:
            return ()
        return ((f"{done * 100 // all} %, esc stops   ", "warn"),)

    def _finds(self, search: View, position: int) -> Row:
        if not len(search):
            return (("nothing found" if search.is_done else "", "warn"),)
        row = search.row_of(position)
        place = f"{exact(row + 1)} of " if row >= 0 else ""
        return ((f"{place}{exact(len(search))} found", "text"),)
