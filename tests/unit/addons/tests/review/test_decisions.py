from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import TEXT, failures
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.decisions import Change, Decision, Review, counted


@pytest.fixture
def review(tmp_path: Path) -> Review:
    found = failures(tmp_path / "weather.mcp.toml")
    return Review.of(found, {found[0].path: TEXT})


def decided(review: Review, change: Change | None) -> str:
    """Take a change as written, and return the text."""
    assert change is not None
    review.made(change)
    return change.after


def test_an_accepted_result_changes_only_its_value_and_the_next_failure_follows(review: Review):
    review.step()
    after = decided(review, review.accept())
    assert after == TEXT.replace('text = "rain, <number> °C"', 'text = "snow, <number> °C"')
    assert review.current is not None and review.current.name == "an order"
    assert review.decision(1) is Decision.ACCEPTED
    assert review.progress == "3 of 5"


def test_a_part_that_varies_settles_a_failure_that_had_no_other_difference(review: Review):
    review.at = 2
    after = decided(review, review.vary(Part(("result", "state"))))
    assert '{ "id": "<id>", "state": "<text>" }' in after
    assert review.decision(2) is Decision.VARIES


def test_the_result_of_a_step_and_of_a_case_without_one_are_accepted(review: Review):
    review.at = 3
    after = decided(review, review.accept())
    assert '{ "n": 2 }' in after and 'text = "${id} is open"' in after
    after = decided(review, review.accept())
    assert 'name = "saved"\ntool = "weather"\ntext = "rain, 4 °C"' in after
    assert review.count(Decision.ACCEPTED) == 2


def test_undo_restores_the_text_and_the_failure(review: Review):
    review.at = 1
    decided(review, review.accept())
    review.at = 2
    decided(review, review.accept())
    for number in (2, 1):
        undo = review.undo()
        assert undo is not None and undo.decision is Decision.OPEN
        review.undone()
        assert review.at == number
    assert set(review.texts.values()) == {TEXT}
    assert not review.decisions and not review.can_undo and review.undo() is None


def test_what_keeps_failing_is_not_asked_about_again(review: Review):
    for _ in range(5):
        assert review.to_open()
        review.skip()
    assert review.count(Decision.SKIPPED) == 5
    assert review.open == 0 and not review.to_open()


def test_what_cannot_be_decided_makes_no_change(review: Review):
    assert review.accept() is None  # a contract
    review.at = 4
    assert review.vary(Part(("text",))) is None  # nothing is expected yet


def test_an_empty_review_does_nothing():
    review = Review([], {})
    review.step()
    review.skip()
    assert review.current is None and review.progress == "" and review.accept() is None


@pytest.mark.parametrize(("count", "words"), [(1, "1 keeps failing"), (2, "2 keep failing")])
def test_what_was_decided_is_counted_in_words(count: int, words: str):
    assert counted(Decision.SKIPPED, count) == words
