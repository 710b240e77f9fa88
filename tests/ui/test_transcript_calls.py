"""Calls and their approval questions in the conversation."""

from tests.ui.stage import press, row_with
from tests.ui.talk_stage import talk
from tui.core.ports import ApprovalRequest
from tui.core.tools import Tool
from tui.ui.chat.transcript.transcript import Transcript


async def test_a_finished_call_takes_one_line():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing"})
        it.pane.set_call("1", "done", ms=4.2, preview="sunny")

        lines = [line for line in await it.lines() if line]

        assert lines == ['   ✓ weather › get_weather   location="Beijing"' + "4 ms ▸".rjust(10)]


async def test_an_expanded_call_shows_its_arguments_and_result():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing", "days": 3})
        it.pane.set_call("1", "done", ms=4.2, preview="sunny\n25 °C")
        it.pane.focus()
        await it.lines()

        await press(it.pilot, "enter")

        lines = await it.shows("→ sunny")
        assert lines[2:6] == ['     location  "Beijing"', "     days      3", "     → sunny", "       25 °C"]


async def test_a_failed_call_shows_the_reason_without_being_expanded():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.set_call("1", "failed", ms=12, preview="unknown station")

        await it.shows("     unknown station")


async def test_a_call_that_did_not_run_shows_the_reason_once():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.set_call("1", "unsent", "", 0, "not run: limit (max_steps)")

        lines = await it.shows("     limit (max_steps)")
        assert row_with(lines, "get_weather").endswith("not run  ▸")


async def test_a_result_of_megabytes_is_shown_as_a_preview():
    async with talk() as it:
        it.pane.add_call("1", "files", "read", {})
        it.pane.set_call("1", "done", ms=1, preview="x" * 3_000_000)
        it.pane.focus()
        await it.lines()
        await press(it.pilot, "enter", "G")

        await it.shows("… 3.0 M more characters")


async def test_a_double_click_on_a_call_expands_it():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing"})
        await it.lines()

        await it.pilot.click(Transcript, offset=(10, 1), times=2)

        await it.shows('     location  "Beijing"')


async def test_calls_of_one_step_are_shown_below_each_other():
    async with talk() as it:
        it.pane.add_call("1", "a", "one", {})
        it.pane.add_call("2", "b", "two", {})

        lines = await it.lines()

        assert lines.index(row_with(lines, "b › two")) == lines.index(row_with(lines, "a › one")) + 1


async def test_a_question_shows_server_tool_reason_arguments_and_keys():
    async with talk(columns=96) as it:
        it.question({"id": "2026-11-20-milk"})

        lines = await it.shows("y once")

        assert row_with(lines, "┌").startswith("┌ notes › delete_note ───")
        assert "│ ! May delete data." in row_with(lines, "May")
        assert row_with(lines, "│ id").startswith('│ id  "2026-11-20-milk"  ')
        keys = "y once   t until quit   a always   n deny   e deny with a reason   P rules"
        assert keys in row_with(lines, "y once")


async def test_a_question_that_allows_no_lasting_answer_offers_none():
    async with talk(columns=96) as it:
        it.pane.ask(ApprovalRequest("1", Tool("notes", "delete_note"), {}, "a rule asks", once_only=True))

        lines = await it.shows("y once")

        assert "y once   n deny   e deny with a reason   P rules" in row_with(lines, "y once")


async def test_wide_json_arguments_of_a_question_are_indented():
    async with talk() as it:
        it.question({"edits": [{"old": "milk", "new": "oat milk and bread, if any"}], "at": [1, 2]})

        lines = await it.shows("y once")

        start = lines.index(row_with(lines, "│ edits  ["))
        assert [line.strip("│ ") for line in lines[start + 1 : start + 5]] == [
            "{",
            '"old": "milk",',
            '"new": "oat milk and bread, if any"',
            "}",
        ]
        assert row_with(lines, "│ at ").startswith("│ at     [1, 2] ")


async def test_an_answered_question_becomes_a_line_again():
    async with talk() as it:
        it.question({"id": 1})
        await it.shows("y once")

        it.pane.set_call("1", "denied")

        lines = await it.lines()
        assert not any("once" in line for line in lines)
        assert "denied" in row_with(lines, "delete_note")


async def test_all_arguments_of_a_question_can_be_read():
    async with talk(rows=30) as it:
        it.question({"text": "\n".join(f"part {number}" for number in range(50))})
        it.pane.focus()
        lines = await it.shows("50 lines   enter expand")
        assert not any("part 49" in line for line in lines)

        await press(it.pilot, "enter", "G")

        await it.shows("part 49")


async def test_a_value_cannot_imitate_another_argument():
    async with talk() as it:
        it.question({"id": 'x"\nsafe  true'})

        lines = await it.shows("safe")

        assert row_with(lines, "safe").startswith("│     safe")
        assert row_with(lines, "│ id").startswith('│ id  "x"')


async def test_a_question_is_scrolled_into_view():
    async with talk(rows=12) as it:
        it.say("x", "word\n\n" * 50)
        await it.lines()
        await press(it.pilot, "tab")
        it.pane.scroll_to(y=0, animate=False)
        await it.lines()

        it.question({"id": 1})

        await it.shows("y once")


async def test_arguments_that_are_not_json_are_shown_unchanged():
    async with talk() as it:
        loop: list[object] = []
        loop.append(loop)
        it.pane.add_call("1", "a", "b", {"loop": loop, "set": {1}})

        await it.shows("loop=[[...]]")


async def test_an_unknown_call_is_ignored():
    async with talk() as it:
        it.pane.set_call("nobody", "done")

        assert set(await it.lines()) == {""}


async def test_a_running_call_shows_its_progress():
    async with talk() as it:
        it.pane.add_call("1", "slow", "report", {})
        it.pane.set_call("1", "running", "15 of 30", share=0.5)
        assert "━━━━────  15 of 30  running" in row_with(await it.lines(), "slow › report")
        it.pane.set_call("1", "running", "16 done so far, of how many nobody knows")
        row = row_with(await it.lines(), "slow › report")
        assert "16 done so far" in row and "━" not in row
        it.pane.set_call("1", "done", ms=4.2, preview="x")
        assert "━" not in row_with(await it.lines(), "slow › report")


async def test_a_question_moves_the_selection_to_the_newest_message():
    async with talk() as it:
        it.pane.add_user("Forget the milk", "14:02")
        it.pane.focus()
        await it.lines()
        it.pane.begin_reply("demo")
        it.question({"id": "milk"})
        await it.shows("delete_note")
        await it.pilot.pause()

        assert it.pane._target is not None
        assert it.pane._target[0] is it.pane.cards["1"]
