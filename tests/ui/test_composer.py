"""The composer: several lines, a history, and pastes of any size."""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.conftest import until
from tests.ui.stage import Stage
from tui.ui.chat.composer.composer import MAX_ROWS, Composer
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.bar import Box


@asynccontextmanager
async def composing() -> AsyncIterator[tuple[Composer, Pilot[None]]]:
    composer = Composer(KeyOverrides(()), Box())
    app = Stage(composer)
    async with app.run_test(size=(60, 20)) as pilot:
        composer.focus()
        await pilot.pause()
        yield composer, pilot


def taken(composer: Composer) -> str:
    """Take the message, with every paste in full."""
    written = composer.take_written()
    return written.text if written is not None else ""


def sent(composer: Composer, *texts: str) -> None:
    for text in texts:
        composer.show(text)
        taken(composer)


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_these_keys_insert_a_line_break(key):
    async with composing() as (composer, pilot):
        await pilot.press("a", key, "b")
        assert composer.text == "a\nb"


async def test_a_letter_is_painted_before_anything_else(monkeypatch):
    painted: list[object] = []
    async with composing() as (composer, pilot):
        monkeypatch.setattr("tui.ui.chat.composer.composer.paint_first", painted.append)
        await pilot.press("a")
        assert painted == [composer]


async def test_a_letter_that_adds_a_row_is_painted_with_the_layout(monkeypatch):
    painted: list[object] = []
    async with composing() as (composer, pilot):
        composer.show("a" * (composer.content_size.width - 1))
        await pilot.pause()
        monkeypatch.setattr("tui.ui.chat.composer.composer.paint_first", painted.append)
        await pilot.press("b")
        assert composer.rows_wanted == 2
        assert painted == []


async def test_the_composer_grows_up_to_eight_rows():
    async with composing() as (composer, pilot):
        assert composer.size.height == 1
        for _ in range(3):
            await pilot.press("ctrl+j")
        await until(lambda: composer.size.height == 4)
        for _ in range(10):
            await pilot.press("ctrl+j")
        await until(lambda: composer.size.height == MAX_ROWS)
        taken(composer)
        composer.show("")
        await until(lambda: composer.size.height == 1)


async def test_a_long_line_is_wrapped_to_several_rows_until_the_window_is_wider():
    async with composing() as (composer, pilot):
        composer.insert("word " * 30)
        await until(lambda: composer.size.height == 3)
        await pilot.resize_terminal(200, 20)
        await until(lambda: composer.size.height == 1)


async def test_a_narrower_composer_shows_the_cursor():
    async with composing() as (composer, pilot):
        composer.most_rows = 1
        composer.insert("word " * 20)
        await pilot.resize_terminal(20, 20)
        await until(lambda: composer.scroll_offset.y == 6)
        assert composer.cursor_screen_offset == (10, 0)


async def test_up_in_the_first_line_recalls_a_message_and_down_the_draft():
    async with composing() as (composer, pilot):
        sent(composer, "first", "second")
        await pilot.press("d")
        for key, text in [
            ("up", "second"),
            ("up", "first"),
            ("up", "first"),
            ("down", "second"),
            ("down", "d"),
        ]:
            await pilot.press(key)
            assert composer.text == text


async def test_up_in_a_later_line_only_moves_the_cursor():
    async with composing() as (composer, pilot):
        sent(composer, "before")
        composer.show("one\ntwo")
        await pilot.press("up")
        assert composer.text == "one\ntwo"
        assert composer.cursor_location[0] == 0


async def test_blank_lines_are_not_sent():
    async with composing() as (composer, _):
        composer.show("  \n ")
        assert taken(composer) == ""


async def paste(composer: Composer, text: str) -> None:
    composer.post_message(events.Paste(text))
    await until(lambda: composer.text)


async def test_a_small_paste_is_text_without_control_characters():
    async with composing() as (composer, _):
        await paste(composer, "one\r\ntwo\rthree \x1b[31m")
        assert composer.text == "one\ntwo\nthree ␛[31m"


async def test_a_paste_of_five_megabytes_is_a_token_and_sent_in_full():
    async with composing() as (composer, pilot):
        text = ("x" * 62 + "\n") * 80_000
        began = time.thread_time()
        await paste(composer, text)
        assert time.thread_time() - began < 1.0
        assert composer.text == "[pasted 5.0 MB, 80 000 lines]"
        await pilot.press("h", "i")
        assert taken(composer) == text + "hi"


async def test_a_token_is_deleted_as_a_whole_and_restored_by_undo():
    async with composing() as (composer, pilot):
        await paste(composer, "x" * 5000)
        token = composer.text
        await pilot.press("backspace")
        assert composer.text == ""
        await pilot.press("ctrl+z")
        assert composer.text == token
        assert taken(composer) == "x" * 5000


@pytest.mark.parametrize("text", ["", "\n", "one\n"])
async def test_deleting_a_last_line_that_is_empty_deletes_nothing_else(text: str):
    async with composing() as (composer, pilot):
        composer.show(text)
        await pilot.press("ctrl+k", "ctrl+k")
        assert composer.text.strip() == text.strip() and pilot.app.is_running


@pytest.mark.parametrize("seed", range(2))
async def test_any_sequence_of_editing_keys_raises_no_exception(seed: int):
    keys = [key for one in TextArea.BINDINGS for key in one.key.split(",") if key not in ("f6", "f7")]
    draw = random.Random(seed)
    async with composing() as (composer, pilot):
        for _ in range(80):
            match draw.randrange(4):
                case 0:
                    await paste(composer, draw.choice(["x" * 5000, "a\nb\n", "é漢"]))
                case 1:
                    await pilot.press(draw.choice(["a", "space", "shift+enter", "tab", "@", "slash"]))
                case _:
                    await pilot.press(draw.choice(keys))
        assert pilot.app.is_running
        taken(composer)


async def test_no_text_can_be_typed_into_a_token():
    async with composing() as (composer, pilot):
        await paste(composer, "x" * 5000)
        token = composer.text
        await pilot.press("left", "left", "left", "z")
        assert composer.text == token + "z"


async def test_a_token_from_the_history_is_expanded_when_sent():
    async with composing() as (composer, pilot):
        await paste(composer, "x" * 5000)
        taken(composer)
        await pilot.press("up")
        assert taken(composer) == "x" * 5000
