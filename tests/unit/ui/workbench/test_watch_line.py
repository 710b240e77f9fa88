"""The line about a server that is being developed."""

from typing import Any

import pytest

from tui.ui.workbench import watch_line as module
from tui.ui.workbench.watch_line import WatchLine, watch_line


def test_without_the_addon_there_is_an_empty_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "service", lambda name: None)
    shared: Any = None
    line = watch_line(shared)
    line.look()
    assert type(line) is WatchLine and line.row(80) == ()
