"""The question whether to trust a server: its text and its keys."""

import pytest

from tests.ui.app_stage import screen_text, shows
from tests.ui.question_stage import in_dialog, ripe
from tui.core.ports import TrustQuestion

__all__ = ["ripe"]

QUESTION = TrustQuestion("fetch\x1b[31m", "[b]get[/b]")


@pytest.mark.usefixtures("ripe")
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 15)])
async def test_the_question_shows_what_each_answer_does_and_quotes_the_server(size: tuple[int, int]) -> None:
    async with in_dialog(QUESTION, size) as (app, pilot, waiting):
        await shows(app, "ctrl+s trust", "ctrl+x do not trust", "esc not now")
        text = " ".join(screen_text(app).replace("▌", " ").split())
        assert "marks its tool “[b]get[/b]” as read-only" in text and "\x1b" not in text
        assert "run without approval" in text and "need approval" in text
        await pilot.press("escape")
        assert await waiting is None
