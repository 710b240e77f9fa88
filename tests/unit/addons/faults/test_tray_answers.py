"""What is edited of a held message, and what it is answered with."""

import json
from typing import Any

from tests.cases import each_case
from tests.unit.addons.faults.test_breakpoints import IN, OUT, Line
from tui.addons.faults.tray_answers import answer_to, form_value, part_of, with_form_value, with_part
from tui.core.forms.spec import MISSING

OURS = {"progressToken": 3, "io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def edited(line: Line, part: dict[str, Any]) -> Any:
    return json.loads(with_part(line.breakpoints.held[max(line.held)], part))


def test_the_params_are_edited_without_what_is_new_in_each_request() -> None:
    line = Line("dir:out")
    line.call(1, "get", **OURS, mine=1)
    held = line.breakpoints.held[1]
    assert part_of(held) == {"name": "get", "arguments": {}, "_meta": {"mine": 1}}
    assert edited(line, {"name": "set"})["params"] == {"name": "set", "_meta": OURS}
    assert json.loads(with_part(held, part_of(held))) == json.loads(held.raw)


def test_of_a_response_the_result_is_edited_or_becomes_an_error() -> None:
    line = Line("dir:in")
    line.call(1, "get")
    line.take(IN, id=1, result={"content": []})
    assert answer_to(line.breakpoints.held[1]) == {"result": {"content": []}}
    error = {"error": {"code": -32603, "message": "no"}}
    assert edited(line, error) == {"jsonrpc": "2.0", "id": 1, **error}


def test_an_answer_starts_with_what_its_method_expects() -> None:
    line = Line("dir:out or dir:in")
    line.take(OUT, id=1, method="tools/call", params={"name": "get"})
    line.take(IN, id=2, method="elicitation/create", params={})
    first, second = line.breakpoints.held.values()
    assert answer_to(first) == {"result": {"content": [{"type": "text", "text": ""}]}}
    assert answer_to(second) == {"result": {"action": "accept", "content": {}}}


def test_an_answer_of_the_new_revision_says_that_it_is_complete() -> None:
    line = Line("dir:out")
    line.call(1, "get", **OURS)
    assert answer_to(line.breakpoints.held[1])["result"]["resultType"] == "complete"


TEXT = {"content": [{"type": "text", "text": "7"}]}
STRUCTURED = {"content": [{"type": "text", "text": "seven"}], "structuredContent": {"n": 7}}


@each_case(
    ("said", "schema", "value"),
    [
        ({"result": TEXT}, None, "7"),
        ({"result": STRUCTURED}, {}, {"n": 7}),
        ({"result": STRUCTURED}, None, MISSING),
        ({"result": TEXT}, {}, MISSING),
        ({"result": {**TEXT, "isError": True}}, None, MISSING),
        ({"result": {"content": [*TEXT["content"], {"type": "image"}]}}, None, MISSING),
        ({"error": {"code": -32603, "message": "no"}}, None, MISSING),
    ],
)
def test_a_form_shows_the_structured_content_or_the_one_text_of_a_result(
    said: Any, schema: Any, value: Any
) -> None:
    assert form_value(said, schema) == value


def test_a_result_stays_as_it_was_recorded_unless_its_value_changes() -> None:
    said = {"result": STRUCTURED}
    assert with_form_value(said, {}, {"n": 7}) == said
    changed = {"content": [{"type": "text", "text": '{"n":8}'}], "structuredContent": {"n": 8}}
    assert with_form_value(said, {}, {"n": 8}) == {"result": changed}
