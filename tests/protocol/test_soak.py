"""A short run of the soak: it uses the same resources at the end as at the start."""

import subprocess
import sys

import pytest

from tests.terminal.pty_app import ROOT


@pytest.mark.parametrize("arguments", [("--rounds", "16"), ("--cycles", "20"), ("--kills", "2")])
def test_many_rounds_of_all_features_leak_nothing(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
