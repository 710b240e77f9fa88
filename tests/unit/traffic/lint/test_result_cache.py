"""What identifies a cached result."""

from typing import Any

from tui.traffic.lint.result_cache import cache_key, digest_of


def test_only_cacheable_methods_have_a_key():
    assert cache_key("tools/call", {}) == "" and cache_key("tools/list", {})


def test_the_progress_token_does_not_matter():
    assert cache_key("tools/list", {"_meta": {"progressToken": 1}}) == cache_key("tools/list", {})


def test_the_order_of_params_does_not_matter():
    assert cache_key("skills/list", {"a": 1, "b": 2}) == cache_key("skills/list", {"b": 2, "a": 1})


def test_a_value_of_any_depth_has_a_hash():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert digest_of(deep) == digest_of([deep]) != digest_of([])
