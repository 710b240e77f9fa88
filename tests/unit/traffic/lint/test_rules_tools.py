"""Rules about tools."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import ECHO, Script
from tui.core.traffic import Severity
from tui.traffic.lint.server_session import ToolListing

COUNT = {
    **ECHO,
    "name": "count",
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


class FakeJudge:
    """Reports a violation of a schema, or a problem with one."""

    def __init__(self, violation: str = "", schema: str = "") -> None:
        self.violation, self.schema_problem = lambda *_: violation, lambda _: schema
        self.problems = lambda *_: []


def listed(*tools: Any, revision: str = "2025-11-25") -> Script:
    return Script().legacy(revision).listed(*tools)


INVALID, VALID = ("", "with space", "täglich", "a/b", "x" * 129, "a\nb"), ("a", "a.b-c_D9", "x" * 128)


@each_case(("name", "codes"), [*((name, ["tool-name"]) for name in INVALID), *((name, []) for name in VALID)])
def test_invalid_characters_in_a_name_are_reported(name: str, codes: list[str]):
    found = listed({**ECHO, "name": name}).codes()
    assert [code for code in found if not code.startswith("portable-")] == codes


def test_before_2025_11_25_an_invalid_name_is_only_a_hint():
    assert listed({**ECHO, "name": "a b"}, revision="2025-03-26").findings()[0].severity is Severity.HINT
    assert listed({**ECHO, "name": "a b"}).findings()[0].severity is Severity.WARNING


def test_a_tool_listed_twice_is_reported_but_not_in_two_listings():
    assert listed(ECHO, ECHO).codes() == ["duplicate-tool"]
    script = Script().legacy()
    script.result(script.out("tools/list"), {"tools": [ECHO], "nextCursor": "2"})
    script.result(script.out("tools/list", {"cursor": "2"}), {"tools": [ECHO]})
    assert script.codes() == ["duplicate-tool"]
    assert listed(ECHO).listed(ECHO).codes() == []


@pytest.mark.parametrize(("following", "found"), [("2", True), ("3", True), (None, False)])
def test_a_page_without_a_new_tool_that_others_follow_is_an_endless_list(following: str | None, found: bool):
    script = Script().legacy()
    script.result(script.out("tools/list"), {"tools": [ECHO], "nextCursor": "2"})
    page = {"tools": [ECHO]} | ({"nextCursor": following} if following else {})
    script.result(script.out("tools/list", {"cursor": "2"}), page)
    assert ("endless-list" in script.codes()) is found
    more = Script().legacy()
    more.result(more.out("tools/list"), {"tools": [ECHO], "nextCursor": "2"})
    more.result(more.out("tools/list", {"cursor": "2"}), {"tools": [COUNT], "nextCursor": "3"})
    assert "endless-list" not in more.codes()


HIDDEN = ("a\u200bb", "\U000e0041", "\x1b[8m", "a\u202eb")
EMOJI_AND_LINE_BREAKS = "\U0001f468\u200d\U0001f469 \u2708\ufe0f\r\ngo\tnow"


@each_case(
    ("said", "found"),
    [
        *((said, [("no-description", Severity.HINT)]) for said in (None, "", "  \n")),
        ("x" * 9_000, [("long-description", Severity.HINT)]),
        *((said, [("hidden-text", Severity.WARNING)]) for said in HIDDEN),
        (EMOJI_AND_LINE_BREAKS, []),
    ],
)
def test_a_missing_long_or_suspicious_description_is_reported(said: object, found: list[object]):
    findings = listed({**ECHO, "description": said}).findings()
    assert [(finding.code, finding.severity) for finding in findings] == found


@each_case(
    "schemas",
    [
        {},
        *({"inputSchema": schema} for schema in (None, [], "object", {})),
        {"inputSchema": {"type": "string"}},
        {"inputSchema": {"type": ["object", "null"]}},
        {"inputSchema": {"type": "object", "properties": []}},
        {"inputSchema": {"type": "object", "required": "a"}},
        {"inputSchema": {"type": "object", "required": [1]}},
    ],
)
def test_a_missing_or_invalid_input_schema_is_an_error(schemas: dict[str, object]):
    assert listed({"name": "a", "description": "b", **schemas}).codes() == ["bad-schema"]


def test_since_2026_an_output_schema_can_have_any_type():
    tool = {**ECHO, "outputSchema": {"type": "array"}}
    script = Script().modern()
    script.result(script.ask("tools/list"), {"resultType": "complete", "tools": [tool]})
    assert script.codes() == []
    assert listed(tool).codes() == ["bad-schema"]


def test_problems_of_the_validator_with_a_schema_are_reported():
    (finding,) = listed(ECHO).findings(FakeJudge(schema="has a circular reference"))
    assert finding.sentence == 'The inputSchema of "echo" has a circular reference.'


def test_many_tools_with_the_same_fault_are_summed_up():
    findings = listed(*({**ECHO, "name": f"a b {number}"} for number in range(100))).findings()
    assert len(findings) == 5
    assert findings[-1].sentence.endswith("95 more tools have the same finding.")


def test_only_a_changed_order_of_the_same_tools_is_reported():
    one, two = {**ECHO, "name": "one"}, {**ECHO, "name": "two"}
    (finding,) = listed(one, two).listed(two, one).findings()
    assert (finding.code, finding.section) == ("unstable-order", "2026-07-28 server/tools")
    assert listed(one, two).listed(two).codes() == []


def test_memory_for_endless_pages_is_bounded():
    listing = ToolListing()
    for number in range(1_000):
        names = tuple(f"{number}-{index}" for index in range(500))
        assert listing.turn(("str", str(number)), names) is None
    assert sum(map(len, listing.pages.values())) <= 50_000
    assert listing.turn(("str", "999"), ("a",)) == names
    assert sum(map(len, listing.pages.values())) == 49_501


def call(script: Script, result: Mapping[str, Any], judge: FakeJudge | None = None) -> list[str]:
    script.result(script.out("tools/call", {"name": "count"}), {"content": [], **result})
    return script.codes(judge)


def test_a_result_that_does_not_match_its_schema_is_reported():
    script = listed(COUNT)
    judge = FakeJudge(violation="n: 'x' is not of type 'integer'")
    assert call(script, {"structuredContent": {"n": "x"}}, judge)[-1] == "structured-content"
    assert script.findings(judge)[-1].sentence == (
        "The structuredContent of \"count\" does not match its outputSchema: n: 'x' is not of type 'integer'."
    )


@pytest.mark.parametrize(
    ("result", "revision", "codes"),
    [
        ({"structuredContent": {"n": 1}}, "2025-11-25", []),
        ({}, "2025-11-25", ["no-structured-content"]),
        ({"isError": True}, "2025-11-25", []),
        ({}, "2025-03-26", []),
    ],
    ids=["given", "missing", "failed tool", "revision without output schemas"],
)
def test_a_tool_with_an_output_schema_returns_structured_content(
    result: dict[str, object], revision: str, codes: list[str]
):
    assert call(listed(COUNT, revision=revision), result) == codes


def test_a_round_that_needs_input_needs_no_structured_result():
    script = Script().modern()
    script.result(script.ask("tools/list"), {"resultType": "complete", "tools": [COUNT]})
    script.result(script.ask("tools/call", name="count"), {"resultType": "input_required"})
    assert script.codes() == []
