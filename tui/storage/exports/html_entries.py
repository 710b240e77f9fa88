"""Entries of the traffic and waterfalls as parts of an HTML page. Pure."""

from collections import Counter
from collections.abc import Iterator
from html import escape
from operator import itemgetter

from tui.core.traffic import Finding
from tui.core.units import plural, span
from tui.storage.exports.document import Bar, Row, Timeline

MOST_LISTED = 1_000
"""Maximum findings and notes in their lists at the end. All are at their entries."""

_LANES = {"model": "model", "tools": "tool", "waiting for you": "you"}
_COLUMNS = ("entry", "time", "from", "", "message", "took", "outcome")
_LISTED = {
    "failure": ("entry", "message", "outcome"),
    "finding": ("entry", "severity", "rule", "finding"),
    "note": ("entry", "message", "note"),
}
"""The lists at the end of the page, each with its columns."""

_WHOLE = 1000
"""Width of a lane of the waterfall, in its own units."""


def tag(name: str, inner: str, style: str = "", **more: str) -> str:
    """Return an element. `inner` is HTML, the values of attributes are texts; "" leaves one out."""
    attributes = (("class", style), *more.items())
    shown = "".join(f' {key}="{escape(value)}"' for key, value in attributes if value)
    return f"<{name}{shown}>{inner}</{name}>"


def foreign(name: str, text: str, style: str = "") -> str:
    """Return an element with a foreign text, which has its own direction."""
    return tag(name, escape(text), style, dir="auto")


def heads() -> str:
    """Return the names of the columns for the eye. A row names itself to a screen reader."""
    return f'<div class="heads" aria-hidden="true">{"".join(tag("span", one) for one in _COLUMNS)}</div>\n'


def entry(row: Row, body: str) -> str:
    """Return an entry: its columns, and folded what is known of it. The page has room for this `body`."""
    cells = (
        tag("span", str(row.number), "n"),
        tag("span", row.time, "dim"),
        foreign("span", row.source),
        tag("span", row.arrow),
        tag("span", f"{foreign('bdi', row.name)} {''.join(_badges(row))}"),
        tag("span", row.took, "n"),
        tag("span", row.outcome, "bad" if row.is_bad else ""),
    )
    link = f'<a href="#{escape(row.anchor)}" aria-label="Link to entry {row.number}">#</a>'
    about = "".join(
        foreign("p", f"{one.code}: {one.sentence}".rstrip(": "), _severity(one)) for one in row.findings
    )
    note = foreign("p", row.note, "note") if row.note else ""
    shown = tag("p", f"{escape(row.facts)} {link}", "dim") + about + note
    shown += foreign("pre", body) if body else ""
    return tag("details", f"{tag('summary', ' '.join(cells))}{shown}", "row", id=row.anchor) + "\n"


def _badges(row: Row) -> Iterator[str]:
    if row.findings:
        worst = max(row.findings, key=lambda one: one.severity)
        yield _badge("!", plural(len(row.findings), "finding"), _severity(worst))
    if row.note or row.marked:
        yield _badge("◆", "note" if row.note else "marked", "note")


def _badge(sign: str, words: str, style: str) -> str:
    return tag("b", f'<span aria-hidden="true">{sign}</span>{tag("span", words, "sr")}', style, title=words)


def _severity(one: Finding) -> str:
    return one.severity.name.lower()


class EntryLists:
    """Collects the failures, findings and notes of entries, for the lists at the end of the page."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, list[tuple[int, str]]] = {word: [] for word in _LISTED}

    def see(self, row: Row) -> None:
        if row.is_bad:
            self._add("failure", row, foreign("td", f"{row.source} {row.name}"), tag("td", row.outcome))
        for one in row.findings:
            severity, code = _severity(one), tag("code", escape(one.code))
            said = foreign("td", one.sentence or row.name)
            self._add("finding", row, tag("td", severity, severity), tag("td", code), said, rank=one.severity)
        if row.note or row.marked:
            words = row.note.removeprefix("Note: ") or "marked"
            self._add("note", row, foreign("td", row.name), foreign("td", words))

    def _add(self, word: str, row: Row, *cells: str, rank: int = 0) -> None:
        self._counts[word] += 1
        if len(self._first[word]) < MOST_LISTED:
            link = tag("td", tag("a", str(row.number), href=f"#{row.anchor}"))
            self._first[word].append((-rank, tag("tr", link + "".join(cells))))

    def sections(self) -> str:
        """Return the lists that there are, findings with the worst first."""
        return "".join(self._section(word, count) for word in _LISTED if (count := self._counts[word]))

    def _section(self, word: str, count: int) -> str:
        more = f", the first {MOST_LISTED:,}" if count > MOST_LISTED else ""
        rows = "\n".join(row for _, row in sorted(self._first[word], key=itemgetter(0)))
        table = tag("table", f"{_head(*_LISTED[word])}{tag('tbody', rows)}")
        title = tag("h2", f"{plural(count, word)}{more}")
        return tag("section", title + table, "listed", id=f"{word}s") + "\n"


def _head(*columns: str) -> str:
    return tag("thead", tag("tr", "".join(tag("th", one, scope="col") for one in columns)))


def timeline(part: Timeline) -> str:
    """Return a waterfall as a table, so that its times can be read without seeing the bars."""
    head = _head("step or call", "start", "took", "when")
    lanes = "\n".join(_lane(bar, max(1, part.ns)) for bar in part.bars)
    summary = tag("summary", escape(f"Waterfall {span(part.ns)}: {part.facts}".rstrip(": ")))
    table = tag("table", f"{head}{tag('tbody', lanes)}")
    return f'<details class="time" open>{summary}{table}</details>\n'


def _lane(bar: Bar, whole: int) -> str:
    style = "bad" if bar.is_bad else _LANES.get(bar.kind, "rest")
    start = min(_WHOLE - 4, bar.start_ns * _WHOLE // whole)
    width = max(4, min(_WHOLE - start, (bar.end_ns - bar.start_ns) * _WHOLE // whole))
    top, tall = (1, 8) if bar.is_critical else (3, 4)
    label = f"{'you: ' if style == 'you' else ''}{bar.label}{' (failed)' if bar.is_bad else ''}"
    box = f'<rect x="{start}" y="{top}" width="{width}" height="{tall}"/>'
    shape = 'viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"'
    lane = f'<svg class="{style}" {shape}>{box}</svg>'
    cells = (
        tag("th", escape(label), scope="row", dir="auto"),
        tag("td", span(bar.start_ns) if bar.start_ns else "0", "n"),
        tag("td", span(bar.end_ns - bar.start_ns), "n"),
        tag("td", lane, "lane"),
    )
    return tag("tr", "".join(cells))
