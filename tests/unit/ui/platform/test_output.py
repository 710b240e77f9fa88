"""The stream that Textual writes to, and the driver for it."""

import os
import sys
from importlib import import_module

import pytest

from tui.ui.platform.output import _Screen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has Textual's own driver")


def test_a_closed_terminal_raises_no_error():
    read, write = os.pipe()
    screen = _Screen(write)
    screen.write("a")
    screen.flush()
    assert os.read(read, 10) == b"a"
    os.close(read)
    screen.write("b")
    screen.flush()
    screen.close()


def test_with_textual_8_2_the_robust_driver_is_used():
    from tui.ui.platform.driver import RobustDriver

    assert all(hasattr(RobustDriver, name) for name in ("_sigtstp_application", "_sigcont_application"))


def test_without_the_private_parser_the_driver_of_textual_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "textual._xterm_parser", None)
    monkeypatch.delitem(sys.modules, "tui.ui.platform.driver", raising=False)
    with pytest.raises(ImportError):
        import_module("tui.ui.platform.driver")
