"""Errors about the context window are distinguished from similar ones."""

import pytest

from tui.model.endpoints.failures import is_overflow, window_in

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
    assert is_overflow(words, 400)


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
    assert not is_overflow(words, 400)


def test_status_413_is_an_overflow_without_a_message() -> None:
    assert is_overflow("", 413) and not is_overflow("", 400)
    assert not is_overflow("Rate limit reached on tokens per minute", 413)


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
