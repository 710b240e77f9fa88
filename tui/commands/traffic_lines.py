"""The lines that `mcptui traffic` prints: entries, findings and statistics, aligned. Pure."""

from collections.abc import Iterable, Sequence

from tui.commands.table import TEXT_CELLS, Columns, painted, table
from tui.core.language.translate import localized, message, sentences
from tui.core.text import abridged, cells_of, clean_line, cropped, padded
from tui.core.traffic import (
    ANSWERS,
    KIND_WORDS,
    OUTCOME_WORDS,
    Direction,
    Entry,
    Finding,
    Kind,
    Outcome,
    Severity,
)
from tui.core.units import size, span, time_of_day
from tui.traffic.explain.events import event_sentences
from tui.traffic.stats import Figures

SHOWN = 160
"""Maximum characters of a body in a line."""

READ = 1000
"""Bytes of a body to read for these characters."""

SOURCE_WIDTH, NAME_WIDTH, TIME_CELLS, OUTCOME_CELLS = 14, 40, 12, 10
NAME_CHARS = 300
"""Maximum characters of a name if nothing is cut."""

LEAST_NAME = 24
"""Cells for the name of a method and a tool, for which a narrow line omits other columns."""

_FIGURES = {"ident": 6, "size": 8, "took": 8, "word": OUTCOME_CELLS}
"""Cells of the columns that a line of text does not have."""

_OMITTED_FIRST = ("ident", "size", "kind", "time", "seq", "kind", "server")
"""The first time, only the word of the kind is omitted."""

_ARROWS = {Direction.OUT: "→", Direction.IN: "←", Direction.NONE: " "}
_FAINT, _RED, _YELLOW = "2", "31", "33"
_COLOURS = (
    dict.fromkeys((Outcome.PENDING, Outcome.PROBE), _FAINT)
    | dict.fromkeys((Outcome.ERROR, Outcome.TOOL_ERROR), _RED)
    | dict.fromkeys((Outcome.CANCELLED, Outcome.LOST), _YELLOW)
)
SEVERITY_COLOURS = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW, Severity.HINT: _FAINT}
WITH_BODY = frozenset({Kind.STDERR, Kind.NOT_JSON, Kind.NOT_RPC, Kind.BATCH})
"""Kinds without a name. Their line shows the start of the body."""


def entry_line(
    entry: Entry,
    outcome: Outcome,
    latency_ns: int,
    head: bytes,
    colour: bool,
    width: int,
    source_cells: int,
    *,
    is_failed: bool = False,
    change: str = "",
) -> str:
    """Return an entry as one line of at most `width` cells; 0 if it is not for a terminal: nothing is cut.

    `latency_ns` is -1 for unknown. `head` is the start of the body, for kinds in `WITH_BODY`. A narrow line
    omits the least important columns, then the end of the name. `source_cells` is that of the server names.
    `is_failed`: it is the request of a case of a test run that failed, whatever its outcome. `change` is what
    mcptui did to it on its way.
    """
    is_text = entry.kind in WITH_BODY or entry.kind is Kind.EVENT
    word = "" if is_text else "failed" if is_failed else OUTCOME_WORDS[outcome]
    kind = word if outcome is Outcome.PROBE and entry.kind in ANSWERS else KIND_WORDS[entry.kind]
    word = ", ".join(filter(None, (word, change)))
    ident = f"#{clean_line(entry.ident, 12)}" if entry.ident else ""
    took = f"{span(latency_ns) if latency_ns >= 0 else '':>8}"
    columns = {
        "seq": f"{entry.seq:>6}",
        "time": time_of_day(entry.wall_ns),
        "server": _source(entry, source_cells),
        "kind": f"{_ARROWS[entry.direction]} {kind:<12}",
        "name": entry_name(entry, head),
    }
    if not is_text:
        columns |= {"ident": f"{ident:<6}", "size": f"{size(entry.size):>8}", "took": took, "word": word}
    line = _fitted(columns, width, is_text=is_text)
    return (
        line.removesuffix(word) + painted(word, _colour_of(outcome, is_failed, change), colour)
        if word
        else line
    )


def entry_heading(width: int, source_cells: int) -> str:
    """Return the heading of lines of at most `width` cells."""
    columns = {
        "seq": f"{'entry':>6}",
        "time": "time".ljust(TIME_CELLS),
        "server": padded("server", source_cells),
        "kind": "  kind        ",
        "name": "method, tool",
        "ident": "id    ",
        "size": f"{'size':>8}",
        "took": f"{'took':>8}",
        "word": "outcome",
    }
    return _fitted(columns, width, is_text=False)


def _fitted(columns: dict[str, str], width: int, *, is_text: bool) -> str:
    cells = {name: cells_of(text) for name, text in columns.items() if name != "name"}
    if is_text:  # it omits what other lines omit, so that they are aligned
        cells |= _FIGURES
    else:  # so that names of all lines are equally wide
        cells["word"] = max(cells["word"], OUTCOME_CELLS)
    taken = sum(cells.values()) + 2 * len(cells)
    for name in _OMITTED_FIRST:
        least = 1 if name == "server" else LEAST_NAME
        if not width or width - taken >= least:
            continue
        if name == "kind" and cells[name] > 1:  # the arrow tells a request from its response
            taken -= cells[name] - 1
            columns[name], cells[name] = columns[name][:1], 1
        else:
            taken -= cells.pop(name) + 2
            columns.pop(name, None)
    if is_text:
        taken -= sum(cells.pop(name) + 2 for name in _FIGURES if name in cells)
    room = min(NAME_WIDTH, width - taken) if width and not is_text else width - taken if width else NAME_WIDTH
    name = cropped(columns["name"], max(1, room)) if width else columns["name"]
    columns["name"] = padded(name, room)
    return "  ".join(columns.values()).rstrip()


def _colour_of(outcome: Outcome, is_failed: bool, change: str) -> str:
    return _RED if is_failed else _COLOURS.get(outcome, _YELLOW if change else "")


def with_note(line: str, note: str, width: int) -> str:
    """Return a line with the note on its entry: in a line of its own, or at the end if nothing is cut."""
    if not note:
        return line
    said = f"note: {clean_line(note, SHOWN)}"
    return f"{line}\n{cropped(f'        {said}', width)}" if width else f"{line}  {said}"


def entry_name(entry: Entry, head: bytes) -> str:
    """Return the name of an entry: its method and tool, its text, or what happened."""
    if entry.kind is Kind.EVENT:
        server = message("server {name}", name=entry.source)
        return clean_line(localized(sentences(*event_sentences(entry.method, server, entry.detail))), SHOWN)
    if entry.kind in WITH_BODY:
        return clean_line(head.decode("utf-8", "replace"), SHOWN)
    return clean_line(f"{entry.method} {entry.tool}".strip(), NAME_CHARS)


def server_cells(names: Iterable[str], *, cut: bool) -> int:
    """Return the width of the column of server names: that of the longest, unless longer ones are `cut`."""
    widths = (cells_of(clean_line(name, NAME_CHARS)) for name in names)
    return SOURCE_WIDTH if cut else max(SOURCE_WIDTH, *widths, 0)


def _source(entry: Entry, width: int) -> str:
    return padded(abridged(clean_line(entry.source, NAME_CHARS), width), width)


def finding_columns(label: str, source_cells: int, cells: int = 0) -> Columns:
    """Return the columns of lint findings, each after the `label` of its recording if there is one."""
    widths = [6, TIME_CELLS, source_cells, len("warning"), TEXT_CELLS]
    head = ["entry", "time", "server", "level", "finding"]
    if label:
        widths, head = [cells_of(label), *widths], ["recording", *head]
    return Columns(widths, {*range(len(widths))} - {head.index("entry")}, cells, head=head)


def finding_row(finding: Finding, entry: Entry) -> tuple[str, ...]:
    """Return the cells of a lint finding."""
    section = f" [{finding.section}]" if finding.section else ""
    said = f"{finding.code}: {clean_line(finding.sentence, 400)}{section}"
    when = time_of_day(entry.wall_ns)
    return (str(finding.seq), when, clean_line(entry.source, NAME_CHARS), finding.severity.name.lower(), said)


_COUNTS, _TIMES = ("errors", "cancelled", "lost", "pending"), ("p50", "p95", "longest")
_HEAD = ("server", "method, tool", "calls", *_COUNTS, *_TIMES, "bytes")


def figure_table(figures: Iterable[Figures], labels: Sequence[str], cells: int = 0) -> str:
    """Return statistics as a table with a header; calls in parentheses are handshakes and lists.

    `labels` names the recording of each row, if there are several. `cells` are as for `table`.
    """
    rows = [*map(_figure_row, figures)]
    if not any(labels):
        return table(rows, range(2), cells, head=_HEAD)
    named = [(label.rstrip(), *row) for label, row in zip(labels, rows, strict=True)]
    return table(named, range(3), cells, head=("recording", *_HEAD))


def _figure_row(one: Figures) -> tuple[str, ...]:
    calls = f"({one.calls})" if one.is_setup else str(one.calls)
    counts = (one.errors, one.cancelled, one.lost, one.waiting)
    times = (one.p50_ns, one.p95_ns, one.longest_ns)
    return (
        clean_line(one.server, NAME_CHARS),
        clean_line(f"{one.method} {one.tool}".strip(), NAME_CHARS),
        calls,
        *(str(number) if number else "·" for number in counts),
        *(span(each) if one.timed else "·" for each in times),
        size(one.octets),
    )
