"""What a command of one server was asked for."""

from argparse import Namespace
from typing import Any

import pytest

from tui.cli import _parsed
from tui.commands.call.arguments import Arguments
from tui.commands.call.request import given_json, request_of, unconfigured
from tui.core.errors import ConfigError, UsageError
from tui.core.servers import Transport


def of(properties: dict[str, Any], **more: Any) -> Arguments:
    return Arguments("tool", {"type": "object", "properties": properties, **more})


def test_arguments_in_utf_16_are_named_as_such(tmp_path):
    path = tmp_path / "arguments.json"
    path.write_text("{}", encoding="utf-16")
    with pytest.raises(UsageError, match="it is UTF-16 text, not UTF-8"):
        given_json(Namespace(args=f"@{path}", unchecked=False))


def test_the_first_word_is_the_server_unless_a_command_follows():
    assert request_of(_parsed(["call", "s", "t", "a=1"])) == ("s", ("t", "a=1"))
    assert request_of(_parsed(["call", "t", "a=1", "--", "python3"])) == (None, ("t", "a=1"))


def test_the_words_of_a_command_are_not_expanded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_NAME", "value")
    args = _parsed(["list", "--env", "A=${SOME_NAME}", "--", "python3", "${SOME_NAME}"])
    found = unconfigured(args, request_of(args)[0])
    assert found is not None
    assert (found[0].args, found[0].env) == (("${SOME_NAME}",), {"A": "value"})


def test_the_value_of_a_header_is_a_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "t-3kq9Zt")
    args = _parsed(["list", "https://h.example/mcp", "--header", "Authorization: Bearer ${SOME_TOKEN}"])
    found = unconfigured(args, request_of(args)[0])
    assert found is not None and found[0].transport is Transport.HTTP
    assert "t-3kq9Zt" in found[1].values()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["list", "https://h.example", "--header", "A: ${NO_SUCH_TOKEN}"], "NO_SUCH_TOKEN is not set"),
        (["list", "--", "https://h.example"], "Put the URL first: mcptui"),
        (
            ["list", "https://h.example", "--env", "A=1"],
            "environment variables require a command, and this is a URL.",
        ),
        (["list", "--header", "A: b", "--", "python3"], "headers require a URL, and this is a command."),
    ],
)
def test_options_that_do_not_fit_the_server_are_refused(given: list[str], said: str):
    args = _parsed(given)
    with pytest.raises((UsageError, ConfigError)) as caught:
        unconfigured(args, request_of(args)[0])
    assert said in str(caught.value)
