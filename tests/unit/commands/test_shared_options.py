"""The options that commands share, and the command lines of `call`, `read`, `prompt` and `list`."""

import argparse

import pytest

from tui.cli import _parsed
from tui.commands.command_line import build_parser
from tui.commands.shared_options import VERBS, add_question_options, usage


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


def test_words_around_options_are_one_list_and_a_command_is_kept_unchanged():
    args = _parsed(["--config", "list", "call", "s", "--json", "t", "-v", "a=-1", "--", "x", "--json", "--"])
    assert (args.command, args.config, args.words) == ("call", "list", ["s", "t", "a=-1"])
    assert args.live_command == ["x", "--json", "--"]


def test_two_dashes_keep_their_meaning_for_other_commands():
    assert _parsed(["run", "--", "call"]).prompt == "call"


def test_an_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        _parsed(["call", "s", "t", "--bogus"])
    assert ended.value.code == 2 and "--bogus" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "x", "86401"])
def test_seconds_must_be_a_positive_number(given: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["call", f"--seconds={given}", "s", "t"])
    assert (
        f"must be a number of seconds, more than 0, at most 86400, not “{given}”" in capsys.readouterr().err
    )


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_shows_both_forms_and_examples(verb: str, capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args([verb, "--help"])
    out = capsys.readouterr().out
    assert usage(verb).splitlines()[1].strip() in out and f"  mcptui {verb} " in out and "exit codes" in out
