"""Many cases in one test, for tests that only compute.

pytest, its plugins and its workers spend 3 ms on a test, a case that computes a tenth of that. Cases that
write files, start something or patch something are tests of their own: `pytest.mark.parametrize`.
"""

import reprlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

SHOWN = reprlib.Repr()
SHOWN.maxstring = SHOWN.maxother = 120


def each_case(
    names: str | Sequence[str], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test for each case, as `parametrize` would, and report every case that fails."""
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows = [case if len(words) > 1 else [case] for case in values]
    listed = [dict(zip(words, row, strict=True)) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        assert listed, f"{test.__name__} has no cases"

        def every_case() -> None:
            failures = [failure for case in listed if (failure := _failure(test, case))]
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(listed)} cases failed", failures)

        every_case.__name__, every_case.__qualname__ = test.__name__, test.__qualname__
        every_case.__module__, every_case.__doc__ = test.__module__, test.__doc__
        return every_case

    return decorate


def _failure(test: Callable[..., None], case: dict[str, Any]) -> BaseException | None:
    """Return what the test raises in a case, with a note of the case."""
    try:
        test(**case)
    except (Exception, pytest.fail.Exception) as failure:
        shown = (f"{name}={SHOWN.repr(value)}" for name, value in case.items())
        failure.add_note(f"in the case {', '.join(shown)}")
        return failure
    return None
