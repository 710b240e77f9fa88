"""The SDK's log stays in memory, without content from servers."""

import logging
from importlib.metadata import version

import pytest
from mcp.client import session

from tui.host.sdk.sdk_log import KEPT, quiet_sdk_logging


@pytest.fixture
def log():
    handler = quiet_sdk_logging()
    yield handler
    for name in ("mcp", "client"):
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).propagate = True


def test_nothing_reaches_the_screen(log, capfd):
    logging.getLogger("mcp.client.stdio").error("bad line %r", "secret")
    logging.getLogger("client").warning("dropped %s", "secret")
    assert capfd.readouterr() == ("", "")
    assert len(log.lines) == 2


def test_content_from_the_server_is_omitted(log):
    logging.getLogger("mcp").error("bad line %r", "secret")
    logging.getLogger("mcp").error(f"bad line {'secret'}")
    assert "secret" not in "".join(log.lines)
    assert "bad line %r" in log.lines[0]


def test_an_exception_is_logged_only_by_its_type(log):
    try:
        raise ValueError("secret")
    except ValueError:
        logging.getLogger("mcp").exception("failed: %s", "x")
    assert log.lines[0].endswith("[ValueError]")


def test_memory_for_the_log_is_bounded(log):
    for number in range(KEPT * 3):
        logging.getLogger("mcp").error("line %d", number)
    assert len(log.lines) == KEPT


def test_quieting_the_sdk_twice_keeps_one_handler(log):
    again = quiet_sdk_logging()
    logging.getLogger("mcp").error("line %d", 1)
    assert (len(again.lines), len(log.lines)) == (1, 0)
    logging.getLogger("mcp").removeHandler(again)
    logging.getLogger("client").removeHandler(again)


def test_the_logger_name_of_the_session_is_known():
    """Seen with mcp 2.3."""
    assert version("mcp").startswith("2.")
    assert session.logger.name in ("client", "mcp") or session.logger.name.startswith("mcp.")


def test_a_logger_with_another_name_is_found_once_the_sdk_is_loaded(monkeypatch, capfd):
    renamed = logging.getLogger("renamed")
    monkeypatch.setattr(session, "logger", renamed)
    handler = quiet_sdk_logging()
    renamed.warning("dropped %s", "secret")
    assert capfd.readouterr() == ("", "") and len(handler.lines) == 1
    for name in ("mcp", "client", "renamed"):
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).propagate = True
