"""Names of values that are secret, and what they are shown as."""

import pytest

from tests.cases import each_case
from tui.core.secrets.secret_names import (
    MARK,
    is_secret_header,
    keychain_entry,
    mark_of,
    may_be_secret,
    names_a_secret,
    names_a_secret_argument,
)

SECRETS = (
    "password API_KEY apiKey x-api-key accessToken GITHUB_TOKEN clientSecret APIKey pin pass DB_PASS smtpPass"
).split()
HARMLESS = "keyword key max_tokens monkey author city session pinned pass_through bypass".split()


@each_case("name", [*SECRETS, *HARMLESS, ""])
def test_names_of_secrets_are_told_from_others(name: str):
    assert names_a_secret(name) == (name in SECRETS)


CREDENTIALS = (
    "Authorization Mcp-Session-Id cookie Set-Cookie X-API-Key x-goog-api-key X-Auth-Token"
    " Ocp-Apim-Subscription-Key Proxy-Authorization"
).split()
OTHERS = (
    "Content-Type Mcp-Protocol-Version WWW-Authenticate x-request-id x-ratelimit-limit-tokens"
    " access-control-allow-credentials Idempotency-Key Mcp-Method"
).split()


@each_case("name", CREDENTIALS + OTHERS)
def test_headers_with_credentials_are_told_from_others(name: str):
    assert is_secret_header(name) == (name in CREDENTIALS)


PAGES = "page_token next_token nextPageToken max_tokens continuation-token".split()
ABOUT = "token_count tokenLimit password_length secret_name access_key_id auth_mode".split()
GRANTING = (
    "session_id secretId auth_header token page_access_token refreshToken next_password pageTokenSecret"
).split()


@each_case("name", PAGES + ABOUT + GRANTING)
def test_arguments_that_grant_access_are_told_from_pages_and_descriptions(name: str):
    assert names_a_secret_argument(name) == (name in GRANTING)


@each_case(
    ("name", "is_secret"),
    [("PGPASSWORD", True), ("AUTHOR", False), ("KEYBOARD", False), ("PWD", False), ("my_token", True)],
)
def test_parts_of_names_are_enough_for_a_broader_guess(name: str, is_secret: bool):
    assert may_be_secret(name) == is_secret


@pytest.mark.parametrize(
    ("name", "mark"), [("api.key-1", "api.key-1"), ("my password: x", "password"), ("a b", "secret")]
)
def test_a_mark_has_a_name_without_white_space(name: str, mark: str):
    assert mark_of(name) == f"[redacted:{mark}]" and MARK.fullmatch(mark_of(name))


def test_an_entry_of_the_keychain_may_follow_a_scheme():
    assert keychain_entry("Bearer keyring:mcptui/weather") == ("Bearer ", "mcptui/weather")
    assert keychain_entry("keyring:a/b") == ("", "a/b")
    assert keychain_entry("keyring:nothing") is None
