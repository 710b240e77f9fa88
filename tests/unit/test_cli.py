"""The command line: defaults and shortcuts."""

import gc
import os
import sys
from pathlib import Path

import pytest

from tui.cli import main
from tui.commands.command_line import build_parser
from tui.runtime.options import Options


def test_an_empty_command_line_has_the_same_options_as_the_parser(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr("tui.cli._app", lambda args: asked.append(args) or 0)

    assert main([]) == 0

    (args,) = asked
    parsed = build_parser().parse_args([])
    assert Options.from_args(args) == Options.from_args(parsed)
    assert args.theme == parsed.theme


def test_an_empty_name_of_a_session_is_not_the_same_as_none():
    parsed = build_parser().parse_args(["--session", ""])
    assert Options.from_args(parsed).session == ""


def test_a_deleted_working_directory_is_an_error_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    gone, before = tmp_path / "gone", os.getcwd()
    gone.mkdir()
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    os.chdir(gone)
    try:
        gone.rmdir()
        assert main([]) == 2
    finally:
        os.chdir(before)
    assert capsys.readouterr().err == (
        "mcptui: the current directory was deleted. Start mcptui in another one\n"
    )


def test_an_unknown_theme_on_the_command_line_is_an_error_that_names_the_option_and_the_themes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["--theme", "neon"]) == 2
    assert main(["--theme", "harbr"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("mcptui: --theme: theme “neon” not found. Available: ") and "quay" in first
    assert second == "mcptui: --theme: theme “harbr” not found, did you mean “harbor”?"


def test_the_former_name_of_traffic_still_works_but_is_not_in_the_help():
    parser = build_parser()
    assert vars(parser.parse_args(["trace", "--lint"])) == vars(parser.parse_args(["traffic", "--lint"])) | {
        "command": "trace"
    }
    assert "trace" not in parser.format_help()


def test_an_internal_error_of_a_command_leaves_a_report_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def fail(*_: object) -> int:
        raise RuntimeError("a defect")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("tui.commands.sessions.sessions", fail)

    assert main(["sessions", "--json"]) == 70

    (path,) = (tmp_path / "mcptui" / "crashes").iterdir()
    assert capsys.readouterr().err == f"mcptui: Internal error: RuntimeError: a defect. Report: {path}\n"
    assert "mcptui sessions --json" in path.read_text(encoding="utf-8")


def test_no_command_is_imported_with_collections_between(monkeypatch: pytest.MonkeyPatch):
    collecting = []
    monkeypatch.setattr(
        "tui.core.addons.brought", lambda kind, name: collecting.append(gc.isenabled()) or (lambda args: 0)
    )
    assert main(["test"]) == 0
    assert collecting == [False] and gc.isenabled()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["completion", "foo"], "mcptui: SHELL: must be bash, zsh or fish, not “foo”"),
        (
            ["run", "--approve", "some", "hi"],
            "mcptui: --approve: must be ask, reads, all or none, not “some”",
        ),
    ],
)
def test_a_value_that_is_not_one_of_the_choices_is_refused_in_our_words(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        build_parser().parse_args(words)
    assert said in capsys.readouterr().err
