"""References to environment variables."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.references import (
    Expanded,
    FromEnvironment,
    escaped,
    expand,
    files_in,
    literal_part,
    without_defaults,
)

ENV = {"HOME": "/home/ada", "EMPTY": "", "SELF": "${HOME}", "A_1": "x"}


@each_case(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("${HOME}/x", "/home/ada/x"),
        ("${A_1}${A_1}", "xx"),
        ("${NONE:-fallback}", "fallback"),
        ("${NONE:-}", ""),
        ("${EMPTY}", ""),
        ("${EMPTY:-fallback}", "fallback"),
        ("$${HOME}", "${HOME}"),
        ("${SELF}", "${HOME}"),
        ("$HOME and $$ and {x}", "$HOME and $$ and {x}"),
    ],
)
def test_a_reference_is_replaced_as_in_a_shell(text: str, result: str):
    assert expand(text, ENV).text == result


def test_every_missing_variable_and_every_one_that_was_used_is_named():
    assert expand("${ONE}-${TWO}", ENV).missing == ("ONE", "TWO")
    assert expand("${HOME}${NONE:-x}", ENV).variables == ("HOME",)


@each_case("text", ["${", "${}", "${1X}", "${HOME", "${a b}"])
def test_an_invalid_reference_is_reported_and_kept(text: str):
    assert expand(text, ENV) == Expanded(text, broken=True)


def test_text_from_a_variable_is_distinguished_from_literal_text():
    assert isinstance(expand("${HOME}", ENV).text, FromEnvironment)
    assert not isinstance(expand("HOME", ENV).text, FromEnvironment)


def test_defaults_are_masked_and_references_can_be_removed():
    assert without_defaults("a ${X:-secret} ${Y}") == "a ${X:-***} ${Y}"
    assert literal_part("Bearer ${X}") == "Bearer "


@given(st.text(alphabet="${}AB:-x", max_size=30))
def test_an_escaped_text_is_expanded_to_itself(text: str):
    assert expand(escaped(text), ENV) == Expanded(text)


def test_the_files_that_a_text_refers_to_are_found():
    text = "${file:a b} ${A} $${file:no} ${file:~/.x} ${file:"
    assert files_in(text) == ["a b", "~/.x"]
    assert expand(text, {"file:a b": "1", "A": "2", "file:~/.x": "3"}).text == "1 2 ${file:no} 3 ${file:"
