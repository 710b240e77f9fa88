"""The filter language for messages on their way."""

import json

from tests.cases import each_case
from tui.addons.faults.breakpoints_filter import Passing, parse_breakpoint
from tui.addons.faults.breakpoints_filter import test_of as matcher
from tui.core.jsonrpc.classification import classify
from tui.core.traffic import Direction


def matches(text: str, direction: Direction = Direction.OUT) -> bool:
    """Return whether a filter matches a call."""
    params = {"name": "buy_milk", "arguments": {"shop": "caf\u00e9"}}
    raw = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()
    query = parse_breakpoint(text)
    assert query.is_sound
    return matcher(query)(Passing("files", direction, classify(raw), raw))


@each_case(
    "text",
    [
        *(
            "",
            "tool:buy_* dir:out",
            "kind:request",
            "milk",
            "/m.lk/i",
            r"/\bcaf\b|\bcaf\u00e9\b/",
            "body:CAF\u00c9",
        ),
        *("method:tools/* id:7", "server:files", "size:>10", "not dir:in", "tool:x or id:7", "files"),
    ],
)
def test_a_call_matches(text: str) -> None:
    assert matches(text)


@each_case("text", ["tool:buy", "dir:in", "kind:response", "not milk", "status:error", "size:>1k", "id:8"])
def test_a_call_does_not_match(text: str) -> None:
    assert not matches(text)


def test_a_field_that_only_recorded_messages_have_is_a_problem() -> None:
    problem = parse_breakpoint("tool:x not (latency:>1s)").problems[0].sentence
    assert problem.startswith("“latency” is not known yet. Use server, method,")
