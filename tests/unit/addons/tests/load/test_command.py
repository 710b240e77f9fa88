"""What counts as an error of a load."""

import pytest

from tui.addons.tests.load.command import problem_of
from tui.core.workbench import RawAnswer


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (RawAnswer(result={"content": []}), ""),
        (RawAnswer(problem="did not respond.\nIts log: x"), "did not respond."),
        (RawAnswer(error={"code": -32603, "message": "oops"}), "error -32603: oops"),
        (RawAnswer(result={"isError": True, "content": [{"type": "text", "text": "busy"}]}), "busy"),
        (RawAnswer(result={"isError": True}), "isError is true, without a text"),
    ],
)
def test_each_failure_is_one_line(answer: RawAnswer, problem: str):
    assert problem_of(answer) == problem
