"""`mcptui traffic --expect-tool T --forbid-tool T --max-latency T=800ms --no-errors`: judges recordings."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from tui.addons.tests.recorded.expectations import (
    Expectation,
    KnownTools,
    Problem,
    SeenRequest,
    latency_limit,
    no_errors,
    tool_expected,
    tool_forbidden,
)
from tui.commands.table import json_line
from tui.commands.traffic_selection import RecordingChoice, Selection, say
from tui.core.errors import UsageError
from tui.core.jsonrpc.reader import json_value
from tui.core.text import list_in, mapping, object_in, text_in
from tui.core.traffic import REQUESTS, Entry, Kind
from tui.core.units import plural
from tui.traffic.filter.fields import BadValue, duration

HELD, FAILED, INCOMPLETE = 0, 1, 2
MOST_TOOLS = 5_000
"""Maximum names of tools to remember, called and listed each."""


def expect(args: argparse.Namespace, choice: RecordingChoice) -> int:
    """Print each expectation that does not hold, with its entry; return 0 if all hold, otherwise 1."""
    expectations = [*_wanted(args)]
    tools, requests = _read(choice, expectations)
    choice.report_no_match()
    problems = [one.problem(tools) for one in expectations]
    for one, problem in zip(expectations, problems, strict=True):
        if args.json:
            print(json_line(_object(one, problem)))
        elif problem is not None:
            print(f"{one.option}: {problem.sentence}")
        elif one.pattern and one.pattern != "*" and (unknown := tools.unknown(one.pattern)):
            say(f"{one.option}: {unknown}")
    if any(problems):
        return INCOMPLETE if choice.is_incomplete else FAILED
    if not requests:
        say("no requests, so nothing was compared")
        return INCOMPLETE
    if not args.json:
        print(f"{plural(len(expectations), 'expectation')} held for {plural(requests, 'request')}")
    return INCOMPLETE if choice.is_incomplete else HELD


def _object(one: Expectation, problem: Problem | None) -> dict[str, Any]:
    request = problem.request if problem is not None else None
    found: dict[str, Any] = {"expectation": one.option, "holds": problem is None}
    found["problem"] = problem.sentence if problem is not None else ""
    found["entry"] = request.seq if request is not None else None
    return found | ({"recording": request.label} if request is not None and request.label else {})


def _read(choice: RecordingChoice, expectations: Sequence[Expectation]) -> tuple[KnownTools, int]:
    """Show each request to the expectations; return the known tools and the number of requests."""
    called, listed = dict[str, None](), dict[str, None]()
    count = 0
    with closing(choice.selections()) as selections:
        for selection in selections:
            for entry in selection.entries():
                if entry.kind not in REQUESTS:
                    continue
                request = _request(selection, entry)
                count += 1
                if request.tool:
                    _remember(called, request.tool)
                for one in expectations:
                    one.see(request)
            _remember(listed, *_listed(selection))
    return KnownTools(called, listed), count


def _wanted(args: argparse.Namespace) -> Iterator[Expectation]:
    for option, patterns in (("--expect-tool", args.expect_tool), ("--forbid-tool", args.forbid_tool)):
        if "" in (patterns or ()):
            raise UsageError(f"{option}: the name of the tool is empty. Is a variable not set?")
    yield from map(tool_expected, args.expect_tool or ())
    yield from map(tool_forbidden, args.forbid_tool or ())
    yield from map(_limit, args.max_latency or ())
    if args.no_errors:
        yield no_errors()


def _limit(text: str) -> Expectation:
    """Return the limit that `TOOL=TIME`, or `TIME` for all tools, means. Raises UsageError."""
    pattern, _, most = text.rpartition("=")
    try:
        return latency_limit(pattern or "*", duration(most), text)
    except BadValue as error:
        raise UsageError(f"--max-latency: {error}") from error


def _request(selection: Selection, entry: Entry) -> SeenRequest:
    return SeenRequest(
        entry.seq,
        entry.source,
        entry.method,
        entry.tool,
        selection.outcome(entry),
        selection.latency_ns(entry),
        is_later=entry.root not in (0, entry.seq),
        label=selection.label.rstrip(),
    )


def _listed(selection: Selection) -> Iterator[str]:
    """Yield the names of the tools that servers listed, also outside of the filter."""
    columns = selection.columns
    for index in range(len(columns)):
        if (
            columns.kind[index] == Kind.RESPONSE
            and columns.methods.texts[columns.method[index]] == "tools/list"
        ):
            yield from _names(selection.with_body(columns.seq(index)))


def _names(entry: Entry | None) -> Iterator[str]:
    value = mapping(json_value(entry.body)) if entry is not None else {}
    for tool in list_in(object_in(value, "result"), "tools"):
        if name := text_in(mapping(tool), "name"):
            yield name


def _remember(names: dict[str, None], *found: str) -> None:
    for name in found:
        if len(names) < MOST_TOOLS:
            names[name] = None
