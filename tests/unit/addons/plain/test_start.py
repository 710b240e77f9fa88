"""The first line of plain mode."""

from types import SimpleNamespace

import pytest

from tui.addons.plain import front
from tui.addons.plain.start import start
from tui.cli import main
from tui.core.language.translate import use


def test_the_first_line_says_that_it_is_on_why_and_how_to_leave(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(front, "run", lambda args: 4)
    assert start(SimpleNamespace(), "TERM=dumb") == 4  # type: ignore[arg-type]
    line = capsys.readouterr().out
    assert line.startswith("mcptui: plain mode is on (TERM=dumb), version ") and "/quit leaves" in line


def test_the_first_line_is_in_the_language_of_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MCPTUI_PLAIN", "1")
    monkeypatch.setattr(front, "run", lambda args: 0)
    try:
        assert main(["--lang", "zh_CN"]) == 0
    finally:
        use(None)
    assert capsys.readouterr().out.startswith("mcptui: 纯文本模式已启用（MCPTUI_PLAIN）")
