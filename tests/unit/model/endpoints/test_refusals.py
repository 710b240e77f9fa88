"""The order of the rows; what each does is tested over HTTP, in tests/protocol/test_refusals.py."""

from tui.model.endpoints.refusal_rows import Do
from tui.model.endpoints.refusals import TABLE


def _first(do: Do) -> int:
    return next(at for at, row in enumerate(TABLE) if row.do is do)


def _last(do: Do) -> int:
    return max(at for at, row in enumerate(TABLE) if row.do is do)


def test_limits_of_a_day_come_before_those_that_a_wait_helps() -> None:
    assert _first(Do.NEXT_DAY) < _first(Do.PAY_OR_WAIT)
    assert _last(Do.WAIT_LONG) < max(at for at, row in enumerate(TABLE) if row.do is Do.WAIT)


def test_words_that_are_only_told_come_last() -> None:
    assert _last(Do.OMIT) < _first(Do.CHECK_KEY) and _last(Do.SHORTEN) < _first(Do.TRY_AGAIN)
