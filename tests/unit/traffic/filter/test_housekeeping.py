"""Which entries are housekeeping, and which of them are not folded."""

import pytest

from tests.unit.traffic.small_traffic import Traffic
from tui.core.traffic import Outcome
from tui.traffic.filter.housekeeping import LOOK_BACK, Housekeeping


def shown(traffic: Traffic) -> list[int]:
    """Return the seqs of the entries that are not folded."""
    rule = Housekeeping(traffic.columns)
    return [entry.seq for at, entry in enumerate(traffic.entries) if not rule.folds(at)]


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.CANCELLED, Outcome.LOST])
def test_failures_and_their_retries_are_not_folded(outcome: Outcome) -> None:
    traffic = Traffic()
    traffic.call("", method="tools/list", source="other")
    failed = traffic.call("", method="tools/list", outcome=outcome)
    traffic.call("", method="tools/list", source="other")
    retry = traffic.call("", method="tools/list")
    traffic.call("", method="tools/list")
    assert shown(traffic) == [failed, failed + 1, retry, retry + 1]


def test_a_request_long_after_a_failure_is_no_retry() -> None:
    traffic = Traffic()
    failed = traffic.call("", method="tools/list", outcome=Outcome.ERROR)
    for _ in range(LOOK_BACK // 2):
        traffic.call("", method="ping")
    traffic.call("", method="tools/list")
    assert shown(traffic) == [failed, failed + 1]


def test_a_request_that_was_sent_before_the_failure_is_no_retry() -> None:
    traffic = Traffic()
    failed, other = (traffic.ask("", method="tools/list") for _ in range(2))
    traffic.answer(failed, Outcome.ERROR)
    traffic.answer(other, Outcome.OK)
    assert shown(traffic) == [failed, failed + 2]


def test_what_took_a_second_is_not_folded_and_an_open_stream_is() -> None:
    traffic = Traffic()
    slow = traffic.call("", method="resources/list", took_ms=1_000)
    traffic.call("", method="resources/list", took_ms=999)
    traffic.ask("", method="subscriptions/listen")
    traffic.call("", method="subscriptions/listen", took_ms=5_000, outcome=Outcome.LOST)
    assert shown(traffic) == [slow, slow + 1]


def test_a_probe_of_an_older_server_is_folded_and_calls_are_not() -> None:
    traffic = Traffic()
    traffic.call("", method="server/discover", outcome=Outcome.PROBE)
    called = traffic.call("get")
    assert shown(traffic) == [called, called + 1]
