"""The line in which a filter is typed, what could come next in it, and what is wrong with it."""

from typing import ClassVar

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from tui.traffic.filter.completion import FilterCompletion, complete, seen_names
from tui.traffic.filter.query import Query, parse
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.field import Field
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

OFFERS = 8
"""Lines of offers that are seen at once."""


class _Underlined(Highlighter):
    """Underlines what is wrong in a filter, where it stands."""

    query = Query()

    def highlight(self, text: Text) -> None:
        for problem in self.query.problems:
            text.stylize(Style(underline=True, bold=True), problem.start, max(problem.end, problem.start + 1))


class _Offers(LinePane, can_focus=False):
    """What could come next."""

    FOLLOWS = False

    def __init__(self) -> None:
        super().__init__(id="offers")
        self.offers: list[FilterCompletion] = []
        self.marked = -1

    def show(self, offers: list[FilterCompletion]) -> None:
        self.offers, self.marked = offers, -1
        self.display = bool(offers)
        self.styles.height = min(OFFERS, max(1, len(offers)))
        self.rows_changed()

    def step(self, direction: int) -> None:
        if self.offers:
            self.marked = (self.marked + direction) % len(self.offers)
            self.rows_changed()
            self.show_row(self.marked)

    def row_count(self) -> int:
        return len(self.offers)

    def row(self, index: int) -> Row:
        offer = self.offers[index]
        lead = "▸ " if index == self.marked else "  "
        return (
            (f" {lead}{offer.text:<28} ", "accent" if index == self.marked else "text"),
            (offer.meaning, "dim"),
        )

    def row_ground(self, index: int) -> str:
        return "cursor" if index == self.marked else "on panel"

    def row_clicked(self, index: int, x: int) -> None:
        self.marked = index
        self.post_message(FilterBar.Taken())


class _Problem(Bar):
    """What is wrong with the filter, in a sentence."""

    sentence = ""

    def row(self, width: int) -> Row:
        return ((f" ✗ {self.sentence}", "bad"),)


class FilterBar(Vertical):
    """Asks for a filter while the list behind shows what it lets through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel", priority=True),
        Binding("down,ctrl+n", "offer(1)", "next offer", priority=True),
        Binding("up,ctrl+p", "offer(-1)", "last offer", priority=True),
        Binding("tab", "take", "take the offer", priority=True),
    ]

    DEFAULT_CSS = """
    FilterBar { height: auto; background: $panel; }
    FilterBar Horizontal { height: 1; }
    FilterBar Literal { width: auto; padding: 0 1; color: $accent; }
    FilterBar Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    FilterBar #offers { display: none; background: $panel; }
    FilterBar _Problem { display: none; background: $panel; }
    """

    class Changed(Message):
        """A sound filter stands there now."""

        def __init__(self, query: Query) -> None:
            super().__init__()
            self.query = query

    class Closed(Message):
        """The person is done; `query` is None if the filter of before is meant."""

        def __init__(self, query: Query | None) -> None:
            super().__init__()
            self.query = query

    class Taken(Message):
        """An offer was clicked."""

    def __init__(self, frames: EntryColumns) -> None:
        super().__init__()
        self._frames = frames
        self._underlined = _Underlined()
        self._input = Field(
            placeholder='server:weather  status:error  latency:>100ms  "free text"   tab completes',
            max_length=4000,
            compact=True,
            highlighter=self._underlined,
        )
        self._offers = _Offers()
        self._problem = _Problem()
        self._query = Query()
        self.display = False

    def compose(self) -> ComposeResult:
        """Build the line, the offers and the complaint."""
        with Horizontal():
            yield Literal("filter ›")
            yield self._input
        yield self._problem
        yield self._offers

    @property
    def is_open(self) -> bool:
        """Whether a filter is being typed."""
        return bool(self.display)

    def open(self, text: str) -> None:
        """Ask for a filter, beginning with `text`."""
        self.display = True
        with self.prevent(Input.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        # At once: the next key of a burst is for the filter.
        self.screen.set_focus(self._input, scroll_visible=False)
        self._read()

    def _read(self) -> None:
        text, cursor = self._input.value, self._input.cursor_position
        query = self._query = self._underlined.query = parse(text)
        self._offers.show(complete(text, cursor, seen_names(self._frames)))
        # What is still being typed is not complained about.
        wrong = next(
            (problem for problem in query.problems if problem.end < len(text) or cursor < len(text)), None
        )
        self._complain(wrong.sentence if wrong is not None else "")

    def _complain(self, sentence: str) -> None:
        self._problem.sentence = sentence
        self._problem.display = bool(sentence)
        self._problem.refresh()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the person types."""
        event.stop()
        self._read()
        if self._query.is_sound:
            self.post_message(self.Changed(self._query))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the marked offer, or the filter."""
        event.stop()
        if self._offers.marked >= 0:
            self.action_take()
        elif self._query.is_sound:
            self._close(self._query)
        else:
            self._complain(self._query.problems[0].sentence)

    def action_cancel(self) -> None:
        """Go back to the filter of before."""
        if self._offers.marked >= 0:
            self._offers.show(self._offers.offers)
        else:
            self._close(None)

    def action_offer(self, direction: int) -> None:
        """Mark the next offer, or the one before."""
        self._offers.step(direction)

    def action_take(self) -> None:
        """Take the marked offer, or the first."""
        if not self._offers.offers:
            return
        offer = self._offers.offers[max(0, self._offers.marked)]
        self._input.value, self._input.cursor_position = offer.applied(self._input.value)
        self._read()

    def on_filter_bar_taken(self, event: Taken) -> None:
        """Take the offer that was clicked."""
        event.stop()
        self.action_take()
        self._input.focus()

    def _close(self, query: Query | None) -> None:
        self.display = False
        self.post_message(self.Closed(query))
