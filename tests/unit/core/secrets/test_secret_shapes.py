"""Which values look like generated secrets."""

import pytest

from tests.cases import each_case
from tui.core.secrets.secret_shapes import is_common, is_ordinary, is_searched, looks_random, shapes_in


@each_case(
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


@each_case(
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


@each_case(
    "value",
    [
        "debug",
        "Europe/Berlin",
        "America/Argentina/Buenos_Aires",
        "eu-central-1",
        "en_US.UTF-8",
        "json-lines",
        "gpt-4o-mini",
        "claude-3-5-sonnet-20241022",
        "https://api.example.com/v1",
        "localhost:11434",
        "--max-old-space-size=4096",
        "ada.lovelace@example.com",
        "1.2.3-beta.4",
        "readOnlyMode",
        '{"level": "debug", "depth": 3}',
        "/home/ada/My Notes",
        "C:\\Users\\ada",
        "2026-11-23",
        "2026-11-23T10:00:00Z",
        "2026-11-23 10:00:00.123+01:00",
        "20261123T100000Z",
        "cl100k_base",
        "o200k_harmony",
        "qwen3-30b-a3b",
    ],
)
def test_words_short_numbers_and_paths_are_ordinary_values(value):
    assert is_ordinary(value)
    assert not is_searched("SETTING", value)


@each_case(
    "value",
    [
        "canary-7f3a9c-secret",
        "p4ssw0rd!",
        "Summer!2024",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "https://hooks.example.com/services/T00000000/B00000000/9fKq2LmZ7xY1",
        "postgres://ada:hunter2hunter2@db/notes",
        "5f0c9a3e-1b7d-4c55-9a60-2f6d1c3b8e77",
        "xK9dQ2mZ7pL4",
        "ab1c-de2f-gh3i",
        "correct-horse-battery-staple-again",
    ],
)
def test_other_values_are_searched_for_whatever_their_name(value):
    assert not is_ordinary(value)
    assert is_searched("SETTING", value)


def test_a_name_that_suggests_a_secret_makes_words_and_numbers_secret():
    for value in ("correct-horse-battery", "opensesame", "12345678"):
        assert is_searched("DB_PASSWORD", value) and not is_searched("SETTING", value)


@each_case(
    ("name", "value"),
    [
        ("AUTH", "disabled"),
        ("DB_PASSWORD", "Password"),
        ("SECRET_KEY", "localhost"),
        ("TOKEN", "/home/ada/.config/token"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/key.json"),
        ("AUTH_URL", "https://login.example.com/oauth"),
        ("AUTH_TYPE", "client-secret-basic"),
        ("TOKEN_FILE", "tokens/current.txt"),
        ("TOKEN_EXPIRES", "2026-11-23T10:00:00Z"),
        ("AUTH_MODE", "interactive"),
        ("AUTH_MODE", "device-code-flow"),
        ("DB_PASSWORD", "administrator"),
        ("API_KEY_NAME", "X-Api-Key-Header"),
        ("MY_SECRET_NAME", "my-app-secret-name"),
        ("TOKEN_COUNT", "12345678"),
        ("CLIENT_ID", "5f0c9a3e-1b7d-4c55-9a60-2f6d1c3b8e77"),
        ("PROJECT", "my-project-123456"),
        ("PHONE", "+49 170 1234567"),
        ("ROLE", "arn:aws:iam::123456789012:role/ReadOnly"),
    ],
)
def test_common_values_paths_and_addresses_are_never_searched_for(name, value):
    assert not is_searched(name, value)


@each_case(
    ("name", "value"),
    [
        ("DB_PASSWORD", "opensesame"),
        ("DB_PASSWORD", "my-project-123456"),
        ("ADMIN_PASSWORD", "interactive1"),
        ("PIN", "83649271"),
        ("SESSION_ID", "12345678"),
        ("VAULT_SECRET_ID", "my-first-role"),
        ("AUTH_HEADER", "Token abcdefgh"),
        ("SECRET_NAME", "xK9dQ2mZ7pL4vB8nR5"),
        ("ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_a_name_or_a_shape_that_suggests_a_secret_is_enough(name, value):
    assert is_searched(name, value)


def test_a_secret_that_begins_with_a_slash_is_not_a_path():
    assert not is_common("/9fKq2LmZ7x+Y1bD4wQ8/sT6uV3nH5jR0c=")
    assert is_common("/var/lib/service/data")
