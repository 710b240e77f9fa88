"""Which values look like generated secrets."""

import pytest

from tui.core.secrets.secret_shapes import looks_random, shapes_in


@pytest.mark.parametrize(
    "value",
    [
        "sk-proj-Zk3JQ9vT1wYb7LmN4xRcP2sDf8gHa6UeBi5Co",
        "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c",
        "AIzaSyD4kq9ZtYw7Hs2Vb8XrMd3Jp6cXw1Lq8Ne",
        "hf_QxZkWPLrTnvBYcMsDfGhJkAeUi",
        "0f8c2b7e91d34a56b8e07c1f2a9d3e45",
        "550e8400-e29b-41d4-a716-446655440000",
        "dXNlcjpwYXNzd29yZDEyMzQ=",
        "kP9/x2+Lq8vT1w==Yb7LmN4x",
    ],
)
def test_a_generated_key_looks_random(value: str):
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "lm-studio",
        "not-needed",
        "anything",
        "ollama",
        "sk-no-key-required",
        "NO_API_KEY_IS_NEEDED",
        "noApiKeyIsNeededHere",
        "my-local-llama-3-8b-key",
        "gateway-2024-06-01-preview",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-0000000000000000000000000",
        "correct horse battery staple",
        "Zk3JQ9vT1w",
    ],
)
def test_words_and_placeholders_do_not_look_random(value: str):
    assert not looks_random(value)


@pytest.mark.parametrize(
    "text",
    ["-eyJ-eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0", "eyJ.eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0 eyJhbGciOiJI.x"],
)
def test_a_jwt_is_found_behind_what_begins_like_one(text):
    (start, end, name), *others = shapes_in(text.encode())
    assert (name, others) == ("jwt", []) and text[start:end].endswith("eyJzdWIiOiIx.c2lnbmF0")
