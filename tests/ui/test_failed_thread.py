"""A thread of mcptui that fails is named on the screen."""

from pathlib import Path

from tests.conftest import until
from tests.ui.real_stage import real_app
from tui.core.background import DaemonThread


async def test_a_thread_that_failed_and_was_restarted_is_named(separate_home: Path) -> None:
    failures = [FileNotFoundError("one.mcptrace")]

    def work() -> None:
        if failures:
            raise failures.pop()

    async with real_app(separate_home, "") as app:
        thread = DaemonThread("taps", work)
        thread.start()
        await app.shows("Internal error, see mcptui.log. Failed thread: taps", "restarted")
        await until(lambda: not thread.is_alive)
