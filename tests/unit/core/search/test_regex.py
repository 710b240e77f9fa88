"""A Python pattern has the same meaning after translation for RE2."""

import re
import warnings
from itertools import product

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.matching import composed
from tui.core.search.regex import (
    MAX_PATTERN,
    asks_for_boundaries,
    found_in,
    marked_text,
    re2_pattern,
    re2_text,
    required_letters,
)

ANY = st.characters(exclude_categories=[])


def matches(pattern: str, text: str, ignore_case: bool) -> bool:
    options = re2.Options()
    options.log_errors = False
    return bool(re2.search(re2_pattern(pattern, ignore_case=ignore_case), re2_text(text), options))


def matches_in_python(pattern: str, text: str, ignore_case: bool) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(re.search(pattern, text, re.IGNORECASE if ignore_case else 0))


@given(text=st.text(ANY, max_size=30), part=st.text(ANY, min_size=1, max_size=2), ignore_case=st.booleans())
@settings(max_examples=40, deadline=None)
def test_escaped_text_matches_where_python_matches(text: str, part: str, ignore_case: bool):
    pattern = re.escape(composed(part)) + "|^x"
    assert matches(pattern, text, ignore_case) == matches_in_python(pattern, text, ignore_case)


PATTERNS = [
    r"\w+",
    r"^\W+$",
    r"[^\W_]+",
    r"[\W_]",
    r"\S\s",
    r"[\s\S]",
    r"a$",
    r"(?m)^b$",
    r"(?m:^b)",
    r"a{,3}b",
    r"a{2,}",
    r"(?:){3}",
    r"\u00e9",
    r"\N{BULLET}",
    r"\x41\101",
    r"(?i)I",
    r"(?i:A)b",
    r"(?-i:a)b",
    r"(?x) a  b # c",
    r"(?#x)a",
    r"[[:alpha:]]",
    r"(?P<n>a)|b",
    r"\d",
    r"\D{3}",
    r"a.c",
    r"(?s)a.c",
    r"(?s:a.)c",
    r"\Z",
    r"\Aa",
    r"[^a]",
    r"[a-z]",
    r"[^i]",
    r"a*?b+?c??",
    r"(a+)+b",
    r"\bab\b",
    r"\Bb",
    r"(\b)+a",
    "[\ud800-\udfff]",
    "[\ud700-\ue000]",
    "[ -\U0010ffff]",
    "\u0130|ss",
    "",
]
TEXTS = [
    *["", "a", "A b", "ab", "aab", "abc", "a\n", "b\na", "a\nc", "A1_", "\n\n", "_", "\u2022", " \u00a0"],
    *["\u00c9 \u00e9", "x\u0661", "\u0130", "\u0131", "i", "I", "\u017f", "\u212a", "K", "\u00df", "\ud800"],
]


@pytest.mark.parametrize("ignore_case", [False, True])
def test_a_pattern_matches_the_same_as_in_python(ignore_case: bool):
    for pattern, text in product(PATTERNS, TEXTS):
        if asks_for_boundaries(pattern) and not text.isascii():
            continue
        found = matches(pattern, text, ignore_case)
        assert found == matches_in_python(pattern, text, ignore_case), (pattern, text)


@each_case(
    ("pattern", "says"),
    [
        ("a(?=b)", "look-around is not supported"),
        ("a(?!b)", "look-around is not supported"),
        ("(?<=a)b", "look-around is not supported"),
        ("(?<!a)b", "look-around is not supported"),
        ("(?!)", "look-around is not supported"),
        (r"(a)\1", "a backreference is not supported"),
        ("(?P<n>a)(?P=n)", "a backreference is not supported"),
        ("(a)?(?(1)b|c)", "a conditional group is not supported"),
        ("(?>a)", "an atomic group is not supported"),
        ("a++", "a possessive repetition is not supported"),
        ("a{1001}", "more than 1000 repetitions"),
        ("(?:a{200}){6}", "more than 1000 repetitions"),
        ("(", "missing ), unterminated subpattern"),
    ],
)
def test_a_feature_that_re2_lacks_is_rejected_with_an_explanation(pattern: str, says: str):
    with pytest.raises(re.error) as caught:
        re2_pattern(pattern, ignore_case=False)
    assert caught.value.msg == says


BOUNDARIES = [
    *[
        r"\b",
        r"\B",
        r"\b.",
        r".\b",
        r"\B.",
        r".\B",
        r"^\b",
        r"\b$",
        r"\B$",
        r"^\B",
        r"(?m)\b$",
        r"(?m)^\b\u00e9",
    ],
    *[
        r"\bab\b",
        r"caf.\b",
        r"\b\u00e9",
        r"\u00e9\b.",
        r"(?:\b\w+\b\W*)+$",
        r"\w\B\w",
        r"\W\B\W",
        r"(?i)\b\u00c9",
    ],
    *[r"\D\b\S", r"[^a]\b[\s\S]", r"(?s)^.\b", r"(\b)+a", r"\b\b\w"],
]


@given(
    text=st.text(st.sampled_from("aé_ \n•1-x"), min_size=1, max_size=9), pattern=st.sampled_from(BOUNDARIES)
)
@settings(max_examples=40, deadline=None)
def test_word_boundaries_match_the_same_as_in_python(text: str, pattern: str):
    options = re2.Options()
    options.log_errors = False
    translated = re2_pattern(pattern, ignore_case=False, marked=True)
    found = re2.search(translated, marked_text(re2_text(text)), options)
    assert asks_for_boundaries(pattern) and bool(found) == bool(re.search(pattern, text))


@each_case(
    ("pattern", "letters"),
    [
        ("nee.le-[0-9]+", "nee"),
        ("(?:ab)+cde", "cde"),
        ("a(b(c))d", "abcd"),
        ("^ab$|cd", ""),
        (r"\bWord\b", "word"),
        ("(abc)?de", "de"),
        ("(abc){2}", "abc"),
        ("[ab]\u00e9", ""),
        ("", ""),
    ],
)
def test_the_letters_required_by_a_pattern_are_known(pattern: str, letters: str):
    assert required_letters(pattern) == letters


@each_case(
    ("pattern", "text", "found"),
    [
        ("^(a+)+$", "a" * 30_000 + "!", False),
        ("^(a+)+$", "a" * 30_000, True),
        ("(x+x+)+y", "x" * 30_000, False),
        ("[a-z]+", "123a", True),
        ("^[A-Z]$", "a", False),
        (r"\bé\b", "un é ici", True),
        (r"\bé\b", "été", False),
        ("^.$", "\ud800", True),
    ],
)
def test_a_pattern_may_match_anywhere_in_the_text(pattern: str, text: str, found: bool):
    assert found_in(pattern, text) is found


@each_case("pattern", ["(?=a)", r"(a)\1", "([", r"\p{L}", "a{1001}", "(" * 5000, "a" * (MAX_PATTERN + 1)])
def test_an_unsupported_pattern_gives_no_verdict(pattern: str):
    assert found_in(pattern, "aa") is None


@given(st.text("ab(|)*+?{}1,\\[^]-.$", max_size=14), st.text("ab\n", max_size=6))
def test_a_verdict_agrees_with_python(pattern: str, text: str):
    found = found_in(pattern, text)
    if found is not None:
        assert found == (re.search(pattern, text) is not None)
