"""The scroll position of the conversation is kept, whatever arrives and whatever is resized."""

from tests.conftest import until
from tests.ui.stage import press
from tests.ui.talk_stage import talk


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

        assert await it.lines() == before


async def test_another_width_keeps_the_position():
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

        assert it.pane.flow.find(round(it.pane.scroll_y)) == at_top


async def test_after_a_smaller_size_the_same_message_is_selected():
    async with talk() as it:
        for number in range(4):
            it.say(f"question {number}", "answer")
        it.pane.focus()
        await press(it.pilot, "k", "k", "k")
        selected = it.pane.marked_label

        await it.pilot.resize_terminal(30, 2)
        await until(lambda: it.pane.marked_label is not selected)
        await it.pilot.resize_terminal(60, 20)
        await until(lambda: it.pane.marked_label is selected)


async def test_the_home_key_selects_the_first_message():
    async with talk() as it:
        for number in range(4):
            it.say(f"question {number}", numbered(8))
        it.pane.focus()
        await press(it.pilot, "home")
        await until(lambda: it.pane.marked_question == ("question 0", 0))


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
