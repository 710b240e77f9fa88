"""Plain mode, driven by transcripts: from a terminal and from pipes, over real servers."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.configurations import server, table
from tests.terminal.plain_session import PipedPlain, Session, TerminalPlain, follow, lines_of, prompted
from tests.terminal.pty_app import ROOT, TerminalApp, home_in

SERVERS = ROOT / "sample_config" / "servers"
FAULTS = ROOT / "tests" / "corpus" / "faults"
UP, RIGHT, LEFT, END, HOME, DELETE = "\x1b[A", "\x1b[C", "\x1b[D", "\x1b[F", "\x1b[H", "\x1b[3~"
BACKSPACE = "\x7f"
NEEDS_FILE = """
import pathlib, runpy, sys
if not pathlib.Path({database!r}).exists():
    print("no database yet", file=sys.stderr)
    sys.exit(3)
sys.path.insert(0, {folder!r})
runpy.run_path({script!r}, run_name="__main__")
"""


def plain_text(session: Session) -> str:
    """Return what was written, which has no escape sequence and returns to no line."""
    written = session.raw.replace(b"\r\n", b"\n")
    assert b"\x1b" not in written and b"\r" not in written
    return written.decode()


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config.toml"
    path.write_text(server("notes", SERVERS / "notes.py"))
    return str(path)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return home_in(tmp_path / "home") | {"MCPTUI_NOTES_FILE": str(tmp_path / "notes.json")}


@pytest.mark.parametrize("kind", [PipedPlain, TerminalPlain])
def test_a_chat_with_approval(kind: type[PipedPlain] | type[TerminalPlain], config: str, env: dict[str, str]):
    with kind("--demo", "--config", config, env=env) as session:
        follow(session, "approval")
        prompted(session)
        text = plain_text(session)
    assert text.count("\a") == (4 if kind is TerminalPlain else 0)  # two questions, two answers


def test_a_failing_server_is_found_and_restarted(tmp_path: Path, env: dict[str, str]):
    script, database = tmp_path / "server.py", tmp_path / "database"
    names = {"database": str(database), "folder": str(SERVERS), "script": str(SERVERS / "weather.py")}
    script.write_text(NEEDS_FILE.format(**names))
    (tmp_path / "config.toml").write_text(server("weather", script, trusted=True))
    with PipedPlain("--demo", "--config", str(tmp_path / "config.toml"), env=env) as session:
        follow(session, "failing_server")
        database.touch()
        follow(session, "restarted_server")
        assert session.ended() == 0
        plain_text(session)


def test_a_call_is_found_in_the_traffic_and_sent_again(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        follow(session, "resend")
        assert session.ended() == 0
        plain_text(session)


def test_plain_mode_ends_when_nobody_reads_its_output_any_longer(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        session.type("add a note: buy milk")
        session.until(lambda: "Answer with a number" in session.raw.decode())
        session.stops_reading()
        session.type("4")
        session.process.wait(20)


def test_lines_of_a_pipe_are_shown_once_on_a_terminal(config: str, env: dict[str, str]):
    command = (
        f"printf 'hello\\n/quit\\n' | {sys.executable} -m tui --plain --demo --no-start --config {config}"
    )
    with TerminalApp(["sh", "-c", command], env=env, draws=False) as app:
        assert app.ended() == 0
        lines = app.raw.decode().replace("\a", "").split("\r\n")
    assert [line for line in lines if line.startswith("you:")] == ["you: hello", "you: /quit"]


def test_a_call_is_kept_and_what_is_none_is_refused_before_a_question(
    config: str, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with PipedPlain("--demo", "--config", config, env=env) as session:
        follow(session, "kept")
        assert session.ended() == 0


def test_a_log_is_read_from_its_end(tmp_path: Path, env: dict[str, str]):
    script = tmp_path / "server.py"
    script.write_text("import sys\nfor n in range(100): print('line', n, file=sys.stderr)\nsys.exit(3)\n")
    (tmp_path / "config.toml").write_text(server("loud", script))
    with PipedPlain("--demo", "--config", str(tmp_path / "config.toml"), env=env) as session:
        session.until(lambda: "failed to start" in session.raw.decode())
        session.type("/log loud")
        assert session.ended() == 0
    lines = lines_of(session)
    assert "mcptui: 70 earlier lines are omitted. /log loud all shows them." in lines
    assert "server: line 69" not in lines and lines[-2] == "server: line 99"


def test_a_session_is_resumed(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        follow(session, "first_session")
        assert session.ended() == 0
    with TerminalPlain("--demo", "--config", config, env=env) as session:
        follow(session, "resumed_session")
        session.type("/quit")
        assert session.ended() == 0
        assert session.faults_of_the_terminal() == []
        plain_text(session)
    with PipedPlain("--demo", "--config", config, "--resume", env=env) as piped:
        assert piped.ended() == 0
    assert "mcptui: Continuing “which notes mention milk?”." in lines_of(piped)


def test_a_form_of_a_server_is_filled_in_and_its_sampling_request_is_answered(
    tmp_path: Path, env: dict[str, str]
):
    path = tmp_path / "config.toml"
    path.write_text(server("asking", ROOT / "tests" / "protocol" / "asking_server.py", sampling="ask"))
    with PipedPlain("--demo", "--config", str(path), env=env) as session:
        follow(session, "form")
        assert session.ended() == 0
        plain_text(session)


def test_the_end_of_input_denies_what_waits_for_approval_and_leaves(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        session.type("add a note: buy milk")
        assert session.ended() == 0
        text = plain_text(session)
    assert "error: notes › add_note: denied: the input ended before an answer" in text


def test_ctrl_c_stops_a_turn_and_a_second_one_leaves(tmp_path: Path, env: dict[str, str]):
    path = tmp_path / "config.toml"
    path.write_text(server("slow", SERVERS / "slow.py", trusted=True))
    with TerminalPlain("--demo", "--config", str(path), env=env) as session:
        follow(session, "stopped")
        session.until(lambda: "progress: 0 of 30 seconds" in lines_of(session))
        session.send("\x03")
        session.until(lambda: "progress: Stopped." in lines_of(session))
        prompted(session)
        session.send("\x03")
        session.until(lambda: "mcptui: Press ctrl+c again to leave." in lines_of(session))
        prompted(session)
        session.send("\x03")
        assert session.ended() == 130
        assert session.faults_of_the_terminal() == []


def test_what_is_typed_during_a_turn_is_queued_and_commands_run(tmp_path: Path, env: dict[str, str]):
    path = tmp_path / "config.toml"
    path.write_text(server("slow", SERVERS / "slow.py", trusted=True))
    with TerminalPlain("--demo", "--config", str(path), env=env | {"TERM": "dumb"}) as session:
        follow(session, "stopped")
        session.until(lambda: "progress: 0 of 30 seconds" in lines_of(session))
        session.type("list tools")
        session.until(lambda: "progress: Queued. 1 message waits." in lines_of(session))
        session.type("/cancel")
        session.until(lambda: "you: list tools" in lines_of(session))
        prompted(session)
        plain_text(session)


def test_what_servers_and_the_traffic_say_can_be_read_before_an_answer(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        follow(session, "reading_at_a_question")
        assert session.ended() == 0
        plain_text(session)


def test_a_message_has_several_lines_and_files_and_is_sent_again(
    tmp_path: Path, config: str, env: dict[str, str]
):
    (file := tmp_path / "shopping.txt").write_text("milk")
    with PipedPlain("--demo", "--config", config, env=env) as session:
        follow(session, "lines_and_files", file=file)
        assert session.ended() == 0
        plain_text(session)


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_a_pasted_text_is_one_message(term: str, config: str, env: dict[str, str]):
    with TerminalPlain("--demo", "--config", config, env=env | {"TERM": term}) as session:
        prompted(session)
        session.type("\r".join(["which notes mention milk?", *map(str, range(1, 100))]))
        session.until(lambda: "progress: Message of 100 lines." in lines_of(session))
        session.until(lambda: any(line.startswith("model: ") for line in lines_of(session)))
        prompted(session)
        assert "Queued" not in plain_text(session)


def test_a_message_without_its_last_line_is_not_sent(config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        session.type('"""add a note: buy milk')
        assert session.ended() == 0
        text = plain_text(session)
    assert "error: Not sent:" in text
    assert "call:" not in text


def test_a_question_that_its_server_takes_back_is_withdrawn(tmp_path: Path, env: dict[str, str]):
    path = tmp_path / "config.toml"
    path.write_text(server("phishing", FAULTS / "elicitation_phishing.py", trusted=True))
    with PipedPlain("--demo", "--config", str(path), env=env) as session:
        session.type("/call phishing echo text=hi")
        session.until(
            lambda: "question: This question is withdrawn. It needs no answer." in lines_of(session)
        )
        assert session.ended() == 0
        plain_text(session)


def test_a_long_call_by_hand_says_that_it_is_awaited_and_the_end_of_input_leaves_it(
    tmp_path: Path, env: dict[str, str]
):
    path = tmp_path / "config.toml"
    path.write_text(server("slow", SERVERS / "slow.py", trusted=True))
    with TerminalPlain("--demo", "--config", str(path), env=env) as session:
        session.until(lambda: any(line.startswith("server: slow, RUNNING") for line in lines_of(session)))
        prompted(session)
        session.type(f"/call slw count_slowly seconds=30{LEFT * 26}{RIGHT}{DELETE}ox{BACKSPACE}w")
        session.until(lambda: any(line.startswith("progress: ") for line in lines_of(session)))
        session.send("\x03")
        session.until(lambda: "progress: Stopped." in lines_of(session))
        prompted(session)
        session.type(f"{UP}{HOME}{END}")
        session.until(lambda: lines_of(session)[-2][:13] in ("progress: Wai", "progress: 5 o"))
        began = time.monotonic()
        session.send("\x04")
        assert session.ended() == 0 and time.monotonic() - began < 20
        assert b"\x1b" not in session.raw
        assert lines_of(session).count("progress: Stopped.") == 2


def test_the_bell_is_a_setting(tmp_path: Path, env: dict[str, str]):
    path = tmp_path / "config.toml"
    path.write_text(table("ui", bell=False))
    with TerminalPlain("--demo", "--config", str(path), env=env) as session:
        prompted(session)
        session.type("hello")
        session.until(lambda: any(line.startswith("model: ") for line in lines_of(session)))
        prompted(session)
        assert "\a" not in plain_text(session)


def test_a_signal_ends_plain_mode(config: str, env: dict[str, str]):
    with TerminalPlain("--demo", "--config", config, env=env) as session:
        prompted(session)
        os.kill(session.process.pid, signal.SIGTERM)
        assert session.ended() == 128 + signal.SIGTERM
        assert session.faults_of_the_terminal() == []


@pytest.mark.parametrize("switch", [{"MCPTUI_PLAIN": "1"}, {"TERM": "dumb"}])
def test_the_environment_switches_it_on(switch: dict[str, str], env: dict[str, str]):
    with TerminalApp.real("--demo", "--no-start", env=env | switch, draws=False) as app:
        (name,) = switch
        app.until(lambda: f"plain mode is on ({name}".encode() in app.raw)
        app.until(lambda: app.raw.endswith(b"you: "))
        app.send("\x04")
        assert app.ended() == 0


@pytest.mark.parametrize("switch", [{"MCPTUI_PLAIN": "1"}, {"TERM": "dumb"}])
def test_without_a_screen_the_traffic_is_printed(switch: dict[str, str], config: str, env: dict[str, str]):
    with PipedPlain("--demo", "--config", config, env=env) as session:
        session.type("which notes mention milk?")
        assert session.ended() == 0
    with TerminalApp.real("traffic", env=env | switch | {"NO_COLOR": "1"}, draws=False) as app:
        assert app.ended() == 0
        assert b"search_notes" in app.raw and b"\x1b" not in app.raw
