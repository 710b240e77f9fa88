"""The scroll position of the conversation is kept, whatever arrives and whatever is resized."""

import pytest

from tests.conftest import until
from tests.ui.stage import press
from tests.ui.talk_stage import talk
from tui.ui.chat.transcript.flow import Flow, FlowPane


def numbered(count: int, start: int = 0) -> str:
    return "".join(f"paragraph {number}\n\n" for number in range(start, start + count))


async def test_the_end_stays_in_view_while_text_arrives():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text(numbered(50))
        await it.shows("paragraph 49")
        it.pane.add_text(numbered(50, 50))
        await it.shows("paragraph 99")


async def test_after_scrolling_up_the_view_does_not_move_until_the_end_key():
    async with talk() as it:
        it.pane.focus()
        it.pane.begin_reply("demo")
        it.pane.add_text(numbered(50))
        await it.shows("paragraph 49")
        await press(it.pilot, "pageup")
        before = await it.lines()

        it.pane.add_text(numbered(50, 50))
        it.pane.end_reply(1.0)
        assert await it.lines() == before

        await press(it.pilot, "G")
        await it.shows("paragraph 99")
        it.pane.add_note("last")
        await it.shows("last")


async def test_scrolling_back_to_the_end_follows_again():
    async with talk() as it:
        it.pane.focus()
        it.say("x", numbered(50))
        await it.shows("paragraph 49")
        await press(it.pilot, "pageup")
        assert not it.pane.following

        await press(it.pilot, "pagedown")

        assert it.pane.following


async def test_a_change_above_does_not_move_the_visible_text():
    async with talk() as it:
        it.pane.add_call("1", "a", "b", {})
        it.say("x", numbered(50))
        await it.shows("paragraph 49")
        it.pane.focus()
        await press(it.pilot, "pageup")
        before = await it.lines()

        it.pane.set_call("1", "failed", preview="word " * 60)
        await until(lambda: it.pane._stale_below < 0)

        assert await it.lines() == before


async def test_another_width_keeps_the_position_and_finally_rewraps_everything():
    async with talk(columns=80) as it:
        for number in range(30):
            it.say(f"question {number}", f"answer {number} " + "word " * 100)
        await it.shows("answer 29")
        it.pane.focus()
        it.pane.scroll_to(y=it.pane.flow.top(60), animate=False)
        await it.lines()
        at_top = it.pane.flow.find(round(it.pane.scroll_y))

        await it.pilot.resize_terminal(50, 20)
        await it.lines()
        await until(lambda: it.pane._stale_below < 0)

        assert it.pane.flow.find(round(it.pane.scroll_y)) == at_top
        assert not any(it.pane.flow.stale(index) for index in range(len(it.pane.flow.blocks)))


async def test_a_thousand_messages_are_wrapped_when_they_become_visible():
    async with talk() as it:
        for number in range(1000):
            it.say(f"question {number}", "word " * 100)
        await it.shows("question 999")

        stale = sum(it.pane.flow.stale(index) for index in range(len(it.pane.flow.blocks)))
        assert stale > 2000

        it.pane.focus()
        await press(it.pilot, "home")
        await it.shows("question 0")


async def test_new_text_does_not_recheck_blocks_already_wrapped(
    monkeypatch: pytest.MonkeyPatch,
):
    async with talk() as it:
        it.pane.add_note("first")
        it.say("x", numbered(600))
        blocks = it.pane.flow.blocks
        await until(lambda: it.pane.flow.wrapped >= len(blocks) > 600, what="everything wrapped")
        looked: list[int] = []
        monkeypatch.setattr(Flow, "stale", lambda flow, index: looked.append(index) or False)

        it.pane.add_note("another")
        await until(lambda: it.pane.flow.wrapped == len(blocks), what="the note wrapped, too")

        assert len(looked) < 200


async def test_blocks_out_of_view_are_wrapped_when_nothing_changes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FlowPane, "set_timer", lambda *_: None)
    async with talk() as it:
        flow = it.pane.flow
        it.say("x", numbered(300))
        for _ in range(3):
            it.pane.settle()
            it.pane._slice()
        assert flow.stale(1)

        monkeypatch.undo()
        it.pane._slice()
        await until(lambda: flow.wrapped >= len(flow.blocks) >= 300, what="everything wrapped")


async def test_a_conversation_that_replaces_another_is_wrapped_in_full():
    async with talk() as it:
        it.say("x", numbered(300))
        await until(lambda: it.pane.flow.wrapped >= 300, what="everything wrapped")

        it.pane.clear()
        it.say("y", numbered(300, 300))
        flow = it.pane.flow
        await until(lambda: flow.wrapped >= len(flow.blocks) >= 300, what="everything wrapped again")

        assert not any(flow.stale(index) for index in range(len(flow.blocks)))
