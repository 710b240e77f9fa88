"""What mcptui reads from an endpoint's error message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.errors import ModelError
from tui.model.endpoints.failures import judged, message_in, reply_error, said_in, window_in
from tui.model.endpoints.refusal_rows import Do


@each_case(
    ("body", "words"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"message": "no"}, "no"),
        ([{"error": {"message": "no"}}], "no"),
        ('{"error":{"message":"no"}}', "no"),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "quota"}}},
            "Provider returned error: quota",
        ),
        ("<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
        ("<html><body>Nothing <b>here</b></body></html>", "Nothing here"),
        ("<html><title> </title><style>a{b:c}</style><script>if (1 < 2) x()</script>Gone</html>", "Gone"),
        ("plain", "plain"),
        (
            {"errors": [{"code": "x", "message": "no", "more_info": "m"}], "trace": "t", "status_code": 404},
            "no",
        ),
        ({"errors": {"model": ["is unknown"]}}, "model: is unknown"),
        ({"__type": "com.amazon#AccessDenied", "Message": "no"}, "no"),
        ({"__type": "com.amazon#AccessDenied"}, "com.amazon#AccessDenied"),
        ({"status": "error", "reason": "no"}, "no"),
        ({"detail": "no"}, "no"),
        (
            {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]},
            "model: Field required",
        ),
        ({"title": "Not Found", "status": 404, "detail": "no"}, "no"),
        (
            {"statusCode": 400, "error": "Bad Request", "message": ["no", "nor that"]},
            "Bad Request: no; nor that",
        ),
        ({"error": "invalid_client", "error_description": "no"}, "invalid_client: no"),
        ({"error": True, "message": "no"}, "no"),
        ({"error": {"code": 503}}, "503"),
        ({"fault": {"faultstring": "no", "detail": {"errorcode": "x"}}}, "no"),
        ({"ResponseMetadata": {"Error": {"Code": "x", "Message": "no"}}}, "no"),
        ({"error_code": 336003, "error_msg": "no"}, "no"),
        ({"errorMessage": "no", "errorType": "Runtime"}, "no"),
        ({"exception": "ValueError: no"}, "ValueError: no"),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": '{"message": "no"}'}}},
            "Provider returned error: no",
        ),
        ("<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>no</Message></Error>", "no"),
        (None, ""),
        ({}, ""),
        ([[[[[[["deep"]]]]]]], ""),
    ],
)
def test_the_error_message_is_found_wherever_a_provider_puts_it(body: Any, words: str) -> None:
    assert message_in(body) == words


def test_what_repeats_the_request_says_nothing_about_the_error() -> None:
    echoed = {"messages": [{"content": "prompt is too long, rate limit, insufficient_quota"}]}
    body = {
        "detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": echoed}]
    }
    said = said_in(body)
    assert "model: Field required" in said and "too long" not in said
    assert judged(said, 422).final == ""


def test_scripts_and_styles_of_a_page_say_nothing_about_the_error() -> None:
    script = "<script>let rate = 'insufficient_quota, prompt is too long'</script>"
    page = f"<html>{script}<h1>Bad Gateway</h1></html>"
    said = said_in(page)
    assert said.strip() == "Bad Gateway" and judged(said, 502).final == ""


@pytest.mark.parametrize(
    "link",
    [
        "https://console.groq.com/settings/billing",
        "console.groq.com/settings/billing",
        "www.x.com/insufficient_quota",
    ],
)
def test_a_link_says_nothing_about_the_error(link: str) -> None:
    said = said_in({"error": {"message": f"Rate limit reached. Need more tokens? Upgrade at {link}"}})
    assert link not in said and judged(said, 429).final != Do.PAY


@pytest.mark.parametrize(
    "chunk",
    [
        {"success": False, "errors": [{"code": 3040, "message": "Capacity exceeded"}]},
        {"Message": "Capacity exceeded", "code": "Throttled"},
        {"status": "error", "reason": "Capacity exceeded"},
        {"detail": "Capacity exceeded"},
    ],
)
def test_an_error_in_a_stream_is_found_in_the_same_forms(chunk: dict[str, Any]) -> None:
    error = reply_error(chunk)
    assert error is not None and "Capacity exceeded" in error.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "object", "detail", "choices", "base_resp"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["error", "message", "object", "choices", "base_resp", "detail", "code"]), JSON
    )
)
def test_any_body_can_be_searched_for_an_error(body: dict[str, Any]) -> None:
    assert len(message_in(body)) <= 300
    assert reply_error(body) is None or isinstance(reply_error(body), ModelError)


def test_a_rejected_key_is_not_about_payment_because_a_page_of_the_account_is_named() -> None:
    words = "Incorrect API key. Check your billing settings or create a key."
    assert judged(words, 401).final != Do.PAY and judged(words, 429).final == Do.PAY
    assert judged("Your credit balance is too low", 401).final == Do.PAY


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_status_of_the_key_or_the_account_is_no_overflow(status: int) -> None:
    words = "Access token exceeds allowed age"
    assert judged(words, 400).final == Do.SHORTEN and judged(words, status).final != Do.SHORTEN


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and "
        "your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` "
        "tokens and 100 `max_new_tokens`",
    ],
)
def test_a_reply_for_which_no_room_is_left_is_an_overflow(words: str) -> None:
    assert judged(words, 400).final == Do.SHORTEN


def test_a_reply_for_which_room_is_left_is_none() -> None:
    words = "max_tokens is too large: 99999. This model supports at most 4096 completion tokens"
    assert judged(words, 400).final != Do.SHORTEN


def test_status_413_is_an_overflow_without_a_message() -> None:
    assert judged("", 413).final == Do.SHORTEN and judged("", 400).final != Do.SHORTEN
    assert judged("Rate limit reached on tokens per minute", 413).final != Do.SHORTEN


@each_case(
    ("words", "window"),
    [
        ("This model's maximum context length is 5000 tokens. However, you requested 9427 tokens", 5000),
        ("maximum context length is 128,000 tokens", 128_000),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("prompt is too long: 212345 tokens > 200000 maximum", 200_000),
        ("The maximum prompt length is 131072 but the request contains 140000 tokens", 131_072),
        ("input is too long for this model", None),
        ("context window exceeded", None),
    ],
)
def test_the_window_is_read_from_the_message(words, window):
    assert window_in(words) == window
