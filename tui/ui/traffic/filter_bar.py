"""The filter input, with completions and errors."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Input

from tui.core.language.translate import N_, _, localized
from tui.core.text import padded
from tui.traffic.filter.fields import FIELDS
from tui.traffic.filter.query import FilterCompletion, Query, complete, parse, seen_names
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.keys.bindings import shown_keys
from tui.ui.widgets.bar import Box, SplitBar
from tui.ui.widgets.drafts import Draft
from tui.ui.widgets.inputs import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

TYPING_SECONDS = 0.12
"""How long a filter waits for more input before it is applied."""


class _Underlined(Highlighter):
    query = Query()  # whose errors are underlined

    def highlight(self, text: Text) -> None:
        for problem in self.query.problems:
            text.stylize(Style(underline=True, bold=True), problem.start, max(problem.end, problem.start + 1))


class FilterBar(Vertical):
    """Asks for a filter. Meanwhile, the list shows its matches. One that is given up stays as a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take", N_("complete"), priority=True),
        Binding("down", "offer(1)", N_("suggestions"), priority=True, key_display="↑↓"),
        Binding("up", "offer(-1)", show=False, priority=True),
        Binding("escape", "cancel", N_("cancel"), priority=True),
    ]

    LINE_KEYS: tuple[tuple[str, str], ...] = (("enter", N_("filter")), *shown_keys(BINDINGS))
    LABEL: ClassVar[str] = N_("filter")
    PLACEHOLDER: ClassVar[str] = N_(
        'server:weather  status:error  latency:>100ms  "free text"   tab completes'
    )
    FIELDS: ClassVar[Collection[str]] = FIELDS
    """The fields that are completed."""

    DEFAULT_CSS = """
    FilterBar { height: auto; background: $panel; }
    FilterBar Horizontal { height: 1; }
    FilterBar Literal { width: auto; padding: 0 1; color: $accent; }
    FilterBar Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    FilterBar SplitBar { display: none; background: $panel; }
    """

    def __init__(
        self, entries: EntryColumns, apply: Callable[[Query], None], closed: Callable[[Query], None]
    ) -> None:
        """Create it; `apply` is called with each valid filter that is typed.

        `closed` is called with the submitted filter, or with the previous one if the user cancels.
        """
        super().__init__()
        self._entries, self._apply, self._done = entries, apply, closed
        self._underlined = _Underlined()
        self._input = Field(
            placeholder=_(self.PLACEHOLDER),
            max_length=4000,
            compact=True,
            highlighter=self._underlined,
        )
        self._label, self._box = Literal(), Box()
        self._completions: list[FilterCompletion] = []
        self._marked = -1
        self._problem = SplitBar()
        self._before, self._draft = Query(), Draft()
        self._typing: Timer | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._label
            yield self._input
        yield self._problem
        yield self._box

    def open(self, query: Query) -> None:
        self._before = query
        self._draft = draft = Draft(self.app, (self.LABEL, query.text), query.text)
        text = draft.text
        self._label.show(draft.label(_(self.LABEL)))
        self.display = True
        with self.prevent(Input.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        # Immediately: the next key of a burst is for the filter.
        self.screen.set_focus(self._input, scroll_visible=False)
        self._read()

    def parsed(self, text: str) -> Query:
        """Return the filter in a text, with its problems."""
        return parse(text)

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the values that are completed, by field."""
        return seen_names(self._entries)

    def completions(self, text: str, cursor: int) -> list[FilterCompletion]:
        """Return the completions at the cursor, most likely first."""
        found = complete(text, cursor, self.names())
        return [one for one in found if one.text[-1:] != ":" or one.text[:-1] in self.FIELDS]

    def _read(self) -> None:
        text, cursor = self._input.value, self._input.cursor_position
        query = self._underlined.query = self.parsed(text)
        self._completions = self.completions(text, cursor)
        self._mark(-1)
        # An unfinished term is not an error yet.
        wrong = (one.sentence for one in query.problems if one.end < len(text) or cursor < len(text))
        self._complain(localized(next(wrong, "")))

    def _mark(self, marked: int) -> None:
        self._marked = marked
        rows: list[Row] = []
        for index, one in enumerate(self._completions):
            lead, style = ("▸ ", "accent") if index == marked else ("  ", "text")
            rows.append(((f" {lead}{padded(one.text, 28)} ", style), (_(one.meaning), "dim")))
        self._box.show(rows, marked)

    def _complain(self, sentence: str) -> None:
        self._problem.display = bool(sentence)
        self._problem.show(((f" ✗ {sentence}", "bad"),))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._read()
        query = self._underlined.query
        if query.is_sound:
            self._stop_timer()
            self._typing = self.set_timer(TYPING_SECONDS, lambda: self._apply(query))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        query = self._underlined.query
        if self._marked >= 0:
            self.action_take()
        elif query.is_sound:
            self._draft.drop()
            self._close(query)
        else:
            self._complain(localized(query.problems[0].sentence))

    def action_cancel(self) -> None:
        if self._marked >= 0:
            self._mark(-1)
        else:
            self._draft.keep(self._input.value)
            self._close(self._before)

    def action_offer(self, direction: int) -> None:
        if self._completions:
            self._mark((self._marked + direction) % len(self._completions))

    def on_box_chosen(self, event: Box.Chosen) -> None:
        event.stop()
        self._marked = event.index
        self.action_take()

    def action_take(self) -> None:
        if self._completions:
            completion = self._completions[max(0, self._marked)]
            self._input.value, self._input.cursor_position = completion.applied(self._input.value)
            self._read()
            self._input.focus()

    def _close(self, query: Query) -> None:
        self._stop_timer()
        self.display = False
        self._done(query)

    def _stop_timer(self) -> None:
        if self._typing is not None:
            self._typing.stop()
