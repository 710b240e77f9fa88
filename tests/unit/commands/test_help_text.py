"""`--help` fits the terminal, whatever its width; an unknown word is named with what it resembles."""

import argparse
import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.cases import each_case
from tui.cli import main
from tui.commands.command_line import build_parser
from tui.commands.help_text import columns, command_word, help_text


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    parser.format_help()  # builds it
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from every_parser(command)


def test_no_help_line_is_wider_than_80_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    helps = {parser.prog: parser.format_help() for parser in every_parser(build_parser())}
    assert len(helps) > 30
    wide = [f"{prog}: {line}" for prog, text in helps.items() for line in text.splitlines() if len(line) > 79]
    assert wide == []


@pytest.mark.parametrize("width", [50, 80, 120])
def test_paragraphs_are_wrapped_and_examples_are_kept(width: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    words = " ".join(["word"] * 40)
    about = f"{words[:99]}\n{words[100:]}\n\n  first   example\n  second  example\n\nlast\nlines\n"

    text = argparse.ArgumentParser(description=about, formatter_class=help_text, add_help=False).format_help()

    lines = text.splitlines()
    assert width - 8 < max(map(len, lines)) <= width - 2
    assert lines[-5:] == ["", "  first   example", "  second  example", "", "last lines"]
    assert text.split().count("word") == 40


@pytest.mark.parametrize("given", ["120", "0", "-1", "wide", ""])
def test_help_is_as_wide_as_argparse_would_make_it(given: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", given)
    assert columns() == shutil.get_terminal_size().columns


def test_without_a_terminal_help_is_80_columns_wide(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", None)
    assert columns() == shutil.get_terminal_size().columns == 80


@pytest.mark.parametrize("given", ["1", "2", "3", "1000000000", "99999999999999999999", "9" * 5000])
def test_every_help_can_be_laid_out_at_every_width(given: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", given)
    for parser in every_parser(build_parser()):
        assert "usage" in parser.format_help()


@each_case(
    ("words", "command"),
    [
        (["run", "add"], "run"),
        (["--model", "run", "traffic"], "traffic"),
        (["--theme=run", "mock"], "mock"),
        (["--demo", "--no-start", "run"], "run"),
        (["--version"], ""),
        ([], ""),
    ],
)
def test_the_command_is_the_first_word_that_belongs_to_no_option(words: list[str], command: str):
    assert command_word(words) == command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sesion", "x"], "unknown option “--sesion”, did you mean “--session”?"),
        (["serverss"], "unknown command “serverss”, did you mean “servers”?"),
        (["zzz"], "unknown command “zzz”. See mcptui --help"),
        (["-"], "unknown command “-”. See mcptui --help"),
        (["--", "run"], "unknown command “--”. See mcptui --help"),
        (["--theme", "quay", "sevrers"], "unknown command “sevrers”, did you mean “servers”?"),
        (["trce"], "unknown command “trce”. See mcptui --help"),
        (["config", "shwo"], "unknown action “shwo”, did you mean “show”?"),
        (["sessions", "zzz"], "unknown action “zzz”. See mcptui sessions --help"),
        (["run", "--jsn", "x"], "unknown option “--jsn”, did you mean “--json”?"),
        (["config", "init", "--prnt"], "unknown option “--prnt”, did you mean “--print”?"),
        (["run", "x", "--theme=quay"], "the option “--theme” goes before the command. See mcptui run --help"),
        (["tap", "--nme"], "unknown option “--nme”, did you mean “--name”?"),
        (["config"], "ACTION is required. See mcptui config --help"),
        (["man", "x"], "unexpected argument “x”. See mcptui man --help"),
    ],
)
def test_an_unknown_word_is_named_with_what_it_resembles(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err == f"mcptui: {said}\n"
