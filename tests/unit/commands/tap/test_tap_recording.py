"""The thread that records a tap, and which environment variables it redacts."""

import os
import sys

import pytest

from tests.cases import each_case
from tui.commands.tap.tap_recording import NICENESS, TapRecording, known_secrets, name_of


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
        ("XDG_SESSION_DIR", "/srv/some/folder"),
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
     "TOKENS", "MONKEY_API_KEY", "client_secret", "AUTHOR_TOKEN", "SERVICE_AUTH", "SESSION_COOKIE", "MY_PWD"],
)  # fmt: skip
def test_the_value_of_a_variable_named_like_a_secret_is_redacted(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "hunter2-hunter2")
    assert known_secrets(())[name] == "hunter2-hunter2"


def test_the_password_in_a_url_of_the_environment_is_redacted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://ada:swordfish-12345@db/notes")
    assert known_secrets(())["DATABASE_URL.0"] == "swordfish-12345"


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux only")
def test_the_thread_that_records_has_a_lower_priority_than_the_one_that_passes_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[int] = []

    def opened(*_: object) -> None:
        found.append(os.getpriority(os.PRIO_PROCESS, 0))
        raise OSError("the disk is full")

    monkeypatch.setattr("tui.commands.recordings.open_recorder", opened)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    tap = TapRecording("server")
    tap.begin(["server"], os.getpid())
    tap.end(0)
    assert found == [min(own + NICENESS, 19)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


@each_case(
    ("command", "name"),
    [
        (["uvx", "mcp-server-time"], "mcp-server-time"),
        (["npx", "-y", "@scope/server@1.2"], "server"),
        (["npx", "--token", "hunter2", "@scope/server@1.2"], "server"),
        (["node", "API_KEY=hunter2", "/srv/notes.js"], "notes"),
        (["docker", "run", "-e", "API_KEY=hunter2", "mcp/notes"], "notes"),
        (["npx", "tsx", "notes.ts"], "notes"),
        (["/usr/bin/python3.11", "server.py"], "server"),
    ],
)
def test_the_recording_is_named_after_the_program_and_never_after_a_secret(command: list[str], name: str):
    assert name_of(command) == name
