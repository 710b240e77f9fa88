"""Tools that judge: what went wrong, what an entry means, what the linter found, what differs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.addons.agent.answer import Answer, Foreign, within
from tui.addons.agent.opened import OF_MANY, OpenTraffic, said_by, speaker
from tui.addons.agent.reading import ENTRIES, RECORDING, reading, rows
from tui.addons.agent.tools import AgentTool, arguments, number, page, paged
from tui.core.comparison.placeholders import NOTHING, RUN_TO_RUN
from tui.core.comparison.values import Tolerance, compare, text_lines
from tui.core.errors import UsageError
from tui.core.text import clean_line
from tui.core.traffic import Entry, Finding, Kind, Outcome, Severity
from tui.core.units import exact, plural, span
from tui.traffic.explain.crash import last_words
from tui.traffic.explain.explain import explain
from tui.traffic.record.comparable import NotComparable, call_of, comparable_call, comparable_value

_UNANSWERED = "status:cancelled,pending method:tools/call,prompts/get,resources/read,initialize"
FAILED = f"kind:request,model_request (status:failed or ({_UNANSWERED}))"
"""Streams that stay open until the session ends, such as `subscriptions/listen`, have not failed."""

_FAILURES = {Outcome.ERROR, Outcome.TOOL_ERROR, Outcome.LOST, Outcome.CANCELLED, Outcome.PENDING}
STRAY = "kind:not_json,not_rpc"
GAVE_UP = 'kind:event method:"gave up" status:probe'
"""A probe has not failed if the server answers what follows it."""

FEW = 5
PART_TOKENS = 500
"""Tokens of a message that an explanation quotes."""

LOG_LINES, LOG_REACH = 400, 200
"""Maximum lines on stderr around a failure, and the entries after it in which they are looked for.

MCPServer logs a failed call as two boxes of `rich`, in which the first names the cause: 130 lines.
"""


def _explain(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    if (seq := given.get("entry")) is not None:
        return Answer(explained(traffic, seq))
    return overview(traffic, given)


def overview(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    """Return what went wrong in the whole recording, and explain the newest failure."""
    last = traffic.columns.last + 1
    with traffic.select("", FAILED) as failed, traffic.select(STRAY) as stray:
        found, more = failed.page(FEW, before=last)
        strays, more_strays = stray.page(2, before=last)
        found = found or _never_connected(traffic)
        lines = rows(traffic, failed, [*found, *strays])
    groups = _groups(traffic)
    said = (
        f"{traffic.name}: {plural(len(traffic.columns), 'entry')}, {len(found) + more} failed, cancelled or "
        f"unanswered, {plural(len(strays) + more_strays, 'line')} without a message, "
        f"{plural(sum(one.count for one in groups), 'lint finding')}."
    )
    said += traffic.lint_note
    for slow in traffic.selection.slowest(1)[0]:
        said += f" The slowest call took {span(traffic.selection.latency_ns(slow))} (entry {slow.seq})."
    parts: list[str | Foreign] = [said]
    if found or strays:
        parts += ["The newest:", Foreign(lines, OF_MANY)]
    if worst := [one for one in groups if one.severity is not Severity.HINT][:3]:
        findings = "\n".join(map(_group_line, worst))
        parts += ["The worst findings:", Foreign(findings, f"mcptui, which quotes {OF_MANY}")]
    seqs = [*(one.seq for one in (*found, *strays)), *(one.seq for one in worst)]
    if seqs:
        return Answer([*parts, f"Entry {seqs[0]}:", *explained(traffic, seqs[0])])
    if not given.get("recording"):
        parts.append("If it failed in another recording, name that: recordings lists them.")
    with traffic.select("kind:event") as events:
        ends, _ = events.page(FEW, before=last)
        return Answer([*parts, Foreign(rows(traffic, events, ends), OF_MANY)] if ends else parts)


def _never_connected(traffic: OpenTraffic) -> list[Entry]:
    """Return the newest event that a request was given up, if its server has answered nothing since."""
    last = traffic.columns.last
    with traffic.select(GAVE_UP) as given_up:
        newest, _ = given_up.page(1, before=last + 1)
    return [one for one in newest if not traffic.seqs(Kind.RESPONSE, one.source, one.seq, last)]


def explained(traffic: OpenTraffic, seq: int) -> list[str | Foreign]:
    """Return what an entry means: its call, both messages, what was on stderr, what the linter found."""
    entry = traffic.entry(seq)
    partner = traffic.partner(seq)
    pair = traffic.entry(partner) if partner else None
    entry = entry._replace(outcome=traffic.selection.outcome(entry))
    found = explain(entry, pair, traffic.revision(entry.source))
    page = f"Specification: {found.section}" if found.section else ""
    lines = [found.title, *found.sentences, page]
    lines += [
        _finding_line(one) for each in filter(None, (seq, partner)) for one in traffic.findings_of(each)
    ]
    parts: list[str | Foreign] = [
        Foreign("\n".join(filter(None, lines)), f"mcptui, which quotes {said_by(entry)}")
    ]
    parts += [_quoted(traffic, one) for one in sorted(filter(None, (entry, pair)), key=lambda one: one.seq)]
    if log := _log(traffic, entry, pair):
        parts.append(Foreign(within("\n".join(log), PART_TOKENS), f"stderr of {speaker(entry.source)}"))
    return parts


def _quoted(traffic: OpenTraffic, entry: Entry) -> Foreign:
    message = traffic.text_of(entry, is_indented=False)
    return Foreign(within(message, PART_TOKENS), said_by(entry))


def _log(traffic: OpenTraffic, entry: Entry, pair: Entry | None) -> list[str]:
    """Return what the server wrote to stderr during a failed call and shortly after: a crash, last lines."""
    both = [one for one in (entry, pair) if one is not None]
    outcomes = {traffic.selection.outcome(one) for one in both}
    is_over = entry.kind is Kind.EVENT and entry.method in ("exit", "crash")
    if not is_over and not outcomes & _FAILURES:
        return []
    first, last = min(one.seq for one in both), max(one.seq for one in both) + LOG_REACH
    if pair is None:  # what keeps a server from answering may be long before
        first -= LOG_REACH
    seqs = traffic.seqs(Kind.STDERR, entry.source, max(1, first), last)
    return last_words(traffic.texts(seqs[-LOG_LINES:]))


def _finding_line(finding: Finding) -> str:
    section = f" [{finding.section}]" if finding.section else ""
    sentence = clean_line(finding.sentence, 300)
    return f"{finding.severity.name.lower()} {finding.code}: {sentence}{section}"


def _lint(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    """Return findings by rule, server and method, the worst first."""
    wanted: set[int] | None = None
    if given.get("filter"):
        with traffic.select(given["filter"]) as selection:
            wanted = {entry.seq for entry in selection.entries()}
    groups = _groups(traffic, wanted)
    shown, more = page(groups, given, 10)
    if not shown:
        none = "No more findings." if groups else f"No findings in {traffic.name}."
        return Answer([none + traffic.lint_note])
    total = plural(sum(one.count for one in groups), "finding")
    said = f"{total} in {traffic.name}, of {plural(len(groups), 'kind')}, the worst first.{traffic.lint_note}"
    lines = "\n".join(map(_group_line, shown))
    return Answer([said, Foreign(lines, f"mcptui, which quotes {OF_MANY}")], more)


def _groups(traffic: OpenTraffic, wanted: Collection[int] | None = None) -> list[Finding]:
    """Return one finding for each rule, server and method, with its count and first places."""
    traffic.lint()
    groups: dict[tuple[str, ...], Finding] = {}
    for one in traffic.findings():
        if wanted is not None and one.seq not in wanted:
            continue
        key = (one.code, one.source, one.method, one.severity.name)
        known = groups.get(key, replace(one, count=0))
        groups[key] = replace(known, count=known.count + 1, places=(*known.places, one.seq)[:FEW])
    return sorted(groups.values(), key=lambda one: (-one.severity, -one.count))


def _group_line(group: Finding) -> str:
    places = ", ".join(map(str, group.places)) + ("…" if group.count > len(group.places) else "")
    what = clean_line(f"{group.source} {group.method}".rstrip(), 100)
    return f"{group.count} × {what}, entries {places}: {_finding_line(group)}"


def _compare(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    first, second = given["entry"], given["other"]
    kinds = NOTHING if given.get("exact") else RUN_TO_RUN
    try:
        one, other = (_value(traffic, seq) for seq in (first, second))
    except NotComparable as error:
        raise UsageError(str(error)) from error
    found = compare(one, other, Tolerance(kinds=kinds))
    said = f"{plural(len(found.differences), 'difference')} from entry {exact(first)} to {exact(second)}."
    if found.masked:
        hidden = plural(found.masked, "expected difference")
        said += f' {hidden} hidden (times, IDs, durations). "exact": true shows them.'
    if not found.differences:
        return Answer([said])
    shown, more = page(text_lines(found), given, 60)
    return Answer([said, Foreign("\n".join(shown), f"entries {first} and {second}")], more)


def _value(traffic: OpenTraffic, seq: int) -> Any:
    """Return what is compared of an entry: the request and the response of its call, or the entry alone."""
    traffic.entry(seq, 1)
    pair = call_of(traffic.columns, seq)
    return comparable_call(traffic.reader, pair) if pair else comparable_value(traffic.reader, seq)


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "explain",
        "Explain an entry: what the message is for, how its call ended and why, both messages, the server's "
        "stderr around a failure, lint findings. Without an entry: what failed in the recording, and the "
        "newest failure explained.",
        arguments(entry=number("its number", 1), recording=RECORDING),
        reading(_explain),
    ),
    AgentTool(
        "lint",
        "List violations of the MCP specification and other defects, by rule, errors first.",
        arguments(filter=ENTRIES, **paged(10, "kinds of findings"), recording=RECORDING),
        reading(_lint),
    ),
    AgentTool(
        "compare",
        "Compare two calls (request and response), or two entries; expected differences are hidden.",
        arguments(
            ["entry", "other"],
            entry=number("the first", 1),
            other=number("the second", 1),
            exact={"type": "boolean", "description": "show also times, IDs and durations"},
            cursor=number("where to go on"),
            recording=RECORDING,
        ),
        reading(_compare),
    ),
)
