"""The cases of a test file as items of pytest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.python.server import servers
from tui.addons.tests.python.session import SuiteSession
from tui.addons.tests.run.case_run import why_skipped
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.addons.tests.suite.read import read_suite
from tui.core.errors import McptuiError

_ENGINE = pytest.StashKey[Engine]()
SPECIAL_MARKS = frozenset({"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings"})
"""Marks with which pytest does something. A tag of such a name is only a keyword."""


class NotPassed(Exception):
    """A case did not pass. The message is what `mcptui test` prints about it."""


def engine_of(config: pytest.Config) -> Engine:
    """Return the engine of this process, which ends with it."""
    if (found := config.stash.get(_ENGINE, None)) is None:
        found = config.stash[_ENGINE] = Engine()
        config.add_cleanup(found.close)
    return found


def servers_of(config: pytest.Config, folder: Path) -> Any:
    """Return `mcp_server` for the tests of a module in `folder`, as a context manager."""
    return servers(engine_of(config), folder)


class SuiteFile(pytest.File):
    """A test file. Its server starts with the first item that runs, and stops after the last."""

    session_of_suite: SuiteSession | None = None

    def collect(self) -> Iterator[pytest.Item]:
        try:
            suite = read_suite(self.path)
        except McptuiError as error:
            raise self.CollectError(str(error)) from None
        ...
