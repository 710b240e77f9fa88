"""Why a request is not HTTP, in our words."""

import pytest
from h11 import LocalProtocolError

from tui.commands.tap_http import words_of


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("bad Content-Length", "Content-Length is not a number of bytes"),
        ("conflicting Content-Length headers", "it has two different Content-Length headers"),
        ("illegal request line", "its first line is not that of an HTTP request"),
        ("Missing mandatory Host: header", "it has no Host header"),
        ("something new", "it is not HTTP/1.1"),
    ],
)
def test_the_reason_is_worded_without_those_of_the_library(said: str, why: str) -> None:
    assert words_of(LocalProtocolError(said)) == f"the request is not valid: {why}"
