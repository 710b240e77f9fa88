"""The sheets of an entry: bytes, timing, explanation, findings; and an entry as text to copy. Pure."""

from collections.abc import Sequence
from itertools import pairwise

from tui.core import units
from tui.core.language.restored import restored
from tui.core.language.translate import N_, _, localized
from tui.core.text import cells_of, clean, clean_line, padded
from tui.core.traffic import OUTCOME_WORDS, Direction, Entry, Finding, Kind, Outcome, Redaction, shown_method
from tui.core.units import exact, time_of_day
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.traffic.entry_loader import LoadedEntry
from tui.ui.widgets.page import BytesSheet, Lines, Place
from tui.ui.widgets.rows import EMPTY, Row, Span
from tui.ui.widgets.symbols import SEVERITY_STYLES, SEVERITY_WORDS, kind_look, symbols_for
from tui.ui.widgets.times import bar, share, span

BAR_CELLS = 24
FIELD_CELLS = 12


def heading(entry: Entry) -> tuple[Row, Row]:
    """Return the line above an entry: kind, id and called item at the left, size at the right."""
    words, _, style = kind_look(entry.kind, entry.direction)
    ident = f" {clean_line(entry.ident, 20)}" if entry.ident else ""
    item = entry.tool or shown_method(entry.kind, entry.method)
    what = " › ".join(clean_line(part, 60) for part in (entry.source, item) if part)
    return ((f"{words}{ident}  ", f"{style} bold"), (what, "text")), ((units.size(entry.size), "dim"),)


def timing(entries: EntryColumns, loaded: LoadedEntry) -> Lines:
    """Return when an entry was recorded, how long the response took, and a time line of its call."""
    entry = loaded.entry
    rows: list[Row] = [_field(_("at"), time_of_day(entry.wall_ns))]
    index = entries.index(entry.seq)
    if index >= 0:
        ns, partner = entries.latency_ns(index), loaded.partner
        if ns < 0 and partner is not None and entries.is_uncertain(index) and entries.is_answer(index):
            ns = abs(entry.mono_ns - partner.entry.mono_ns)
        if ns >= 0:
            took = _("{time} on the wire", time=span(ns))
            rows.append(
                (*_field(_("took"), took), ("  ", ""), (bar(share(ns), 12, symbols_for().bar), "tool"))
            )
        outcome = Outcome(entries.outcome[index])
        if outcome == Outcome.PENDING and entries.is_uncertain(index):
            rows.append(_field(_("ended"), _("response not loaded yet")))
        elif outcome:
            rows.append(_field(_("ended"), _(OUTCOME_WORDS[outcome])))
    if (cause := entry.cause) is not None:
        words = N_("turn {turn}, step {step}") if cause.step else N_("turn {turn}")
        by = _(words, turn=cause.turn, step=cause.step) if cause.turn else _("a call by hand")
        rows.append(_field(_("caused by"), by))
    octets = _("{bytes} on the wire", bytes=exact(entry.size))
    if entry.sha256:
        octets = _(
            "{bytes} on the wire, {recorded} of them recorded, sha256 {sha256}",
            bytes=exact(entry.size),
            recorded=exact(len(loaded.body)),
            sha256=entry.sha256,
        )
    rows.append(_field(_("bytes"), octets))
    rows += [
        _field(clean_line(name, 30), clean_line(str(value), 300)) for name, value in entry.detail.items()
    ]
    if len(loaded.steps) > 1:
        rows += [EMPTY, ((_("the whole call"), "dim bold"),)]
        rows += _steps(entries, loaded.steps, entry.seq)
    return Lines(rows)


def _field(name: str, value: str) -> Row:
    return ((padded(name, FIELD_CELLS), "dim"), (value, "text"))


def _steps(entries: EntryColumns, steps: Sequence[int], seq: int) -> list[Row]:
    symbols = symbols_for()
    first, last = entries.mono[steps[0]], entries.mono[steps[-1]]
    whole = max(1, last - first)
    rows: list[Row] = []
    kinds = [kind_look(Kind(entries.kind[at]), Direction(entries.direction[at])) for at in steps]
    cells = max(10, *(cells_of(short) for _words, short, _style in kinds)) + 1
    for index, (_words, short, style) in zip(steps, kinds, strict=True):
        after = entries.mono[index] - first
        place = round(after / whole * (BAR_CELLS - 1))
        line = symbols.rule * place + symbols.mark + symbols.rule * (BAR_CELLS - 1 - place)
        lead = symbols.cursor if entries.seq(index) == seq else " "
        method = clean_line(entries.methods.texts[entries.method[index]], 40)
        rows.append(
            (
                (f"{lead} ", "accent"),
                (padded(short, cells), style),
                (f"{padded(span(after), 8, right=True)}  ", "dim"),
                (line, "rule"),
                (f"  {method}", "dim"),
            )
        )
    return rows


def explanation(loaded: LoadedEntry, revision: str) -> Lines:
    """Return the explanation of an entry, as sentences."""
    from tui.traffic.explain.explain import explain

    partner = loaded.partner.entry if loaded.partner is not None else None
    found = explain(loaded.entry, partner, revision)
    rows: list[Row] = [((clean_line(localized(found.title), 200), "text bold"),), EMPTY]
    rows += [((clean_line(localized(sentence), 2000), "text"),) for sentence in found.sentences]
    if found.section:
        rows += [EMPTY, ((f"{_('Specification')}  ", "dim"), (clean_line(found.section, 200), "tool"))]
    return Lines(rows)


def findings(loaded: LoadedEntry) -> Lines:
    """Return the findings for an entry and its partner."""
    rows: list[Row] = []
    for each in (loaded, loaded.partner):
        if each is None or not each.findings:
            continue
        if each is not loaded:
            rows += [EMPTY, ((_("counterpart"), "dim bold"),)]
        for finding in each.findings:
            rows += finding_rows(finding)
    return Lines(rows or [((_("No findings"), "dim"),)])


def finding_rows(finding: Finding) -> list[Row]:
    """Return the rows of a finding: severity, sentence, rule and section of the specification."""
    sign, style = symbols_for().severities[finding.severity], SEVERITY_STYLES[finding.severity]
    head = (f"{sign} {_(SEVERITY_WORDS[finding.severity])}  ", f"{style} bold")
    rows: list[Row] = [(head, (clean_line(restored(finding.sentence), 600), "text"))]
    where = f"{clean_line(finding.code, 60)}   {clean_line(finding.section, 120)}".strip()
    rows.append(((f"    {where}", "dim"),))
    if finding.count > 1:
        places = [f"#{place}" for place in finding.places]
        if finding.count > len(finding.places):
            places.append("…")
        words = _("{count} entries: {places}", count=exact(finding.count), places=_(", ").join(places))
        rows.append(((f"    {words}", "dim"),))
    return rows


class RawSheet(BytesSheet):
    """The bytes of a body, with visible control characters and marked redactions.

    A row has as many bytes as cells, since no character has more cells than bytes in UTF-8. `cut` is shown
    after the last byte.
    """

    def __init__(self, body: bytes, redactions: Sequence[Redaction] = (), cut: str = "") -> None:
        super().__init__(body)
        self._redactions = redactions
        self._cut = cut
        self._width = 80

    def fit(self, width: int) -> None:
        self._width = max(8, width - 10)

    def count(self) -> int:
        return -(-self.size // self._width) + bool(self._cut) or 1

    def place(self, row: int) -> Place:
        return 0, row * self._width

    def reveal(self, place: Place) -> int:
        return place[1] // self._width

    def row(self, index: int, width: int) -> Row:
        start = index * self._width
        if self._cut and start >= self.size:
            return ((self._cut, "warn"),)
        if not self.size:
            return ((_("no bytes"), "dim"),)
        end = min(start + self._width, self.size)
        spans: list[Span] = [(f"{start:>8}  ", "aside dim")]
        edges = (edge for one in self._redactions for edge in (one.start, one.end) if start < edge < end)
        for low, high in pairwise(sorted({start, end, *edges})):
            hidden = any(redaction.start <= low < redaction.end for redaction in self._redactions)
            spans.append((byte_text(self.data, low, high), "warn reverse" if hidden else "text"))
        return tuple(spans)

    def value(self, index: int) -> str:
        return "".join(text for text, style in self.row(index, self._width) if "aside" not in style)

    def path(self, index: int) -> str:
        return _("byte {number}", number=index * self._width)


def byte_text(data: bytes, start: int, end: int) -> str:
    """Return the characters that start in `start`..`end`, controls as symbols, each other byte as �."""
    text, at = "", max(0, start - 3)  # a character has at most four bytes
    for char in data[at : end + 3].decode("utf-8", "surrogateescape"):
        if start <= at < end:
            text += "�" if "\udc80" <= char <= "\udcff" else char
        at += len(char.encode("utf-8", "surrogateescape"))
    return clean(text.replace("\r", "␍").replace("\n", "␊").replace("\t", "␉")).replace("\n", "�")
