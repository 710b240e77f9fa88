"""The wording of problems."""

import datetime

from tests.cases import each_case
from tui.settings.validate import Checker, kind_of


@each_case(
    ("value", "words"),
    [
        (True, "true or false"),
        ("x", "a string"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "an array"),
        ({}, "a table"),
        (None, "nothing"),
        (datetime.date(2026, 1, 1), "a date or time"),
    ],
)
def test_types_are_named_in_toml_terms(value: object, words: str):
    assert kind_of(value) == words


def test_a_failed_reference_affects_its_entry_and_other_errors_are_still_reported():
    tree = {"servers": {"a": {"command": "${X}", "args": 3}, "b": {"command": "y"}}}
    checker = Checker(tree, unresolved={("servers", "a", "command")})
    assert list(checker.settings().servers) == ["b"]
    assert [fault.message for fault in checker.faults] == ["must be an array, not a number"]


def test_a_limit_with_a_failed_reference_keeps_its_default():
    checker = Checker({"limits": {"max_steps": 3, "result_bytes": 4}}, unresolved={("limits", "max_steps")})
    found = checker.settings().limits
    assert (found.max_steps, found.result_bytes) == (20, 32768)


def test_an_invalid_snippet_affects_only_itself():
    wrong = {"two words": "x", "empty": " ", "number": 3, "nul": "a\0"}
    snippets = {"ok": "Fine {x}.", "spoilt": "${X}", **wrong}
    checker = Checker({"snippets": snippets}, unresolved={("snippets", "spoilt")})
    assert checker.settings().snippets == {"ok": "Fine {x}."}
    assert [fault.keys for fault in checker.faults] == [("snippets", name) for name in wrong]
