"""The card of a tool call: one row after its end, its question while it waits, everything if expanded."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tui.core import units
from tui.core.hidden_text.readable import readable
from tui.core.jsonrpc.reader import indented, json_value
from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.ports import ApprovalRequest
from tui.core.text import Preview, capitalized, cells_of, clean_line, preview
from tui.core.tools import LinkContent, TextContent, ToolResult
from tui.ui.chat.transcript.blocks import fold_sign, measure, more_characters, outcome_words, pieces_of
from tui.ui.chat.transcript.flow import Block
from tui.ui.widgets import code, times
from tui.ui.widgets.bar import key_cap, part_at
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, progress_bar, spread, width_of, wrap
from tui.ui.widgets.symbols import symbols_for

INDENT: Row = (("   ", ""),)
DEEPER: Row = (("     ", ""),)  # of what belongs to a call
MAX_ARGUMENTS = 100_000  # maximum characters of arguments to show
MAX_LINES = 5_000  # maximum lines of arguments
ARGUMENT_COST = 20  # characters that each argument counts in addition to its own
MAX_DETAILS = 20_000  # maximum characters of arguments in an expanded card
FOLDED_ROWS = 8  # rows of arguments in a collapsed question
NAME_COLUMNS = 24  # longer names of arguments have their own rows
MAX_HIGHLIGHTED = 20_000  # maximum characters of an argument to highlight and indent
MAX_PIECES = 5  # maximum rows for parts of a result that are not text
BAR_CELLS = 8  # cells of the progress bar of a running call
MAX_WHY = 800  # maximum characters of the reasons of a question: they name servers and skills
FOLDED_NOTE = 3  # rows of an error below a collapsed card

ANSWERS = (
    ("question.once", N_("once")),
    ("question.session", N_("until quit")),
    ("question.always", N_("always")),
    ("question.no", N_("deny")),
    ("question.why", N_("deny with a reason")),
    ("question.rules", N_("rules")),
)
EDGE = ("│ ", "accent aside")
"""The left border of a question."""

LEAD = ("focus.conversation", N_("answer"))
"""The only key to show while those of `ANSWERS` do not work, because something else has the focus."""

LASTING = ("question.session", "question.always")
"""Answers that also apply to later calls."""

# state: (style of its sign and its word, the word, the name of the sign)
_STATES: Mapping[str, tuple[str, str, str]] = {
    "waiting": ("dim", N_("waiting"), "waiting"),
    "asking": ("accent", N_("waiting for approval"), "asks"),
    "running": ("accent", N_("running"), "spinner"),
    "done": ("ok", "", "done"),
    "failed": ("bad", N_("failed"), "failed"),
    "denied": ("warn", N_("denied"), "failed"),
    "cancelled": ("dim", N_("cancelled"), "stopped"),
    "unknown": ("warn", N_("outcome unknown"), "warning"),
    "unsent": ("dim", N_("not run"), "stopped"),
}
_JSON_STYLES = {f"accent {code.GROUND}": "tool"}  # amber is reserved for what needs the user
# states whose text is shown below the collapsed card
_EXPLAINED = {"failed": "bad", "unknown": "warn", "unsent": "dim"}
_UNANSWERED = ("denied", "cancelled", "unknown", "unsent")


class Card(Block):
    """A tool call. Its arguments are given by name, or as the model's JSON, which is parsed when shown.

    `server` is not cleaned. `has_keys`: the keys of a question work now. `recovered`: the call was found in
    the text of the reply. `rule` decided whether it runs, or is "". `gave` is the complete result, or None.
    After a change, `width` must be set to 0.
    """

    def __init__(self, server: str, tool: str, arguments: Mapping[str, Any] | str, gap: int) -> None:
        super().__init__(gap)
        self.server = server
        self.name = clean_line(tool, 64) or _("unknown tool")
        self._unread: str | None = arguments if isinstance(arguments, str) else None
        self._arguments, self._left_out = ([], 0) if isinstance(arguments, str) else _shown(arguments)
        self._note = ""
        self._why = self._warning = ""
        self._keys: Sequence[tuple[str, str, str]] = ()
        self._key_rows: Sequence[int] = ()
        self.has_keys = True
        self._share: float | None = None
        self._ms: float | None = None
        self._result: Preview | None = None
        self.targets: Sequence[int] = ()
        self._pieces: Sequence[str] = ()
        self._links: dict[int, LinkContent] = {}  # by row
        self._body: Sequence[Row] = ()  # the arguments of a question, wrapped at `_body_at`
        self._body_at = 0
        self._unseen: set[int] = set()
        self.state = "waiting"
        self.open = False
        self.recovered = False
        self.rule = ""
        self.gave: ToolResult | None = None

    @property
    def _title(self) -> Row:
        server, tool = clean_line(self.server, 40), (self.name, "tool")
        return ((server, "dim"), (f" {symbols_for().within} ", "dim"), tool) if self.server else (tool,)

    def give(self, result: ToolResult) -> None:
        """Store the result. Each part that is not text gets a row."""
        self.gave = result
        self._pieces = tuple(pieces_of(result))

    def set(
        self, state: str, note: str, ms: float | None, result: str | None, share: float | None = None
    ) -> None:
        """Change the state; ends a question. `share` is the progress of a running call."""
        if self.state == "asking" and state != "asking":
            self.open = False
        self.state = state if state in _STATES else "waiting"
        self._share = share
        self._note = clean_line(localized(note), 400)
        self._ms = ms if ms is not None else self._ms
        if result is not None:
            self._result = preview(result)

    def ask(self, request: ApprovalRequest, keys_of: Callable[[str], str]) -> None:
        """Ask about the call. `keys_of` returns the keys of an action."""
        answers = [one for one in (*ANSWERS, LEAD) if not (request.once_only and one[0] in LASTING)]
        self._keys = [(action_id, keys_of(action_id), _(words)) for action_id, words in answers]
        self.state = "asking"
        self._warning = clean_line(localized(request.warning), 400)
        why = clean_line(localized(request.why), MAX_WHY)
        self._why = _("{sentence}.", sentence=capitalized(why)) if why else ""
        self.open = False
        self._body_at = 0

    @property
    def unseen(self) -> str:
        """The part of a question that has not been on screen, as text; "" if it may be answered with yes.

        Title, arguments and reasons must have been on screen, and not collapsed.
        """
        if self._is_cut:
            return _("The arguments are too long to show in full. Deny the call, or allow it with a rule.")
        many = len(self._unseen) if self._body_at else 1
        if not many:
            return ""
        return n_(
            "Read the whole call first: {n} line not shown yet.",
            "Read the whole call first: {n} lines not shown yet.",
            many,
        )

    def saw(self, first: int, last: int) -> None:
        """Record that the rows from `first` to `last` - 1 were painted."""
        if self.state == "asking" and (self.open or not self._is_long):
            self._unseen.difference_update(range(first, last))

    @property
    def first_unseen(self) -> int:
        return min(self._unseen, default=0)

    @property
    def _is_long(self) -> bool:
        return len(self._body) > FOLDED_ROWS + 2

    @property
    def _is_cut(self) -> bool:
        lines = sum(value.count("\n") for _name, value in self._arguments)
        return bool(self._left_out) or self._length > MAX_ARGUMENTS or lines > MAX_LINES

    @property
    def _length(self) -> int:
        return sum(len(value) for _, value in self._arguments)

    def wrap(self, width: int) -> Sequence[Row]:
        columns = measure(width)
        if self._unread is not None:
            (self._arguments, self._left_out), self._unread = _shown(_read(self._unread)), None
        if self.state == "asking":
            return self._question(columns)
        rows = [self._head(columns)]
        if self.open:
            rows += self._details(columns)
        elif self.state in _EXPLAINED:
            rows += self._error(columns)
        parts = [one for one in self.gave.content if not isinstance(one, TextContent)] if self.gave else []
        shown = enumerate(parts[:MAX_PIECES], len(rows))
        self._links = {row: one for row, one in shown if isinstance(one, LinkContent)}
        self.targets = [0, *self._links]
        return rows + self._piece_rows(columns)

    def link_at(self, row: int) -> LinkContent | None:
        return self._links.get(row)

    def _head(self, width: int) -> Row:
        role, word, sign = _STATES[self.state]
        symbols = symbols_for()
        time = times.duration(self._ms) if self._ms is not None and self.state in ("done", "failed") else ""
        marker = fold_sign(open=self.open)
        note = self._note if self.state != "failed" else ""
        if self.state == "denied" and self.rule and not self.open:
            note = _("rule: {rule}", rule=self.rule)
        right: list[tuple[str, str]] = []
        if self.recovered:
            right.append((f"{_('recovered')}  ", "warn"))
        if note:
            right.append((clean_line(note, max(8, width // 3)) + "  ", "dim"))
        if word:
            right.append((_(word) + "  ", role))
        right += [(f"{time} " if time else "", "dim"), (marker, "dim aside")]
        title: Row = (*INDENT, (f"{getattr(symbols, sign)[0]} ", role), *self._title)
        if self._share is not None and width_of((*title, *right)) + BAR_CELLS + 4 <= width:
            right[:0] = [*progress_bar(self._share, BAR_CELLS, symbols.thin, symbols.rule), ("  ", "")]
        brief: Row = () if self.open else tuple(self._brief(width))
        return spread((*title, *brief), tuple(right), width, gap=2)

    def _brief(self, width: int) -> list[tuple[str, str]]:
        spans = [("   ", "")]
        used = 0
        for name, value in self._arguments:
            if used > width:
                break
            short = clean_line(value, 80)
            spans += [(f"{name}=", "dim"), (short, "text"), ("  ", "")]
            used += len(name) + len(short) + 3
        return spans

    def _details(self, width: int) -> list[Row]:
        rows = [(*DEEPER, *row) for row in self._argument_rows(width - width_of(DEEPER), MAX_DETAILS)]
        if self.rule:
            rows += wrap(((_("rule: {rule}", rule=self.rule), "dim"),), width, first=DEEPER, rest=DEEPER)
        if self._result is not None:
            style = _EXPLAINED.get(self.state, "text")
            arrow: Row = (*DEEPER, (f"{symbols_for().result} ", "dim"))
            rest = ((" " * width_of(arrow), ""),)
            for number, line in enumerate((self._said() or _("(empty)")).expandtabs(4).split("\n")):
                rows += wrap(((line, style),), width, first=rest if number else arrow, rest=rest)
            if self._result.omitted:
                rows.append((*rest, (more_characters(self._result.omitted), "dim")))
        elif self._note:
            rows += wrap(((self._note, "dim"),), width, first=DEEPER)
        return rows

    def _said(self, *, brief: bool = False) -> str:
        """Return the result. `brief`: without the state, which the head shows."""
        text = self._result.text if self._result is not None else ""
        if self.state not in _UNANSWERED:
            return text
        return outcome_words(text.strip(), _STATES[self.state][1], brief=brief)

    def _error(self, width: int) -> list[Row]:
        text = self._said(brief=True).strip()
        if self.state == "failed" and not text:
            text = self._note
        elif self.state == "failed" and self._note and not text.startswith(self._note):
            text = _("{where}: {problem}", where=self._note, problem=text)
        style = _EXPLAINED[self.state]
        rows = (
            wrap(((sentences(clean_line(text, 400)), style),), width, first=DEEPER, rest=DEEPER)
            if text
            else []
        )
        return rows[:FOLDED_NOTE]

    def _piece_rows(self, width: int) -> list[Row]:
        shown: list[Row] = [crop((*DEEPER, ("▣ ", "tool"), (piece, "text")), width) for piece in self._pieces]
        if len(shown) > MAX_PIECES:
            more = len(shown) - MAX_PIECES
            shown = [*shown[:MAX_PIECES], (*DEEPER, (n_("and {n} more", "and {n} more", more), "dim"))]
        return shown

    def _argument_rows(self, width: int, most: int = MAX_ARGUMENTS) -> list[Row]:
        rows: list[Row] = []
        room, lines = most, MAX_LINES
        for name, value in self._arguments:
            if room > 0 and lines > 0:
                shown = "\n".join(value[:room].split("\n", lines)[:lines])
                rows += self._argument(name, _laid_out(shown, self._room(width)), width)
                lines -= 1 + shown.count("\n")
                room -= ARGUMENT_COST + len(shown)
        left_out = self._left_out + max(0, self._length - most)
        if self._is_cut or left_out:
            more = _("… more lines not shown")
            if left_out:
                number = units.count(left_out)
                more = _("… {characters} more characters not shown", characters=number)
            rows.append(((more, "warn"),))
        return rows or [((_("no arguments"), "dim"),)]

    def _argument(self, name: str, value: Sequence[Row], width: int) -> list[Row]:
        """Return an argument: its value beside its name, or below it if the name is long."""
        column = width - self._room(width)
        rest: Row = ((" " * column, ""),)
        label = pad(((name, "dim"),), column)
        rows: list[Row] = []
        if cells_of(name) > column - 2:
            rows, label = list(wrap(((name, "dim"),), width)), rest
        for number, line in enumerate(value):
            rows += wrap(line, width, first=rest if number else label, rest=rest)
        return rows

    def _names(self, width: int) -> list[Row]:
        """Return the names of all arguments, each with the start of its value if they are few."""
        if len(self._arguments) > FOLDED_ROWS:
            return list(wrap(((", ".join(name for name, _ in self._arguments), "dim"),), width))
        rows: list[Row] = []
        for name, value in self._arguments:
            brief = crop(((clean_line(value, width), "text"),), max(1, self._room(width)))
            rows += self._argument(name, [brief], width)
        return rows

    def _room(self, width: int) -> int:
        """Return the columns of the values."""
        return width - min(NAME_COLUMNS, max(cells_of(one) for one, _ in self._arguments)) - 2

    def _question(self, width: int) -> list[Row]:
        inner = max(1, width - 4)
        is_new, self._body_at = self._body_at != width, width
        if is_new:
            self._body = _boxed(self._argument_rows(inner), inner)
        is_folded = self._is_long and not self.open
        body = _boxed(self._names(inner), inner) if is_folded else self._body
        sign: Row = ((f"{symbols_for().warning} ", "warn"),)
        why = wrap(((self._why, "warn"),), inner, first=sign) if self._why else []
        why += wrap(((self._warning, "warn"),), inner, first=sign) if self._warning else []
        if is_new:  # title, arguments and reasons must be seen
            self._unseen = set(range(len(self._body) + self._is_long + 2 + len(why)))
        more: list[Row] = []
        if self._is_long:
            marker = fold_sign(open=self.open)
            word = _("enter collapse")
            if not self.open:
                word = n_("{n} line   enter expand", "{n} lines   enter expand", len(self._body))
            more = [((f"{marker} ", "accent"), (word, "warn"))]
        self.targets = [1 + len(body) if more else 0]
        title: Row = crop((("┌ ", "accent"), *self._title, (" ", "")), width - 2)
        top: Row = (*title, ("─" * (width - width_of(title) - 1) + "┐", "accent"))
        keys = [tuple(row for _, row in line) for line in self._shown_keys(inner)]
        below = _boxed([*more, EMPTY, *why, *(sum(row, EMPTY) for row in keys)], inner)
        self._key_rows = range(1 + len(body) + len(below) - len(keys), 1 + len(body) + len(below))
        return [top, *body, *below, (("└" + "─" * (width - 2) + "┘", "accent"),)]

    def _shown_keys(self, width: int) -> list[list[tuple[str, Row]]]:
        """Return the keys that work, as lines of parts. There are as many lines while no answer works."""
        lines = _key_lines(width, self._keys[:-1])
        if not self.has_keys:
            action_id, key, words = self._keys[-1]
            lines = [[(action_id, key_cap(key, words))], *([] for _ in lines[1:])]
        return lines

    def action_at(self, row: int, x: int) -> str:
        """Return the id of the action whose key is at a place of a question, or ""."""
        if self.state != "asking" or row not in self._key_rows:
            return ""
        line = self._shown_keys(max(1, measure(self.width) - 4))[row - self._key_rows[0]]
        x -= width_of((EDGE,))
        return (part_at(line, x) if x >= 0 else None) or ""


def _boxed(rows: Sequence[Row], inner: int) -> list[Row]:
    """Return rows with the borders of a card at both sides."""
    return [(EDGE, *pad(crop(row, inner), inner), (" │", "accent aside")) for row in rows]


def _key_lines(width: int, keys: Sequence[tuple[str, str, str]]) -> list[list[tuple[str, Row]]]:
    """Return the keys that answer as parts, each with its action: in one line if they fit."""
    parts = [(action_id, key_cap(key, words)) for action_id, key, words in keys]
    needed = sum(width_of(row) for _, row in parts)
    gap = "   " if needed + 3 * (len(parts) - 1) <= width else "  "
    lines: list[list[tuple[str, Row]]] = [[]]
    used = 0
    for action_id, row in parts:
        if lines[-1] and used + len(gap) + width_of(row) > width:
            lines.append([])
            used = 0
        if lines[-1]:
            row = ((gap, ""), *row)
        lines[-1].append((action_id, row))
        used += width_of(row)
    return lines


def _laid_out(value: str, width: int) -> list[Row]:
    """Return an argument as highlighted rows. JSON that is wider than `width` is indented."""
    if len(value) > width and value[:1] in ("[", "{"):
        value = indented(value)
    lines = value.expandtabs(4).split("\n")
    if len(value) > MAX_HIGHLIGHTED or (value.startswith('"') and len(lines) > 1):
        return [((line, "text"),) for line in lines]
    return [
        tuple((text, _JSON_STYLES.get(style, style.removesuffix(f" {code.GROUND}"))) for text, style in row)
        for row in code.highlighted(lines, "json")
    ]


def _shown(arguments: Mapping[str, Any]) -> tuple[list[tuple[str, str]], int]:
    """Return names and values as texts with hidden characters made visible, and the number of omitted ones.

    The number counts the characters beyond `MAX_ARGUMENTS`, which are not shown.
    """
    found: list[tuple[str, str]] = []
    room, left_out = MAX_ARGUMENTS, 0
    for key, value in arguments.items():
        name, text = str(key), _written(value)
        if room > 0:
            shown = " ".join(readable(name[:room]).split())
            found.append((shown, readable(text[: max(0, room - len(name))])))
        room -= ARGUMENT_COST + len(name) + len(text)
        left_out = max(left_out, -room)
    return found, left_out


def _read(text: str) -> Mapping[str, Any]:
    """Return arguments by name if they are a JSON object, otherwise unchanged."""
    found = json_value(text or "{}") if len(text) <= MAX_ARGUMENTS else None
    return found if isinstance(found, dict) else {"": text}


def _written(value: Any) -> str:
    """Return an argument as JSON; multi-line text keeps its lines."""
    if isinstance(value, str) and "\n" in value:
        return '"' + value + '"'
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
