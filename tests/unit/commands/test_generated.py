"""What is generated from the command line: completion scripts and the manual page."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tui.commands.command_line import build_parser
from tui.commands.generated import completion, man

COMMANDS = (
    "run",
    "call",
    "servers",
    "add",
    "config",
    "sessions",
    "tap",
    "traffic",
    "mock",
    "completion",
    "man",
)


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert completion(build_parser().parse_args(["completion", shell])) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_names_every_command_and_its_options(shell: str, capsys):
    found = script(shell, capsys)
    assert all(command in found for command in (*COMMANDS, "max-steps", "slowest"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_valid_in_its_shell(shell: str, tmp_path: Path, capsys):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell, capsys))
    subprocess.run([shell, "-n", path], check=True, timeout=30)


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("ses",), "sessions"), (("traffic", "--slo"), "--slowest"), (("completion", "z"), "zsh")],
)
def test_bash_completes_commands_options_and_values(words, expected, tmp_path: Path, capsys):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    path = tmp_path / "script"
    path.write_text(script("bash", capsys))
    ask = (
        f"source {path}; COMP_WORDS=(mcptui {' '.join(words)}); COMP_CWORD={len(words)};"
        ' _shtab_mcptui; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, timeout=30)
    assert done.stdout.split() == [expected]


def test_arguments_that_are_files_complete_as_files(capsys):
    assert "_shtab_mcptui_traffic_pos_0_COMPGEN=_shtab_compgen_files" in script("bash", capsys)


def test_the_manual_page_has_every_command(capsys):
    assert man(build_parser().parse_args(["man"])) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH MCPTUI")
    assert all(f"\\fI\\,{command}\\/\\fR" in page for command in COMMANDS)
