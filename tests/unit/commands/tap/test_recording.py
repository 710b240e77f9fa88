"""Which environment variables a tap redacts in its recording."""

import pytest

from tui.commands.tap.recording import known_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_AUTHOR_NAME", "Jo Smith"),
        ("GIT_AUTHOR_EMAIL", "jo@example.com"),
        ("KEYBOARD_LAYOUT", "us, intl, de"),
        ("MONKEY_HOME", "/home/monkey"),
        ("TOKENIZERS_PARALLELISM", "false, always"),
        ("SECRETARY", "Jo Smith"),
        ("COMPASS", "north-west"),
        ("PWD", "/home/me/work"),
    ],
)
def test_the_value_of_a_variable_with_a_similar_name_is_recorded(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(name, value)
    assert name not in known_secrets(())


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "APIKEY", "PGPASSWORD", "GITHUBTOKEN", "AUTHORIZATION", "GH_AUTH", "SMTP_PASS",
     "TOKENS", "MONKEY_API_KEY", "client_secret", "AUTHOR_TOKEN"],
)  # fmt: skip
def test_the_value_of_a_variable_named_like_a_secret_is_redacted(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "hunter2-hunter2")
    assert known_secrets(())[name] == "hunter2-hunter2"
