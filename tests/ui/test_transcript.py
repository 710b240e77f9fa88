"""The conversation on screen."""

from types import SimpleNamespace

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from tests.conftest import until
from tests.ui.stage import press, row_with
from tests.ui.talk_stage import HOSTILE, talk
from tui.runtime.example_questions import Example
from tui.ui.chat.transcript import transcript
from tui.ui.chat.transcript.transcript import FRAMES, SOON_SECONDS, Transcript

# ---- messages


async def test_a_question_has_a_bar_and_its_answer_is_signed_at_its_end():
    async with talk() as it:
        it.say("How is Beijing?", "It is **sunny**.")

        lines = await it.lines()

        assert lines[:6] == [
            "",
            "▌ How is Beijing?" + "14:02".rjust(39),
            "",
            "It is sunny.",
            "demo   0.8 s".rjust(57),
            "",
        ]


async def test_text_is_shown_while_the_reply_grows():
    async with talk() as it:
        it.pane.begin_reply("demo")
        for word in ("One ", "two ", "**three"):
            it.pane.add_text(word)

        await it.shows("One two **three")


async def test_the_first_text_is_drawn_soon_and_the_rest_at_most_twenty_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
):
    now, waits = [1000.0], []
    monkeypatch.setattr(transcript, "monotonic", lambda: now[0])
    async with talk() as it:
        it.pane.begin_reply("demo")
        loop = SimpleNamespace(call_later=lambda wait, *_: waits.append(wait))
        monkeypatch.setattr(transcript, "get_running_loop", lambda: loop)
        for moment in (1000.0, 1000.01, 1001.0):
            now[0] = moment
            it.pane.add_text("word ")
            it.pane._draw()

    first, second, third = waits
    assert first == third == SOON_SECONDS
    assert second >= 1 / FRAMES - 0.011


async def test_the_scroll_bar_is_painted_with_the_text():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text("line\n\n" * 100)
        await it.shows("line")
        await it.pilot.pause()
        it.pane.add_text("last line\n\n" * 100)
        it.pane._draw()

        bar = it.pane.vertical_scrollbar
        assert not bar._repaint_required and bar not in it.pane.screen._dirty_widgets


async def test_steps_of_one_reply_share_a_signature_with_their_total_time():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.end_reply(0.6, last=False)
        it.pane.add_call("1", "weather", "get_weather", {})
        it.pane.begin_reply("demo")
        it.pane.add_text("Sunny.")
        it.pane.end_reply(0.2, "not a language model")

        lines = await it.lines()

        assert [line for line in lines if "demo" in line] == ["demo   0.8 s".rjust(57)]
        assert "not a language model" in lines


async def test_a_wait_before_a_turn_is_one_line_that_is_updated_and_removed():
    async with talk() as it:
        it.pane.add_user("hi")
        it.pane.show_waiting("Waiting for 2 servers to start: a, b")
        await it.shows("◌ Waiting for 2 servers to start: a, b")
        it.pane.show_waiting("Waiting for 1 server to start: b")
        lines = await it.shows("Waiting for 1 server")
        assert not any("2 servers" in line for line in lines)
        it.pane.show_waiting("")
        assert not any("Waiting" in line for line in await it.lines())


async def test_a_user_message_is_shown_as_written():
    async with talk() as it:
        it.pane.add_user("# not a heading\n  indented **stars**")

        assert (await it.lines())[1:3] == ["▌ # not a heading", "▌   indented **stars**"]


@pytest.mark.parametrize("kind", ["user", "text", "thinking", "call", "question", "note", "welcome", "label"])
async def test_escape_sequences_are_shown_as_text(kind: str):
    async with talk(columns=100) as it:
        match kind:
            case "user":
                it.pane.add_user(HOSTILE, HOSTILE)
            case "label":
                it.pane.begin_reply(HOSTILE)
                it.pane.end_reply(0.1)
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
                it.pane.set_welcome([HOSTILE], [Example(HOSTILE, HOSTILE)])

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


async def test_reasoning_is_one_row_until_it_is_expanded():
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


async def test_text_that_turns_out_to_be_reasoning_is_removed():
    async with talk() as it:
        it.pane.begin_reply("demo")
        it.pane.add_text("Let me think.\n\nAnd again.")
        await it.shows("And again.")
        it.pane.add_reasoning("Let me think. And again.", replaces_text=True)
        it.pane.add_text("Sunny.")
        lines = await it.shows("Sunny.")
        assert not any("And again." in line for line in lines)
        assert row_with(lines, "thought") and it.pane.reply_text() == "Sunny."


async def test_a_very_long_user_message_is_folded_and_can_be_expanded():
    async with talk() as it:
        it.pane.add_user("\n".join(f"line {number}" for number in range(5000)))
        it.pane.focus()

        lines = await it.shows("▸ 4 988 more lines")
        assert "▌ line 11" in lines

        await press(it.pilot, "enter", "G")
        await it.shows("line 4999")


# ---- notes and the welcome


@pytest.mark.parametrize(("kind", "sign"), [("info", "·"), ("warn", "!"), ("bad", "✗")])
async def test_a_note_has_a_symbol_for_its_kind_and_is_indented_after_it(kind: str, sign: str):
    async with talk(columns=30) as it:
        it.pane.add_note("weather did not start: it exited with code 1", kind)

        lines = [line for line in await it.lines() if line]

        assert lines == [f"{sign} weather did not start: it", "  exited with code 1"]


async def test_an_empty_conversation_shows_the_welcome_until_the_first_message():
    async with talk() as it:
        it.pane.set_welcome(["mcptui", "demo model"], [Example("What is the weather?", "weather › now")])
        await it.shows("› What is the weather?")

        it.pane.add_user("hello")
        assert not any("weather" in line for line in await it.lines())

        it.pane.show_past((), (), lambda model: "", (), lambda remark: ("", ""))
        await it.shows("› What is the weather?")


@pytest.mark.parametrize("how", ["key", "double click"])
async def test_an_example_can_be_selected(how: str):
    async with talk() as it:
        it.pane.set_welcome(["mcptui"], [Example("First?", ""), Example("Second?", "")])
        it.pane.focus()
        lines = await it.shows("› Second?")

        if how == "key":
            await press(it.pilot, "down", "enter")
        else:
            await it.pilot.click(Transcript, offset=(8, lines.index(row_with(lines, "Second?"))), times=2)

        await until(lambda: set(it.taken) == {"Second?"})


# ---- copying


async def test_selected_text_is_copied_without_padding():
    async with talk() as it:
        it.say("How is Beijing?", "It is **sunny**.")
        await it.lines()

        copied = it.pane.get_selection(Selection(Offset(6, 1), Offset(5, 3)))

        assert copied == ("is Beijing?\n\nIt is", "\n")


async def test_another_theme_repaints_without_wrapping_again():
    async with talk() as it:
        it.pane.add_note("bad thing", "bad")
        await it.lines()
        row = it.pane.render_line(1)
        rows = it.pane.flow.blocks[0].rows

        it.pilot.app.theme = "textual-light"
        await it.lines()

        assert it.pane.render_line(1)._segments != row._segments
        assert it.pane.flow.blocks[0].rows is rows
