"""What the cases of a run cover."""

from pathlib import Path

from tests.cases import each_case
from tui.addons.tests.contract.coverage import coverage, matches
from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite

WEATHER = {
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"$ref": "#/$defs/Unit"},
            "days": {"type": "array", "items": {"enum": [1, 2]}},
        },
        "required": ["city"],
        "$defs": {"Unit": {"enum": ["c", "f"]}},
    }
}
LISTING = ServerListing(
    {
        Kind.TOOL: {"weather": WEATHER, "add": {}},
        Kind.PROMPT: {"plan": {"arguments": [{"name": "city"}]}},
        Kind.RESOURCE: {"note:1": {}},
        Kind.TEMPLATE: {"note:{id}": {}},
    }
)


def call(
    name,
    *,
    state=State.PASSED,
    kind=RequestKind.TOOL,
    error=False,
    then=(),
    got=None,
    then_got=(),
    **arguments,
):
    request = Request(kind, name, arguments)
    case = Case(name, 1, request, Expectation(error=error, text="x"), then=then)
    return Outcome(name, 1, state, case=case, got=got, then_got=then_got)


def covered(*outcomes, path="a.mcp.toml"):
    suite = SuiteOutcome(Suite(Path(path)), outcomes)
    return coverage(RunOutcome([suite]), {Path(path): LISTING})


def missing(*outcomes):
    return [line.strip() for line in covered(*outcomes).missing_lines()[1:]]


def test_nothing_is_covered_by_nothing():
    found = covered()
    assert found.percent == 0
    assert missing() == [
        "tool weather",
        "weather: city (required argument)",
        "weather: unit (optional argument)",
        'weather: unit = "c"',
        'weather: unit = "f"',
        "weather: days (optional argument)",
        "weather: days = 1",
        "weather: days = 2",
        "weather: an error",
        "tool add",
        "prompt plan",
        "prompt plan: city",
        "resource note:1",
        "resource template note:{id}",
    ]


def test_arguments_values_and_errors_are_covered_by_cases():
    left = missing(
        call("weather", city="X", unit="c", days=[1, 2]),
        call("weather", city="?", error=True),
        call("add", then=(Case("t", 1, Request(RequestKind.TOOL, "add"), Expectation(error=True)),)),
        call("plan", kind=RequestKind.PROMPT, city="X"),
        call("note:1", kind=RequestKind.READ),
    )
    assert left == ['weather: unit = "f"']


def test_a_case_that_did_not_run_covers_nothing():
    assert covered(call("add", state=State.SKIPPED), call("add", state=State.ERROR)).percent == 0
    assert covered(call("add", state=State.FAILED)).percent == 0
    assert "tool add" not in missing(call("add", state=State.FAILED, got={"content": []}))


def test_of_a_failed_case_only_what_was_answered_counts():
    then = (
        Case("t", 1, Request(RequestKind.TOOL, "add")),
        Case("u", 1, Request(RequestKind.READ, "note:1")),
    )
    failed = {"state": State.FAILED, "got": {"content": []}, "then": then}
    left = missing(call("weather", then_got=({"content": []}, None), **failed))
    assert "tool add" not in left and "resource note:1" in left
    assert "tool add" in missing(call("weather", **failed))


def test_files_of_equal_servers_count_together():
    paths = [Path("a"), Path("b")]
    suites = [
        SuiteOutcome(Suite(path), [call(name)]) for path, name in zip(paths, ("add", "weather"), strict=True)
    ]
    found = coverage(RunOutcome(suites), dict.fromkeys(paths, LISTING))
    assert sum(one.owner == "add" for one in found.items) == 1
    assert [one.is_covered for one in found.items if one.kind.value == "tools"] == [True, True]


def test_lines_have_a_table_and_what_is_missing():
    lines = covered(call("add")).lines()
    assert lines[0] == "coverage" and lines[1].split() == ["tools", "1", "of", "2"]
    assert "  total               1 of 14 (7 %)" in lines and "not covered" in lines
    assert coverage(RunOutcome(), {}).lines() == ["coverage: no definitions to cover"]


def test_json_has_the_numbers_of_each_kind():
    found = covered(call("add")).as_json()
    assert found["percent"] == 7.1 and found["kinds"]["tools"] == {"covered": 1, "total": 2}
    assert "tool weather" in found["missing"]


@each_case(
    ("template", "uri", "found"),
    [
        ("note:{id}", "note:7", True),
        ("note:{id}", "file:7", False),
        ("{a}/{b}.txt", "x/y.txt", True),
        ("{a}/{b}.txt", "x.txt", False),
        ("note:1", "note:1", True),
        ("a{x}a", "a", False),
    ],
)
def test_a_template_covers_uris_with_its_literal_parts(template, uri, found):
    assert matches(template, uri) is found
