"""The actions of `mcptui traffic` on entries: print, slowest, lint, statistics, export."""

import argparse
import heapq
import os
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.commands import streams
from tui.commands.progress import Progress, progress
from tui.commands.table import json_line
from tui.commands.traffic_lines import (
    READ,
    SEVERITY_COLOURS,
    WITH_BODY,
    entry_heading,
    entry_line,
    figure_table,
    finding_columns,
    finding_row,
    server_cells,
    with_note,
)
from tui.commands.traffic_selection import RecordingChoice, Selection, say
from tui.core.addons import brought
from tui.core.text import cells_of, clean_line, padded
from tui.core.traffic import BODY_LOST_TEXT, Entry, Severity, is_failed_case
from tui.core.units import plural, size
from tui.traffic.stats import Figures

if TYPE_CHECKING:
    from tui.storage.exports.export import Writer

LOOK_SECONDS = 0.2
"""Interval in seconds at which --follow looks for new entries."""

LEAST_CELLS = 40
"""Cells that an entry needs beside the name of its recording."""

FOUND, INCOMPLETE = 1, 2


def carry_out(args: argparse.Namespace, choice: RecordingChoice) -> int:
    """Run the requested action and return the exit code."""
    code = 0
    doing = "" if args.follow else "reading the recording"
    with progress(doing, quiet=args.json) as shown, closing(choice.selections()) as selections:
        if args.export:
            for selection in selections:
                shown.text = "exporting"
                _export(args, selection)
        elif args.lint:
            code = _lint(args, selections, shown)
        elif args.stats:
            _stats(args, selections)
        elif args.slowest:
            _slowest(args, selections)
        else:
            is_headed = args.json
            for selection in selections:
                is_headed = _show(args, selection, is_headed=is_headed)
    choice.report_no_match()
    return INCOMPLETE if choice.is_incomplete else code


def _show(args: argparse.Namespace, selection: Selection, *, is_headed: bool) -> bool:
    """Print the entries of a recording, the first of all below a heading; return whether there is one."""
    last = 0
    colour = streams.colored()
    while True:
        live = args.follow and selection.recording.is_live
        selection.read_on()
        cells = _source_cells(selection)
        for entry in selection.whole(last) if args.json else selection.entries(last):
            if not is_headed:
                _write_heading(selection)
                is_headed = True
            _write(_object(selection, entry) if args.json else _line(selection, entry, colour, cells))
            last = entry.seq
        if not live:
            return is_headed
        sys.stdout.flush()
        time.sleep(LOOK_SECONDS)


def _slowest(args: argparse.Namespace, selections: Iterable[Selection]) -> None:
    """Print the slowest calls.

    Handshakes, lists, model requests and questions to the user take longer than nearly every call, and are
    omitted as in an `Arrangement`.
    """
    found: list[tuple[int, str]] = []
    colour = streams.colored()
    omitted = 0
    for selection in selections:
        slowest, others = selection.slowest(args.slowest)
        omitted += others
        read, cells = selection.recording.reader.entry, _source_cells(selection)
        lines = (
            _object(selection, read(one.seq) or one) if args.json else _line(selection, one, colour, cells)
            for one in slowest
        )
        found += zip(map(selection.latency_ns, slowest), lines, strict=True)
        found = heapq.nlargest(args.slowest, found, key=itemgetter(0))
    if found and not args.json:
        _write_heading(selection)
    for _, line in found:
        _write(line)
    if not args.json:
        if not found:
            _write("no completed calls")
        if omitted:
            kinds = "handshakes, lists, model requests and questions to you"
            say(
                f"not shown: {plural(omitted, 'other request')} ({kinds}). Show them with --filter 'method:*'"
            )


def _lint(args: argparse.Namespace, selections: Iterable[Selection], shown: Progress) -> int:
    from tui.runtime.lint_report import StaticFindings
    from tui.storage.files.private_file import write_whole

    worst = Severity.NONE
    number = 0
    seen = 0
    colour = streams.colored()
    report = StaticFindings(Path.cwd()) if args.report else None
    for selection in selections:
        seen += len(selection.columns)
        wanted = {entry.seq for entry in selection.entries()} if selection.is_filtered else None
        cells, total = _source_cells(selection), len(selection.columns)
        columns = finding_columns(selection.label, cells, streams.width())
        for entry, found in selection.linted():
            shown.text = f"linting entry {entry.seq:,} of {total:,}"
            if report is not None and entry.method in ("spawn", "connect"):
                report.see_start(entry)
            if wanted is not None and entry.seq not in wanted:
                continue
            if report is not None:
                report.see(entry, found, selection.recording.path)
            for finding in found:
                worst = max(worst, finding.severity)
                number += 1
                if args.json:
                    told = asdict(finding) | {"severity": finding.severity.name.lower()}
                    del told["count"], told["places"]  # each entry has its own line in this output
                    _write(_json(selection, told))
                else:
                    if number == 1 and streams.on_terminal():
                        _write("\n".join(columns.heading()))
                    row = finding_row(finding, entry)
                    row = (selection.label, *row) if selection.label else row
                    paint = {len(row) - 2: SEVERITY_COLOURS.get(finding.severity, "")} if colour else {}
                    _write("\n".join(columns.lines(row, paint)))
    if not args.json:
        said = plural(number, "finding") if number else "no findings"
        _write(f"{said} in {plural(seen, 'entry')}")
    if report is not None:
        write_whole(Path(os.path.expanduser(args.report[1])), report.pieces())
    return FOUND if worst is Severity.ERROR else 0


def _stats(args: argparse.Namespace, selections: Iterable[Selection]) -> None:
    figures: list[Figures] = []
    labels: list[str] = []
    for selection in selections:
        for one in figures_of(selection):
            if args.json:
                _write(_json(selection, asdict(one)))
            else:
                figures.append(one)
                labels.append(selection.label)
    if figures:
        _write(figure_table(figures, labels, streams.width()))
        if any(one.is_setup for one in figures):
            say("(n): handshakes and lists, which are not counted as calls")
    elif not args.json:
        _write("no calls")


def figures_of(selection: Selection) -> Iterable[Figures]:
    """Return the statistics of the matching entries, for each method and tool."""
    from tui.storage.exports.jsonl import renumbered
    from tui.traffic.record.entry_columns import EntryColumns, column_row
    from tui.traffic.stats import Stats

    columns = selection.columns
    if selection.is_filtered:
        columns = EntryColumns()
        numbers = dict[int, int]()
        for entry in selection.entries():
            columns.extend([column_row(renumbered(entry, numbers))])
    stats = Stats(columns)
    while not stats.advance(100):
        pass
    return stats.tools()


def _of_addon(args: argparse.Namespace) -> "Writer":
    write = brought("export", args.export)
    return lambda columns, whole: write(columns, whole, args)


_NO_HTTP = "no entries over HTTP, so the archive is empty. Use --export jsonl, md or html."


def _export(args: argparse.Namespace, selection: Selection) -> None:
    from tui.commands.share import choice_of, say_review
    from tui.storage.exports.contents import Review
    from tui.storage.exports.document import Portion
    from tui.storage.exports.export import (
        EntryFacts,
        FindingsOf,
        Format,
        exported,
        no_findings,
    )
    from tui.storage.files.private_file import write_whole

    title = clean_line(selection.recording.path.name, 120)
    form = Format(args.export) if args.export in tuple(Format) else _of_addon(args)
    is_document = form in (Format.MARKDOWN, Format.HTML)
    choice = choice_of(args, is_document=is_document)
    review = choice.review or Review()
    findings_of: FindingsOf = no_findings
    if form is Format.HTML and Portion.FINDINGS not in choice.without:
        from tui.runtime.shared_traffic import findings_of as judged

        findings_of = judged(selection.recording.reader)

    def whole(seq: int) -> Entry | None:
        found = selection.with_body(seq)
        if found is not None and not is_document:
            review.see_entry(found)
        return found

    facts = EntryFacts(selection.note_of, selection.columns.latency_of, findings_of)
    pieces = exported(form, selection.exported(), whole, title, facts, choice)
    if not args.output or args.output == "-":
        for piece in pieces:
            sys.stdout.write(piece)
    else:
        target = Path(os.path.expanduser(args.output))
        written = write_whole(target, pieces)
        said = str(review.words())
        if not isinstance(form, Format) and not args.with_content:
            said = f"{plural(review.entries, 'entry')} without arguments and results"
        print(f"wrote {clean_line(str(target), 4096)}: {said}, {size(written)}", file=sys.stderr)
    if form is Format.HTML:
        say_review(choice)
    if form is Format.HAR and not review.counts:
        print(f"mcptui: {_NO_HTTP}", file=sys.stderr)


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


def _line(selection: Selection, entry: Entry, colour: bool, source_cells: int) -> str:
    head = b""
    if entry.kind in WITH_BODY and (whole := selection.recording.reader.entry(entry.seq, READ)) is not None:
        head = BODY_LOST_TEXT.encode() if whole.is_body_lost else whole.body
    width = _entry_cells(selection)
    outcome, latency_ns = selection.outcome(entry), selection.latency_ns(entry)
    note = selection.notes.get(entry.seq, "")
    is_failed = is_failed_case(note)
    change = selection.change(entry)
    line = entry_line(
        entry, outcome, latency_ns, head, colour, width, source_cells, is_failed=is_failed, change=change
    )
    return with_note(_labelled(selection, line), note, width)


def _entry_cells(selection: Selection) -> int:
    """Return the cells of a line about an entry: the rest of that of its recording, or another line."""
    width = streams.width()
    room = width - cells_of(selection.label) - 2 if width and selection.label else width
    return room if room >= LEAST_CELLS else width


def _write_heading(selection: Selection) -> None:
    if streams.on_terminal():
        heading = entry_heading(_entry_cells(selection), _source_cells(selection))
        _write(_labelled(selection, heading, padded("recording", cells_of(selection.label))))


def _source_cells(selection: Selection) -> int:
    return server_cells(selection.columns.sources.texts, cut=streams.width() > 0)


def _labelled(selection: Selection, line: str, label: str = "") -> str:
    """Return a line after the label of its recording, or below it in a narrow terminal."""
    if not selection.label:
        return line
    has_room = _entry_cells(selection) < streams.width() or not streams.width()
    return (
        f"{label or selection.label}  {line}"
        if has_room
        else f"{(label or selection.label).rstrip()}\n{line}"
    )


def _object(selection: Selection, entry: Entry) -> str:
    from tui.storage.exports.jsonl import entry_object, note_members

    return _json(selection, entry_object(entry) | note_members(selection.note_of(entry.seq)))


def _json(selection: Selection, value: dict[str, Any]) -> str:
    named = {"recording": selection.label.rstrip()} if selection.label else {}
    return json_line(named | value)
