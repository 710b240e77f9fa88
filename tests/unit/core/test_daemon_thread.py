"""Blocking work in a thread that may be abandoned."""

import asyncio
import threading

import pytest

from tests.conftest import until
from tui.core.daemon_thread import in_daemon_thread


async def test_the_result_or_the_error_of_the_work_is_passed_on():
    assert await in_daemon_thread("work", lambda: 7) == 7
    with pytest.raises(KeyError):
        await in_daemon_thread("work", lambda: {}[1])


async def test_work_that_does_not_return_can_be_abandoned():
    done = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_daemon_thread("stuck", lambda: done.wait(10))
    done.set()
    await until(lambda: not [one for one in threading.enumerate() if one.name == "stuck"])
