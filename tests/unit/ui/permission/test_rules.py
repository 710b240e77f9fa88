"""Input above the list of rules: a filter, or a call to check."""

import pytest

from tests.cases import each_case
from tui.ui.permission.rules import TypedCall, typed_call


@each_case(
    ("text", "call"),
    [
        ("files/read", TypedCall("files", "read")),
        ('files/read {"path": "/etc/*"}', TypedCall("files", "read", {"path": "/etc/*"})),
        (' my server/a/b{"x": {"y": 1}} ', TypedCall("my server", "a/b", {"x": {"y": 1}})),
        ("files/*", None),
        ("deny files/read", None),
        ("files", None),
        ("/etc", None),
        ("files/", None),
        ("files/read path=/etc", None),
    ],
)
def test_a_typed_call_is_distinguished_from_a_filter(text: str, call: TypedCall | None):
    assert typed_call(text) == call


@pytest.mark.parametrize("text", ['files/read {"path', "files/read {1}", "files/read " + '{"a":' * 100_000])
def test_incomplete_arguments_are_reported_as_a_problem(text: str):
    call = typed_call(text)
    assert call is not None and call.problem


def test_a_call_is_parsed_back_from_its_text():
    call = TypedCall("files", "read", {"path": 'a "b" {c}', "n": None})
    assert typed_call(call.text) == call
