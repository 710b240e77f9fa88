"""Caching hints of lists and resources: parsing and wording."""

from typing import Any

import pytest
from hypothesis import example, given

from tests.foreign import FOREIGN
from tui.core.workbench import CacheHint

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("raw", "ttl_ms", "scope"),
    [
        ({"ttlMs": 3000, "cacheScope": "public"}, 3000, "public"),
        ({"ttlMs": 0, "cacheScope": "private"}, 0, "private"),
        ({}, None, ""),
        ({"ttlMs": -1, "cacheScope": "everybody"}, None, ""),
        ({"ttlMs": True, "cacheScope": ["public"]}, None, ""),
    ],
)
def test_a_malformed_caching_hint_counts_as_absent(
    raw: dict[str, Any], ttl_ms: int | None, scope: str
) -> None:
    assert CacheHint.of(raw, 5) == CacheHint(ttl_ms, scope, 5)


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (CacheHint(300_000, "public", 0), "fresh for 4 m 50 s (public)"),
        (CacheHint(9_000, "private", 0), "stale (private)"),
        (CacheHint(0, "", 0), "not cacheable"),
        (CacheHint(None, "private", 0), ""),
    ],
)
def test_freshness_is_counted_from_the_request(hint: CacheHint, words: str) -> None:
    assert hint.words(10 * SECOND) == words


@given(FOREIGN)
@example(10**400)
def test_any_ttl_can_be_shown(ttl: Any) -> None:
    assert len(CacheHint.of({"ttlMs": ttl}, 5).words(2 * 10**9)) < 60
