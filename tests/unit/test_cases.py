"""Tests of many cases: which of them failed is said."""

import pytest

from tests.cases import each_case


def test_every_failing_case_is_reported_and_named():
    @each_case("left, right", [(1, 1), (1, 2), (3, 3), (4, 5)])
    def compared(left: int, right: int) -> None:
        assert left == right

    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed") as failed:
        compared()
    notes = [failure.__notes__ for failure in failed.value.exceptions]
    assert notes == [["in the case left=1, right=2"], ["in the case left=4, right=5"]]


def test_one_failing_case_fails_as_it_would_alone():
    @each_case("number", [1, 0])
    def divided(number: int) -> None:
        assert 1 / number

    with pytest.raises(ZeroDivisionError) as failed:
        divided()
    assert failed.value.__notes__ == ["in the case number=0"]
