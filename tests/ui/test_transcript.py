"""The conversation on screen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.geometry import Offset
from textual.message import Message
from textual.pilot import Pilot
from textual.selection import Selection

from tests.conftest import until
from tests.ui.stage import Stage, press, row_with, shown
from tui.core.ports import ApprovalRequest
from tui.core.tools import Tool
from tui.ui.widgets.transcript import Transcript

HOSTILE = "\x1b[31mred\x1b]52;c;YQ==\x07 [/x] [@click=app.quit]q[/] \x9b2J \u202eevil \x00 \ud800"


class Talk:
    """A transcript on a stage."""

    def __init__(self, pane: Transcript, pilot: Pilot[None], taken: list[str]) -> None:
        self.pane = pane
        self.pilot = pilot
        self.taken = taken

    async def lines(self) -> list[str]:
        await self.pilot.pause()
        return shown(self.pane)

    async def shows(self, part: str) -> list[str]:
        await until(lambda: any(part in line for line in shown(self.pane)), what=f"{part!r} on screen")
        return shown(self.pane)

    def say(self, question: str, answer: str) -> None:
        self.pane.add_user(question, "14:02")
        self.pane.begin_reply("demo")
        self.pane.add_text(answer)
        self.pane.end_reply(0.8)

    def question(self, arguments: dict[str, object], why: str = "destructive, says the server") -> None:
        self.pane.add_call("1", "notes", "delete_note", arguments)
        self.pane.ask(ApprovalRequest("1", Tool("notes", "delete_note"), arguments, why))


@asynccontextmanager
async def talk(columns: int = 60, rows: int = 20, clock: float = 0.0) -> AsyncIterator[Talk]:
    pane = Transcript(clock=lambda: clock)
    taken: list[str] = []

    def note(message: Message) -> None:
        if isinstance(message, Transcript.ExampleChosen):
            taken.append(message.text)

    async with Stage(pane).run_test(size=(columns, rows), message_hook=note) as pilot:
        await pilot.pause()
        yield Talk(pane, pilot, taken)


# ---- what was said


async def test_a_question_and_its_answer_stand_under_their_speakers():
    async with talk() as it:
        it.say("How is Beijing?", "It is **sunny**.")

        lines = await it.lines()

        assert lines[:6] == [
            "",
            "you" + "14:02".rjust(54),
            "How is Beijing?",
            "",
            "demo" + "0.8 s".rjust(53),
            "It is sunny.",
        ]


async def test_text_is_shown_while_the_reply_still_grows():
    async with talk() as it:
        it.pane.begin_reply("demo")
        for word in ("One ", "two ", "**three"):
            it.pane.add_text(word)

        await it.shows("One two **three")


async def test_steps_of_one_reply_share_a_label_that_sums_their_time():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.end_reply(0.6)
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.begin_reply("demo")
        it.pane.add_text("Sunny.")
        it.pane.end_reply(0.2, "not a language model")

        lines = await it.lines()

        assert [line for line in lines if line.startswith("demo")] == ["demo" + "0.8 s".rjust(53)]
        assert "not a language model" in lines


async def test_what_the_person_said_is_shown_as_written():
    async with talk() as it:
        it.pane.add_user("# not a heading\n  indented **stars**")

        assert (await it.lines())[2:4] == ["# not a heading", "  indented **stars**"]


async def test_a_reply_that_was_cut_says_so():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text("Half a sen")
        it.pane.end_reply(None, partial=True)

        await it.shows("· cut short")


@pytest.mark.parametrize("kind", ["user", "text", "thinking", "call", "question", "note", "welcome", "label"])
async def test_hostile_text_is_shown_and_never_obeyed(kind: str):
    async with talk(columns=100) as it:
        match kind:
            case "user":
                it.pane.add_user(HOSTILE, HOSTILE)
            case "label":
                it.pane.begin_reply(HOSTILE)
            case "text":
                it.say("x", f"{HOSTILE}\n\n```{HOSTILE}\n{HOSTILE}\n```\n\n|{HOSTILE}|\n|-|\n|{HOSTILE}|\n")
            case "thinking":
                it.pane.add_reasoning(HOSTILE)
                it.pane.focus()
                await it.shows("thinking")
                await press(it.pilot, "enter")
            case "call":
                it.pane.add_call("1", HOSTILE, HOSTILE, {HOSTILE: HOSTILE, "deep": [HOSTILE]})
                it.pane.set_call("1", "failed", HOSTILE, 3, HOSTILE)
            case "question":
                it.question({HOSTILE: HOSTILE}, HOSTILE)
            case "note":
                it.pane.add_note(HOSTILE, "bad")
            case "welcome":
                it.pane.set_welcome([HOSTILE], [HOSTILE])

        lines = await it.shows("red")

        assert all(char.isprintable() and char not in "\u202e\ud800" for line in lines for char in line)
        assert any("␛[31mred" in line for line in lines)
        assert it.pilot.app.is_running


@pytest.mark.parametrize("columns", [20, 41, 60, 120, 200])
async def test_every_line_is_exactly_as_wide_as_the_pane(columns: int):
    async with talk(columns, 60) as it:
        wide = "北京今天天气晴朗，气温二十五度。 👩\u200d🚀 ok ❤\ufe0f "
        it.say(
            wide * 4,
            f"- {wide * 3}\n\n| {wide} | b |\n|---|--:|\n| {wide * 2} | 1 |\n\n```py\n{wide * 3}\n```\n",
        )
        it.pane.add_call("1", "天气", "获取天气", {"城市": wide * 4})
        it.question({"城市": wide * 4})
        await it.lines()

        assert {it.pane.render_line(y).cell_length for y in range(60)} == {it.pane.columns}


async def test_text_is_never_wider_than_a_hundred_columns():
    async with talk(200, 30) as it:
        it.say("word " * 100, "word " * 100)

        assert max(len(line) for line in await it.lines()) <= 100


async def test_thinking_is_one_row_until_it_is_opened():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_reasoning("First this.\nThen that.")
        it.pane.add_text("Done.")
        it.pane.focus()

        lines = await it.shows("Done.")
        assert row_with(lines, "thought") == "thought for 0 ms  ▸"
        assert not any("Then that." in line for line in lines)

        await press(it.pilot, "enter")
        lines = await it.shows("Then that.")
        assert lines.index("▎ First this.") + 1 == lines.index("▎ Then that.")

        await press(it.pilot, "enter")
        assert not any("Then that." in line for line in await it.lines())


async def test_text_that_turns_out_to_be_thinking_is_taken_back():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text("Let me think.\n\nAnd again.")
        await it.shows("And again.")
        it.pane.add_reasoning("Let me think. And again.", replaces_text=True)
        it.pane.add_text("Sunny.")
        lines = await it.shows("Sunny.")
        assert not any("And again." in line for line in lines)
        assert row_with(lines, "thought") and it.pane.reply_text() == "Sunny."


async def test_a_very_long_message_of_the_person_is_folded_and_can_be_opened():
    async with talk() as it:
        it.pane.add_user("\n".join(f"line {number}" for number in range(5000)))
        it.pane.focus()

        lines = await it.shows("▸ 4 988 more lines")
        assert "line 11" in lines

        await press(it.pilot, "enter", "G")
        await it.shows("line 4999")


# ---- what was called


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("waiting", "waiting"),
        ("running", "running"),
        ("failed", "failed"),
        ("denied", "denied"),
        ("cancelled", "cancelled"),
    ],
)
async def test_a_call_says_its_state_in_a_word(state: str, words: str):
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.set_call("1", state)

        assert words in row_with(await it.lines(), "weather › get_weather")


async def test_a_call_that_is_done_takes_one_line():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing"})
        it.pane.set_call("1", "done", ms=4.2, preview="sunny")

        lines = [line for line in await it.lines() if line]

        assert lines == ['   ✓ weather › get_weather   location="Beijing"' + "4 ms ▸".rjust(10)]


async def test_a_call_opens_to_its_arguments_and_its_result():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing", "days": 3})
        it.pane.set_call("1", "done", ms=4.2, preview="sunny\n25 °C")
        it.pane.focus()
        await it.lines()

        await press(it.pilot, "enter")

        lines = await it.shows("→ sunny")
        assert lines[2:6] == ['     location  "Beijing"', "     days      3", "     → sunny", "       25 °C"]


async def test_a_call_that_failed_says_why_without_being_opened():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.set_call("1", "failed", ms=12, preview="unknown station")

        await it.shows("     unknown station")


async def test_a_call_that_did_not_run_says_so_once():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.set_call("1", "failed", "not run", 0, "not run: limit (max_steps)")

        await it.shows("     not run: limit (max_steps)")


async def test_a_result_of_megabytes_is_shown_as_a_preview():
    async with talk() as it:
        it.pane.add_call("1", "files", "read", {})
        it.pane.set_call("1", "done", ms=1, preview="x" * 3_000_000)
        it.pane.focus()
        await it.lines()
        await press(it.pilot, "enter", "G")

        await it.shows("… 3.0 M more characters")


async def test_a_click_on_a_call_opens_it():
    async with talk() as it:
        it.pane.add_call("1", "weather", "get_weather", {"location": "Beijing"})
        await it.lines()

        await it.pilot.click(Transcript, offset=(10, 1))

        await it.shows('     location  "Beijing"')


async def test_calls_of_one_step_stand_below_each_other():
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
        assert row_with(lines, "┌").endswith("─ destructive, says the server ─┐")
        assert row_with(lines, "│ id").startswith('│ id  "2026-11-20-milk"  ')
        keys = "y once   t this session   a always for this tool   n no   e no, and say why"
        assert keys in row_with(lines, "y once")


async def test_a_question_becomes_a_line_again_once_it_is_answered():
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
        lines = await it.shows("40 more rows, enter shows them")
        assert not any("part 49" in line for line in lines)

        await press(it.pilot, "enter", "G")

        await it.shows("part 49")


async def test_a_value_cannot_pass_for_an_argument_of_its_own():
    async with talk() as it:
        it.question({"id": 'x"\nsafe  true'})

        lines = await it.shows("safe")

        assert row_with(lines, "safe").startswith("│     safe")
        assert row_with(lines, "│ id").startswith('│ id  "x"')


async def test_a_question_is_brought_into_view():
    async with talk(rows=12) as it:
        it.say("x", "word\n\n" * 50)
        await it.lines()
        await press(it.pilot, "tab")
        it.pane.scroll_to(y=0, animate=False)
        await it.lines()

        it.question({"id": 1})

        await it.shows("y once")


async def test_arguments_that_are_no_json_are_shown_all_the_same():
    async with talk() as it:
        loop: list[object] = []
        loop.append(loop)
        it.pane.add_call("1", "a", "b", {"loop": loop, "set": {1}})

        await it.shows("loop=[[...]]")


async def test_an_unknown_call_is_ignored():
    async with talk() as it:
        it.pane.set_call("nobody", "done")

        assert set(await it.lines()) == {""}


# ---- notes and the welcome


@pytest.mark.parametrize(("kind", "sign"), [("info", "·"), ("warn", "!"), ("bad", "✗")])
async def test_a_note_has_a_sign_for_its_kind_and_hangs_under_it(kind: str, sign: str):
    async with talk(columns=30) as it:
        it.pane.add_note("weather did not start: it exited with code 1", kind)

        lines = [line for line in await it.lines() if line]

        assert lines == [f"{sign} weather did not start: it", "  exited with code 1"]


async def test_an_empty_conversation_shows_the_welcome_until_something_is_said():
    async with talk() as it:
        it.pane.set_welcome(["mcptui", "demo model"], ["What is the weather?"])
        await it.shows("› What is the weather?")

        it.pane.add_user("hello")
        assert not any("weather" in line for line in await it.lines())

        it.pane.clear()
        await it.shows("› What is the weather?")


@pytest.mark.parametrize("how", ["key", "click"])
async def test_an_example_can_be_taken(how: str):
    async with talk() as it:
        it.pane.set_welcome(["mcptui"], ["First?", "Second?"])
        it.pane.focus()
        lines = await it.shows("› Second?")

        if how == "key":
            await press(it.pilot, "down", "enter")
        else:
            await it.pilot.click(Transcript, offset=(8, lines.index(row_with(lines, "Second?"))))

        await until(lambda: set(it.taken) == {"Second?"})


# ---- staying where the person is


def numbered(count: int, start: int = 0) -> str:
    return "".join(f"paragraph {number}\n\n" for number in range(start, start + count))


async def test_the_end_stays_in_view_while_text_arrives():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text(numbered(50))
        await it.shows("paragraph 49")
        it.pane.add_text(numbered(50, 50))
        await it.shows("paragraph 99")


async def test_after_scrolling_up_nothing_moves_until_the_end_is_asked_for():
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


async def test_a_change_above_does_not_move_what_is_read():
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


async def test_another_width_keeps_the_place_and_wraps_everything_in_time():
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


async def test_a_thousand_messages_are_wrapped_when_they_are_looked_at():
    async with talk() as it:
        for number in range(1000):
            it.say(f"question {number}", "word " * 100)
        await it.shows("question 999")

        stale = sum(it.pane.flow.stale(index) for index in range(len(it.pane.flow.blocks)))
        assert stale > 2000

        it.pane.focus()
        await press(it.pilot, "home")
        await it.shows("question 0")


# ---- copying


async def test_selected_text_is_copied_without_the_spaces_that_fill_lines():
    async with talk() as it:
        it.say("How is Beijing?", "It is **sunny**.")
        await it.lines()

        copied = it.pane.get_selection(Selection(Offset(4, 2), Offset(5, 5)))

        assert copied == ("is Beijing?\n\ndemo" + "0.8 s".rjust(53) + "\nIt is", "\n")


async def test_the_source_of_the_last_reply_is_copied():
    async with talk() as it:
        assert not it.pane.copy_last_reply()
        it.say("x", "first")
        it.say("y", "It is **sunny**.\n")

        assert it.pane.copy_last_reply()
        assert it.pilot.app.clipboard == "It is **sunny**.\n"


async def test_another_theme_paints_again_without_wrapping():
    async with talk() as it:
        it.pane.add_note("bad thing", "bad")
        await it.lines()
        row = it.pane.render_line(1)
        rows = it.pane.flow.blocks[0].rows

        it.pilot.app.theme = "textual-light"
        await it.lines()

        assert it.pane.render_line(1)._segments != row._segments
        assert it.pane.flow.blocks[0].rows is rows
