"""The items of the finders: sessions, matches, models, rules, approvals; their list, and the preview."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tui.core import units
from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage, UserMessage
from tui.core.conversation.sessions import SessionInfo, SessionMatch
from tui.core.language.restored import restored
from tui.core.language.translate import N_, _, localized, n_
from tui.core.matching import has_words
from tui.core.permission.rules import Rule, Verdict
from tui.core.ports import ModelChoice
from tui.core.text import abridged, cells_of, clean_line, padded, preview
from tui.core.turn.prepared_calls import shown_result
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, Span, crop, filled, pad, spread, width_of, with_words, wrap
from tui.ui.widgets.symbols import symbols_for
from tui.ui.widgets.times import when

if TYPE_CHECKING:
    from tui.core.permission.approval_policy import Judgement


MEASURE = 100
"""Maximum columns of text between the items; longer lines are hard to read."""


@dataclass(frozen=True, slots=True)
class FinderItem:
    """An item, drawn at a given width; headings and text between items have the key ""."""

    key: str
    draw: Callable[[int], Sequence[Row]]


def heading(words: str, after: str = "") -> FinderItem:
    """Return a heading, followed by `after`."""
    return FinderItem("", lambda width: (EMPTY, crop(((words, "dim bold"), (f"   {after}", "dim")), width)))


def words(text: str, style: str = "dim") -> FinderItem:
    """Return lines of text to show between the items."""
    return FinderItem("", lambda width: wrap(((text, style),), min(width, MEASURE)))


class FinderList(LinePane, can_focus=False):
    """The list of a finder. Its cursor is moved by the finder, because the field always has the focus."""

    CURSOR = True

    FOLLOWS = False

    def __init__(self, chosen: Callable[[], None], moved: Callable[[], None]) -> None:
        super().__init__(id="items")
        self._chosen = chosen
        self._moved = moved
        self._items: tuple[FinderItem, ...] = ()
        self._keys: list[str] = []  # of the item in each row

    @property
    def current(self) -> str:
        """The key of the item under the cursor, or ""."""
        return self._keys[self.cursor] if self.cursor < len(self._keys) else ""

    def show(self, items: Sequence[FinderItem], key: str = "") -> None:
        """Show these items, with the cursor on `key`, else on the current item, else on the first one."""
        self._items = tuple(items)
        self._draw(key or self.current)
        self.rows_changed()
        self.show_row(self.cursor)
        self._moved()

    def _draw(self, key: str) -> None:
        drawn = [(item.key, row) for item in self._items for row in item.draw(self.columns)]
        self._keys, self._shown_rows = [key for key, _row in drawn], [row for _key, row in drawn]
        first = next((row for row, key in enumerate(self._keys) if key), 0)
        self.cursor = self._keys.index(key) if key and key in self._keys else first

    def rewrap(self) -> None:
        self._draw(self.current)

    def row_selectable(self, index: int) -> bool:
        return bool(self._keys[index]) and self._keys.index(self._keys[index]) == index

    def row_ground(self, index: int) -> str:
        """Highlight all rows of the item under the cursor."""
        return "cursor" if self.current and self._keys[index] == self.current else ""

    def move_cursor(self, index: int) -> None:
        """Move the cursor to an item, and scroll it completely into view."""
        super().move_cursor(index)
        self.refresh()
        self.show_row(self.cursor, self._keys.count(self.current))

    def cursor_moved(self, index: int) -> None:
        self._moved()

    def row_chosen(self, index: int) -> None:
        self._chosen()

    def row_clicked(self, index: int, x: int) -> None:
        """Select the item of a row; an item may have several."""
        if self._keys[index]:
            self.move_cursor(self._keys.index(self._keys[index]))

    def row_opens(self, index: int) -> bool:
        return bool(self.current) and self._keys[index] == self.current


class Preview(LinePane, can_focus=False):
    """Shows as many paragraphs as fit next to the list, from the first or up to the last."""

    FOLLOWS = False

    def __init__(self) -> None:
        super().__init__(id="finder-preview")
        self._paragraphs: Sequence[Row] = ()
        self._from_end = False

    def show(self, paragraphs: Sequence[Row], *, from_end: bool = False) -> None:
        """Show these paragraphs; if not all fit, with `from_end` the last ones."""
        self._paragraphs, self._from_end = paragraphs, from_end
        self.rewrap()
        self.rows_changed()

    def rewrap(self) -> None:
        rows = [row for one in self._paragraphs for row in wrap(one, self.columns)]
        height = max(1, self.size.height)
        self._shown_rows = rows[-height:] if self._from_end else rows[:height]


MOST_TITLE = 60
"""Cells of a title that further columns leave free, if a title has so many."""

SHOWN_MESSAGES = 8
SHOWN_CHARS = 1200
LONG_SESSION = 5000
"""Number of messages from which reading a session takes too long for a preview."""


LEAST_TITLE = 12
"""Minimum cells of a title beside notes, such as "current"."""


def _session_texts(info: SessionInfo, now: float) -> tuple[str, ...]:
    """Return the title and the columns of a session: time, turns, model, tokens and cost."""
    title = clean_line(info.title, 200).strip() or _("untitled")
    turns, model = n_("{n} turn", "{n} turns", info.turns), abridged(clean_line(restored(info.model), 60), 18)
    return title, when(info.changed, now), turns, model, used(info)


def session_cells(infos: Sequence[SessionInfo], here: str, now: float) -> Sequence[int]:
    """Return the cells that titles and notes should have, and those of each column for `session_item`."""
    columns = zip(*(_session_texts(info, now) for info in infos), strict=True)
    title, *others = (max(map(cells_of, column)) for column in columns)
    notes = max(width_of(_session_notes(info, info.id == here)) for info in infos)
    return max(min(MOST_TITLE, title), min(LEAST_TITLE, title) + notes), *others


def _session_notes(info: SessionInfo, is_here: bool) -> Row:
    branch = (f"  {_('branch')}" if info.parent else "", "dim")
    return branch, (f"  {_('current')}" if is_here else "", "accent")


def session_item(info: SessionInfo, here: str, now: float, cells: Sequence[int]) -> FinderItem:
    """Return the row of a session; `here` is the id of the current one, `cells` those of all sessions."""
    is_here = info.id == here
    sign, style, state, problem = " ", "", "", clean_line(localized(info.problem), 200)
    if problem:
        sign, style, problem = symbols_for().failed, "bad", f"  {problem}"
    elif is_here:
        sign, style = symbols_for().running, "accent"
    elif info.in_use:
        sign, style, state = symbols_for().stopped, "warn", _("open in another mcptui")
    title, *texts = _session_texts(info, now)
    name: Row = (
        (f"{sign} ", style),
        (title, "dim" if problem else "text"),
        (f"  {problem}" if problem else "", style),
    )
    notes: Row = (*_session_notes(info, is_here), (f"  {state}" if state else "", style))

    def draw(width: int) -> Sequence[Row]:
        right = _session_columns(texts, cells, width, alone=bool(problem or state))
        room = max(LEAST_TITLE, width - width_of(right) - width_of(notes) - 2)
        return _ends((*crop(name, room), *notes), right, width)

    return FinderItem(info.id, draw)


def _session_columns(texts: Sequence[str], cells: Sequence[int], width: int, *, alone: bool) -> Row:
    """Return the columns that fit beside the titles of all rows, aligned with them; at least the time.

    `alone`: only the time, unless all of them fit.
    """
    shown = [n for n in range(len(texts)) if sum(cells[: n + 2]) + 2 * n + 5 <= width]
    if alone and len(shown) < len(texts):
        shown = []
    columns = [padded(texts[n], cells[n + 1], right=n != 2) for n in shown or [0]]
    return (("  ".join(columns), "dim"), (" ", ""))


def used(info: SessionInfo) -> str:
    """Return the usage of a session: "34 k tokens  $0.12"."""
    about = "~" if info.estimated else ""
    tokens = _("{tokens} tokens", tokens=f"{about}{units.count(info.tokens)}") if info.tokens else ""
    return "  ".join(filter(None, (tokens, about + units.money(info.cost) if info.cost is not None else "")))


def about_session(info: SessionInfo, parent: SessionInfo | None) -> Row:
    """Return a line with the details that do not fit in the row of a session."""
    if info.problem:
        return ((clean_line(localized(info.problem), 400), "bad"),)
    turns = n_("{n} turn", "{n} turns", info.turns)
    messages = n_("{n} message", "{n} messages", info.messages)
    parts = [
        _("began {time}", time=units.day_and_time(info.created) or _("unknown")),
        _("{turns}, {messages}", turns=turns, messages=messages),
        clean_line(restored(info.model), 60),
        used(info),
    ]
    if info.parent:
        name = clean_line(parent.title, 60) if parent is not None else _("a deleted session")
        parts.append(_("branch of “{title}”", title=name))
    return (("   ".join(part for part in parts if part), "dim"),)


def preview_rows(messages: Sequence[Message], upto: int | None = None) -> list[Row]:
    """Return the end of a conversation as paragraphs; with `upto`, up to that message."""
    shown = messages if upto is None else messages[: upto + 1]
    rows: list[Row] = []
    for message in shown[-SHOWN_MESSAGES:]:
        match message:
            case UserMessage(text=text):
                head: Row = ((_("you"), "user bold"),)
            case AssistantMessage(text=text, model=model):
                head = ((clean_line(restored(model), 60) or _("model"), "model bold"),)
                names = ", ".join(_tool_name(call.name) for call in message.calls)
                text = "\n".join(filter(None, (text, f"→ {names}" if names else "")))
            case ToolMessage(name=name):
                text, _problem = shown_result(message)
                head, text = ((_tool_name(name), "tool"),), text[: SHOWN_CHARS // 6]
        lines = [line for line in preview(text[-SHOWN_CHARS:]).text.split("\n") if line.strip()]
        style = "dim" if isinstance(message, ToolMessage) else "text"
        if lines:
            rows += [head, *(((line.expandtabs(4), style),) for line in lines), EMPTY]
    return rows[:-1]


def _tool_name(qualified: str) -> str:
    """Return the name of a tool as rules write it: "notes/search_notes"."""
    return clean_line(qualified.replace("__", "/", 1), 60)


def place_of(key: str) -> tuple[str, int | None]:
    """Return the session and the message of a key; None for the whole session."""
    session, separator, index = key.partition("\n")
    return session, int(index) if separator else None


def _ends(left: Row, right: Row, width: int) -> Sequence[Row]:
    return [spread(left, right, width, gap=2)]


def _found_rows(excerpt: str, text: str, width: int) -> Sequence[Row]:
    row: Row = (("     ", ""), (clean_line(excerpt, 400), "dim"))
    return [pad(with_words(row, text), width)]


LEAST_CELLS = 2
"""Minimum width of a text to search messages for: two letters, or one letter of a wide script."""

MOST_FINDS = 200


def search_items(finds: Sequence[SessionMatch], text: str, now: float, *, running: bool) -> list[FinderItem]:
    """Return a heading with the state of the search for a text in all messages, and the matches so far.

    The title of each session is above its first match.
    """
    if cells_of(text) < LEAST_CELLS:
        return []
    amount = n_("{n} place", "{n} places", len(finds)) if finds else ""
    after = amount or _("nothing")
    if running:
        after = "  ".join(filter(None, (_("searching…"), amount, _("esc stops"))))
    if len(finds) >= MOST_FINDS:
        after = _("first {n} matches", n=MOST_FINDS)
    items = [heading(_("IN MESSAGES"), after)]
    last = ""
    for found in finds:
        if found.session.id != last:
            last = found.session.id
            title = clean_line(found.session.title, 200).strip() or _("untitled")
            right = (f"{when(found.session.changed, now)} ", "dim")
            items.append(FinderItem("", partial(_ends, (("  ", ""), (title, "text")), (right,))))
        key = f"{found.session.id}\n{found.index}"
        items.append(FinderItem(key, partial(_found_rows, found.excerpt, text)))
    return items


NAME_CELLS, WINDOW_CELLS, PRICE_CELLS, CAN_CELLS = 16, 8, 16, 29
WITH_CAPABILITIES = 90
"""Minimum number of columns for showing a model's capabilities."""

OFFLINE = "offline"


def fits(choice: ModelChoice, text: str) -> bool:
    """Return whether a model matches every word of `text`."""
    searchable = (choice.name, choice.model, choice.where, choice.source, *choice.facts, *choice.learned)
    return has_words(" ".join(searchable), text)


def choice_item(choice: ModelChoice) -> FinderItem:
    """Return the rows of a model: its columns, then its problem and what was learned about it."""
    symbols = symbols_for()
    sign = (f"{symbols.running} ", "accent") if choice.current else ("  ", "")
    sign = (f"{symbols.failed} ", "bad") if choice.problem else sign
    name, model = clean_line(choice.name, 60), clean_line(choice.model, 120)
    window = units.count(choice.window) if choice.window else ""
    price = _("free") if choice.where == OFFLINE else choice.price
    cells = name, model, window, price, _(", ").join(clean_line(localized(fact), 80) for fact in choice.facts)
    learned = f" {symbols.separator} ".join(clean_line(localized(fact), 80) for fact in choice.learned)

    def draw(width: int) -> Sequence[Row]:
        rows, edge = [_model_columns(cells, width, sign, ("text bold", "text"))], (("  ", ""),)
        if choice.problem:
            rows += wrap(((clean_line(localized(choice.problem), 400), "bad"),), width, first=edge, rest=edge)
        if learned:
            rows += wrap(((f"{_('learned')}  ", "dim"), (learned, "warn")), width, first=edge, rest=edge)
        return rows

    return FinderItem(choice.name, draw)


def _model_columns(cells: Sequence[str], width: int, sign: Span, styles: tuple[str, str]) -> Row:
    """Return a row of profile, model, window, price and capabilities, aligned with the other rows."""
    name, model, window, price, can = cells
    last = crop((("   ", ""), (can, "dim")), CAN_CELLS if width >= WITH_CAPABILITIES else 0)
    window_cells = max(WINDOW_CELLS, cells_of(_(_HEADS[2])) + 1)
    price_cells = max(PRICE_CELLS, cells_of(_(_HEADS[3])) + 2)
    room = max(8, width - NAME_CELLS - 4 - window_cells - price_cells - (CAN_CELLS if last else 0))
    return (
        sign,
        *pad(crop(((name, styles[0]),), NAME_CELLS), NAME_CELLS + 2),
        *pad(crop(((model, styles[1]),), room), room),
        (padded(window, window_cells, right=True), styles[1]),
        (padded(price, price_cells, right=True), "dim"),
        *last,
    )


_HEADS = (N_("profile"), N_("model"), N_("window"), N_("per M tokens"), "")
HEADINGS = FinderItem(
    "", lambda width: [_model_columns([_(one) for one in _HEADS], width, ("  ", ""), ("dim", "dim"))]
)
"""The column headings."""


def id_item(model: str, *, current: bool) -> FinderItem:
    """Return the row of a model that an endpoint offers."""
    sign = f"{symbols_for().running} " if current else "  "
    return FinderItem(model, lambda width: [((sign, "accent"), (clean_line(model, 200), "text"))])


def effort_item(key: str) -> FinderItem:
    """Return the row of the current model with a reasoning effort, the last line of `key`."""
    model, _, level = key.rpartition("\n")
    row: Row = ((f"  {clean_line(model, 120)} ", "dim"), (level, "text bold"))
    return FinderItem(key, lambda width: [crop(row, width)])


def free_item(text: str) -> FinderItem:
    """Return the row that uses the typed text as a model id."""
    said = filled(_("use {name} as the model ID"), "dim", name=(f"“{clean_line(text, 200)}”", "accent"))
    row: Row = (("  ", "dim"), *said)
    return FinderItem(text, lambda width: [row])


ACTION_CELLS = 7
STYLES: Mapping[Verdict, str] = {Verdict.ALLOW: "ok", Verdict.ASK: "warn", Verdict.DENY: "bad"}
OUTCOMES: Mapping[Verdict, str] = {
    Verdict.ALLOW: N_("Runs without approval"),
    Verdict.ASK: N_("Needs approval"),
    Verdict.DENY: N_("Denied"),
}


def rule_item(key: str, rule: Rule, sign: str = " ", *, dim: bool = False) -> FinderItem:
    """Return the row of a rule; `sign` shows its effect on the call that is tried."""
    origin = f"{rule.origin}[{rule.number}]"
    action = (f"{rule.action.value:<{ACTION_CELLS}}", "dim" if dim else STYLES[rule.action])
    pattern = (clean_line(rule.pattern, 400), "dim" if dim else "text")

    def draw(width: int) -> Sequence[Row]:
        room = max(8, width - ACTION_CELLS - len(origin) - 6)
        return [((f"{sign} ", "accent"), action, *pad(crop((pattern,), room), room + 2), (origin, "dim"))]

    return FinderItem(key, draw)


def approval_item(key: str, *, always: bool) -> FinderItem:
    """Return the row of an earlier approval, by its key."""
    how = _("always, until its definition changes") if always else _("until mcptui quits")
    allow = (f"  {'allow':<{ACTION_CELLS}}", "ok")
    row: Row = (allow, (clean_line(key.rpartition("@")[0], 200), "text"), (f"   {how}", "dim"))
    return FinderItem(key, lambda width: [crop(row, width)])


def outcome_item(found: "Judgement") -> FinderItem:
    """Return the rows of what happens to a call, and why."""
    why = _("rule: {rule}", rule=found.rule) if found.rule else localized(found.why or found.by)
    style = f"{STYLES[found.verdict]} bold"
    row: Row = ((_(OUTCOMES[found.verdict]), style), (f"   {clean_line(why, 400)}", "text"))
    return FinderItem("", lambda width: wrap(row, width))
