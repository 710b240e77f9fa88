"""mcptui's own log: private, redacted, never on the screen."""

import asyncio
import logging
import stat
import threading
from pathlib import Path

import pytest

from tui.core.background import report_failure
from tui.core.secrets.redact import Redactor
from tui.runtime.log import log_to


def test_a_line_is_cleaned_and_redacted_and_readable_by_its_owner_only(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    path = tmp_path / "state" / "mcptui.log"
    handler = log_to(path, lambda: Redactor({"KEY": "canary-12345"}))
    logging.getLogger("tui.host").error("died: %s", "\x1b[2J canary-12345")
    handler.stop()
    text = path.read_text(encoding="utf-8")
    assert "␛[2J [redacted:KEY]" in text and "canary" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert capfd.readouterr().err == ""


def test_without_a_line_no_file_is_created(tmp_path: Path):
    handler = log_to(tmp_path / "mcptui.log", Redactor)
    logging.getLogger("tui").info("fine")
    handler.stop()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/dev/null/no/mcptui.log", "/dev/full"])
def test_a_failed_write_loses_only_the_line(path: str, capfd: pytest.CaptureFixture[str]):
    handler = log_to(Path(path), Redactor)
    logging.getLogger("tui").error("lost")
    handler.stop()
    assert capfd.readouterr().err == ""


def test_an_error_that_ends_a_thread_is_logged_and_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def fail() -> None:
        raise ValueError("in a thread")

    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    handler = log_to(tmp_path / "mcptui.log", Redactor)
    thread = threading.Thread(target=fail, name="worker")
    thread.start()
    thread.join()
    handler.stop()
    text = (tmp_path / "mcptui.log").read_text(encoding="utf-8")
    assert "thread worker failed" in text and "ValueError: in a thread" in text
    assert threading.excepthook is threading.__excepthook__
    assert capfd.readouterr().err == ""


async def test_an_error_in_a_task_that_is_not_awaited_is_logged_and_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    handler = log_to(tmp_path / "mcptui.log", Redactor)
    context = {"message": "Task exception was never retrieved", "exception": ValueError("in a task")}
    asyncio.get_running_loop().default_exception_handler(context)
    handler.stop()
    assert "ValueError: in a task" in (tmp_path / "mcptui.log").read_text(encoding="utf-8")
    assert capfd.readouterr().err == ""


def test_the_log_knows_which_thread_failed_last(tmp_path: Path):
    log = log_to(tmp_path / "mcptui.log", Redactor)
    try:
        assert log.failed_thread == ""
        report_failure("taps", FileNotFoundError("/home/ann/one.mcptrace"))
        assert log.failed_thread == "taps (FileNotFoundError, restarted)"
    finally:
        log.stop()
    assert "/home/ann/one.mcptrace" in (tmp_path / "mcptui.log").read_text()


def test_a_program_goes_on_in_the_file_that_another_one_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tui.runtime.log.MAX_BYTES", 1000)
    path = tmp_path / "mcptui.log"
    handler = log_to(path, Redactor)
    logging.getLogger("tui").error("ours, %s", "x" * 1000)
    path.rename(tmp_path / "mcptui.log.1")  # so another program keeps it
    path.write_text("theirs\n", encoding="utf-8")
    logging.getLogger("tui").error("ours again")
    handler.stop()
    assert path.read_text(encoding="utf-8").startswith("theirs\n")
    assert path.read_text(encoding="utf-8").endswith("ours again\n")
    assert "ours, x" in (tmp_path / "mcptui.log.1").read_text(encoding="utf-8")


def test_a_full_file_is_kept_once_and_a_new_one_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.runtime.log.MAX_BYTES", 100)
    path = tmp_path / "mcptui.log"
    handler = log_to(path, Redactor)
    for number in range(5):
        logging.getLogger("tui").error("line %d %s", number, "x" * 100)
    logging.getLogger("tui").error("last")
    handler.stop()
    assert path.read_text(encoding="utf-8").endswith("last\n")
    assert "line 4" in (tmp_path / "mcptui.log.1").read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(list(tmp_path.iterdir())) == 2
