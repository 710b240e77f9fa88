"""Differences between two JSON values: by path, and as lines."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.comparison import values as comparison
from tui.core.comparison.placeholders import NOTHING, RUN_TO_RUN, Kinds, fits
from tui.core.comparison.values import (
    MOST_LINES,
    Change,
    Comparison,
    LinePair,
    Tolerance,
    compare,
    line_pairs,
    lines_of,
    text_lines,
)
from tui.core.text import clean


def changes(before: object, after: object, *paths: str) -> list[tuple[str, str]]:
    found = compare(before, after, Tolerance(paths)).differences
    return [(item.path, str(item.kind)) for item in found]


def compared(before: object, after: object) -> Comparison:
    return compare(before, after, Tolerance(kinds=RUN_TO_RUN))


def test_a_changed_value_is_reported_with_both_values():
    (found,) = compare({"a": {"b": 1}}, {"a": {"b": 2}}).differences
    assert (found.path, found.kind, found.before, found.after) == ("a.b", Change.CHANGED, 1, 2)


@each_case(
    ("before", "after", "found"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "c": 3}, [("c", "added"), ("a", "removed")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, []),
        (["a", "b", "c"], ["x", "a", "b", "c"], [("[0]", "added")]),
        ([[1], [2], [3]], [[1], [3]], [("[1]", "removed")]),
        ({"a\nb": {'"': 1}}, {"a\nb": {'"': 2}}, [('["a\\nb"]["\\""]', "changed")]),
        ({"a": "<any>"}, {"a": "b"}, [("a", "changed")]),
    ],
)
def test_each_difference_is_reported_once_with_its_path(before, after, found):
    assert changes(before, after) == found


@each_case(("one", "other"), [(1, True), (0, False), (1, "1"), (None, 0), ("", None), ([], {})])
def test_values_of_different_types_are_different(one: object, other: object):
    assert changes({"a": one}, {"a": other}) == [("a", "changed")]


def test_added_members_of_objects_can_be_tolerated_but_not_added_items():
    before, after = {"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}, 3], "d": {}}
    found = compare(before, after, Tolerance(additions=True)).differences
    assert [(one.path, one.kind) for one in found] == [("a[1]", Change.ADDED)]


def test_items_with_names_are_compared_by_name_and_another_order_is_one_difference():
    before = [{"name": "a", "x": 1}, {"name": "b", "x": 2}]
    after = [{"name": "c", "x": 0}, {"name": "b", "x": 3}]
    assert changes(before, after) == [("[0]", "added"), ("[1].x", "changed"), ("[0]", "removed")]
    tools = [{"name": name, "x": 1} for name in "abc"]
    (found,) = compare({"tools": tools}, {"tools": tools[::-1]}).differences
    assert (found.path, found.kind, found.after) == ("tools", Change.MOVED, ["c", "b", "a"])


@each_case(
    ("glob", "hidden"),
    [
        ("result.ttlMs", True),
        ("*.ttlMs", True),
        ("**.ttlMs", True),
        ("**ttlMs", True),
        ("ttlMs", False),
        ("result", False),
        ("result.*", True),
        ("**", True),
        ("result.content[*].text", False),
        ("$.ttlMs", True),
        ("$.result.ttlMs", True),
    ],
)
def test_differences_at_paths_that_match_a_pattern_are_hidden(glob: str, hidden: bool):
    found = compare({"result": {"ttlMs": 1}}, {"result": {"ttlMs": 2}}, Tolerance((glob,)))
    assert (found.same, found.masked) == (hidden, int(hidden))
    before, after = ({"content": [{"text": text}, {"text": text}]} for text in "ab")
    assert changes(before, after, "content[*].text") == []


@each_case(
    ("key", "before", "after"),
    [
        ("text", "at 2026-11-20T10:00:00Z", "at 2026-11-21T11:30:59.123Z"),
        ("text", "12:00:01 started", "13:10:59 started"),
        ("text", "run 0b6f8f2e-7c1d-4f5e-9a43-0f3c2b1a0d9e", "run 11111111-2222-3333-4444-555555555555"),
        ("text", "took 12 ms", "took 1.5 s"),
        ("requestId", 7, 8),
        ("sessionId", "a", "b"),
        ("nextCursor", "x", "y"),
        ("createdAt", 1_700_000_000, 1_800_000_000),
        ("timestamp", 1_700_000_000_000, 1_800_000_000_000),
        ("durationMs", 12, 4_000),
        ("elapsed", 0.1, 0.2),
    ],
)
def test_values_that_change_from_run_to_run_are_ignored(key: str, before: object, after: object):
    assert compared({key: before}, {key: after}).masked == 1
    assert not compare({key: before}, {key: after}).same


@each_case(
    ("key", "before", "after"),
    [("text", "12 files", "13 files"), ("count", 1, 2), ("paid", True, False), ("at", 3, 4), ("id", 1, None)],
)
def test_other_changes_are_reported(key: str, before: object, after: object):
    assert not compared({key: before}, {key: after}).same


@each_case(
    ("expected", "value", "fitting"),
    [
        ("<any>", {"a": [1]}, True),
        ("<number>", 7, True),
        ("<number>", -1.5e9, True),
        ("<number>", "7", False),
        ("<number>", True, False),
        ("<time>", "2026-11-20T10:00:00Z", True),
        ("<time>", 1_700_000_000, True),
        ("<time>", 12, False),
        ("<time>", "soon", False),
        ("<id>", "msg_01-aB", True),
        ("<id>", 12, True),
        ("<id>", "two words", False),
        ("<text>", "", True),
        ("<text>", 7, False),
        ("<re:v[0-9]+>", "v12", True),
        ("<re:v[0-9]+>", "v12a", False),
        ("run <id> took <number> s, <number> files", "run a-1 took 1.5 s, 12 files", True),
        ("run <id> took <number> s, <number> files", "run a-1 took long, 12 files", False),
        ("<text> and <text>.", "one\ntwo and three.", True),
    ],
)
def test_an_expectation_with_placeholders_fits_what_varies(expected: str, value: object, fitting: bool):
    assert fits(expected, value) is fitting
    assert compare({"a": expected}, {"a": value}, Tolerance(placeholders=True)).same is fitting


def test_many_placeholders_in_a_long_text_take_linear_time():
    began = time.process_time()
    assert not fits("<text>a" * 20 + "b", "a" * 60_000)
    assert time.process_time() - began < 1


def test_the_text_has_a_line_for_each_difference():
    lines = text_lines(compare({"a": 1, "b": 2}, {"a": "x\x1b", "c": [1]}))
    assert lines == ['~ a: 1 -> "x\u241b"', "+ c: [1]", "- b: 2"]
    assert text_lines(compared({"id": 1}, {"id": 2})) == ["(1 expected difference hidden)"]


def test_large_values_are_compared_in_bounded_time():
    before = {"items": list(range(300_000))}
    found = compare(before, {"items": list(range(1, 300_001))})
    assert len(found.differences) == comparison.MOST_DIFFERENCES
    assert not found.complete
    assert text_lines(found)[-1] == "(too large to compare completely)"


def test_deeply_nested_values_are_compared():
    def nest(leaf: object) -> object:
        for _ in range(900):
            leaf = [leaf]
        return leaf

    assert compare(nest(1), nest(1)).same
    assert len(compare(nest(1), nest(2)).differences) == 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=25,
)


@given(values)
def test_every_value_equals_itself(value: object):
    assert compare(value, json.loads(json.dumps(value))).same


@given(values, values)
def test_two_values_are_equal_only_if_their_json_is_equal(one: object, other: object):
    written = [json.dumps(value, sort_keys=True) for value in (one, other)]
    assert compare(one, other).same == (written[0] == written[1])
    assert all(clean(line) == line for line in text_lines(compare(one, other)))


def texts(value: object) -> list[str]:
    return [line.text for line in lines_of(value)]


def test_json_is_indented_and_cleaned():
    assert texts({"a": [1, {"b": "x\x1b"}], "c": {}}) == [
        "{", '  "a": [', "    1", "    {", '      "b": "x\\u001b"', "    }", "  ]", '  "c": {}', "}",
    ]  # fmt: skip


def test_text_results_keep_their_lines_and_json_in_text_is_indented():
    assert texts({"text": "one\ntwo"}) == ["{", '  "text": text:', "    one", "    two", "}"]
    assert texts('\n {"a": 1}') == ["JSON as text:", "  {", '    "a": 1', "  }"]


def test_large_or_deeply_nested_values_are_bounded():
    assert len(lines_of(list(range(10_000)))) == MOST_LINES + 1
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    assert len(lines_of(deep)) < 200


def test_lines_that_differ_are_paired():
    pairs = line_pairs(lines_of([1]), lines_of([2, 3]))
    assert pairs == [
        LinePair("[", "[", True), LinePair("  1", "  2"), LinePair(None, "  3"), LinePair("]", "]", True),
    ]  # fmt: skip


def test_times_ids_and_durations_are_expected_to_differ():
    before, after = {"id": 1, "took": "3 ms", "n": 1}, {"id": 2, "took": "9 ms", "n": 2}

    def same(kinds: Kinds) -> list[bool]:
        return [pair.same for pair in line_pairs(lines_of(before, kinds), lines_of(after, kinds))]

    assert same(RUN_TO_RUN) == [True, True, True, False, True]
    assert same(NOTHING) == [True, False, False, False, True]
