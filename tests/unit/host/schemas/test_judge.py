"""Validates messages against the SDK's models, and reports problems as clauses."""

import asyncio

import pytest

from tests.programs import printed_by
from tui.core.traffic import Direction
from tui.host.schemas.judge import ModelJudge

NOW, OLD = "2026-07-28", "2025-11-25"


@pytest.fixture
def judge():
    made = ModelJudge()
    yield made
    made.close()


def result(judge: ModelJudge, method: str, value: object, revision: str = OLD) -> list[str]:
    return list(judge.problems(revision, Direction.IN, "result", method, value))


def test_a_valid_message_has_no_problems(judge):
    assert result(judge, "tools/call", {"content": [{"type": "text", "text": "hi"}]}) == []
    assert judge.problems(OLD, Direction.OUT, "request", "tools/call", {"name": "a"}) == ()
    assert judge.problems(OLD, Direction.OUT, "notification", "notifications/initialized", None) == ()
    assert judge.problems(OLD, Direction.IN, "request", "roots/list", None) == ()


USED_AT_ONCE = """
import sys, threading
from tui.core.traffic import Direction
from tui.host.schemas.judge import ModelJudge
sys.setswitchinterval(1e-6)

def validate():
    ready.wait()
    try:
        said = {"content": 3}
        found.append(ModelJudge().problems("2025-11-25", Direction.IN, "result", "tools/call", said))
    except BaseException as error:
        found.append(repr(error))

ready, found = threading.Barrier(8), []
threads = [threading.Thread(target=validate) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(found == [["content must be an array"]] * 8)
"""


def test_judges_in_several_threads_may_start_at_once():
    assert printed_by(USED_AT_ONCE) == "True"


KINDS = "'text' or 'image' or 'audio' or 'resource_link' or 'resource'"


@pytest.mark.parametrize(
    ("method", "value", "said"),
    [
        (
            "tools/list",
            {"tools": [{"name": 3}]},
            ["tools.0.inputSchema is missing", "tools.0.name must be a string"],
        ),
        (  # only the intended arm of a union
            "tools/call",
            {"content": [{"type": "image", "data": "x"}]},
            ["content.0.mimeType is missing"],
        ),
        ("tools/call", {"content": [{"type": "video"}]}, [f"content.0.type must be {KINDS}"]),
    ],
)
def test_missing_and_wrong_members_are_named_with_their_path(judge, method, value, said):
    assert result(judge, method, value) == said


def test_a_value_that_matches_no_union_member_is_reported(judge):
    problems = judge.problems(
        OLD, Direction.IN, "notification", "notifications/progress", {"progressToken": None, "progress": 1}
    )
    assert problems == ["progressToken is not one of a string, an integer"]


def test_the_result_type_selects_the_model_for_validation(judge):
    assert result(judge, "tools/call", {"resultType": "complete"}, NOW) == ["content is missing"]
    asks = {"resultType": "input_required", "inputRequests": {"a": {"method": "x/y"}}}
    (problem,) = result(judge, "tools/call", asks, NOW)
    assert problem.startswith("inputRequests.a.method must be 'sampling/createMessage' or")


def test_each_revision_has_its_own_models(judge):
    assert result(judge, "tools/list", {"tools": []}) == []
    assert result(judge, "tools/list", {"tools": [], "resultType": "complete"}, NOW) == [
        "cacheScope is missing",
        "ttlMs is missing",
    ]


def test_requests_without_the_envelope_of_2026_are_reported(judge):
    assert judge.problems(NOW, Direction.OUT, "request", "tools/call", {"name": "a"}) == ["_meta is missing"]


@pytest.mark.parametrize(
    ("revision", "method"), [("2099-01-01", "tools/list"), (OLD, "tasks/get"), (OLD, "server/discover")]
)
def test_methods_that_the_models_do_not_cover_have_no_problems(judge, revision, method):
    assert judge.problems(revision, Direction.IN, "result", method, {}) == ()


def test_thousands_of_faults_are_reported_in_a_few_clauses(judge):
    assert len(result(judge, "tools/list", {"tools": [7] * 5_000})) == 3


def test_names_from_a_server_are_cleaned(judge):
    asks = {"resultType": "input_required", "inputRequests": {"\x1b[2J": {"method": "x/y"}}}
    (problem,) = result(judge, "tools/call", asks, NOW)
    assert problem.startswith("inputRequests.␛[2J.method must be ")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "object", "properties": {"a": {"type": "strng"}}}, "properties.a.type"),
        ({"type": "object", "properties": {"a": {"minimum": "x"}}}, "properties.a.minimum"),
        ({"type": "object", "properties": {"a": {"pattern": "(("}}}, "properties.a.pattern"),
        ({"type": "object", "$ref": "https://elsewhere.example/x"}, "external $ref"),
        (
            {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a", "type": "object"},
            "circular reference",
        ),
    ],
)
def test_an_invalid_schema_is_reported(judge, schema, words):
    assert words in judge.schema_problem(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "definitions": {}},
        {"type": "object", "$schema": "https://elsewhere.example/dialect"},
    ],
)
def test_a_usable_schema_has_no_problem(judge, schema):
    assert judge.schema_problem(schema) == ""


def test_a_value_is_validated_against_a_schema(judge):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert judge.violation(schema, {"n": 1}) == ""
    assert judge.violation(schema, {"n": "x"}) == "n: 'x' is not of type 'integer'"


def test_a_value_that_plainly_matches_needs_no_event_loop(judge, monkeypatch):
    monkeypatch.setattr(asyncio, "Runner", None)
    assert judge.violation({"type": "object", "required": ["n"]}, {"n": 1}) == ""
