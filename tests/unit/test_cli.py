"""The command line: what it comes to without anything on it."""

import pytest

from tui.cli import build_parser, main
from tui.options import Options


def test_an_empty_command_line_asks_for_what_the_parser_would_give(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr("tui.cli._app", lambda args: asked.append(args) or 0)

    assert main([]) == 0

    (args,) = asked
    parsed = build_parser().parse_args([])
    assert Options.from_args(args) == Options.from_args(parsed)
    assert args.theme == parsed.theme
