"""The app in a terminal, as most tests need it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.forking_python import forking_python
from tests.terminal.pty_app import TerminalApp, home_in

MODULES = (
    *("tests.ui.fakes", "tests.ui.fake_host", "tui.ui.app.app", "tui.ui.app.terminal", "tui.runtime.runtime"),
    *("tui.commands.run", "tui.host.transports.stdio", "tui.model.openai_api.openai_chat"),
)
"""What most programs in a terminal import sooner or later."""


@pytest.fixture(scope="session", autouse=True)
def forks(shared_processes: set[int]) -> Iterator[None]:
    """Start the app as a fork of a process that has imported it."""
    with forking_python(*MODULES) as forks:
        shared_processes.add(forks.pid)
        TerminalApp.forks = forks
        yield
        TerminalApp.forks = None


@pytest.fixture
def calm() -> Iterator[TerminalApp]:
    """The app over a model that answers "Hello."."""
    with TerminalApp.fake("calm") as app:
        app.shows("Ask anything", "2 of 3")
        yield app


@pytest.fixture
def endless() -> Iterator[TerminalApp]:
    """The app during a turn that does not end."""
    with TerminalApp.fake("endless") as app:
        app.shows("2 of 3")
        app.send("go\r")
        app.shows("It begins.")
        yield app


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[TerminalApp]:
    """The program with the demo model, without servers, in a home of its own."""
    with TerminalApp.real("--demo", "--no-start", env=home_in(tmp_path)) as app:
        app.shows("0 of 3")
        yield app
