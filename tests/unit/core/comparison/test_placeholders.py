"""Placeholders of expectations: what they fit, how they are escaped, and what is misspelled."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.comparison.placeholders import (
    Pattern,
    Placeholder,
    escaped,
    escaped_value,
    fits,
    fits_text,
    has_placeholder,
    misspelled,
    parts_of,
    pattern_faults,
    written,
)

TRICKY = st.text(alphabet="<>abid re:number0123-.\n: textany\\[]", max_size=30)


@each_case(
    ("expected", "text"),
    [
        ("<number> files", "12 files"),
        ("<number> files", "1,234 files"),
        ("<number> °C", "-9.5 °C"),
        ("<number> °C", "\u22129.5 °C"),
        ("<number>", "7"),
        ("at <time>.", "at 2026-12-01T10:00:00.123Z."),
        ("at <time>.", "at 2026-12-01 10:00."),
        ("at <time>.", "at 10:42 PM."),
        ("at <time>.", "at Tue, 01 Dec 2026 10:00:00 GMT."),
        ("at <time>.", "at Tue Dec  1 10:00:00 2026."),
        ("id <id>", "id 8f14e45f-ceea-467f-a83c-5a1b2c3d4e5f"),
        ("<text>, <number>", "a, b, 5"),
        ("<any>", ""),
        ("a <id>-<id> b", "a x-1-y b"),
        ("say <re:[^>]+> to <re:(?i)BOB>", "say hello to bob"),
        ("<re:<b>.*</b>>", "<b>x</b>"),
        (r"<re:a\>b>", "a>b"),
    ],
)
def test_a_placeholder_fits_what_varies_in_a_text(expected: str, text: str):
    assert fits_text(expected, text)


@each_case(
    ("expected", "text"),
    [
        ("<number> files", "many files"),
        ("at <time>.", "at once."),
        ("id <id>", "id a b"),
        ("<id>-<id>", "a"),
        ("say <re:[a-z]+> now", "say 12 now"),
        ("any<text>", "x"),
        ("number", "7"),
        ("<duration>", "5 ms"),
        ("<uuid>", "8f14e45f-ceea-467f-a83c-5a1b2c3d4e5f"),
    ],
)
def test_a_placeholder_does_not_fit_another_text(expected: str, text: str):
    assert not fits_text(expected, text)


@each_case("expected", ["number", "any", "id", "<<number>", "<text>"])
def test_a_text_without_a_placeholder_for_numbers_fits_no_number(expected: str):
    assert not fits(expected, 5)


def test_a_pattern_fits_the_digits_of_a_number():
    assert fits("<re:[1-9]>", 5)
    assert not fits("<re:[1-9]>", 55)


@each_case("name", ["text", "number", "time", "id", "any"])
def test_a_doubled_bracket_makes_a_placeholder_literal(name: str):
    assert fits_text(f"a <<{name}> b", f"a <{name}> b")
    assert not fits_text(f"a <<{name}> b", "a 1 b")
    assert has_placeholder(f"a <<{name}> b")


def test_other_brackets_are_literal():
    assert parts_of("<b>x</b> <uuid> <duration> <re:open") == ("<b>x</b> <uuid> <duration> <re:open",)


def test_an_unclosed_pattern_does_not_hide_the_placeholders_after_it():
    assert parts_of("<re:[ <id>") == ("<re:[ ", Placeholder.ID)


def test_a_pattern_ends_at_the_bracket_that_closes_it():
    assert parts_of("<re:[>]<b>> <re:a>") == (Pattern("[>]<b>"), " ", Pattern("a"))


@settings(max_examples=20)
@given(TRICKY, TRICKY)
def test_an_escaped_text_fits_only_itself(text: str, other: str):
    assert fits_text(escaped(text), text)
    assert fits_text(escaped(text), other) is (text == other)


@settings(max_examples=20)
@given(st.lists(TRICKY | st.sampled_from([Placeholder.TEXT, Placeholder.ID]), max_size=5))
def test_parts_are_written_as_an_expectation_that_has_them(parts: list[str | Placeholder]):
    again = written(parts_of(written(parts)))
    assert again == written(parts)


def test_a_bracket_before_a_placeholder_does_not_escape_it():
    assert fits_text(written(["a <", Placeholder.NUMBER, ">"]), "a <5>")


def test_every_text_of_a_value_is_escaped():
    assert escaped_value({"<id>": ["<id>", 1, None]}) == {"<id>": ["<<id>", 1, None]}


@each_case(
    ("written", "meant"),
    [
        ("<nubmer>", "<number>"),
        ("<Number>", "<number>"),
        ("<uuid>", "<id>"),
        ("<date>", "<time>"),
        ("<txt>", "<text>"),
        ("<regex:a>", "<re:…>"),
    ],
)
def test_a_misspelled_placeholder_is_named_with_the_one_that_is_meant(written: str, meant: str):
    assert misspelled(f"a {written} b") == [(written, meant)]


@each_case("text", ["<b>", "<a>x</a>", "<text>", "<<id>", "<re:x>", "<test>x</test>", "a < b > c"])
def test_markup_and_right_placeholders_are_not_misspelled(text: str):
    assert misspelled(text) == []


def test_a_pattern_that_cannot_be_used_is_named_with_the_reason():
    assert list(pattern_faults("<re:(> and <re:a+>")) == [("(", "a parenthesis is not closed")]
