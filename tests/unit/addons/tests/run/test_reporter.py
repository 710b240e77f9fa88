"""The protocol of reporters."""

import inspect
from pathlib import Path

import pytest

from tui.addons.tests.reports import REPORTS
from tui.addons.tests.run.output import TerminalReport
from tui.addons.tests.run.reporter import Reporter
from tui.core.addons import load

METHODS = [name for name in vars(Reporter) if not name.startswith("_")]


@pytest.mark.parametrize("kind", ["terminal", *REPORTS])
def test_each_reporter_takes_what_the_protocol_says(kind: str, tmp_path: Path):
    made = TerminalReport(print) if kind == "terminal" else load(REPORTS[kind])(tmp_path / "report")
    for name in METHODS:
        wanted = len(inspect.signature(getattr(Reporter, name)).parameters) - 1
        assert len(inspect.signature(getattr(made, name)).parameters) == wanted
