"""One line of the traffic: as many of an entry's columns as fit the width, as text. Pure."""

from dataclasses import replace
from functools import lru_cache

from tui.core import units
from tui.core.jsonrpc.protocol import STAY_OPEN
from tui.core.language.translate import _, c_, n_
from tui.core.text import abridged, cells_of, clean_line, cropped, padded
from tui.core.traffic import ANSWERS, CHANGE_WORDS, OUTCOME_WORDS, Direction, Kind, Outcome, is_failed_case
from tui.core.units import time_of_day
from tui.traffic.filter.arrangement import Order, SortColumn
from tui.traffic.filter.folded import Fold
from tui.traffic.methods import is_setup, shown_method
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.traffic.columns import Layout
from tui.ui.traffic.entry_loader import NONE, EntryPreview
from tui.ui.widgets.rows import Row, Span, crop, pad
from tui.ui.widgets.symbols import OUTCOME_STYLES, SEVERITY_STYLES, kind_look, symbols_for
from tui.ui.widgets.times import SECOND, TimeMode, bar, share, since, span

NAME_CHARS, NOTE_CHARS = 96, 400
OF_MODEL = frozenset({Kind.MODEL_REQUEST, Kind.MODEL_REPLY})
"""Kinds whose names are abbreviated where the names of others fit."""

PREVIEWED = frozenset({Kind.STDERR, Kind.NOT_JSON, Kind.NOT_RPC, Kind.EVENT})
"""Kinds for which the start of their text is shown."""


_DIMMED = {"text": "dim", "tool": "dim", "ok": "dim", "warn": "dim", "aside warn": "aside dim"}
"""Styles of handshakes and lists, instead of those of calls; failures keep theirs."""

_LONG, _SLOW = SECOND // 10, SECOND
_WEIGHTS = (("dim", "aside rule"), ("text", "aside dim"), ("warn", "aside warn"))
"""Styles of a latency and its bar: short, long, slow."""


class RowMaker:
    """Creates lines, with times in the format `mode`."""

    def __init__(self, entries: EntryColumns) -> None:
        self.mode = TimeMode.CLOCK
        self._entries = entries
        self.symbols = symbols_for()
        self._looks: dict[tuple[int, int, int], Span] = {}
        self._outcomes = [_(words) for words in OUTCOME_WORDS.values()]
        self._changes = [_(words) for words in CHANGE_WORDS]
        self._open, self._failed = _("open"), _("failed")

    def row(
        self,
        index: int,
        columns: Layout,
        *,
        previous: int = -1,
        now_ns: int = 0,
        note: str = "",
        lead: str = " ",
        preview: EntryPreview = NONE,
        is_hit: bool = False,
        fold: Fold | None = None,
        is_call: bool = False,
    ) -> Row:
        """Return the line of an entry.

        `previous` is the index of the entry in the line above, -1 for none; `now_ns` is for the latency of
        pending requests, 0 for a recording; `lead` is the sign at the left end: cursor, partner, same call.
        `note` is the user's, or that of a test run, and takes the room of less important columns; the request
        of a case that failed has the sign of a failure. `preview` is what the columns lack: its id, and the
        start of its text. `is_hit`: the search in the list matches it. The line may represent a `fold` of
        rows, or the response too (`is_call`).
        """
        entries, symbols, gap = self._entries, self.symbols, " " * columns.gap
        ident = preview.ident if fold is None else ""
        if note:
            columns = _with_room(columns, is_failed_case(note))
        severity = entries.severity[index]
        mark = symbols.note if note else symbols.mark if entries.marked[index] else " "
        spans: list[Span] = [
            (lead, "aside accent"),
            (mark, "user bold"),
            (f"{symbols.severities[severity]} ", SEVERITY_STYLES[severity]),
        ]
        delta = "" if previous < 0 else span(entries.mono[index] - entries.mono[previous])
        if columns.time:
            spans.append(_cell(self._time(index, delta), "dim", columns.time, gap))
        if columns.delta:
            spans.append(_cell(delta, "dim", columns.delta, gap))
        source = abridged(name_of(entries.sources.texts[entries.source[index]]), columns.server)
        spans.append(_kept_cell(source, "text", columns.server, gap, right=False))
        kind = (f"{symbols.folded} {_('setup')}", "dim") if fold is not None else self._kind(index, columns)
        if columns.kind:
            spans.append(_kept_cell(*kind, columns.kind, gap, right=False))
        what = self._what(index, columns, preview.text, note)
        if fold is not None:
            what = ((_folded(fold.entries, columns.what), "dim"),)
        spans += pad(crop(what, columns.what), columns.what + columns.gap, "dim")
        if columns.ident:
            # Ids differ at their ends.
            short = ident if len(ident) <= columns.ident else f"…{ident[1 - columns.ident :]}"
            spans.append(_kept_cell(short, "dim", columns.ident, gap, right=False))
        size = units.size(entries.size[index] if fold is None else fold.octets)
        size = size if columns.size > 6 else size.replace(" ", "")
        if columns.size:
            spans.append(_kept_cell(size, "dim", columns.size, gap))
        if fold is None:
            spans += self._latency(index, columns, now_ns, is_call, is_failed_case(note))
        if is_setup(entries.methods.texts[entries.method[index]]):
            spans = [(text, _DIMMED.get(style, style)) for text, style in spans]
        if is_hit:
            spans[0] = (symbols.hit if lead == " " else lead, "aside accent bold")
        if entries.seq(index) <= entries.gone:  # the entry was dropped
            spans[3:] = [(text, "dim strike") for text, _ in spans[3:]]
        return _joined(spans)

    def head(self, columns: Layout, order: Order | None = None) -> Row:
        """Return the headings, each with the key that sorts by it. An arrow shows the order."""
        gap = " " * columns.gap
        digit = self.symbols.digits[list(SortColumn).index(SortColumn.METHOD)]
        method, tool = f"{digit}{_('method')}", _("tool")
        what = f"{padded(cropped(method, columns.method), columns.method)} {tool}"
        if cells_of(method) > columns.method or cells_of(what) > columns.what:
            both = f"{method} {tool}"
            what = both if cells_of(both) <= columns.what else method
        bar = "1 ms  10 s" if columns.bar >= 10 else c_("column of latency bars", "bar")
        parts = [
            (columns.time, (_("time"), _("elapsed"), _("delta"))[self.mode], True, SortColumn.TIME),
            (columns.delta, self.symbols.delta, True, None),
            (columns.server, _("server"), False, SortColumn.SERVER),
            (columns.kind, _("kind"), False, SortColumn.KIND),
            (columns.what, what.removeprefix(digit), False, SortColumn.METHOD),
            (columns.ident, "id", False, None),
            (columns.size, _("size"), True, SortColumn.SIZE),
            (columns.bar, bar, False, None),
            (columns.latency, _("latency"), True, SortColumn.LATENCY),
            (columns.outcome if columns.outcome > 1 else 0, _("outcome"), False, None),
        ]
        spans: list[Span] = [("    ", "dim")]
        for cells, words, right, column in parts:
            if not cells:
                continue
            style = "dim"
            if column is not None and order is not None and order.column is column:
                sign = self.symbols.descending if order.descending else self.symbols.ascending
                words, style = f"{sign}{words}", "accent"
            elif column is not None:
                words = f"{self.symbols.digits[list(SortColumn).index(column)]}{words}"
            spans.append(_cell(words, style, cells, gap, right=right))
        spans[-1] = (spans[-1][0].removesuffix(gap), spans[-1][1])
        return _joined(spans)

    def heading_cells(self) -> dict[str, int]:
        """Return how wide the headings are, by column, with the key or the arrow before them."""
        time = (_("time"), _("elapsed"), _("delta"))[self.mode]
        looks = [kind_look(kind, Direction.OUT) for kind in sorted(Kind, key=OF_MODEL.__contains__)]
        kind = cells_of(_("kind")) + 1
        return {
            "time": cells_of(time) + 1,
            "server": cells_of(_("server")) + 1,
            "kind": max(kind, *(cells_of(words) for words, _short, _style in looks[: -len(OF_MODEL)])),
            "short_kind": max(kind, *(cells_of(short) for _words, short, _style in looks)),
            "size": cells_of(_("size")) + 1,
            "latency": cells_of(_("latency")) + 1,
            "delta": cells_of(self.symbols.delta),
            "what": cells_of(f"{_('method')} {_('tool')}") + 1,
            "bar": cells_of(c_("column of latency bars", "bar")),
            "outcome": cells_of(_("outcome")),
        }

    def _time(self, index: int, delta: str) -> str:
        match self.mode:
            case TimeMode.CLOCK:
                return time_of_day(self._entries.wall_ns(index))
            case TimeMode.START:
                return since(self._entries.mono[index] - self._entries.mono[0])
            case TimeMode.PREVIOUS:
                return delta

    def _kind(self, index: int, columns: Layout) -> Span:
        entries = self._entries
        key = entries.kind[index], entries.direction[index], columns.kind
        if (look := self._looks.get(key)) is None:
            words, short, style = kind_look(Kind(key[0]), Direction(key[1]))
            look = self._looks[key] = (words if cells_of(words) <= key[2] else short, style)
        words, style = look
        if entries.outcome[index] == Outcome.PROBE and key[0] in ANSWERS:
            words = f"{self.symbols.outcomes[Outcome.PROBE]} {self._outcomes[Outcome.PROBE]}"
            style = "dim"
        if (change := entries.changed[index]) and columns.outcome == 1:  # no room for words there
            words = f"{words[:1]} {self._changes[change]}"
            style = "warn"
        return (words, style)

    def _what(self, index: int, columns: Layout, text: str, note: str) -> Row:
        if note:
            return (*self._what(index, columns, text, ""), (f"  {clean_line(note, NOTE_CHARS)}", "user"))
        entries = self._entries
        kind = entries.kind[index]
        method = name_of(shown_method(kind, entries.methods.texts[entries.method[index]]))
        tool = name_of(entries.tools.texts[entries.tool[index]])
        if kind in PREVIEWED:
            event = ((f"{method}  ", "text"),) if method else ()
            return (*event, (text, "dim" if kind != Kind.NOT_JSON else "text"))
        quiet = "dim" if kind in (Kind.RESPONSE, Kind.NOTIFICATION) else "text"
        if not tool:
            return ((method, quiet),)
        if columns.has_note:
            return ((f"{method} ", quiet), (tool, "tool"))
        # A name is not cut beside blanks.
        cells, needed, room = columns.method, cells_of(method), columns.what - cells_of(tool) - 1
        cells = max(cells, min(needed, room)) if room >= cells else max(min(cells, needed), room)
        return (_kept_cell(method, quiet, cells, " ", right=False), (tool, "tool"))

    def _latency(
        self, index: int, columns: Layout, now_ns: int, is_call: bool, is_failed: bool
    ) -> list[Span]:
        entries, symbols, gap = self._entries, self.symbols, " " * columns.gap
        outcome = entries.outcome[index]
        ns = entries.latency_ns(index)
        if is_call and not outcome and (partner := entries.partner(index)) >= 0:
            outcome = entries.outcome[partner]
        answer = is_call or entries.is_answer(index) or outcome == Outcome.PENDING
        is_unknown = answer and entries.is_uncertain(index)
        if outcome == Outcome.PENDING and now_ns and not is_unknown:
            ns = max(0, now_ns - entries.mono[index])
        # A subscription is meant to stay open; nothing waits for it.
        open = outcome == Outcome.PENDING and entries.methods.texts[entries.method[index]] in STAY_OPEN
        style, shade = ("dim", "aside rule") if open else _WEIGHTS[(ns >= _LONG) + (ns >= _SLOW)]
        spans: list[Span] = []
        if columns.bar:
            drawn = bar(share(ns), columns.bar, symbols.bar) if ns >= 0 and answer and not open else ""
            spans.append(_kept_cell(drawn, shade, columns.bar, gap, right=False))
        took = "…" if is_unknown else span(ns) if ns >= 0 and answer else ""
        spans.append(_kept_cell(took, style, columns.latency, gap))
        if is_unknown and outcome == Outcome.PENDING:
            return [*spans, ("…", "dim")]
        if is_failed:
            word = f" {self._failed}" if columns.outcome > 1 else ""
            return [*spans, (f"{symbols.outcomes[Outcome.ERROR]}{word}", OUTCOME_STYLES[Outcome.ERROR])]
        words = symbols.outcomes[outcome]
        if columns.outcome > 1:
            words += f" {self._open if open else self._outcomes[outcome]}"
        if (change := entries.changed[index]) and not is_call:
            word = f" {self._changes[change]}" if columns.outcome > 1 else ""
            return [*spans, (f"{symbols.outcomes[outcome]}{word}", "warn")]
        spans.append((words, "dim" if open else OUTCOME_STYLES[outcome]))
        return spans


def _folded(count: int, cells: int) -> str:
    whole = n_("{n} entry: handshake and lists", "{n} entries: handshake and lists", count)
    return whole if cells_of(whole) <= cells else n_("{n} entry", "{n} entries", count)


@lru_cache(64)
def _with_room(columns: Layout, is_failed: bool) -> Layout:
    """Return the columns of a line with a note: it has the room of the id, the size and the bar.

    For a failed case, which is a request, also that of the kind and the time difference.
    """
    names = ("ident", "size", "bar", *(("kind", "delta") if is_failed else ()))
    free = sum(cells + columns.gap for name in names if (cells := getattr(columns, name)))
    return replace(columns, what=columns.what + free, has_note=True, **dict.fromkeys(names, 0))


def _cell(text: str, style: str, cells: int, gap: str, *, right: bool = True) -> Span:
    """Return a cell cropped and padded to its width, followed by the gap."""
    return (padded(cropped(text, cells), cells, right=right) + gap, style)


_kept_cell = lru_cache(512)(_cell)
"""A cache for cells that many lines share."""


@lru_cache(4096)
def name_of(text: str) -> str:
    """Return a name cleaned."""
    return clean_line(text, NAME_CHARS)


def _joined(spans: list[Span]) -> Row:
    """Merge adjacent spans of the same style: that halves the time to paint a line."""
    joined: list[Span] = []
    for text, style in spans:
        if joined and joined[-1][1] == style:
            text = joined.pop()[0] + text
        joined.append((text, style))
    return tuple(joined)
