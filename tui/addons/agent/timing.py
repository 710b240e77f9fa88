"""Tools about numbers and time: statistics, the slowest calls, where the time of a turn went."""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.agent.answer import Answer, Foreign
from tui.addons.agent.opened import OF_MANY, OpenTraffic
from tui.addons.agent.reading import ENTRIES, RECORDING, reading, rows
from tui.addons.agent.tools import AgentTool, arguments, number, page, paged
from tui.commands.traffic_lines import figure_table
from tui.commands.traffic_output import figures_of
from tui.core.jsonrpc.reader import json_mapping, json_text
from tui.core.text import clean_line, list_in, mapping, object_in
from tui.core.traffic import Entry, Kind, Outcome
from tui.core.units import count, plural, size, span
from tui.traffic.record.open_recording import entries_of_turn
from tui.traffic.spans.waterfall import of_entries

EXCERPT = 200
"""Characters of a text of a model, or of the arguments of a call."""


def _statistics(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    with traffic.select(given.get("filter", "")) as selection:
        figures = list(figures_of(selection))
    shown, more = page(figures, given, 12)
    if not shown:
        return Answer([f"No calls in {traffic.name}."])
    said = f"{plural(len(figures), 'row')} for {traffic.name}, most calls first. (n): not counted as calls."
    return Answer([said, Foreign(figure_table(shown, [""] * len(shown)), OF_MANY)], more)


def _slowest(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    most = given.get("limit", 5)
    with traffic.select(given.get("filter", "")) as selection:
        found, others = selection.slowest(most)
        lines = rows(traffic, selection, found)
    if not found:
        return Answer([f"No completed calls in {traffic.name}."])
    said = f"The {plural(len(found), 'slowest call')} of {traffic.name}."
    if others:
        said += f" Not counted: {plural(others, 'handshake, list, model or elicitation request')}."
    more = {**given, "limit": most * 4} if len(found) == most else {}
    return Answer([said, Foreign(lines, OF_MANY)], more)


def _turn(traffic: OpenTraffic, given: Mapping[str, Any]) -> Answer:
    columns = traffic.columns
    last = max(columns.turn, default=0)
    turn = given.get("turn", last)
    if not last:
        return Answer([f"No turns in {traffic.name}: its calls were not made by a model in mcptui."])
    entries = entries_of_turn(traffic.reader, columns, turn)
    found = of_entries(entries, turn)
    if found is None:
        return Answer([f"No turn {turn} in {traffic.name}. Its turns are 1 to {last}."])
    said = f"Turn {turn} of {last} in {traffic.name}: {span(found.ns)}. {found.words}."
    waited = sorted((one for one in found.bars if one.critical), key=lambda one: one.start_ns - one.end_ns)
    times = [
        f"{one.part} {one.label}: {span(one.end_ns - one.start_ns)}, after {span(one.start_ns)}"
        for one in waited[:5]
    ]
    requests = [one for one in entries if one.kind in (Kind.MODEL_REQUEST, Kind.MODEL_REPLY, Kind.REQUEST)]
    shown, more = page(requests, {**given, "turn": turn}, 15)
    steps = [_step(traffic, one) for one in shown]
    if not given.get("cursor"):
        steps = ["It waited longest for:", *times, "", *steps]
    return Answer([said, Foreign("\n".join(steps), OF_MANY)], more)


def _step(traffic: OpenTraffic, column: Entry) -> str:
    """Return one line about what was sent to the model, what it said, or what it called."""
    entry = traffic.entry(column.seq)
    name = clean_line(entry.method, 60)
    match entry.kind:
        case Kind.MODEL_REQUEST:
            return f"#{entry.seq} to {name}: {size(entry.size)}, {_request_words(traffic, entry)}"
        case Kind.MODEL_REPLY:
            return f"#{entry.seq} {name} replied: {_reply_words(traffic, entry)}"
    outcome = traffic.selection.outcome(entry)
    took = traffic.selection.latency_ns(entry)
    params = object_in(json_mapping(entry.body), "params")
    told = params.get("arguments", params)
    ended = "no response" if outcome is Outcome.PENDING else outcome.name.lower().replace("_", " ")
    after = f" after {span(took)}" if took >= 0 else ""
    called = clean_line(f"{entry.source} › {entry.tool or entry.method}", 100)
    return f"#{entry.seq} called {called} {_excerpt(traffic, json_text(told))}: {ended}{after}"


def _request_words(traffic: OpenTraffic, entry: Entry) -> str:
    """Return what was sent to the model: how many messages and tools, and the end of the conversation."""
    body = json_mapping(entry.body)
    messages = [mapping(one) for one in list_in(body, "messages") or list_in(body, "input")]
    said = [plural(len(messages), "message"), plural(len(list_in(body, "tools")), "tool")]
    if messages:
        said.append(
            f"last: {clean_line(str(messages[-1].get('role', '')), 20)} {_content(traffic, messages[-1])}"
        )
    return ", ".join(said)


def _reply_words(traffic: OpenTraffic, entry: Entry) -> str:
    """Return the text and the calls of a reply, which may have been a stream."""
    body = json_mapping(entry.body)
    if "choices" in body:
        message = mapping(mapping((list_in(body, "choices") or [{}])[0]).get("message"))
    else:
        message = {**body, "content": body.get("text", "")}
    calls = [mapping(one) for one in list_in(message, "tool_calls")]
    names = [str(mapping(one.get("function", one)).get("name", "?")) for one in calls]
    said = [_content(traffic, message)] if message.get("content") else []
    if names:
        said.append(f"calls {clean_line(', '.join(names), EXCERPT)}")
    for key, value in object_in(body, "usage").items():
        if key in ("prompt_tokens", "completion_tokens") and isinstance(value, int):
            said.append(f"{count(value)} {key.replace('_', ' ')}")
    return "; ".join(said) or "nothing"


def _content(traffic: OpenTraffic, message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return _excerpt(traffic, content if isinstance(content, str) else json_text(content))


def _excerpt(traffic: OpenTraffic, text: str) -> str:
    return clean_line(traffic.redact(text[: EXCERPT * 10]), EXCERPT)


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "statistics",
        "Count calls, errors, latencies and bytes, for each server, method and tool.",
        arguments(**paged(12), filter=ENTRIES, recording=RECORDING),
        reading(_statistics),
    ),
    AgentTool(
        "slowest",
        "List the calls that took longest.",
        arguments(limit=number("rows (default: 5)", 1, 60), filter=ENTRIES, recording=RECORDING),
        reading(_slowest),
    ),
    AgentTool(
        "turn",
        "Show a turn of a conversation: what the model was sent, what it called, where the time went.",
        arguments(
            turn=number("its number (default: the last)", 1), **paged(15, "requests"), recording=RECORDING
        ),
        reading(_turn),
    ),
)
