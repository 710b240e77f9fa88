"""The output of `mcptui test --fuzz`."""

import json
from types import SimpleNamespace
from typing import Any

from tests.cases import each_case
from tui.addons.tests.fuzz.findings import Fault, Found
from tui.addons.tests.fuzz.report import NOT_ALONE, JsonReport, TextReport, shown_arguments
from tui.addons.tests.fuzz.tool_fuzz import Finding

CRASH = Finding("search", Found(Fault.CRASH, "exited with code 3"), {"query": ""})
COMMAND = """mcptui call search --args '{"query": ""}' -- python server.py"""


@each_case(
    ("arguments", "shown"),
    [
        ({"text": "a" * 3_001}, '{"text": "a" × 3,001}'),
        ({"ids": [0] * 1_001}, '{"ids": [0] × 1,001}'),
        ({"path": "\x00"}, '{"path": "\\u0000"}'),
        ({"name": "é"}, '{"name": "é"}'),
        ({}, "{}"),
    ],
)
def test_arguments_are_shown_as_a_person_would_describe_them(arguments: dict[str, Any], shown: str):
    assert shown_arguments(arguments) == shown


def test_deeply_nested_arrays_are_counted():
    value: Any = []
    for _ in range(49):
        value = [value]
    assert shown_arguments({"items": value}) == '{"items": array in 50 levels}'


def test_a_finding_ends_with_the_command_that_repeats_it():
    lines: list[str] = []
    report = TextReport(lines.append, colored=False, width=None)
    report.finding(CRASH, COMMAND)
    assert "".join(lines).splitlines() == [
        "search: crash",
        '    {"query": ""}',
        "    exited with code 3",
        f"    {COMMAND}",
    ]


def test_a_finding_that_needs_earlier_calls_says_so():
    lines: list[str] = []
    finding = Finding("search", CRASH.found, {}, repeats=False)
    TextReport(lines.append, colored=False, width=None).finding(finding, COMMAND)
    assert f"    {NOT_ALONE}\n" in lines


def test_json_has_an_object_for_each_finding_each_tool_and_the_run():
    lines: list[str] = []
    report = JsonReport(lines.append)
    report.finding(CRASH, COMMAND)
    fuzz: Any = SimpleNamespace(
        tool=SimpleNamespace(name="search"), calls=3, valid=2, findings=[CRASH], more={1, 2}, unfinished=""
    )
    report.tool(fuzz, 0.5)
    report.end({"seed": 1})
    objects = [json.loads(line) for line in lines]
    assert [one["type"] for one in objects] == ["finding", "tool", "fuzz"]
    assert objects[0]["arguments"] == {"query": ""} and objects[0]["repeat"] == COMMAND
    assert objects[1]["findings"] == 1 and objects[2]["seed"] == 1
