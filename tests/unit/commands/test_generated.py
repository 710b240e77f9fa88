"""What is generated from the command line: completion scripts and the manual page."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tui.commands.command_line import (
    COMPLETION_ABOUT,
    EPILOG,
    EXIT_CODES,
    TRAFFIC_ABOUT,
    add_texts,
    build_parser,
)
from tui.commands.generated import completion, man
from tui.commands.tap.tap import tap_texts

COMMANDS = "run call servers add config sessions tap traffic mock completion man".split()


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


@pytest.mark.parametrize(
    ("shell", "registered"),
    [
        ("bash", ["complete -o bashdefault -F _shtab_mcptui mcptui mcptui-host"]),
        ("zsh", ["#compdef mcptui mcptui-host", "  compdef _shtab_mcptui -N mcptui mcptui-host"]),
        ("fish", ["complete -c mcptui-host -w mcptui"]),
    ],
)
def test_both_names_of_the_program_are_completed(shell: str, registered: list[str], capsys):
    assert {*registered} <= {*script(shell, capsys).splitlines()}


def test_arguments_that_are_files_complete_as_files(capsys):
    assert "_shtab_mcptui_traffic_pos_0_COMPGEN=_shtab_compgen_files" in script("bash", capsys)


def test_the_manual_page_has_every_command(capsys):
    assert man(build_parser().parse_args(["man"])) == 0
    page = capsys.readouterr().out
    assert page.startswith(".TH MCPTUI")
    assert all(f"\\fB{command}\\fR" in page for command in COMMANDS)
    assert all(f".SH MCPTUI {command.upper()}\n" in page for command in COMMANDS)


def test_the_sections_of_the_manual_page_are_those_that_a_reader_expects(capsys):
    man(build_parser().parse_args(["man"]))
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith(".SH")]
    first = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "MCPTUI RUN"]
    assert found[: len(first)] == [f".SH {name}" for name in first]
    assert not [line for line in found if "'" in line or "COMMENTS" in line or "TRACE" in line]


def test_usage_and_examples_of_the_manual_page_stay_as_written(tmp_path: Path, capsys):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    man(build_parser().parse_args(["man"]))
    path = tmp_path / "mcptui.1"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    groff = ["groff", "-man", "-Tutf8", "-P-cbou", "-K", "utf-8", "-ww", "-rLL=80n", str(path)]
    done = subprocess.run(groff, capture_output=True, text=True, timeout=60)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert not done.stderr and max(map(len, done.stdout.splitlines())) <= 88
    for text in (EPILOG + EXIT_CODES, add_texts()[1], TRAFFIC_ABOUT, tap_texts()[1], COMPLETION_ABOUT):
        assert [one for one in text.splitlines() if one.startswith("  ") and one.strip() not in lines] == []
    for usage in (add_texts()[0], tap_texts()[0]):
        assert [one for one in usage.splitlines() if one.strip() not in lines] == []
    assert "[--config FILE] [--trust-config] [--model PROFILE]" in " ".join(lines)
