"""The signals that end a run."""

import signal

from tests.conftest import until
from tui.runtime.signals import on_signals


async def test_ending_signals_are_handled_in_the_loop_and_then_as_before():
    before, numbers = signal.getsignal(signal.SIGTERM), list[int]()
    with on_signals(numbers.append):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        await until(lambda: len(numbers) == 2)
    assert sorted(numbers) == sorted([signal.SIGTERM, signal.SIGHUP])
    assert signal.getsignal(signal.SIGTERM) == before
