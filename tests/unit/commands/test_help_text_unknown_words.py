"""Unknown words of the command line."""

import pytest

from tui.cli import main
from tui.commands.help_text import command_word


@pytest.mark.parametrize(
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
    ("words", "prog", "said"),
    [
        (["--sesion", "x"], "mcptui", "unknown option “--sesion”, did you mean “--session”?"),
        (["serverss"], "mcptui", "unknown command “serverss”, did you mean “servers”?"),
        (["zzz"], "mcptui", "unknown command “zzz”. See mcptui --help"),
        (["-"], "mcptui", "unknown command “-”. See mcptui --help"),
        (["--", "run"], "mcptui", "unknown command “--”. See mcptui --help"),
        (["--theme", "quay", "sevrers"], "mcptui", "unknown command “sevrers”, did you mean “servers”?"),
        (["trce"], "mcptui", "unknown command “trce”. See mcptui --help"),
        (["config", "shwo"], "mcptui config", "unknown action “shwo”, did you mean “show”?"),
        (["sessions", "zzz"], "mcptui sessions", "unknown action “zzz”. See mcptui sessions --help"),
        (["run", "--jsn", "x"], "mcptui run", "unknown option “--jsn”, did you mean “--json”?"),
        (
            ["config", "init", "--prnt"],
            "mcptui config init",
            "unknown option “--prnt”, did you mean “--print”?",
        ),
        (["run", "x", "--theme=quay"], "mcptui run", "the option “--theme” goes before the command"),
        (["man", "x"], "mcptui man", "unexpected argument “x”. See mcptui man --help"),
    ],
)
def test_an_unknown_word_is_named_with_what_it_resembles(
    words: list[str], prog: str, said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(f"usage: {prog} ") and told.endswith(f"{prog}: error: {said}\n")
