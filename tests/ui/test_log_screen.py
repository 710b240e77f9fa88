"""The log screen of a server: live, searchable, with the keys of the server."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from tests.conftest import until
from tests.ui.stage import FakeHost, Stage, press, server, shown, stopped
from tui.core.servers import ServerState, StopReason
from tui.ui.dialogs.help import groups
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.workbench.log_screen import LogScreen
from tui.ui.workbench.server_tabs import LogLines


def numbered(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"line {number}" for number in range(first, last + 1))


def lines_of(screen: LogScreen) -> LogLines:
    return screen.query_one(LogLines)


def burst(app: App[None], text: str) -> None:
    """Send the app keys like a paste or a script: all of them before it has handled the first."""
    names = {"/": "slash", "\r": "enter", "\x1b": "escape"}
    for letter in text:
        app.post_message(events.Key(names.get(letter, letter), letter if letter != "\x1b" else None))


def bottom_of(app: App[None]) -> list[str]:
    lines = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in line) for line in lines][-2:]


def title_of(screen: LogScreen) -> str:
    return screen._title.render_line(0).text


@pytest.fixture
def host() -> FakeHost:
    return FakeHost(server("weather"), stopped("slow", StopReason.CRASHED, exit_code=1))


@asynccontextmanager
async def opened(
    host: FakeHost, name: str = "weather", columns: int = 80
) -> AsyncIterator[tuple[LogScreen, Pilot[None]]]:
    async with Stage().run_test(size=(columns, 12)) as pilot:
        await pilot.app.push_screen(screen := LogScreen(host, name))
        await pilot.pause()
        yield screen, pilot


async def test_the_title_shows_the_server_and_its_state_and_an_empty_log_says_so(host: FakeHost) -> None:
    async with opened(host, "slow") as (screen, _pilot):
        assert shown(lines_of(screen))[0] == "No log output from this server yet."
        assert title_of(screen).split() == ["LOG", "slow", "STOPPED", "crashed,", "code", "1", "following"]
        host.change("slow", state=ServerState.RUNNING)
        screen.look()
        assert "RUNNING" in title_of(screen)


async def test_the_newest_line_is_followed_until_the_user_scrolls_up(host: FakeHost) -> None:
    host.lines = numbered(1, 50)
    async with opened(host) as (screen, pilot):
        assert shown(lines_of(screen))[-1] == "line 50"
        host.lines = numbered(1, 60)
        screen.look()
        assert shown(lines_of(screen))[-1] == "line 60"
        await press(pilot, "pageup")
        before = shown(lines_of(screen))
        host.lines = numbered(1, 70)
        screen.look()
        assert shown(lines_of(screen)) == before
        assert "press end to follow" in title_of(screen)
        await press(pilot, "end")
        assert shown(lines_of(screen))[-1] == "line 70"


async def test_visible_lines_keep_their_place_while_old_ones_are_dropped(host: FakeHost) -> None:
    host.lines = numbered(1, 100)
    async with opened(host) as (screen, pilot):
        await press(pilot, "pageup")
        before = shown(lines_of(screen))
        host.lines = numbered(21, 120)
        screen.look()
        await pilot.pause()
        assert shown(lines_of(screen)) == before


async def test_a_search_matches_like_a_filter(host: FakeHost) -> None:
    host.lines = ("Cafe\u0301 CLOSED", "CAFÉ open", "cafe")
    async with opened(host) as (screen, pilot):
        await press(pilot, "slash", *"café")
        assert "2 of 2" in title_of(screen)


async def test_a_search_highlights_matches_and_steps_through_them(host: FakeHost) -> None:
    host.lines = tuple("an ERROR here" if number % 10 == 0 else f"line {number}" for number in range(50))
    async with opened(host) as (screen, pilot):
        await press(pilot, "slash", *"error")
        assert "5 of 5" in title_of(screen)
        await press(pilot, "enter", "N")
        assert "4 of 5" in title_of(screen)
        assert "an ERROR here" in shown(lines_of(screen))
        await press(pilot, "n", "n")
        assert "1 of 5" in title_of(screen)
        assert "an ERROR here" in shown(lines_of(screen))


async def test_escape_closes_the_search_and_then_the_log(host: FakeHost) -> None:
    host.lines = numbered(1, 5)
    async with opened(host) as (screen, pilot):
        await press(pilot, "slash", *"line", "escape")
        assert pilot.app.screen is screen
        assert " of " not in title_of(screen)
        await press(pilot, "escape")
        assert pilot.app.screen is not screen


async def test_keys_start_and_restart_a_stopped_server(host: FakeHost) -> None:
    async with opened(host, "slow") as (_screen, pilot):
        await press(pilot, "s", "r")
        assert host.asked == [("start", "slow"), ("restart", "slow")]


async def test_a_configured_key_works_and_is_the_one_in_the_footer_and_the_help(host: FakeHost) -> None:
    overrides = KeyOverrides([("log.copy", "x")])
    host.lines = numbered(1, 2)
    async with Stage().run_test(size=(120, 12)) as pilot:
        pilot.app.overrides = overrides
        pilot.app.set_keymap(overrides.keymap())
        screen = LogScreen(host, "slow")
        await pilot.app.push_screen(screen)
        await press(pilot, "c")
        assert pilot.app.clipboard == ""
        await press(pilot, "x")
        assert tuple(pilot.app.clipboard.splitlines()) == numbered(1, 2)
        assert "x copy" in bottom_of(pilot.app)[-1]
    found = dict(groups(overrides, screen.CONTEXTS))["Server log"]
    assert [line.keys for line in found if line.help == "Copy the log"] == ["x"]


async def test_long_lines_wrap_or_are_truncated(host: FakeHost) -> None:
    host.lines = ("word " * 20, "last")
    async with opened(host, columns=40) as (screen, pilot):
        assert shown(lines_of(screen))[1].startswith("  word")
        await press(pilot, "w")
        assert shown(lines_of(screen))[0].endswith("…")
        assert shown(lines_of(screen))[1] == "last"


async def test_hostile_lines_are_shown_and_never_interpreted(host: FakeHost) -> None:
    evil = "[/x][@click=app.quit]\x1b]52;c;eA==\x07\x9b31m\u202e"
    host.lines = (evil, evil)
    async with opened(host) as (screen, pilot):
        await press(pilot, "slash", "c", "l", "i")
        text = "".join(shown(lines_of(screen)))
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
    assert "[@click=app.quit]" in text


async def test_a_flood_of_stderr_is_laid_out_quickly(host: FakeHost) -> None:
    async with opened(host) as (screen, _pilot):
        tail = tuple(f"{number} " + "x" * 58 for number in range(3000))
        began = time.process_time()
        for start in range(0, 2000, 200):
            host.lines = tail[start : start + 1000]
            screen.look()
        assert (time.process_time() - began) / 10 < 0.1


async def test_the_search_input_is_shown_above_the_footer(host: FakeHost) -> None:
    host.lines = numbered(1, 5)
    async with Stage().run_test(size=(80, 24)) as pilot:
        await pilot.app.push_screen(LogScreen(host, "weather"))
        await press(pilot, "slash", *"line")
        search, keys = bottom_of(pilot.app)
    assert search.split() == ["search", "›", "line"]
    assert keys.split()[:2] == ["enter", "accept"]


@pytest.mark.parametrize("text", ["server", "copy", "now", "quiz", "s/r"])
@pytest.mark.parametrize("is_open", [True, False])
async def test_letters_in_one_burst_with_the_slash_are_searched_for_also_before_the_log_opens(
    host: FakeHost, text: str, is_open: bool
) -> None:
    async with Stage().run_test(size=(80, 12)) as pilot:
        screen = LogScreen(host, "weather")
        opening = pilot.app.push_screen(screen)
        if is_open:
            await opening
        burst(pilot.app, f"/{text}")
        await until(lambda: bool(screen.query(Input)) and screen.query_one(Input).value == text)
        assert host.asked == []
        assert pilot.app.clipboard == ""


async def test_after_enter_letters_are_keys_and_the_search_can_be_continued(host: FakeHost) -> None:
    host.lines = numbered(1, 5)
    async with opened(host) as (screen, pilot):
        await press(pilot, "slash", *"line", "enter", "N", "r")
        assert "4 of 5" in title_of(screen)
        assert host.asked == [("restart", "weather")]
        await press(pilot, "slash", "3")
        assert "1 of 1" in title_of(screen)
        await press(pilot, "z")
        assert "no matches" in title_of(screen)


async def test_keys_in_one_burst_after_closing_the_log_do_not_reach_the_server(
    host: FakeHost,
) -> None:
    async with opened(host) as (screen, pilot):
        burst(pilot.app, "\x1bsrc")
        await until(lambda: pilot.app.screen is not screen)
        await pilot.pause()
        assert host.asked == []
