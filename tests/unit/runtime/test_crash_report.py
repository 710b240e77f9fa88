"""Reports of internal errors: readable, private, without secrets or values of variables."""

import io
import stat
import sys
from pathlib import Path

import pytest

from tui.core.secrets.redact import Redactor
from tui.runtime.crash_report import MOST_REPORTS, command_shown, report_command, report_crash, save_report


def raised(text: str = "a defect") -> Exception:
    """Return an exception raised in a function with a secret in a local variable."""

    def deep() -> None:
        local = "never-in-a-report"
        raise RuntimeError(f"{text} {len(local)}")

    try:
        deep()
    except RuntimeError as error:
        return error
    raise AssertionError


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "mcptui"


def reported(error: Exception, **more: object) -> str:
    stream = io.StringIO()
    given: dict[str, object] = {"during": "ChatScreen", "env": {}, "stream": stream} | more
    report_crash(error, **given)  # type: ignore[arg-type]
    return stream.getvalue()


def saved(state: Path) -> str:
    (path,) = (state / "crashes").iterdir()
    return path.read_text(encoding="utf-8")


def test_the_printed_line_names_the_error_and_the_file(state: Path):
    line = reported(raised(), ended="Servers were stopped.")
    (path,) = (state / "crashes").iterdir()
    wanted = "mcptui: Internal error: RuntimeError: a defect 17. Servers were stopped. Report: "
    assert line == f"{wanted}{path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_report_has_the_screen_the_traceback_and_the_versions(state: Path):
    reported(raised(), during="ChatScreen > HelpScreen", env={"TERM": "xterm", "TMUX": "1"})
    text = saved(state)
    for part in (
        "ChatScreen > HelpScreen",
        "in deep",
        "RuntimeError: a defect 17",
        "textual 8.",
        "xterm, tmux",
    ):
        assert part in text
    assert sys.version.split()[0] in text


def test_the_report_contains_no_secrets_or_variable_values(state: Path):
    config = state.parent / "own.toml"
    config.write_text('[servers.s]\ncommand = "x"\nenv = { TOKEN = "canary-config-1" }\n', encoding="utf-8")
    error = raised("canary-config-1 canary-run-22 canary-env-333 sk-proj-1234567890abcdefABCDEF")
    env = {"MY_TOKEN": "canary-env-333", "OLDPWD": "/usr"}
    line = reported(error, env=env, redactor=Redactor({"R": "canary-run-22"}), config=str(config))
    for text in (saved(state), line):
        assert "canary" not in text and "never-in-a-report" not in text and "sk-proj" not in text
        assert "[redacted:MY_TOKEN]" in text and "[redacted:OLDPWD]" not in text


def test_the_report_contains_no_password_of_an_unconfigured_url(state: Path):
    line = reported(raised("cannot reach postgres://u:canary-pw@db/notes?key=value"))
    assert "canary-pw" not in saved(state) + line
    assert "postgres://u:[redacted:password]@db/notes?key=value" in saved(state)


def test_control_characters_are_visible_symbols(state: Path):
    line = reported(raised("\x1b]0;pwned\x07"))
    assert "\x1b" not in line + saved(state) and "␛]0;pwned" in line


def test_a_long_message_is_truncated_even_that_of_a_cause(state: Path):
    try:
        try:
            raise ValueError("x" * 1_000_000)
        except ValueError as cause:
            raise RuntimeError("y" * 1_000_000) from cause
    except RuntimeError as error:
        line = reported(error)
    assert len(line) < 600 and len(saved(state)) < 10_000
    assert "(1,000,000 characters)" in saved(state)


def test_the_report_ends_with_the_last_lines_of_the_log(state: Path):
    state.mkdir()
    lines = "".join(f"line {number}\n" for number in range(200))
    (state / "mcptui.log").write_text(lines, encoding="utf-8")
    reported(raised())
    assert saved(state).endswith("line 199\n")
    assert "line 150\n" in saved(state) and "line 149\n" not in saved(state)


def test_the_report_has_the_states_of_the_servers_without_secrets(state: Path):
    reported(raised(), env={"API_KEY": "canary-12345678"}, servers=["weather  STOPPED  bad canary-12345678"])
    assert "Servers\n\nweather  STOPPED  bad [redacted:API_KEY]" in saved(state)


def test_the_home_folder_is_not_named(state: Path):
    reported(raised(f"{state.parent}/home/me/file"))
    assert "~/me/file" in saved(state)


def test_a_report_that_cannot_be_saved_is_printed(state: Path):
    state.write_text("in the way")
    text = reported(raised())
    assert "in deep" in text
    assert text.endswith("The report above could not be saved: Not a directory.\n")


def test_an_environment_variable_requests_a_printed_report(state: Path):
    assert "in deep" in reported(raised(), env={"MCPTUI_TRACEBACK": "1"})
    assert "in deep" not in reported(raised(), env={"MCPTUI_TRACEBACK": "0"})


def test_the_oldest_reports_are_removed(state: Path):
    folder = state / "crashes"
    folder.mkdir(parents=True)
    for number in range(MOST_REPORTS):
        (folder / f"2020{number:04}.txt").write_text("old")
    path = save_report("new")
    assert len(list(folder.iterdir())) == MOST_REPORTS
    assert path.exists() and not (folder / "20200000.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "mcptui"),
        (["run", "my question", "--model", "gpt", "--allow=x/*"], "mcptui run --model --allow"),
        (["/home/me/x.mcptrace"], "mcptui"),
    ],
)
def test_only_names_are_shown_of_the_arguments_of_a_command(arguments: list[str], shown: str):
    assert command_shown(arguments) == shown


def test_secrets_of_the_configuration_named_on_the_command_line_are_redacted(state: Path):
    config = state.parent / "own.toml"
    config.write_text('[models.m]\nmodel = "m"\nbase_url = "http://x"\napi_key = "canary-key-1"\n')
    stream = io.StringIO()
    arguments = ["run", "x", f"--config={config}", "--", "--config", "other"]
    assert report_command(raised("canary-key-1"), arguments, {}, stream) == 70
    assert "canary" not in stream.getvalue() + saved(state)
