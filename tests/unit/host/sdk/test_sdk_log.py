"""The SDK's log, with content from servers, does not reach the screen."""

import logging
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from mcp.client import session

from tui.host.sdk.sdk_log import quiet_sdk_logging


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """A logger with a name of its own, which the SDK's session uses."""
    logger = logging.getLogger("renamed")
    monkeypatch.setattr(session, "logger", logger)
    yield logger
    for name in ("mcp", "client", "renamed"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True


def test_nothing_reaches_the_screen(renamed: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    quiet_sdk_logging()
    logging.getLogger("mcp.client.stdio").error("bad line %r", "secret")
    logging.getLogger("client").warning("dropped %s", "secret")
    renamed.warning("dropped %s", "secret")
    assert capfd.readouterr() == ("", "")


def test_the_logger_name_of_the_session_is_known() -> None:
    """Seen with mcp 2.3."""
    assert version("mcp").startswith("2.")
    assert session.logger.name in ("client", "mcp") or session.logger.name.startswith("mcp.")
