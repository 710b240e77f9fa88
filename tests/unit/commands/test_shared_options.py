"""The options that answer questions of servers."""

import argparse

import pytest

from tui.commands.shared_options import add_question_options


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_question_options(parser)
    return parser.parse_args(words)


def test_without_options_questions_are_declined_or_follow_the_configuration() -> None:
    assert vars(parsed()) == {
        "elicit": "decline",
        "sampling": None,
        "root": [],
        "accept_changes": False,
        "accept_suspicious": False,
    }


def test_every_option_is_parsed() -> None:
    words = "--elicit @a.json --sampling allow --root /a --root /b --accept-changes"
    assert vars(parsed(*words.split())) == {
        "elicit": "@a.json",
        "sampling": "allow",
        "root": ["/a", "/b"],
        "accept_changes": True,
        "accept_suspicious": False,
    }


@pytest.mark.parametrize("words", [("--elicit", "yes"), ("--elicit", "@"), ("--sampling", "ask")])
def test_an_invalid_value_is_a_usage_error(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parsed(*words)
    assert words[0] in capsys.readouterr().err
