"""What counts as an error of a load."""

from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.tests.load.command import LastLoads, Samples, percentile, problem_of
from tui.core.workbench import RawAnswer


@each_case(
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


@pytest.mark.parametrize(
    ("times", "share", "found"),
    [
        ([], 0.5, 0.0),
        ([7.0], 0.99, 7.0),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0),
        ([*map(float, range(1, 101))], 0.95, 95.0),
    ],
)
def test_a_percentile_is_the_nearest_rank(times: list[float], share: float, found: float):
    assert percentile(times, share) == found


def test_the_run_before_with_the_same_calls_is_returned(tmp_path: Path):
    first = Samples([4.0, 2.0]).measured(100.0, 2.0)
    assert (first.calls, first.rate, first.p50, first.slowest) == (2, 1.0, 2.0, 4.0)
    second = Samples([3.0]).measured(200.0, 1.0)
    path = tmp_path / "loads.json"
    assert LastLoads(path).replace("key", first) is None
    assert LastLoads(path).replace("key", second) == first
    assert LastLoads(path).replace("other", second) is None


def test_a_damaged_file_counts_as_empty(tmp_path: Path):
    path = tmp_path / "loads.json"
    path.write_text('{"format": 1, "loads": [{"key": "key", "at": "never"}, 3]}')
    assert LastLoads(path).replace("key", Samples().measured(1.0, 0.0)) is None
