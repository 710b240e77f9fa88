"""A server that requires a sign-in and that nobody needs yet: a mark, and the question when it is started."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.conftest import until
from tests.protocol.oauth_server import OAuthServer
from tests.ui.real_stage import RealApp, real_app
from tests.unit.host.sign_in.people import browse
from tui.core.servers import StopReason
from tui.ui.dialogs.question_dialog import QuestionDialog


async def test_a_sign_in_at_the_start_is_a_mark_and_is_asked_when_the_user_starts_the_server(
    separate_home: Path,
) -> None:
    async with OAuthServer() as server:
        config = f'[servers.safe]\nurl = "{server.url}"\n'
        async with real_app(separate_home, config) as real:
            await real.shows("needs sign-in")
            status = real.runtime.host.status("safe")
            assert status.reason is StopReason.NEEDS_SIGN_IN and not status.failed
            assert not isinstance(real.app.screen, QuestionDialog) and not server.asked("/authorize")
            await real.press("f3")
            await real.shows("Press s to sign in.")
            await real.press("s")
            await until(lambda: isinstance(real.app.screen, QuestionDialog), what="the question")


async def test_a_sign_in_that_waits_is_asked_by_its_command(separate_home: Path) -> None:
    async with OAuthServer() as server:
        config = f'[servers.safe]\nurl = "{server.url}"\n'
        async with real_app(separate_home, config) as real:
            await real.shows("needs sign-in")
            await real.press(*"/login", "space", *"safe", "enter")
            await until(lambda: isinstance(real.app.screen, QuestionDialog), what="the question")


@asynccontextmanager
async def asked_to_sign_in(home: Path) -> AsyncIterator[tuple[RealApp, QuestionDialog]]:
    """Run the app with a server that requires a sign-in, up to the question about it."""
    async with OAuthServer() as server:
        config = f'[servers.safe]\nurl = "{server.url}"\n'
        async with real_app(home, config) as real:
            await real.shows("needs sign-in")
            await real.press("f3", "s")
            await until(lambda: isinstance(real.app.screen, QuestionDialog), what="the question")
            dialog = real.app.screen
            assert isinstance(dialog, QuestionDialog)
            yield real, dialog


async def test_a_sign_in_that_the_browser_answers_is_not_called_a_withdrawn_request(
    separate_home: Path,
) -> None:
    async with asked_to_sign_in(separate_home) as (real, dialog):
        await asyncio.to_thread(browse, dialog.question.url)
        await real.has_state("safe", "RUNNING")
        await until(lambda: real.app.screen is not dialog, what="a closed dialog")
        assert "withdrew" not in real.text


async def test_a_sign_in_that_is_cancelled_waits_as_before_and_has_not_failed(separate_home: Path) -> None:
    async with asked_to_sign_in(separate_home) as (real, dialog):
        await until(lambda: dialog.answer_delay.accepts_keys, what="a dialog that takes keys")
        await real.press("escape")
        await until(lambda: "declined" in real.runtime.host.status("safe").detail, what="the answer")
        await real.shows("needs sign-in", "Press s to sign in.")
        assert "failed to start" not in real.text and "Press r to retry" not in real.text
