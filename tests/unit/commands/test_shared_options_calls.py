"""The command lines of the four commands."""

import pytest

from tui.cli import _parsed
from tui.commands.command_line import build_parser
from tui.commands.shared_options import VERBS, usage


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
