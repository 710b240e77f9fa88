"""Ctrl+c before the event loop of a run handles it."""

import argparse
import signal
from collections.abc import Callable

import pytest

from tui.addons.tests.run import command, start


def test_two_interrupts_are_noted_for_the_reports_and_the_third_ends_the_command(
    monkeypatch: pytest.MonkeyPatch,
):
    counts: list[int] = []

    def interrupted(args: argparse.Namespace, interrupts: Callable[[], int]) -> int:
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        counts.append(interrupts())
        signal.raise_signal(signal.SIGINT)
        return 0

    monkeypatch.setattr(command, "test", interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            start.test(argparse.Namespace())
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert counts == [2]
