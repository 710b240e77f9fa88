import pytest

from tui.addons.tests.run.outcome import Mismatch, State, TurnCell, TurnRun
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.run import mismatch_words, verdict

WORDS = {"p": State.PASSED, "f": State.FAILED, "e": State.ERROR}


def cell(runs: str, wanted: int = 0) -> TurnCell:
    """Return a cell; p is a run that passed, f one that failed, e one that could not be run."""
    made = [TurnRun(WORDS[one], problem={"f": "wrong", "e": "HTTP 429"}.get(one, "")) for one in runs]
    return TurnCell("m", wanted=wanted or len(runs), runs=made)


@pytest.mark.parametrize(
    ("runs", "wanted", "passing", "state", "problem"),
    [
        ("ppppp", 5, 1.0, State.PASSED, ""),
        ("ppppf", 5, 0.8, State.PASSED, ""),
        ("pppff", 5, 0.8, State.FAILED, "3 of 5 runs passed, 4 must. wrong"),
        ("f", 1, 1.0, State.FAILED, "wrong"),
        ("pp", 3, 0.66, State.PASSED, ""),
        ("pppf", 10, 0.3, State.PASSED, ""),
        ("e", 5, 0.8, State.ERROR, "HTTP 429"),
        ("pe", 5, 0.8, State.ERROR, "HTTP 429"),
        ("ppppe", 5, 0.8, State.PASSED, ""),
        ("ffe", 5, 0.8, State.FAILED, "0 of 5 runs passed, 4 must. wrong"),
        ("pppppppppppppfff", 16, 0.8, State.PASSED, ""),
    ],
)
def test_the_share_of_passed_runs_decides_unless_errors_could_change_it(
    runs: str, wanted: int, passing: float, state: State, problem: str
) -> None:
    case = TurnCase("?", 1, runs=wanted, passing=passing)
    assert verdict(case, cell(runs, wanted)) == (state, problem)


def test_a_share_that_is_no_exact_fraction_is_not_rounded_up() -> None:
    case = TurnCase("?", 1, runs=10, passing=0.7)  # 0.7 * 10 is 7.000000000000001 in some orders
    assert verdict(case, cell("p" * 7 + "f" * 3))[0] is State.PASSED


@pytest.mark.parametrize(
    ("mismatch", "words"),
    [
        (Mismatch("calls[0]", "get_weather", why="not called"), "get_weather: not called"),
        (Mismatch("never[0]", "delete_*", why="delete_all was called"), "delete_all was called"),
        (Mismatch("answer", "rain", "sun", "not in the answer"), 'not in the answer: "rain"'),
        (Mismatch("max_steps", 2, 3), "max_steps is 2: it was 3"),
        (Mismatch("cost", 0.1, 0.2), "cost is 0.1: it was 0.2"),
        (Mismatch("turn", got="empty", why="the model returned nothing"), "the model returned nothing"),
    ],
)
def test_a_mismatch_in_words(mismatch: Mismatch, words: str) -> None:
    assert mismatch_words(mismatch) == words
