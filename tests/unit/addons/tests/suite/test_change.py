"""Changes of a suite: what is said is changed, and nothing else."""

import difflib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.addons.tests.suite.case import (
    UNSET,
    Case,
    Expectation,
    Lose,
    Request,
    RequestKind,
    SuiteServer,
    TurnCase,
)
from tui.addons.tests.suite.change import (
    edited_json,
    with_case,
    with_expectation,
    with_server,
    with_turn,
    without_case,
)
from tui.addons.tests.suite.read import SuiteError, suite_of
from tui.addons.tests.suite.references import without_references
from tui.core.comparison.placeholders import escaped_value, same
from tui.core.errors import ConfigError

FILE = Path("a.mcp.toml")
SUITE = """\
# Orders of the shop.
server = "shop"   # the one in staging

[[call]]          # first
name = "an order"
tool = "create_order"
args = {sku="A1",   key = 'order-1'}
# The id is new each time.
result = '''
{ "id" : "<id>",
  "state": "open",   "items": [ 1, 2 ] }
'''
within = "2s"     # slow in CI
save = { id = "$.id" }
then = [ { tool = "count", result = '{ "count": 1 }' }, # once
         { text = "one", tool = "list_orders" } ]

[[call]]
name = "weather"
tool = "weather"
text = "light rain"

# ---- the last one ----
[[call]]
name = "picture"
tool = "draw"
content = [ { type = "image", size = 10 } ]
findings = [ "a" ]
"""


def changes(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def expected(text: str, number: int, /, **other: Any) -> Expectation:
    return replace(suite_of(text, FILE).cases[number].expected, **other)


def test_a_member_of_a_result_is_changed_and_its_formatting_stays():
    new = {"id": "<id>", "state": "closed", "items": [1, "<number>"]}
    made = with_expectation(SUITE, 0, expected(SUITE, 0, result=new))
    assert changes(SUITE, made) == [
        '-  "state": "open",   "items": [ 1, 2 ] }',
        '+  "state": "closed",   "items": [ 1, "<number>" ] }',
    ]


def test_a_text_is_changed_in_its_place():
    made = with_expectation(SUITE, 1, expected(SUITE, 1, text="snow\nand <text>"))
    assert changes(SUITE, made) == ['-text = "light rain"', "+text = '''", "+snow", "+and <text>'''"]


def test_a_key_is_added_where_it_is_looked_for():
    made = with_expectation(SUITE, 0, expected(SUITE, 0, text="a", findings=("x",)))
    assert changes(SUITE, made) == ['+text = "a"', '+findings = ["x"]']
    lines = made.splitlines()
    assert lines.index('text = "a"') == lines.index("args = {sku=\"A1\",   key = 'order-1'}") + 1
    assert lines.index('findings = ["x"]') == lines.index('within = "2s"     # slow in CI') + 1


def test_a_key_is_removed_with_its_line():
    made = with_expectation(SUITE, 1, expected(SUITE, 1, text=None, error=True))
    assert changes(SUITE, made) == ['-text = "light rain"', "+error = true"]


def test_the_result_of_a_later_call_is_changed_within_its_line():
    made = with_expectation(SUITE, 0, Expectation(result={"count": 2}), then=0)
    assert changes(SUITE, made) == [
        '-then = [ { tool = "count", result = \'{ "count": 1 }\' }, # once',
        '+then = [ { tool = "count", result = \'{ "count": 2 }\' }, # once',
    ]


def test_a_key_of_a_later_call_is_replaced_by_another():
    made = with_expectation(SUITE, 0, Expectation(result=[1]), then=1)
    assert changes(SUITE, made) == [
        '-         { text = "one", tool = "list_orders" } ]',
        "+         { tool = \"list_orders\", result = '[1]' } ]",
    ]


def test_an_item_of_the_content_is_changed_and_its_neighbors_stay():
    made = with_expectation(SUITE, 2, expected(SUITE, 2, content=[{"type": "image", "size": "<number>"}]))
    assert changes(SUITE, made) == [
        '-content = [ { type = "image", size = 10 } ]',
        '+content = [ { type = "image", size = "<number>" } ]',
    ]


def test_the_same_expectation_changes_nothing():
    for number in range(3):
        assert with_expectation(SUITE, number, expected(SUITE, number)) == SUITE


@pytest.mark.parametrize(
    "text",
    [
        '[[call]]\ntool = "a"\n[call.result]\nb = 1 # one\n[call.result.c]\nd = 2\n[[call]]\ntool = "z"\n',
        '[[call]]\ntool = "a"\nresult.b = 1\nresult.c.d = 2\n[[call]]\ntool = "z"\n',
        '[[call]]\ntool = "a"\nresult = { b = 1, c = { d = 2 } }\n[[call]]\ntool = "z"\n',
        'call = [{ tool = "a", result = { b = 1, c = { d = 2 } } }, { tool = "z" }]\n',
        '[[call]]\ntool = "a"\nresult = "{ \\"b\\": 1, \\"c\\": { \\"d\\": 2 } }"\n[[call]]\ntool = "z"\n',
    ],
    ids=["tables", "dotted", "inline", "array", "quoted"],
)
@pytest.mark.parametrize("result", [{"b": 1, "c": {"d": 3}}, {"b": "it's"}, [None], UNSET])
def test_a_result_is_changed_however_it_is_written(text: str, result: Any):
    made = with_expectation(text, 0, Expectation(text="t", result=result))
    first, second = suite_of(made, FILE).cases
    assert (first.expected.result, first.expected.text, second.request.name) == (result, "t", "z")


def test_windows_line_ends_stay():
    text = SUITE.replace("\n", "\r\n")
    made = with_expectation(text, 1, expected(SUITE, 1, text="a\nb", error=True))
    made = with_case(made, Case("new", 1, Request(RequestKind.TOOL, "t"), Expectation(text="a\nb")))
    assert made.count("\n") == made.count("\r\n")
    assert [case.expected.text for case in suite_of(made, FILE).cases] == [None, "a\nb", None, "a\nb"]


def test_a_case_is_removed_and_the_comment_of_the_next_stays():
    made = without_case(SUITE, 1)
    assert [case.name for case in suite_of(made, FILE).cases] == ["an order", "picture"]
    assert changes(SUITE, made) == [
        "-[[call]]",
        '-name = "weather"',
        '-tool = "weather"',
        '-text = "light rain"',
        "-",
    ]


# ---- new files ---------------------------------------------------------------------------------------------


def test_a_new_file_names_its_schema_and_its_server():
    made = with_server("", SuiteServer(command=("python", "server.py"), env={"KEY": "${KEY}"}))
    first, *rest = made.splitlines()
    assert first == "#:schema ./mcp-toml.schema.json"
    assert rest == ["", "[server]", 'command = ["python", "server.py"]', 'env = { KEY = "${KEY}" }']


def test_a_new_case_reads_like_the_exchange():
    count = Case(
        "count_orders", 1, Request(RequestKind.TOOL, "count_orders"), Expectation(result={"count": 1})
    )
    order = Case(
        "an order",
        1,
        Request(RequestKind.TOOL, "create_order", {"sku": "A1"}),
        Expectation(result={"id": "<id>", "state": "open"}, within_ms=800),
        Lose.ANSWER,
        {"id": "$.id"},
        (count,),
    )
    made = with_case(with_server("", SuiteServer("shop")), order)
    assert (
        made.partition("\n")[2]
        == """
server = "shop"

[[call]]
name = "an order"
tool = "create_order"
args = { sku = "A1" }
result = '''{ "id": "<id>", "state": "open" }'''
within = "800ms"
lose = "answer"
save = { id = "$.id" }
then = [{ tool = "count_orders", result = '{ "count": 1 }' }]
"""
    )


def test_a_server_is_added_after_the_first_comments():
    made = with_server('# Cases.\n\n[[call]]\ntool = "a"\n', SuiteServer("shop"))
    assert made == '# Cases.\nserver = "shop"\n\n[[call]]\ntool = "a"\n'


def test_a_server_does_not_take_the_keys_of_the_file():
    made = with_server('call = [{ tool = "a" }]\n', SuiteServer(command=("x",)))
    assert made == 'call = [{ tool = "a" }]\n\n[server]\ncommand = ["x"]\n'


def test_another_server_is_not_replaced():
    assert with_server(SUITE, SuiteServer("shop")) == SUITE
    with pytest.raises(ConfigError, match="names another server"):
        with_server(SUITE, SuiteServer("other"))


def test_a_case_of_a_name_that_is_there_is_refused():
    with pytest.raises(SuiteError, match="is also the name"):
        with_case(SUITE, Case("weather", 1, Request(RequestKind.TOOL, "a")))


def test_a_case_is_appended_to_a_file_without_a_last_line_end():
    made = with_case('[[call]]\ntool = "a"', Case("b", 1, Request(RequestKind.READ, "x://y")))
    assert made == '[[call]]\ntool = "a"\n\n[[call]]\nname = "b"\nread = "x://y"\n'


def test_half_of_a_surrogate_pair_cannot_be_kept():
    case = Case("b", 1, Request(RequestKind.TOOL, "a", {"x": "\ud800"}))
    with pytest.raises(ConfigError, match="“b” cannot be written: it has an invalid character"):
        with_case("", case)


def test_a_turn_case_is_read_as_it_was():
    turn = TurnCase(
        "Is it raining?", 1, "rain", ("get_weather city~a",), ("delete_*",), ("rain",), 4, 0.02, 5, 0.8
    )
    made = with_turn(SUITE, turn)
    (found,) = suite_of(made, FILE).turns
    assert replace(found, line=1) == turn


# ---- properties --------------------------------------------------------------------------------------------

TRICKY = st.text(alphabet="a'\"\\\n\r\t \u200b<>id{}$é😀", max_size=15)
TEXTS = TRICKY.map(without_references)
LINE = st.text(alphabet="abc '\"\\<>é😀", min_size=1, max_size=10).map(str.strip).filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=6,
)
EXPECTATIONS = st.builds(
    Expectation,
    text=st.none() | TEXTS,
    result=st.just(UNSET) | JSON.map(escaped_value),
    content=st.none() | st.lists(st.fixed_dictionaries({"type": st.just("image"), "uri": LINE}), max_size=2),
    error=st.booleans(),
    within_ms=st.none() | st.integers(1, 100_000),
    findings=st.lists(LINE, max_size=2).map(tuple),
)
CASES = st.builds(
    Case,
    name=LINE,
    line=st.just(1),
    request=st.builds(
        Request,
        st.just(RequestKind.TOOL),
        LINE,
        st.dictionaries(TRICKY, JSON, max_size=2),
    ),
    expected=EXPECTATIONS,
    lose=st.none() | st.sampled_from(Lose),
    timeout_ms=st.none() | st.integers(1, 100_000),
    fresh=st.booleans(),
    tags=st.lists(LINE, max_size=2).map(tuple),
    skip=st.just("") | LINE,
    answers=st.just({}) | st.fixed_dictionaries({"form": st.dictionaries(LINE, TEXTS, max_size=2)}),
)


@settings(max_examples=20)
@given(CASES)
def test_a_written_case_is_read_as_the_same(case: Case):
    found = suite_of(with_case(SUITE, case), FILE).cases[-1]
    assert (found.request, found.expected.result) == (case.request, case.expected.result)
    assert replace(found, line=1, expected=case.expected) == case


@settings(max_examples=20)
@given(st.integers(0, 2), EXPECTATIONS)
def test_a_changed_expectation_is_read_as_the_same_and_other_cases_stay(number: int, new: Expectation):
    made = with_expectation(SUITE, number, new)
    before, after = suite_of(SUITE, FILE), suite_of(made, FILE)
    found = after.cases[number].expected
    assert (found.text, found.result, found.error, found.findings) == (
        new.text,
        new.result,
        new.error,
        new.findings,
    )
    others = [at for at in range(3) if at != number]
    assert [replace(before.cases[at], line=1, then=()) for at in others] == [
        replace(after.cases[at], line=1, then=()) for at in others
    ]
    comments = [line.partition("#")[2] for line in SUITE.splitlines() if line.startswith("#")]
    assert all(comment in made for comment in comments)


PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\\n é', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


def test_only_the_leaf_that_differs_is_written():
    text = '{"a" : 1,\n   "b":[ 2,3 ] }'
    assert edited_json(text, {"a": 1, "b": [2, "<number>"]}) == '{"a" : 1,\n   "b":[ 2,"<number>" ] }'


def test_an_object_with_other_members_is_written_as_a_whole():
    text = '{\n  "a": { "x": 1 },\n  "b": 2\n}'
    assert edited_json(text, {"a": {"x": 1, "y": 2}, "b": 2}) == '{\n  "a": { "x": 1, "y": 2 },\n  "b": 2\n}'


@settings(max_examples=30)
@given(PLAIN_JSON, PLAIN_JSON, st.sampled_from([None, 2]))
def test_an_edited_text_has_the_value(before: object, after: object, indent: int | None):
    text = json.dumps(before, indent=indent)
    assert same(json.loads(edited_json(text, after)), after)


@settings(max_examples=20)
@given(PLAIN_JSON)
def test_an_equal_value_leaves_the_text_as_it_is(value: object):
    text = json.dumps(value, indent=3)
    assert edited_json(text, value) == text
