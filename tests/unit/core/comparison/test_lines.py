"""Two values as lines: indented, paired line by line."""

from tui.core.comparison.lines import MOST_LINES, LinePair, line_pairs, lines_of
from tui.core.comparison.placeholders import NOTHING, RUN_TO_RUN, Kinds


def texts(value: object) -> list[str]:
    return [line.text for line in lines_of(value)]


def test_json_is_indented_and_cleaned():
    assert texts({"a": [1, {"b": "x\x1b"}], "c": {}}) == [
        "{", '  "a": [', "    1", "    {", '      "b": "x\\u001b"', "    }", "  ]", '  "c": {}', "}",
    ]  # fmt: skip


def test_text_results_keep_their_lines_and_json_in_text_is_indented():
    assert texts({"text": "one\ntwo"}) == ["{", '  "text": text:', "    one", "    two", "}"]
    assert texts('{"a": 1}') == ["JSON as text:", "  {", '    "a": 1', "  }"]


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
