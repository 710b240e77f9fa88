"""The help: every key, those of the current screen first, filtered while typing."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.core.language.translate import N_, _
from tui.core.matching import has_words
from tui.ui.dialogs.dialog import Dialog, heading
from tui.ui.keys.action_table import EVERY, MAIN, OPENERS, Context, action, of_context
from tui.ui.keys.bindings import KeyOverrides, first_key, key_words
from tui.ui.keys.footer import ALWAYS
from tui.ui.keys.slash_commands import ELSEWHERE, OWN
from tui.ui.widgets.inputs import LIST_KEYS, Field
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.rows import EMPTY, Row, pad, width_of, wrap

_EVERY_PANE = (
    ("tab", N_("Focus the next pane")),
    ("up, down, pgup, pgdn", N_("Scroll")),
    ("home, end", N_("Go to the start or the end")),
    ("enter", N_("Expand or collapse")),
)

KEY_CELLS = 24
"""Cells of the key column; longer keys have their own line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the help; `words` are more words that find it."""

    keys: str
    help: str
    words: str = ""


Group = tuple[str, tuple[Line, ...]]
"""A heading and the lines under it."""


def groups(
    overrides: KeyOverrides,
    contexts: Sequence[Context] = MAIN,
    first: Context | None = None,
    others: Sequence[Context] = (),
) -> Iterator[Group]:
    """Yield the groups of the help. `contexts` are those of the current screen, starting with `first`.

    `others` are the contexts of all screens; those of other screens come last.
    """
    for context in sorted(contexts, key=lambda context: context is not first):
        if lines := _lines_of(context, overrides):
            yield _(context.value), lines
    if Context.COMPOSER in contexts:
        yield _commands()
    yield _("In every pane"), tuple(Line(keys, _(help)) for keys, help in _EVERY_PANE)
    for context in others:
        if context not in contexts and (lines := _lines_of(context, overrides)):
            title, key = _(context.value), _opener(context, others, overrides)
            yield (_("{problem} ({place})", problem=title, place=key) if key else title), lines
    if Context.COMPOSER in others and Context.COMPOSER not in contexts:
        yield _commands()


def _lines_of(context: Context, overrides: KeyOverrides) -> tuple[Line, ...]:
    """Return the actions of a context: first the keys in every footer, then others that footers show."""
    found = []
    for one in sorted(of_context(context), key=lambda one: 0 if one.id in ALWAYS else one.footer or 1000):
        keys = key_words(overrides.keys_of(one))
        if one.anywhere:
            keys = _("{keys}, anywhere {others}", keys=keys, others=key_words(one.anywhere))
        found.append(Line(keys, _(one.help), f"{_(one.label)} {one.label} {one.id}"))
    return tuple(found)


def _commands() -> Group:
    commands = [Line(f"/{spec.name} {_(spec.usage)}".strip(), _(spec.help)) for spec in OWN]
    return _("Commands"), (*commands, *(Line(_(form), _(help)) for form, help in ELSEWHERE))


def _opener(context: Context, others: Sequence[Context], overrides: KeyOverrides) -> str:
    """Return the key of `others` that opens the screen of a context, for its heading, or ""."""
    opener = action(OPENERS[context]) if context in OPENERS else None
    if opener is None or opener.context not in others:
        return ""
    key = first_key(overrides.keys_of(opener))
    if opener.context is Context.ANYWHERE:
        return key
    return _("{keys} in {place}", keys=key, place=_(opener.context.value).lower())


def help_rows(found: Sequence[Group], query: str, width: int) -> list[Row]:
    """Return the rows of the matching groups, for `width` cells; nothing is truncated."""
    rows: list[Row] = []
    cells = min(KEY_CELLS, width // 2)
    rest: Row = ((" " * (cells + 2), ""),)
    for title, lines in found:
        is_named = has_words(title.partition(" (")[0], query)
        if shown := [line for line in lines if is_named or has_words(" ".join(astuple(line)), query)]:
            rows += [EMPTY] if rows else []
            rows.append(((title, "dim bold"),))
            for line in shown:
                key: Row = ((line.keys, "text bold"),)
                is_long = width_of(key) > cells
                rows += wrap(key, width) if is_long else ()
                first = rest if is_long else pad(key, cells + 2)
                rows += wrap(((line.help, "text"),), width, first=first, rest=rest)
    return rows or [((_("No matches"), "dim"),)]


class HelpScreen(Dialog[None]):
    """The help, over the current screen."""

    TAKES = frozenset({"app.help"})
    FITS = False
    OPENED_BY = "app.help"
    stays = str

    BINDINGS: ClassVar[list[BindingType]] = LIST_KEYS

    DEFAULT_CSS = """
    HelpScreen.-over-dialog { background: $surface; }
    HelpScreen > Frame { height: 90%; }
    HelpScreen.-short > Frame { height: 100%; }
    HelpScreen Input { margin-bottom: 1; padding: 0 1; }
    HelpScreen.-short Input { margin-bottom: 0; }
    HelpScreen RowsPane { height: 1fr; }
    """

    def __init__(
        self,
        overrides: KeyOverrides,
        contexts: Sequence[Context] = MAIN,
        first: Context | None = None,
        others: Sequence[Context] = EVERY,
    ) -> None:
        found = tuple(groups(overrides, contexts, first, others))
        self._lines = RowsPane(lambda width: help_rows(found, self.field.value, width))
        self.field = Field(placeholder=_("Type to filter"), max_length=100, compact=True)
        about = ("", _("change keys under [ui.keys] in the configuration"))
        line = self.key_line(last=[about])
        super().__init__(heading(_("Keys")), self.field, self._lines, keys=line)

    def on_mount(self) -> None:
        """Hide the dialog below: its last lines would look like lines of the help."""
        below = self.app.screen_stack[-2:-1]
        self.set_class(any(screen.is_modal for screen in below), "-over-dialog")
        self.set_focus(self.field, scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._lines.rewrap()
        self._lines.scroll_to(y=0, animate=False)

    def action_step(self, rows: int) -> None:
        self._lines.scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        self.action_step(pages * self._lines.page)

    def step_back(self) -> bool:
        """Clear the filter."""
        is_filtered, self.field.value = bool(self.field.value), ""
        return is_filtered
