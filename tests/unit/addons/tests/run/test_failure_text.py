"""A failed case in words."""

import pytest

from tui.addons.tests.run.failure_text import Kind, failure_lines, mismatch_line
from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, State
from tui.addons.tests.suite.case import Case, Request, RequestKind

CASE = Case("rain", 4, Request(RequestKind.TOOL, "rain"))


@pytest.mark.parametrize(
    ("mismatch", "said"),
    [
        (Mismatch("result.id", 3, 4), "result.id: expected 3, got 4"),
        (Mismatch("result.id", 3), "result.id: expected 3, got nothing"),
        (Mismatch("content[1]", ABSENT, "x"), 'content[1]: expected nothing, got "x"'),
        (Mismatch("text", "a", "b", "an added line"), 'text: expected "a", got "b" (an added line)'),
        (Mismatch("error", why="the call succeeded"), "error: the call succeeded"),
        (Mismatch("then[0].error", False, "no", "the call failed"), "then[0]: the call failed: no"),
        (Mismatch("findings", ABSENT, "bad-uri", "It is no URI."), "finding bad-uri: It is no URI."),
        (Mismatch("text", "<number>\nb\nc", "1\nb\nd"), 'text: expected "c", got "d" (line 3)'),
        (Mismatch("text", "a", "a\nb"), 'text: expected nothing, got "b" (line 2)'),
        (
            Mismatch("text", f"{'x' * 300}a", f"{'x' * 300}b"),
            f'text: expected "…{"x" * 40}a", got "…{"x" * 40}b"',
        ),
    ],
)
def test_a_mismatch_is_one_line(mismatch: Mismatch, said: str):
    assert mismatch_line(mismatch) == said


def test_a_problem_without_values_is_said_once():
    why = "not sent: invalid arguments for add"
    one = Outcome("rain", 4, State.FAILED, why, [Mismatch("args", why=why)], case=CASE)
    assert [text for text, _ in failure_lines(one)] == [why]


def test_a_contract_has_its_sentence_and_each_change():
    changes = [Mismatch(f"tool add: {at}", 1, 2) for at in range(9)]
    lines = list(failure_lines(Outcome("contract", 4, State.FAILED, "9 changes", changes)))
    assert lines[0].text == "9 changes" and sum(kind is Kind.GOT for _, kind in lines) == 9


def test_further_differences_are_a_line_each_and_the_rest_is_counted():
    found = [Mismatch(f"result[{at}]", 1, 2) for at in range(9)]
    one = Outcome("rain", 4, State.FAILED, mismatches=found, case=CASE)
    assert [text for text, _ in failure_lines(one, 5)][-3:] == [
        "result[3]: expected 1, got 2",
        "result[4]: expected 1, got 2",
        "and 4 more differences",
    ]
