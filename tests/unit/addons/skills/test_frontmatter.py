"""The front matter of a SKILL.md, compared with the JSON of its entry."""

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.skills.frontmatter import MAX_DEPTH, FrontMatterProblem, body, differences

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.dictionaries(st.text("abcdefgh-", min_size=1), VALUES, max_size=5)


def compared(front: str, expected: dict[str, Any]) -> list[str]:
    return differences(f"---\n{front}\n---\n# Body\n", expected)


@each_case(
    ("written", "values"),
    [
        ("2026-10-01", ["2026-10-01", "2026-10-01T00:00:00.000Z", "2026-10-01T00:00:00+00:00"]),
        (
            "2026-10-01T10:00:00Z",
            ["2026-10-01T10:00:00Z", "2026-10-01T10:00:00.000Z", "2026-10-01T12:00:00+02:00"],
        ),
        ("yes", ["yes", True]),
        ("off", ["off", False]),
        ("true", [True]),
        ("1", [1, 1.0]),
        ("1.0", [1, 1.0]),
        ("012", [12, 10]),
        ("0o14", [12, "0o14"]),
        ("0x1F", [31]),
        ("1_000", ["1_000", 1000]),
        ("12:30", ["12:30", 750]),
        ("1e3", [1000, "1e3"]),
        ("~", [None]),
        ("", [None]),
        ("null", [None]),
        ("[a, 2]", [["a", 2]]),
        ("'yes'", ["yes"]),
        ('"1"', ["1"]),
        ("!!str 1", ["1"]),
        ("|\n  a\n  b", ["a\nb\n"]),
        ("{a: {b: c}}", [{"a": {"b": "c"}}]),
    ],
)
def test_what_libraries_make_of_a_value_is_no_difference(written: str, values: list[Any]):
    for value in values:
        assert compared(f"x: {written}", {"x": value}) == [], value


@each_case(
    ("written", "value"),
    [
        *(
            ("1", "1"),
            ("true", "true"),
            ("'1'", 1),
            ("'yes'", True),
            ("yes", False),
            ("1", True),
            ("0", False),
        ),
        *(("null", "null"), ("2026-10-01", "2026-10-02"), ("1.0", 1.1), ("[a]", ["a", "b"]), ("a", "a ")),
        *(("Text", "text"), ("[a, b]", ["b", "a"]), ("{a: 1}", {"a": 2}), ("{}", []), ("é", "e\u0301")),
    ],
)
def test_another_value_is_a_difference(written: str, value: Any):
    assert compared(f"x: {written}", {"x": value}) in (["x"], ["x.a"], ["x[1]", "x[2]"])


def test_missing_and_additional_fields_are_differences():
    assert compared("name: a\nb: {c: 1}", {"name": "a", "b": {}, "d": 1}) == ["b.c", "d"]


@each_case(
    ("text", "said"),
    [
        ("name: a", "is missing"),
        ("\n---\nname: a\n---\n", "is missing"),
        ("---\nname: a\n", "does not end"),
        (f"---\nname: {'a' * 70_000}\n---\n", "does not end"),
        ("---\n- a\n---\n", "is not a list of fields"),
        ("---\n---\n", "is not a list of fields"),
        ("---\na: [\n---\n", "is not valid YAML in line"),
        ("---\na: 1\na: 2\n---\n", "a key twice"),
        ("---\n? [a]\n: 1\n---\n", "a key that is not a text"),
        ("---\na: !!python/object/apply:os.system [x]\n---\n", "uses a YAML tag"),
        ("---\na: !x 1\n---\n", "uses a YAML tag"),
        ("---\na: *b\n---\n", "an alias"),
        ("---\na: &b [*b]\n---\n", "an alias"),
        ("---\na: b\n--- c\n---\n", "more than one"),
        ("---\na: b\u2028c\n---\n", "line separators"),
        (f"---\na: {'[' * (MAX_DEPTH + 1)}\n---\n", "nested more than"),
    ],
)
def test_front_matter_that_cannot_be_read_says_why(text: str, said: str):
    with pytest.raises(FrontMatterProblem, match=said):
        differences(text, {"name": "a"})


def test_line_ends_and_a_mark_at_the_beginning_are_accepted():
    assert differences("\ufeff---\r\nname: a\r\n---\r\nBody", {"name": "a"}) == []


def test_the_body_is_what_follows():
    assert body("---\nname: a\n---\nText\n---\nmore") == "\nText\n---\nmore"


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + at)}: &{chr(98 + at)} [{','.join(['*' + chr(97 + at)] * 9)}]\n" for at in range(20)
)


@each_case(
    "front",
    [LAUGHS, "[" * 60_000, "{" * 60_000, "- " * 30_000, "a: &x b\n" * 8_000, "? " * 30_000, "[a," * 20_000],
)
def test_a_bomb_costs_nothing(front: str):
    started = time.process_time()
    with pytest.raises(FrontMatterProblem):
        compared(front, {})
    assert time.process_time() - started < 3.0


@given(FIELDS)
def test_json_equals_itself_as_yaml(fields: dict[str, Any]):
    text = json.dumps(fields)
    if "\x7f" in text:
        return
    assert differences(f"---\n{text}\n---\n", fields) == []


@given(
    st.dictionaries(
        st.text("abcdefgh", min_size=1), st.text("abc123-:._ yesnotrufal~", min_size=1), max_size=5
    )
)
def test_what_pyyaml_writes_and_reads_is_no_difference(fields: dict[str, str]):
    text = yaml.safe_dump(fields)
    assert differences(f"---\n{text}---\n", yaml.safe_load(text)) == []


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str):
    try:
        compared(text, {})
    except FrontMatterProblem as problem:
        assert str(problem)
