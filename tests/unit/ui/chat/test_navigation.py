"""The filter with which the traffic of a turn, a step or a call is opened."""

import pytest

from tui.core.traffic import Cause
from tui.ui.chat.navigation import filter_of


@pytest.mark.parametrize(
    ("cause", "filter"),
    [
        (Cause(3), "turn:3"),
        (Cause(3, 2), "turn:3 step:2"),
        (Cause(3, 2, "call-1"), "turn:3 call:call-1"),
        (Cause(3, 2, "a b"), 'turn:3 call:"a b"'),
    ],
)
def test_the_filter_names_the_innermost_cause(cause: Cause, filter: str):
    assert filter_of(cause) == filter
