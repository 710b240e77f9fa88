"""The inputs of a packaged server."""

import pytest

from tests.cases import each_case
from tui.addons.packages.server_inputs import (
    MAX_TABLE,
    MAX_TEXT,
    ServerInput,
    checked_text,
    found_server,
    refuse_long_table,
    values_of,
)
from tui.core.errors import UsageError


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the lines that will be typed on a terminal."""
    lines: list[str] = []
    monkeypatch.setattr("tui.addons.packages.server_inputs.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: lines.pop(0))
    monkeypatch.setattr("getpass.getpass", lambda prompt: lines.pop(0))
    return lines


def test_set_overrides_answers_and_answers_override_defaults(typed: list[str]):
    typed += ["2", ""]
    inputs = [ServerInput(name, required=True, default=("d",)) for name in "abc"]
    assert values_of(inputs, [("a", "1")]) == {"a": ("1",), "b": ("2",), "c": ("d",)}


@pytest.mark.parametrize(("every", "asked"), [(False, "c"), (True, "abc")])
def test_only_required_values_without_secrets_are_asked_for_unless_all_are(
    typed: list[str], every: bool, asked: str
):
    typed += [*asked]
    inputs = [
        ServerInput("a"),
        ServerInput("b", secret=True),
        ServerInput("c", required=True, default=("x",)),
    ]
    assert values_of(inputs, [], every=every) == {name: (name,) for name in asked}


@each_case(
    ("wanted", "text", "said"),
    [
        (ServerInput("a", kind="number"), "x", "a must be a number"),
        (ServerInput("a", kind="number", minimum=1), "0", "a must be at least 1"),
        (ServerInput("a", kind="number", maximum=9), "10", "a must be at most 9"),
        (ServerInput("a", kind="boolean"), "yes", "a must be true or false"),
        (ServerInput("a", choices=("x", "y")), "z", "a must be one of x, y"),
        (ServerInput("a", required=True), "", "a must not be empty"),
        (ServerInput("a"), "\0", "null character"),
        (ServerInput("b"), "1", "the server has no value “a”"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(wanted: ServerInput, text: str, said: str):
    with pytest.raises(UsageError, match=said):
        values_of([wanted], [("a", text)])


def test_several_values_are_accepted_only_for_inputs_that_allow_them():
    assert values_of([ServerInput("a", several=True)], [("a", "1"), ("a", "2")]) == {"a": ("1", "2")}
    with pytest.raises(UsageError, match="set twice"):
        values_of([ServerInput("a")], [("a", "1"), ("a", "2")])


def test_texts_and_tables_have_a_maximum_size():
    assert checked_text("x" * MAX_TEXT, "it")
    refuse_long_table({"args": ["x" * MAX_TABLE]})
    with pytest.raises(UsageError, match="a text has 8,193 characters"):
        checked_text("x" * (MAX_TEXT + 1), "it")
    for key, value in (
        ("args", ["x"] * 70_000),
        ("env", {"A": "x" * 70_000}),
        ("headers", {"A": "x" * 70_000}),
    ):
        with pytest.raises(UsageError, match="more than 65,536"):
            refuse_long_table({key: value})


def test_a_server_that_is_too_long_to_start_is_refused_before_it_is_added():
    with pytest.raises(UsageError, match="more than 65,536"):
        found_server([], [], {}, lambda values: {"command": "npx", "args": ["x" * 9] * 9000}, [])


def test_a_value_is_asked_for_again_until_it_is_valid(typed: list[str], capsys):
    typed += ["x", "3"]
    assert values_of([ServerInput("n", kind="number", required=True)], []) == {"n": ("3",)}
    assert "n must be a number" in capsys.readouterr().out


def test_colons_separate_several_values_and_choices_are_literal(typed: list[str]):
    typed += ["/a:/b", "${X}"]
    assert values_of([ServerInput("n", required=True, several=True)], []) == {"n": ("/a", "/b")}
    assert values_of([ServerInput("n", required=True, choices=("${X}",))], []) == {"n": ("$${X}",)}
