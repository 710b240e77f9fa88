"""Tools that read recordings: which there are, which entries, and one of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tui.addons.agent.answer import PAGE_TOKENS, Answer, Foreign, start_of
from tui.addons.agent.context import COMMAND, AgentContext
from tui.addons.agent.opened import OF_MANY, OpenTraffic, said_by
from tui.addons.agent.tools import AgentTool, Run, arguments, number, paged, text
from tui.commands.recordings import About, about
from tui.commands.recordings import recordings as folder
from tui.commands.traffic import recording_table
from tui.commands.traffic_lines import READ, WITH_BODY, entry_line, server_cells
from tui.commands.traffic_selection import Selection
from tui.core.traffic import Entry
from tui.core.units import exact, size

RECORDING = text("name of a recording, its start or its end (default: the newest)")
ENTRIES = text("only these entries, in the filter language, as in find_entries")
FILTER = text(
    'the filter language, such as "status:failed", "server:files tool:read_* latency:>1s", "kind:stderr", '
    '"body:milk", "seq:10..20", "lint:error". Fields: server method tool kind status dir size latency since '
    "until id call turn step seq pair root lint marked note body. Terms side by side must all match; or, not"
)
ROWS = 20

_HEAD = "entry  time  server  direction and kind  name  id  size  took  outcome"
_GAPS = re.compile(" {3,}")


def reading(work: Callable[[OpenTraffic, Mapping[str, Any]], Answer]) -> Run:
    """Return a tool's function that gets the recording that its arguments name, in the reading thread."""

    async def run(context: AgentContext, given: Mapping[str, Any]) -> Answer:
        return await context.reading(lambda: work(context.traffic(given.get("recording")), given))

    return run


async def _recordings(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    return await context.reading(lambda: listed(given.get("limit", 10), given.get("cursor", 0)))


def listed(limit: int, start: int) -> Answer:
    """Return recordings by the time of their last change, from the place `start`."""
    kept = sorted(folder().list(), key=lambda one: one.changed_ns, reverse=True)
    found: list[About] = []
    for place, one in enumerate(kept[start:], start + 1):
        if len(found) == limit:
            more = {"limit": limit, "cursor": place - 1}
            break
        this = about(one)
        if this.command != COMMAND and not (one.live and this.problem):  # not begun yet, as our own at first
            found.append(about(one, with_servers=True) if this.entries else this)
    else:
        more = {}
    if not found:
        return Answer(["No recordings. Record a server with: mcptui tap -- COMMAND"])
    said = "The newest first. Those of this server are not listed."
    return Answer([said, Foreign(recording_table(found), "names of recorded servers")], more)


def _find_entries(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    most, cursor = given.get("limit", ROWS), given.get("cursor", 0)
    with traffic.select(given.get("filter", "")) as selection:
        found, left = selection.page(most, before=cursor or traffic.columns.last + 1)
        lines = rows(traffic, selection, found)
        passing = f"{exact(selection.passing)} of {exact(len(traffic.columns))} entries match"
    note = traffic.lint_note if "lint:" in given.get("filter", "").lower() else ""
    if not found:
        return Answer([f"{passing} in {traffic.name}.{note}"])
    more = {**given, "cursor": found[-1].seq} if left else {}
    after = f" {exact(left)} follow." if left else ""
    said = f"{passing} in {traffic.name}. {len(found)} shown, the newest first.{after}{note}"
    return Answer([said, Foreign(lines, OF_MANY)], more)


def rows(traffic: OpenTraffic, selection: Selection, entries: Sequence[Entry]) -> str:
    """Return entries as lines, as `mcptui traffic` prints them, but without wide gaps."""
    cells = server_cells(selection.columns.sources.texts, cut=True)
    lines = [_HEAD]
    for entry in entries:
        head = b""
        if entry.kind in WITH_BODY:
            head = "".join(traffic.texts([entry.seq], READ)).encode("utf-8", "replace")
        outcome, took = selection.outcome(entry), selection.latency_ns(entry)
        change = selection.change(entry)
        line = entry_line(entry, outcome, took, head, False, 150, cells, change=change)
        note = selection.notes.get(entry.seq, "")
        lines.append(_GAPS.sub("  ", line.strip()) + (f"  note: {note[:100]}" if note else ""))
    return "\n".join(lines)


def page_of(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    """Return a page of an entry: what it is, and its message from a character on."""
    seq, offset = given["entry"], given.get("offset", 0)
    entry = traffic.entry(seq)
    shown = traffic.text_of(entry)
    page = start_of(shown[offset:], PAGE_TOKENS)
    end = offset + len(page)
    said = [_about(traffic, entry)]
    if offset or end < len(shown):
        said.append(f"Characters {exact(offset)} to {exact(end)} of {exact(len(shown))}.")
    if entry.sha256:
        said.append(f"Only its start was recorded: {size(len(entry.body))} of {size(entry.size)}.")
    more = {**given, "offset": end} if end < len(shown) else {}
    if not page:
        return Answer([*said, "It has no message." if not shown else "That is its end."])
    note = traffic.selection.notes.get(seq, "")
    noted = [Foreign(note[:1000], "a note on the entry")] if note and not offset else []
    return Answer([" ".join(said), *noted, Foreign(page, said_by(entry))], more)


def _about(traffic: OpenTraffic, entry: Entry) -> str:
    """Return what an entry is, without words of others."""
    selection = traffic.selection
    words = [f"Entry {entry.seq} of {traffic.name}: {entry.kind.name.lower()}, {size(entry.size)}."]
    if partner := traffic.partner(entry.seq):
        words.append(f"Its counterpart is entry {partner}.")
    if outcome := selection.outcome(entry):
        words.append(f"Outcome: {outcome.name.lower()}.")
    return " ".join(words)


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "recordings",
        "List recordings of MCP traffic, the newest first.",
        arguments(**paged(10)),
        _recordings,
    ),
    AgentTool(
        "find_entries",
        "Find entries of a recording with a filter: requests, responses, errors, stderr, starts and exits. "
        "Start here with status:failed.",
        arguments(
            filter=FILTER,
            limit=number(f"rows (default: {ROWS})", 1, 100),
            cursor=number("entry to go on after"),
            recording=RECORDING,
        ),
        reading(_find_entries),
    ),
    AgentTool(
        "read_entry",
        "Read the message of one entry, secrets redacted, a page at a time.",
        arguments(
            ["entry"],
            entry=number("its number", 1),
            offset=number("character to go on at"),
            recording=RECORDING,
        ),
        reading(page_of),
    ),
)
