"""Every failure before a reply names the cause and the next step, through the real client."""

from dataclasses import replace
from typing import Any

import pytest

from tests.endpoint import Answer, Endpoint, port_that_says, refuses
from tests.streams import ModelOutput, output_at
from tui.core.conversation.conversation import UserMessage
from tui.core.ports import ModelRequest
from tui.core.secrets.redact import Secret
from tui.model.endpoints.profile import ModelProfile

ASK = ModelRequest("be brief", [UserMessage("hi")])


async def asked(answer: Answer, **fields: Any) -> tuple[ModelOutput, Endpoint]:
    async with Endpoint([answer]) as endpoint:
        profile = ModelProfile("test", endpoint.base_url, "m")
        heard = await output_at(replace(profile, **fields), ASK)
    return heard, endpoint


def case(
    status: int, message: str, step: str, *, passes: bool = False, overflow: bool = False, **profile: Any
) -> Any:
    """Return one row: the response, the next step shown, and whether a retry can help."""
    return pytest.param(status, message, step, passes, overflow, profile, id=f"{status} {message[:40]}")


DEEPSEEK = {"api_key_env": "DEEPSEEK_API_KEY"}
OLLAMA = {"name": "ollama", "model": "qwen3:8b"}


@pytest.mark.parametrize(
    ("status", "message", "step", "passes", "overflow", "profile"),
    [
        case(401, "Authentication Fails", "Set DEEPSEEK_API_KEY", **DEEPSEEK),
        case(401, "Incorrect API key", "Check DEEPSEEK_API_KEY", api_key=Secret("sk-x"), **DEEPSEEK),
        case(401, "Unauthorized", "Paste a key: /key, or `mcptui config key test`"),
        case(401, "Incorrect API key", "the key in the keychain at mcptui/work", keychain="mcptui/work"),
        case(400, "API key not valid.", "Check KEY", api_key_env="KEY", api_key=Secret("x")),
        case(402, "Insufficient Balance", "Add credit"),
        case(403, "Country, region, or territory not supported", "permissions, region and billing"),
        case(429, "You exceeded your current quota, please check your plan", "Add credit"),
        case(429, "Rate limit reached", "Wait, then retry", passes=True),
        case(429, "Rate limit reached. Please try again in 7.5s.", "Wait 7.5 s", passes=True),
        case(400, "Failed to call a function. Please adjust.", "an invalid tool call", passes=True),
        case(408, "timeout", "Retry", passes=True),
        case(500, "internal error", "The endpoint failed", passes=True),
        case(500, "model requires more system memory (9 GiB) than is available (7 GiB)", "smaller model"),
        case(503, "Loading model", "Wait until the model is loaded", passes=True),
        case(500, "error loading model: cannot open its file", "The endpoint failed", passes=True),
        case(403, "Your organization must be verified to use the model `o3`.", "Verify the organization"),
        case(429, "Rate limit reached. Upgrade at console.groq.com/settings/billing", "Wait", passes=True),
        case(400, "maxTokens: the maximum tokens you requested exceeds the model limit of 4096", "to 4096"),
        case(529, "Overloaded", "The endpoint failed", passes=True),
        case(501, "not implemented", "The endpoint failed"),
        case(404, 'model "qwen3:8b" not found, try pulling it first', "`ollama pull qwen3:8b`", **OLLAMA),
        case(404, "model 'm' not found, try pulling it first", "`ollama pull m`"),
        case(404, "The model `m` does not exist", "Set `model` in the profile"),
        case(400, "invalid model", "or DEEPSEEK_MODEL", name="deepseek", source="environment"),
        case(404, "page not found", "Check base_url and model"),
        case(400, "Client sent an HTTP request to an HTTPS server.", "https://"),
        case(400, "m does not support tools", "tool_protocol"),
        case(400, "This model's maximum context length is 8192 tokens", "new conversation", overflow=True),
        case(413, "Request Entity Too Large", "new conversation", overflow=True),
        case(400, "something nobody has seen before", "Check the profile's model and base_url"),
    ],
)  # fmt: skip
async def test_a_rejection_is_reported_with_its_message_and_the_next_step(
    status: int, message: str, step: str, passes: bool, overflow: bool, profile: dict[str, Any]
) -> None:
    heard, endpoint = await asked(refuses(status, message), **profile)
    error = heard.error
    assert error is not None
    assert (error.status, error.retryable, error.overflow) == (status, passes, overflow)
    assert f"returned HTTP {status}: {message}" in str(error) and endpoint.base_url in error.where
    assert step in error.next_step


CHALLENGE = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>"


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_challenge_of_a_firewall_is_not_a_missing_permission_and_not_retried(status: int) -> None:
    heard, _ = await asked(Answer(status=status, body=CHALLENGE, headers={"cf-mitigated": "challenge"}))
    error = heard.error
    assert error is not None and f"HTTP {status}: Just a moment..." in str(error)
    assert "such as Cloudflare, refuses programs" in error.next_step and not error.retryable


async def test_a_max_tokens_in_extra_body_that_is_too_large_is_told_and_not_taken_for_an_overflow() -> None:
    words = (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is "
        "8192 tokens and your request has 300 input tokens (32000 > 8192 - 300)."
    )
    heard, endpoint = await asked(refuses(400, words), extra_body={"max_tokens": 32_000})
    error = heard.error
    assert error is not None and not error.overflow and error.window is None
    assert "Lower max_tokens in the profile to 7892." in error.next_step and len(endpoint.requests) == 1


async def test_a_missing_version_is_reported_after_both_were_tried() -> None:
    async with Endpoint([], prefix="/nowhere/v9") as endpoint:
        heard = await output_at(ModelProfile("test", endpoint.origin, "m"), ASK)
    assert heard.error is not None and "with and without /v1" in heard.error.next_step
    assert [other.path for other in endpoint.others] == ["/chat/completions", "/v1/chat/completions"]


async def test_an_endpoint_that_forbids_retries_is_not_retried() -> None:
    heard, _ = await asked(refuses(429, "slow down", headers={"x-should-retry": "false"}))
    assert heard.error is not None and not heard.error.retryable


@pytest.mark.parametrize(
    ("scheme", "said", "cause", "step", "retryable"),
    [
        (
            "https",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "does not use TLS",
            "Start base_url with http://",
            False,
        ),
        ("http", b"\x15\x03\x01\x00\x02\x02\x46", "not valid HTTP", "start base_url with https://", False),
        ("http", b"hello\r\n\r\n", "the first line of the", "start base_url with https://", False),
        ("http", b"HTTP/1.1 200 OK\r\nset-cookie: a=\0\r\n\r\n", "a header line of the", "base_url", True),
        ("http", b"", "cannot connect to", "that the model server is running", True),
    ],
)
async def test_another_protocol_on_the_port_is_reported_with_the_next_step(
    scheme: str, said: bytes, cause: str, step: str, retryable: bool
) -> None:
    async with port_that_says(said) as port:
        heard = await output_at(ModelProfile("test", f"{scheme}://127.0.0.1:{port}/v1", "m"), ASK)
    assert heard.error is not None and cause in heard.error.message and step in heard.error.next_step
    assert "bytearray" not in heard.error.message  # a line is not quoted: it may be a cookie
    assert heard.error.retryable is retryable
