"""The delay that an endpoint requests."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.errors import ModelError
from tui.core.http_waits import LONGEST_RETRY
from tui.model.endpoints.endpoint_errors import status_error
from tui.model.endpoints.failures import asked_wait, reply_error
from tui.model.endpoints.profile import ModelProfile


@each_case(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 7.66s.", 7.66),
        ("Please try again in 1m6.5s. Visit", 66.5),
        ("{'details': [{'@type': 'RetryInfo', 'retryDelay': '37s'}]}", 37),
        ("Please retry after 12 seconds.", 12),
        ("Please wait 20 seconds before you ask again", 20),
        ("Too many requests. Try again in 1 minute and 5 seconds", 65),
        ("Your request was throttled, try your request again in a minute", 60),
        ("organization max RPM: 3, please try again after 1 seconds", 1),
        ("The limit resets in 3h", 10_800),
        ("Retry-After: 30", 30),
        ("请在30秒后重试", 30),
        ("Try again later.", None),
        ("It may be retried 3 times within 5 s", None),
        ("wait for 5 apples", None),
    ],
)
def test_the_delay_is_also_read_from_the_message(words: str, seconds: float | None) -> None:
    found = asked_wait(words)
    assert found == (None if seconds is None else pytest.approx(seconds))


@given(st.text())
def test_any_message_has_a_delay_or_none(words: str) -> None:
    found = asked_wait(words)
    assert found is None or found >= 0


@each_case(
    ("body", "seconds"),
    [
        ([{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "2s"}]}}], 2),
        ({"error": {"details": [{"retryDelay": {"seconds": 3, "nanos": 0}}]}}, 3),
        ({"error": "Model x is currently loading", "estimated_time": 20.0}, 20),
        ({"error": {"type": "usage_limit_reached", "resets_in_seconds": 123}}, 123),
        ({"retry_after_ms": 1500}, 1.5),
        ({"error": {"message": "no", "metadata": {"headers": {"X-RateLimit-Reset": "12"}}}}, 12),
        ({"error": {"message": "no", "retry_after": True, "resets_at": "soon"}}, None),
        ("a text", None),
        (None, None),
    ],
)
def test_the_delay_is_read_from_the_fields_of_a_body(body: Any, seconds: float | None) -> None:
    assert asked_wait(body) == seconds


def test_a_reset_in_milliseconds_since_1970_is_relative_to_now() -> None:
    at = f"{(time.time() + 60) * 1000:.0f}"
    found = asked_wait({"error": {"metadata": {"headers": {"X-RateLimit-Reset": at}}}})
    assert found is not None and 50 < found < 61


def test_headers_about_limits_count_only_when_one_was_reached() -> None:
    headers = {"x-ratelimit-reset-tokens": "10s"}
    assert (asked_wait("", headers), asked_wait("", headers, limited=True)) == (None, 10)


GEMINI = (
    "You exceeded your current quota, please check your plan and billing details. "
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 10"
)


def gemini(period: str, *words: str, delay: str = "") -> ModelError:
    violation = {"quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier", "quotaValue": "10"}
    details = [{"violations": [violation]}, *([{"retryDelay": delay}] if delay else [])]
    body = [{"error": {"code": 429, "message": " ".join((GEMINI, *words)), "details": details}}]
    return status_error(PROFILE, 429, body, {})


PROFILE = ModelProfile("m", "http://127.0.0.1:1/v1", "m")


def test_a_quota_with_a_delay_is_a_limit_and_not_about_payment() -> None:
    for error in (gemini("Minute", delay="2s"), gemini("Minute", "Please retry in 2s.")):
        assert (error.retryable, error.retry_after) == (True, 2)
        assert "Add credit" not in error.next_step


def test_a_quota_without_a_delay_is_about_payment() -> None:
    error = status_error(PROFILE, 429, {"error": {"message": GEMINI, "code": "insufficient_quota"}}, {})
    assert not error.retryable and "Add credit" in error.next_step


def test_a_daily_quota_is_not_retried_although_a_delay_is_named() -> None:
    error = gemini("Day", "Please retry in 34s.", delay="34s")
    assert not error.retryable and "limit is reset" in error.next_step


@pytest.mark.parametrize(
    "words",
    [
        "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock more",
        "you have used up your daily free allocation of 10,000 neurons",
        "Rate limit reached on tokens per day (TPD): Limit 100000",
        "Usage limit reached for 5 hour.",
    ],
)
def test_a_limit_of_hours_without_a_delay_is_not_retried(words: str) -> None:
    error = status_error(PROFILE, 429, {"error": {"message": words}}, {})
    assert not error.retryable and "limit is reset" in error.next_step
    assert status_error(PROFILE, 429, {"error": {"message": f"{words}. Try again in 20s"}}, {}).retryable


def test_a_reset_in_hours_is_told() -> None:
    headers = {
        "X-RateLimit-Reset": f"{(time.time() + 15 * 3600 + 30) * 1000:.0f}",
        "X-RateLimit-Remaining": "0",
    }
    body = {"error": {"message": "free-models-per-day", "metadata": {"headers": headers}}}
    assert "Wait 15 h 00 m" in status_error(PROFILE, 429, body, {}).next_step


@each_case(
    ("status", "words"),
    [
        (503, "Loading model"),
        (500, "unexpected server status: llm server loading model"),
        (503, "Model org/name is currently loading"),
        (400, "Model is still loading, please wait"),
        (503, "The model is warming up"),
        (503, "Server is not ready yet"),
        (503, "DEPLOYMENT_SCALING_UP"),
    ],
)
def test_a_server_that_loads_a_model_is_waited_for(status: int, words: str) -> None:
    error = status_error(PROFILE, status, {"error": {"message": words}}, {})
    assert error.loading and error.retryable and "loaded" in error.next_step
    within = reply_error({"error": {"message": words, "code": status}})
    assert within is not None and within.loading and within.retryable


@each_case(
    "words",
    [
        "error loading model: unable to allocate buffer",
        "model failed to load, this may be due to resource limitations",
        "timed out waiting for llama runner to start",
        "No models loaded. Please load a model",
        "The model is overloaded. Please try again later.",
    ],
)
def test_a_model_that_cannot_be_loaded_is_not_waited_for(words: str) -> None:
    assert not status_error(PROFILE, 500, {"error": {"message": words}}, {}).loading


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "The deployment gpt-5 is not ready or does not exist."),
        (400, "This model is starting to be deprecated, migrate to m-2"),
        (400, "Service account initializing failed: bad credentials"),
        (403, "The model is currently loading"),
    ],
)
def test_a_refused_request_is_not_waited_for_although_its_words_are_those_of_a_start(
    status: int, words: str
) -> None:
    error = status_error(PROFILE, status, {"error": {"message": words}}, {})
    assert not error.loading and not error.retryable


def test_the_delay_of_a_message_is_bounded() -> None:
    assert asked_wait("try again in 999999h") == LONGEST_RETRY
