"""Names that suggest a secret."""

import pytest

from tui.core.secrets.secret_names import names_a_secret


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "API_KEY",
        "apiKey",
        "x-api-key",
        "accessToken",
        "GITHUB_TOKEN",
        "clientSecret",
        "APIKey",
        "pin",
        "pass",
        "DB_PASS",
        "smtpPass",
    ],
)
def test_names_of_secrets_are_recognized(name):
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "keyword",
        "key",
        "max_tokens",
        "monkey",
        "author",
        "city",
        "",
        "session",
        "pinned",
        "pass_through",
        "bypass",
    ],
)
def test_other_names_are_not_secret(name):
    assert not names_a_secret(name)
