"""What mcptui reads from an endpoint's error message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import ModelError
from tui.model.endpoints.failures import judged, reply_error, said_in, window_in, words_of


@pytest.mark.parametrize(
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
        ("two\nlines", "two lines"),
        ({"success": False, "errors": [{"code": 7009, "message": "no"}], "messages": []}, "no"),
        (
            {"errors": [{"code": "x", "message": "no", "more_info": "m"}], "trace": "t", "status_code": 404},
            "no",
        ),
        ({"errors": ["no", "nor that"]}, "no; nor that"),
        ({"errors": {"model": ["is unknown"]}}, "model: is unknown"),
        ({"Message": "no"}, "no"),
        ({"__type": "com.amazon#AccessDenied", "Message": "no"}, "no"),
        ({"__type": "com.amazon#AccessDenied"}, "com.amazon#AccessDenied"),
        ({"status": "error", "reason": "no"}, "no"),
        ({"error": {"reason": "no", "code": "E1"}}, "no"),
        ({"detail": "no"}, "no"),
        (
            {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]},
            "model: Field required",
        ),
        ({"title": "Not Found", "status": 404, "detail": "no"}, "no"),
        ({"title": "Unprocessable", "status": 422}, "Unprocessable"),
        (
            {"statusCode": 400, "error": "Bad Request", "message": ["no", "nor that"]},
            "Bad Request: no; nor that",
        ),
        ({"error": "invalid_client", "error_description": "no"}, "invalid_client: no"),
        ({"error": True, "message": "no"}, "no"),
        ({"error": {"code": 503}}, "503"),
        ({"fault": {"faultstring": "no", "detail": {"errorcode": "x"}}}, "no"),
        ({"Response": {"Error": {"Code": "x", "Message": "no"}, "RequestId": "r"}}, "no"),
        ({"ResponseMetadata": {"Error": {"Code": "x", "Message": "no"}}}, "no"),
        ({"error_code": 336003, "error_msg": "no"}, "no"),
        ({"errorMessage": "no", "errorType": "Runtime"}, "no"),
        ({"exception": "ValueError: no"}, "ValueError: no"),
        ({"data": {"error": {"message": "no"}}}, "no"),
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
    assert words_of(body) == words


def test_what_repeats_the_request_says_nothing_about_the_error() -> None:
    echoed = {"messages": [{"content": "prompt is too long, rate limit, insufficient_quota"}]}
    body = {
        "detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": echoed}]
    }
    said = said_in(body)
    assert "model: Field required" in said and "too long" not in said
    assert not judged(said, 422).overflow and not judged(said, 422).billing


def test_scripts_and_styles_of_a_page_say_nothing_about_the_error() -> None:
    script = "<script>let rate = 'insufficient_quota, prompt is too long'</script>"
    page = f"<html>{script}<h1>Bad Gateway</h1></html>"
    said = said_in(page)
    assert said.strip() == "Bad Gateway" and not judged(said, 502).billing and not judged(said, 502).overflow


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
    assert link not in said and not judged(said, 429).billing


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
    assert len(words_of(body)) <= 300
    assert reply_error(body) is None or isinstance(reply_error(body), ModelError)


def test_a_rejected_key_is_not_about_payment_because_a_page_of_the_account_is_named() -> None:
    words = "Incorrect API key. Check your billing settings or create a key."
    assert not judged(words, 401).billing and judged(words, 429).billing
    assert judged("Your credit balance is too low", 401).billing


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_status_of_the_key_or_the_account_is_no_overflow(status: int) -> None:
    words = "Access token exceeds allowed age"
    assert judged(words, 400).overflow and not judged(words, status).overflow


TOO_LONG = {
    "Anthropic": "prompt is too long: 213462 tokens > 200000 maximum",
    "Anthropic, bytes": "request_too_large: Request exceeds the maximum size",
    "Bedrock": "Input is too long for requested model.",
    "OpenAI": "Your input exceeds the context window of this model.",
    "OpenAI, code": "context_length_exceeded",
    "LiteLLM": "Requested token count exceeds the model's maximum context length of 131072 tokens",
    "compatible": "Input length (265330) exceeds model's maximum context length (262144).",
    "Google": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Groq": "Please reduce the length of the messages or completion.",
    "OpenRouter": "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000",
    "Poolside": "Input length 9 exceeds the maximum allowed input length of 8 tokens.",
    "Together": "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length",
    "Copilot": "prompt token count of 9000 exceeds the limit of 8192",
    "MiniMax": "invalid params, context window exceeds limit",
    "Moonshot": "Your request exceeded model token limit: 8192 (requested: 9000)",
    "Mistral": "Prompt contains 9000 tokens, too large for model with 8192 maximum context length",
    "Ollama": "prompt too long; exceeded max context length by 100 tokens",
    "vLLM": "This model's maximum context length is 8192 tokens. However, you requested 10 output tokens",
    "vLLM, newer": (
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and "
        "your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens."
    ),
    "TGI": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` "
        "tokens and 100 `max_new_tokens`"
    ),
    "Zhipu": "Prompt 超长",
    "z.ai": "model_context_window_exceeded",
}


@pytest.mark.parametrize("words", TOO_LONG.values(), ids=TOO_LONG.keys())
def test_the_overflow_message_of_each_provider_is_recognized(words: str) -> None:
    assert judged(words, 400).overflow


@pytest.mark.parametrize(
    "words",
    [
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40000.",
        "Too many requests",
        "Service unavailable: too many tokens in flight",
        "You exceeded your current quota",
        "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
        "Invalid 'tools': array too long. Expected an array with maximum length 128",
        "string too long. Expected a string with maximum length 1024",
        "The model `context-long` does not exist",
    ],
)
def test_a_similar_message_is_not_an_overflow(words: str) -> None:
    assert not judged(words, 400).overflow


def test_status_413_is_an_overflow_without_a_message() -> None:
    assert judged("", 413).overflow and not judged("", 400).overflow
    assert not judged("Rate limit reached on tokens per minute", 413).overflow


@pytest.mark.parametrize(
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
