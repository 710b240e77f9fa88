"""The sheets of an entry that are prose: how long it took, what it is, what is wrong with it. Pure."""

from collections.abc import Sequence

from tui.core import units
from tui.core.text import clean_line
from tui.core.traffic import Cause, Entry, Finding, Kind, Outcome
from tui.traffic.record.entry_columns import EntryColumns
from tui.ui.traffic.loading import Loaded
from tui.ui.widgets.page import Lines
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import OUTCOME_WORDS, SEVERITY_STYLES, SEVERITY_WORDS, Symbols, kind_look
from tui.ui.widgets.times import bar, clock, share, span

BAR_CELLS = 24


def heading(loaded: Loaded, signs: Symbols) -> tuple[Row, Row]:
    """Return what an entry is in a line: its kind and id and what it calls; its size."""
    entry = loaded.entry
    words, _, style = kind_look(entry.kind, entry.direction, signs)
    ident = f" {clean_line(entry.ident, 20)}" if entry.ident else ""
    what = " › ".join(clean_line(part, 60) for part in (entry.source, entry.tool or entry.method) if part)
    return ((f"{words}{ident}  ", f"{style} bold"), (what, "text")), ((units.size(entry.size), "dim"),)


def timing(frames: EntryColumns, loaded: Loaded, signs: Symbols) -> Lines:
    """Return when it travelled, how long the answer took, and every entry of its call on one line of time."""
    entry = loaded.entry
    rows: list[Row] = [_field("at", clock(entry.wall_ns))]
    index = frames.index(entry.seq)
    if index >= 0:
        ns = frames.latency_ns(index)
        if ns >= 0:
            rows.append((*_field("took", span(ns)), ("  ", ""), (bar(share(ns), 12, signs.bar), "tool")))
        outcome = Outcome(frames.outcome[index])
        if outcome:
            rows.append(_field("ended", OUTCOME_WORDS[outcome]))
    if entry.cause is not None:
        rows.append(_field("caused by", cause_words(entry.cause)))
    rows.append(_field("bytes", _bytes(entry, loaded)))
    rows += [
        _field(clean_line(name, 30), clean_line(str(value), 300)) for name, value in entry.detail.items()
    ]
    if len(loaded.steps) > 1:
        rows += [EMPTY, (("the whole call", "dim bold"),)]
        rows += _steps(frames, loaded.steps, entry.seq, signs)
    return Lines(rows)


def _field(name: str, value: str) -> Row:
    return ((f"{name:<12}", "dim"), (value, "text"))


def _bytes(entry: Entry, loaded: Loaded) -> str:
    words = f"{entry.size:,} as it travelled".replace(",", " ")
    if entry.sha256:
        words += f", {loaded.stored:,} of them kept, sha256 {entry.sha256}".replace(",", " ")
    return words


def cause_words(cause: Cause) -> str:
    """Return what caused an entry, in words."""
    if not cause.turn:
        return "a call made by hand"
    step = f", step {cause.step}" if cause.step else ""
    return f"turn {cause.turn}{step}"


def _steps(frames: EntryColumns, steps: Sequence[int], seq: int, signs: Symbols) -> list[Row]:
    first, last = frames.mono[steps[0]], frames.mono[steps[-1]]
    whole = max(1, last - first)
    rows: list[Row] = []
    for index in steps:
        after = frames.mono[index] - first
        place = round(after / whole * (BAR_CELLS - 1))
        line = signs.rule * place + signs.mark + signs.rule * (BAR_CELLS - 1 - place)
        _, short, style = kind_look(Kind(frames.kind[index]), frames.goes(index), signs)
        lead = signs.cursor if frames.seq(index) == seq else " "
        method = clean_line(frames.methods.texts[frames.method[index]], 40)
        rows.append(
            (
                (f"{lead} ", "accent"),
                (f"{short:<11}", style),
                (f"{span(after):>8}  ", "dim"),
                (line, "rule"),
                (f"  {method}", "dim"),
            )
        )
    return rows


def explanation(loaded: Loaded, revision: str) -> Lines:
    """Return what an entry is, in sentences."""
    from tui.traffic.explain.explain import explain

    partner = loaded.partner.entry if loaded.partner is not None else None
    found = explain(loaded.entry, partner, revision)
    rows: list[Row] = [((clean_line(found.title, 200), "text bold"),), EMPTY]
    rows += [((clean_line(sentence, 2000), "text"),) for sentence in found.sentences]
    if found.section:
        rows += [EMPTY, (("Specification  ", "dim"), (clean_line(found.section, 200), "tool"))]
    return Lines(rows)


def findings(loaded: Loaded, signs: Symbols) -> Lines:
    """Return what is wrong with an entry and with its partner."""
    rows: list[Row] = []
    for one in (loaded, loaded.partner):
        if one is None or not one.findings:
            continue
        if one is not loaded:
            rows += [EMPTY, (("its partner", "dim bold"),)]
        for finding in one.findings:
            rows += finding_rows(finding, signs)
    return Lines(rows or [(("Nothing is wrong with it, as far as the linter sees.", "dim"),)])


def finding_rows(finding: Finding, signs: Symbols) -> list[Row]:
    """Return a finding: how bad, what, and where the specification says so."""
    style = SEVERITY_STYLES[finding.severity]
    rows: list[Row] = [
        (
            (f"{signs.severities[finding.severity]} {SEVERITY_WORDS[finding.severity]}  ", f"{style} bold"),
            (clean_line(finding.sentence, 600), "text"),
        )
    ]
    where = "   ".join(
        part for part in (clean_line(finding.code, 60), clean_line(finding.section, 120)) if part
    )
    rows.append(((f"    {where}", "dim"),))
    return rows
