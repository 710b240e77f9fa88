"""A tab on which things are done by hand: a list, a form, what came of it, and the calls before."""

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, TextArea

from tui.core.forms.forms import Form, form_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.field import Field
from tui.ui.widgets.page import Page
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.calls import CallBook, Draft, HandCall
from tui.ui.workbench.form_pane import FormPane
from tui.ui.workbench.history import CallList
from tui.ui.workbench.item_list import ItemList
from tui.ui.workbench.items import Item
from tui.ui.workbench.keys import list_bindings
from tui.ui.workbench.raw_json import RawJson
from tui.ui.workbench.result_line import ResultLine


class ResultPage(Page):
    """The page that shows a result, with the keys of lists and results."""

    BINDINGS = list_bindings()


class SideHeading(Bar):
    """The line over the calls, at the height of the line over the result."""

    def row(self, width: int) -> Row:
        """Return the line."""
        return ((" CALLS", "dim bold"),)


class RawHeading(Bar):
    """The line over raw JSON: whose arguments they are."""

    words: Row = ()

    def row(self, width: int) -> Row:
        """Return the line."""
        return self.words


class Bench(Horizontal):
    """List and calls on the left, form and result on the right.

    Args:
        server: whose.
        book: the calls made by hand so far.
        overrides: the person's own keys.
        signs: what the terminal can show.
        last: gives the arguments with which an item was called last, or None.
        promises: tells whether an item has an output schema.

    Attributes:
        item: the item whose form is shown.
    """

    DEFAULT_CSS = """
    Bench { height: 1fr; }
    Bench > .bench-left { width: 30; border-right: solid $rule; }
    Bench.-slim > .bench-left { width: 22; }
    Bench.-slim.-tiny > .bench-left { width: 14; }
    Bench.-broad > .bench-left { width: 44; }
    Bench > .bench-right { width: 1fr; }
    Bench ItemList { height: 1fr; background: $surface; }
    Bench CallList { height: 1fr; background: $surface; }
    Bench FormPane { height: 1fr; background: $surface; }
    Bench RawJson, Bench RawHeading { display: none; background: $surface; }
    Bench RawJson { height: 1fr; }
    Bench ResultPage { height: 1fr; padding: 0 1; background: $surface; }
    Bench .side-heading, Bench .result-line { background: $panel; }
    Bench Input { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    Bench.-filtering Input { display: block; }
    Bench.-raw RawJson, Bench.-raw RawHeading { display: block; }
    Bench.-raw FormPane { display: none; }
    Bench.-whole .bench-left, Bench.-whole FormPane { display: none; }
    Bench.-whole RawJson, Bench.-whole RawHeading { display: none; }
    Bench.-new ResultPage { height: 3; }
    Bench.-new CallList { height: 3; }
    """

    class Chosen(Message):
        """Another item is worked with."""

        def __init__(self, bench: "Bench") -> None:
            super().__init__()
            self.bench = bench

    def __init__(
        self,
        server: str,
        book: CallBook,
        overrides: KeyOverrides,
        signs: Symbols,
        *,
        last: Callable[[Item], object],
        promises: Callable[[Item], bool],
        id: str,
    ) -> None:
        super().__init__(id=id)
        self._last = last
        self._promises = promises
        self._server = server
        self._book = book
        self.item: Item | None = None
        self.list = ItemList(signs.cursor)
        self.filter = Field(placeholder="words in name or description", max_length=200, compact=True)
        self.calls = CallList(signs)
        self.form = FormPane(overrides, signs)
        self.raw = RawJson(overrides)
        self.raw_heading = RawHeading()
        self.line = ResultLine(signs)
        self.page = ResultPage()
        self.insisted = False
        """The arguments are wrong, the person was told, and has not changed them since."""

    def compose(self) -> ComposeResult:
        """Build list, calls, form and result."""
        with Vertical(classes="bench-left"):
            yield self.filter
            yield self.list
            yield SideHeading(classes="side-heading")
            yield self.calls
        with Vertical(classes="bench-right"):
            yield self.form
            yield self.raw_heading
            yield self.raw
            yield self.line
            yield self.page

    def on_resize(self, event: events.Resize) -> None:
        """Share the width."""
        self.set_class(event.size.width < 100, "-slim")
        self.set_class(event.size.width < 60, "-tiny")
        self.set_class(event.size.width >= 160, "-broad")

    # ---- items ----

    def show(self, items: Sequence[Item], empty: Sequence[Row]) -> None:
        """Show what the server offers now; `empty` says why it is nothing."""
        self.list.empty = tuple(empty)
        known = self.item.key if self.item is not None else ""
        self.list.show(items)
        selected = self.list.selected
        if selected is None or selected.key != known or selected != self.item:
            self.choose(selected)

    def choose(self, item: Item | None) -> None:
        """Work with another item: its form as it was left, its calls."""
        self.leave_form()
        self.item = item
        self.raw_heading.words = (
            (("  " + item.label, "text bold"), ("   arguments as JSON", "dim")) if item is not None else ()
        )
        self.insisted = False
        self.remove_class("-raw")
        self.line.say()
        form = form_of(item.schema if item is not None else {})
        draft = self._book.drafts.get((self._server, item.key)) if item is not None else None
        if item is not None and draft is None:
            draft = Draft(self._last(item))
        if draft is not None and draft.arguments is not None:
            form.load(draft.arguments)
        self.form.show(item, form, promise=item is not None and self._promises(item))
        if draft is not None and draft.raw:
            with self.prevent(TextArea.Changed):
                self.raw.load_text(draft.raw)
            self.add_class("-raw")
        self.show_calls()
        self.post_message(self.Chosen(self))

    def leave_form(self) -> None:
        """Remember what stands in the form."""
        if self.item is not None:
            value, _ = self.form.form.value()
            raw = self.raw.text if self.is_raw else ""
            self._book.drafts[self._server, self.item.key] = Draft(value, raw)

    def fill(self, arguments: object) -> None:
        """Put arguments into the form."""
        if self.item is None:
            return
        form = form_of(self.item.schema)
        form.load(arguments)
        self.form.show(self.item, form)
        if self.is_raw:
            self._raw_from_form()

    def show_calls(self, selected: HandCall | None = None) -> None:
        """List the calls of the item."""
        calls = self._book.of(self._server, self.item.key) if self.item is not None else []
        self.calls.show(calls, selected)
        self.set_class(not calls, "-new")

    def on_item_list_moved(self, event: ItemList.Moved) -> None:
        """Show the form of the item under the cursor."""
        event.stop()
        if self.list.selected != self.item:
            self.choose(self.list.selected)

    # ---- the filter ----

    def open_filter(self) -> None:
        """Filter while the person types."""
        self.add_class("-filtering")
        self.screen.set_focus(self.filter, scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what has these words."""
        event.stop()
        self.list.filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to what was found."""
        event.stop()
        self.close_filter(keep=True)

    def close_filter(self, *, keep: bool = False) -> None:
        """Go back to the list; without `keep` the filter is gone."""
        if not keep:
            self.filter.value = ""
        self.set_class(bool(self.filter.value), "-filtering")
        self.screen.set_focus(self.list, scroll_visible=False)

    # ---- raw JSON ----

    @property
    def is_raw(self) -> bool:
        """Whether the arguments are written as raw JSON."""
        return self.has_class("-raw")

    def go_to_form(self) -> None:
        """Give the focus to what the arguments are written in."""
        self.screen.set_focus(self.raw if self.is_raw else self.form, scroll_visible=False)

    def toggle_raw(self) -> str:
        """Write the arguments as raw JSON, or in the form again; return why that cannot be, or ""."""
        if not self.is_raw:
            self._raw_from_form()
            self.add_class("-raw")
            self.screen.set_focus(self.raw, scroll_visible=False)
            return ""
        problem = self.form.form.from_json(self.raw.text)
        if problem:
            return problem
        self.remove_class("-raw")
        self.form.show(self.item, self.form.form)
        self.screen.set_focus(self.form, scroll_visible=False)
        return ""

    def _raw_from_form(self) -> None:
        with self.prevent(TextArea.Changed):
            self.raw.load_text(self.form.form.as_json())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep the form in step while JSON is written; say what is wrong with it."""
        event.stop()
        self.insisted = False
        problem = self.form.form.from_json(self.raw.text)
        if not problem:
            wrong = self.form.form.problems()
            problem = next((f"{where(path)} {said}" for path, said in wrong.items()), "")
        self.line.say(*((("! " + problem, "bad"),) if problem else ()))

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        """Take the sentence away that was about other arguments."""
        event.stop()
        self.insisted = False
        self.line.say()

    def arguments(self) -> tuple[object, str]:
        """Return the arguments and what is wrong with them in one sentence, or ""."""
        form: Form = self.form.form
        if self.is_raw and (problem := form.from_json(self.raw.text)):
            return None, f"This {problem}."
        value, wrong = form.value()
        if not wrong:
            return value, ""
        path, said = next(iter(wrong.items()))
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return value, f"{where(path)} {said}{more}."


def where(path: tuple[str | int, ...]) -> str:
    """Return the place of a field in words: "to › 2. › name", "the whole"."""
    from tui.core.text import clean_line

    parts = [f"{part + 1}." if isinstance(part, int) else clean_line(part, 40) for part in path]
    return " › ".join(parts) or "the whole"
