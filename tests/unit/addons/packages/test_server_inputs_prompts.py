"""Asking the user about a server from a registry or a bundle."""

import pytest

from tui.addons.packages.server_inputs import ServerInput, ask_for


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the lines that will be typed on a terminal."""
    lines: list[str] = []
    monkeypatch.setattr("tui.addons.packages.server_inputs.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: lines.pop(0))
    monkeypatch.setattr("getpass.getpass", lambda prompt: lines.pop(0))
    return lines


def test_a_value_is_asked_for_again_until_it_is_valid(typed: list[str], capsys):
    typed += ["x", "3"]
    assert ask_for(secrets=False)(ServerInput("n", kind="number", required=True)) == ("3",)
    assert "n must be a number" in capsys.readouterr().out


def test_an_empty_line_selects_the_default_and_secrets_are_asked_for_only_on_request(typed: list[str]):
    typed += ["", "s3cr3t"]
    assert ask_for(secrets=False)(ServerInput("n", required=True, default=("d",))) is None
    assert ask_for(secrets=False)(ServerInput("n", secret=True)) is None
    assert ask_for(secrets=True)(ServerInput("n", secret=True)) == ("s3cr3t",)


def test_colons_separate_several_values_and_choices_are_literal(typed: list[str]):
    typed += ["/a:/b", "${X}"]
    assert ask_for(secrets=False)(ServerInput("n", required=True, several=True)) == ("/a", "/b")
    assert ask_for(secrets=False)(ServerInput("n", required=True, choices=("${X}",))) == ("$${X}",)
