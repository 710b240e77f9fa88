"""The box above the composer."""

import pytest
from textual import events

from tests.conftest import until
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage
from tui.ui.widgets.bar import Box

LINE = ((" one message waits", "text"),)


async def test_the_box_is_hidden_without_lines() -> None:
    box = Box()
    async with Stage(box).run_test(size=(40, 6)) as pilot:
        box.show([LINE])
        await until(lambda: "one message waits" in screen_text(pilot.app))
        box.show([])
        await until(lambda: "one message waits" not in screen_text(pilot.app))


async def test_a_lost_layout_is_requested_again() -> None:
    box = Box()
    async with Stage(box).run_test(size=(40, 6)) as pilot:
        box.show([LINE])
        await until(lambda: box.is_seen)
        box.show([])
        await until(lambda: not box.is_seen)
        box.post_message(events.Show())  # as if the layout had been lost
        await until(lambda: box.is_seen)
        before = box._layout_updates
        box.show([])
        assert box._layout_updates > before
        await pilot.pause()


async def test_no_layout_is_requested_if_the_layout_is_correct(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    box = Box()
    async with Stage(box).run_test(size=(40, 6)) as pilot:
        box.show([LINE])
        await until(lambda: "one message waits" in screen_text(pilot.app))
        await until(lambda: box.is_seen)
        monkeypatch.setattr(box, "refresh", lambda *regions, **wishes: pytest.fail("it was"))
        box.show([LINE])
        monkeypatch.undo()
        box.post_message(events.Hide())
        await until(lambda: not box.is_seen)
