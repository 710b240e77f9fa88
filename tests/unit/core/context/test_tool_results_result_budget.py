"""The results of one reply share the window fairly."""

from hypothesis import given
from hypothesis import strategies as st

from tests.media import image
from tui.core.context.tool_results import (
    BATCH_SHARE,
    BYTES_PER_TOKEN,
    MIN_BYTES,
    PICTURE_BYTES,
    ResultBudget,
    result_room,
)
from tui.core.conversation.conversation import Attachment


def test_one_result_may_use_a_tenth_of_the_window() -> None:
    assert ResultBudget(1_000_000, 10_000, 1).limit() == 1_000 * BYTES_PER_TOKEN


def test_one_result_uses_no_more_than_the_configured_limit() -> None:
    assert ResultBudget(5_000, 1_000_000, 1).limit() == 5_000


def test_many_results_share_the_total_budget() -> None:
    assert ResultBudget(1_000_000, 10_000, 16).limit() == 6_000 * BYTES_PER_TOKEN // 16


def test_unused_budget_goes_to_the_other_results() -> None:
    ration = ResultBudget(1_000_000, 10_000, 16)
    before = ration.limit()
    ration.take("short")
    assert ration.limit() > before


def test_an_image_uses_budget_too() -> None:
    ration = ResultBudget(1_000_000, 10_000, 3)
    picture = Attachment("image", "image/png", "image 1", 9, image().data)
    ration.take("", [picture] * 4)
    assert 4 * PICTURE_BYTES == 6_000 * BYTES_PER_TOKEN and ration.limit() == MIN_BYTES


def test_a_flood_is_bounded_even_if_the_window_is_unknown() -> None:
    assert ResultBudget(32_768, None, 1).limit() == 32_768
    assert ResultBudget(32_768, None, 100).limit() < 32_768


@given(st.integers(1, 64), st.integers(4_000, 200_000), st.lists(st.integers(0, 100_000), max_size=64))
def test_all_results_together_stay_within_their_share(calls: int, window: int, sizes: list[int]) -> None:
    ration, total = ResultBudget(10**9, window, calls), 0
    for size in sizes[:calls]:
        told = min(size, ration.limit())
        assert told <= max(MIN_BYTES, result_room(window))
        ration.take("x" * told)
        total += told
    assert total <= window * BATCH_SHARE * BYTES_PER_TOKEN + calls * MIN_BYTES
