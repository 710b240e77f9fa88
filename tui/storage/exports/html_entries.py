"""Entries of the traffic and waterfalls as parts of an HTML page. Pure."""

from collections.abc import Callable, Iterator
from html import escape
from operator import itemgetter

from tui.core.traffic import Finding
from tui.core.units import plural, span
from tui.storage.exports.document import Bar, Row, Timeline

MOST_LISTED = 1_000
"""Maximum findings and notes in their lists at the end. All are at their entries."""

_LANES = {"model": "model", "tools": "tool", "waiting for you": "you"}
_COLUMNS = ("entry", "time", "from", "", "message", "took", "outcome")
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
        self._failures, self._findings, self._notes = _List("failure"), _List("finding"), _List("note")

    def see(self, row: Row) -> None:
        link = tag("a", str(row.number), href=f"#{row.anchor}")
        if row.is_bad:
            words = f"{row.source} {row.name}: {row.outcome}"
            self._failures.add(tag("li", f"{link} {foreign('span', words)}"))
        if row.note or row.marked:
            words = f"{row.name}: {row.note.removeprefix('Note: ') or 'marked'}"
            self._notes.add(tag("li", f"{link} {foreign('span', words)}"))
        for one in row.findings:
            cells = (
                tag("td", link),
                tag("td", _severity(one), _severity(one)),
                tag("td", tag("code", escape(one.code))),
                foreign("td", one.sentence or row.name),
            )
            self._findings.add(tag("tr", "".join(cells)), one.severity)

    def sections(self) -> str:
        head = _head("entry", "severity", "rule", "finding")
        failed = self._failures.section(lambda rows: tag("ul", rows))
        found = self._findings.section(lambda rows: tag("table", f"{head}{tag('tbody', rows)}"))
        return failed + found + self._notes.section(lambda rows: tag("ul", rows))


class _List:
    """The first items of a list, and how many there are."""

    def __init__(self, word: str) -> None:
        self._word, self._count = word, 0
        self._first: list[tuple[int, str]] = []

    def add(self, item: str, rank: int = 0) -> None:
        """Add an item; those of a higher rank are shown first."""
        self._count += 1
        if len(self._first) < MOST_LISTED:
            self._first.append((-rank, item))

    def section(self, list_of: Callable[[str], str]) -> str:
        if not self._count:
            return ""
        more = f", the first {MOST_LISTED:,}" if self._count > MOST_LISTED else ""
        title = tag("h2", f"{plural(self._count, self._word)}{more}")
        items = (item for _, item in sorted(self._first, key=itemgetter(0)))
        return tag("section", title + list_of("\n".join(items)), id=f"{self._word}s") + "\n"


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
