"""Caching hints of lists and resources: parsing and wording."""

from typing import Any

import pytest
from hypothesis import example, given

from tests.cases import each_case
from tests.foreign import FOREIGN
from tui.core.secrets.redact import Redactor
from tui.core.workbench import (
    MAX_ARGUMENTS,
    MAX_LAST,
    MAX_SAVED,
    CacheHint,
    CallKey,
    CallKind,
    CallMemory,
    arguments_to_keep,
)

SECOND = 1_000_000_000


@each_case(
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


KEY = CallKey("weather", CallKind.TOOL, "get_weather")
OTHER = CallKey("notes", CallKind.TOOL, "add_note")


def test_the_last_arguments_of_a_tool_are_remembered():
    memory = CallMemory().called(KEY, {"city": "Oslo"}).called(KEY, {"city": "NYC"})
    assert dict(memory.last) == {KEY: {"city": "NYC"}}


def test_the_least_recently_used_tool_is_forgotten_first():
    memory = CallMemory().called(KEY, {}).called(OTHER, {})
    memory = memory.called(KEY, {"again": True})
    for number in range(MAX_LAST - 1):
        memory = memory.called(CallKey("s", CallKind.TOOL, f"{number}"), {})
    assert KEY in memory.last and OTHER not in memory.last and len(memory.last) == MAX_LAST


def test_arguments_that_are_too_large_are_not_saved_and_do_not_replace_earlier_ones():
    memory = CallMemory().called(KEY, {"a": 1})
    assert memory.called(KEY, {"a": "x" * MAX_ARGUMENTS}) == memory
    with pytest.raises(ValueError, match="64 KiB"):
        memory.with_saved(KEY, "big", {"a": "x" * MAX_ARGUMENTS})


def test_saved_calls_are_named_separately_for_each_tool():
    memory = CallMemory().with_saved(KEY, "the usual", {"city": "Oslo"}).with_saved(OTHER, "the usual", {})
    assert memory.saved[KEY]["the usual"] == {"city": "Oslo"}
    assert memory.without_saved(KEY, "the usual").saved == {OTHER: {"the usual": {}}}


@each_case(
    ("name", "why"),
    [
        ("", "A name is required."),
        ("x" * 33, "The name is limited to 32 characters."),
        *((name, "Use letters, digits") for name in (" x", "x ", "-x", "a\nb", "a/b", "\x1b[31m", "[bold]")),
    ],
)
def test_a_name_that_cannot_be_shown_or_typed_is_rejected(name, why):
    with pytest.raises(ValueError, match=why):
        CallMemory().with_saved(KEY, name, {})


def test_the_number_of_saved_calls_is_limited_but_existing_ones_can_be_changed():
    memory = CallMemory()
    for number in range(MAX_SAVED):
        memory = memory.with_saved(KEY, f"n{number}", {})
    with pytest.raises(ValueError, match=f"limit of {MAX_SAVED} saved calls is reached"):
        memory.with_saved(OTHER, "one more", {})
    assert memory.with_saved(KEY, "n0", {"a": 1}).saved[KEY]["n0"] == {"a": 1}


def test_values_whose_names_or_texts_suggest_a_secret_are_left_out():
    arguments = {"user": "ann", "password": "x", "auth": {"kind": "basic", "on": True}, "pins": [1], "n": 3}
    found = arguments_to_keep(arguments, Redactor().redact)
    assert found == {"user": "ann", "auth": {"on": True}, "pins": [1], "n": 3}
    arguments = {"a": ["fine", "ghp_" + "a" * 36], "b": "Bearer abcdefghijklmnop"}
    assert arguments_to_keep(arguments, Redactor().redact) == {"a": ["fine"]}


def test_secrets_known_from_the_form_or_the_configuration_are_left_out():
    arguments = {"a": {"b": "x", "c": "y"}, "d": "my hunter2"}
    redacted = arguments_to_keep(arguments, lambda text: text.replace("hunter2", "***"), hidden={("a", "b")})
    assert redacted == {"a": {"c": "y"}}
