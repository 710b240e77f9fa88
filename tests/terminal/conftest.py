"""The app in a terminal, as most tests need it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.forking_python import Forks
from tests.terminal.pty_app import TerminalApp, home_in


@pytest.fixture(scope="session", autouse=True)
def quick_apps(forks: Forks) -> Iterator[None]:
    """Start the app as a fork of a process that has imported it."""
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
