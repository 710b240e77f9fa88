"""If nothing can be saved, the main screen says so at once, and one line at exit, without a traceback."""

import asyncio
import re
import resource
from pathlib import Path

import pytest

from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import config_with
from tui.core.conversation.conversation import UserMessage
from tui.core.secrets.redact import Redactor
from tui.storage.sessions.store import SessionStore

ENTER = "\r"
LEFT = b"\x1b[?1049l"


def ask_and_quit(app: TerminalApp) -> list[str]:
    """Ask something, quit, and return the messages printed after the screen is closed."""
    app.shows("0 of 3", "not saved")
    app.send("hello" + ENTER)
    app.shows("rule-based demo", "not saved")
    app.answered()
    app.quits()
    after = bytes(app.raw[app.raw.rindex(LEFT) :]).decode()
    assert "Traceback" not in after
    return re.findall("mcptui: [^\r\n]*", after)


def test_an_unwritable_home_is_marked_and_reported_at_exit(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    config = config_with(tmp_path, {})
    with TerminalApp.real(
        "--demo", "--no-start", "--config", config, env=home_in(tmp_path / "file" / "home")
    ) as app:
        told = ask_and_quit(app)
    folder = tmp_path / "file" / "home" / "mcptui" / "sessions"
    assert told == [f"mcptui: Some messages were not saved: cannot write to {folder}: Not a directory."]


def questions_in(home: Path) -> list[str]:
    """Return the questions in the last saved session."""

    async def asked() -> list[str]:
        store = SessionStore(home / "mcptui" / "sessions", Redactor)
        (info, *_) = await store.list()
        messages = (await store.read(info.id)).conversation.messages
        return [one.text for one in messages if isinstance(one, UserMessage)]

    return asyncio.run(asked())


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_temporary_disk_failure_is_reported_and_loses_nothing(tmp_path: Path):
    """No file may grow: writing fails as on a full disk, for this process only."""
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("first" + ENTER)
        app.shows("rule-based demo")
        app.answered()
        before = resource.prlimit(app.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        app.send("second" + ENTER)
        app.shows("not saved   ", "This conversation is not saved: ")
        app.answered()
        resource.prlimit(app.process.pid, resource.RLIMIT_FSIZE, before)
        app.shows("This conversation is saved again. Nothing was lost.")
        app.until(lambda: "not saved   " not in app.text)
        app.quits()
    assert questions_in(tmp_path) == ["first", "second"]


def test_moved_folders_are_created_again_and_the_conversation_is_saved_in_full(tmp_path: Path):
    home = tmp_path / "mcptui"
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        app.send("first" + ENTER)
        app.shows("rule-based demo")
        app.answered()
        home.rename(tmp_path / "gone")
        app.send("second" + ENTER)
        app.shows(
            "This conversation is saved again. Nothing was lost."
        )  # the previous message is shown for 1 s
        app.answered()
        app.quits()
    assert questions_in(tmp_path) == ["first", "second"]
