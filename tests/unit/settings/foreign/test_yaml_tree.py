"""The YAML of other hosts, which may be hostile."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.foreign.yaml_tree import MAX_CHARACTERS, YamlFault, read_yaml


def value(text: str) -> Any:
    return read_yaml(text)[0]


@each_case(
    ("scalar", "read"),
    [
        *(("true", True), ("False", False), ("null", None), ("~", None), ("", None)),
        *(("8080", 8080), ("-3", -3), ("1.5", 1.5), ("1.10", "1.10"), ("0777", "0777"), ("1e3", "1e3")),
        *(("yes", "yes"), ("no", "no"), ("on", "on"), ("12:30", "12:30"), ("2026-11-29", "2026-11-29")),
        *(("0x1f", "0x1f"), (".inf", ".inf"), ("9" * 400, "9" * 400), ("'8080'", "8080"), ('"no"', "no")),
    ],
)
def test_a_scalar_is_that_of_yaml_1_2_and_otherwise_text(scalar: str, read: Any):
    assert value(f"a: {scalar}") == {"a": read}


def test_merged_keys_count_after_the_own_ones():
    assert value("base: &b {a: 1, b: 2}\nit: {<<: *b, b: 3}")["it"] == {"a": 1, "b": 3}


def test_keys_are_texts():
    assert value("{1: a, true: b, null: c, '2': d}") == {"1": "a", "true": "b", "null": "c", "2": "d"}


def test_each_key_has_its_line():
    places = read_yaml("a:\n  b: 1\n  c:\n    - x\n    - d: 2\n")[1]
    assert {path: place.line for path, place in places.items()} == {
        **{("a",): 1, ("a", "b"): 2, ("a", "c"): 3, ("a", "c", 0): 4, ("a", "c", 1): 5, ("a", "c", 1, "d"): 5}
    }


def test_a_key_that_is_there_twice_is_named():
    assert read_yaml("a: {b: 1, b: 2}\nc: 3")[2] == ["b"]


@each_case(
    ("text", "fault", "line"),
    [
        ("a: 1\nb: [1,\nc: 2\n", "is not YAML: ", 2),
        ("a: 1\nb: *missing\n", "is not YAML: found undefined alias", 2),
        ("a: 1\n---\nb: 2\n", "is not YAML: ", 2),
        ("a: !!python/object/apply:os.system [id]\n", "is not YAML: could not determine a constructor", 1),
        ("a: &a [*a]\n", "is not usable YAML: it has more than", 0),
        ("[" * 100_000, "is not usable YAML: it is nested more than", 0),
        ("- " * 10_000, "is not usable YAML: it is nested more than", 0),
        ("? " * 10_000, "is not usable YAML: it is nested more than", 0),
        ("a: \x00", "is not usable YAML: ", 0),
        ("a" * (MAX_CHARACTERS + 1), "is YAML of more than", 0),
        ("x: [" + "1," * 30_000 + "]", "is not usable YAML: it has more than", 0),
    ],
)
def test_what_cannot_be_read_says_why_and_where(text: str, fault: str, line: int):
    with pytest.raises(YamlFault) as raised:
        read_yaml(text)
    assert str(raised.value).startswith(fault)
    assert raised.value.line == line


@pytest.mark.parametrize("join", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_that_multiply_are_refused_before_they_do(join: str):
    lines = ["a0: &a0 {x: 1, y: 2}"]
    for number in range(1, 12):
        items = ", ".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} {join.format(items)}")
    started = time.monotonic()
    with pytest.raises(YamlFault, match="more than"):
        read_yaml("\n".join(lines))
    assert time.monotonic() - started < 2


@given(st.text(alphabet="ab:-?[]{}&*!|>'\"#%@,\n\t ~<0.1", max_size=60))
def test_any_text_is_read_or_refused(text: str):
    try:
        read_yaml(text)
    except YamlFault as fault:
        assert str(fault).startswith("is ")
