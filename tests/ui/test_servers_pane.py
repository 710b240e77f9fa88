"""The servers pane, as a user sees and controls it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.stage import SECOND, FakeHost, Hand, Stage, press, row_with, server, shown, stopped
from tui.core.servers import ServerState, ServerStatus, StopReason
from tui.ui.chat.side_panes import ServersPane
from tui.ui.widgets.server_rows import toggle_server
from tui.ui.widgets.symbols import ASCII, UNICODE, Symbols


@dataclass
class Listed:
    """A servers pane on screen."""

    pane: ServersPane
    host: FakeHost
    hand: Hand
    pilot: Pilot[None]

    @property
    def lines(self) -> list[str]:
        return shown(self.pane)

    async def press(self, *keys: str) -> None:
        self.pane.focus()
        await press(self.pilot, *keys)


@asynccontextmanager
async def listed(*statuses: ServerStatus, size: tuple[int, int] = (60, 12)) -> AsyncIterator[Listed]:
    hand, host = Hand(), FakeHost(*statuses)
    stage = Stage(ServersPane(clock=hand))
    async with stage.run_test(size=size) as pilot:
        stage.widget.show_host(host)
        await pilot.pause()
        yield Listed(stage.widget, host, hand, pilot)


async def test_until_the_configuration_is_read_and_without_servers_the_pane_says_so() -> None:
    pane = ServersPane()
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        assert shown(pane)[:2] == ["SERVERS", "Loading the configuration…"]
        pane.show_host(FakeHost())
        await pilot.pause()
        text = " ".join(shown(pane))
    assert "No servers configured." in text and "mcptui config init" in text


async def test_a_running_server_shows_tools_and_uptime() -> None:
    async with listed(server("weather", tools=2, since_ns=936 * SECOND)) as it:
        title, line = it.lines[:2]
        assert title.split() == ["SERVERS", "1", "of", "1"]
        assert line.split() == ["●", "weather", "RUNNING", "2", "tools", "1", "m"]
        it.hand.turn(60)
        it.pane.tick()
        assert it.lines[1].endswith("2 m")


async def test_names_with_wide_characters_are_aligned() -> None:
    async with listed(server("天气", tools=2), server("notes", tools=4)) as it:
        lines = [it.pane.render_line(y) for y in (1, 2)]
        assert {line.cell_length for line in lines} == {it.pane.columns}
    assert [line.text.index("RUNNING") for line in lines] == [7, 9]


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (
            stopped("slow", StopReason.CRASHED, exit_code=1, stderr_last="RuntimeError: asked to crash"),
            "crashed, code 1 16 m last: RuntimeError: asked to crash",
        ),
        (
            stopped(
                "weather", StopReason.FAILED_TO_START, detail="It exited.", next_step="Press l, r to retry."
            ),
            "It exited. Press l, r to retry.",
        ),
        (
            server("npx", ServerState.STARTING, since_ns=997 * SECOND, stderr_last="fetching packages"),
            "npx STARTING 3 s fetching packages",
        ),
        (server("weather", tools=12, withheld=3, tools_off=3, tasks=1), "12 tools, 3 off, 1 task"),
        (server("odd", quarantined=(("bad", "no object"),)), "1 tool omitted"),
        (server("slow", listing_problem="no answer within 30 s"), "tools/list: no answer within 30 s"),
    ],
)
async def test_a_server_shows_its_state_and_what_explains_it(status: ServerStatus, shown: str) -> None:
    async with listed(status, size=(70, 8)) as it:
        it.pane.focus()
        assert shown in " ".join(" ".join(it.lines).split())


@pytest.mark.parametrize(("level", "moving"), [("full", set("◐◓◑◒")), ("none", {"◐"})])
async def test_only_a_starting_or_stopping_server_has_a_spinner_and_only_with_animations(
    level: str, moving: set[str]
) -> None:
    async with listed(server("npx", ServerState.STARTING), server("weather")) as it:
        it.pilot.app.animation_level = level
        signs = set()
        for _ in range(8):
            it.hand.turn(0.16)
            it.pane.tick()
            signs.add((it.lines[1][0], it.lines[2][0]))
    assert {sign for sign, _ in signs} == moving
    assert {still for _, still in signs} == {"●"}


async def test_without_changes_nothing_is_repainted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listed(server("weather")) as it:
        painted: list[object] = []
        monkeypatch.setattr(it.pane, "refresh", lambda *regions, **_: painted.append(regions))
        for _ in range(30):
            it.hand.turn(0.03)
            it.pane.tick()
        assert painted == []


async def test_the_process_id_is_shown_if_there_is_room() -> None:
    async with listed(server("weather", pid=4242), size=(100, 6)) as it:
        assert "pid 4242" in it.lines[1]
        await it.pilot.resize_terminal(40, 6)
        await until(lambda: it.pane.size.width == 40)
        it.pane.tick()
        assert "pid" not in it.lines[1]


async def test_space_unfolds_the_details_of_a_server() -> None:
    offers = {"protocol": "2026-07-28", "title": "Weather", "version": "1.2", "prompts": 1, "tools": 2}
    async with listed(server("weather", pid=4242, start_ms=312.0, **offers)) as it:
        await it.press("space")
        lines = it.lines
        assert row_with(lines, "command").split() == ["command", "python", "weather.py"]
        assert row_with(lines, "  pid  ").split() == ["pid", "4242"]
        assert row_with(lines, "started in").split() == ["started", "in", "0.3", "s"]
        assert row_with(lines, "  tools  ").split() == ["tools", "2"]
        assert row_with(lines, "protocol").split()[1] == "2026-07-28"
        await it.press("space")
        assert not any("command" in line for line in it.lines)


async def test_a_tool_that_the_server_keeps_from_models_is_not_counted_as_disabled() -> None:
    async with listed(server("weather", tools=12, withheld=1), size=(70, 12)) as it:
        assert "11 of 12 tools" in it.lines[1] and "12 tools," not in it.lines[1]
        await it.press("space")
        assert "12, 1 not offered to the model" in row_with(it.lines, "  tools  ")


async def test_the_details_name_omitted_tools_and_a_failed_listing() -> None:
    odd = server("odd", quarantined=(("bad", "its inputSchema is no object"),), listing_problem="no answer")
    async with listed(odd) as it:
        await it.press("space")
        assert "bad: its inputSchema is no object" in row_with(it.lines, "! a tool")
        assert "no answer" in row_with(it.lines, "! tools/list")


async def test_the_cursor_moves_from_server_to_server() -> None:
    died = stopped("b", StopReason.EXITED, exit_code=1, stderr_last="bye")
    async with listed(server("a"), died, server("c")) as it:
        seen = [it.pane.selected]
        for key in ("down", "down", "down", "up"):
            await it.press(key)
            seen.append(it.pane.selected)
    assert seen == ["a", "b", "c", "c", "b"]


async def test_the_selection_stays_with_its_server_when_lines_are_added_above() -> None:
    async with listed(server("a"), server("b")) as it:
        await it.press("down")
        it.host.change("a", state=ServerState.STOPPED, reason=StopReason.CRASHED, stderr_last="ouch")
        it.pane.tick()
        assert it.pane.selected == "b"
        await it.press("up")
        assert it.pane.selected == "a"


@pytest.mark.parametrize(
    ("state", "asked"),
    [
        (ServerState.STOPPED, "start"),
        (ServerState.STARTING, "stop"),
        (ServerState.RUNNING, "stop"),
        (ServerState.STOPPING, "start"),
    ],
)
def test_the_toggle_key_requests_the_other_state(state: ServerState, asked: str) -> None:
    host = FakeHost(server("a", state))
    toggle_server(host, server("a", state))  # type: ignore[arg-type]
    assert host.asked == [(asked, "a")]


async def test_escape_sequences_in_names_and_lines_are_shown_as_text() -> None:
    evil = "[/x][@click=app.quit]\x1b]52;c;eA==\x07\x9b31m\u202e"
    status = stopped(evil, StopReason.EXITED, exit_code=1, stderr_last=evil, detail=evil, next_step=evil)
    async with listed(status, size=(120, 12)) as it:
        await it.press("space")
        text = "".join(it.lines)
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
    assert "[/x][@click=app.quit]" in text


async def test_each_line_fits_every_width() -> None:
    died = stopped("a-server-with-a-long-name", StopReason.EXITED, exit_code=1, stderr_last="天气 " * 50)
    async with listed(
        server("weather", tools=12, pid=99999), died, server("天气预报天气预报"), size=(120, 30)
    ) as it:
        await it.press("space")
        for width in (20, 37, 44, 60, 100):
            await it.pilot.resize_terminal(width, 30)
            await it.pilot.pause()
            it.pane.tick()
            assert {it.pane.render_line(y).cell_length for y in range(30)} == {it.pane.columns}


async def test_the_title_stays_while_servers_scroll() -> None:
    async with listed(*[server(f"server{number}") for number in range(30)]) as it:
        await it.press("end")
        lines = it.lines
        assert lines[0].startswith("SERVERS")
        assert "server29" in lines[-1]
        assert it.pane.selected == "server29"
        await it.press("home")
        assert "server0 " in it.lines[1]


async def test_a_click_selects_a_server() -> None:
    async with listed(server("a"), server("b")) as it:
        for line in (2, 0):  # the title is none
            await it.pilot.click(it.pane, offset=(4, line))
            await it.pilot.pause()
            assert it.pane.selected == "b"


# ---- states: a word and a symbol, never color alone ----


CASES: list[tuple[ServerStatus, str, str]] = [
    (server("a", ServerState.RUNNING), "running", "RUNNING"),
    (server("a", ServerState.STARTING), "spinner", "STARTING"),
    (server("a", ServerState.STOPPING), "spinner", "STOPPING"),
    (stopped("a", StopReason.NOT_STARTED), "stopped", "STOPPED  not started"),
    (stopped("a", StopReason.REQUESTED), "stopped", "STOPPED  by you"),
    (stopped("a", StopReason.EXITED, exit_code=1), "failed", "STOPPED  exited, code 1"),
    (stopped("a", StopReason.CRASHED, signal="SIGSEGV"), "failed", "STOPPED  crashed, SIGSEGV"),
    (stopped("a", StopReason.FAILED_TO_START), "failed", "STOPPED  failed to start"),
    (stopped("a", StopReason.CRASH_LOOP), "failed", "STOPPED  crash loop"),
]


@pytest.mark.parametrize(
    ("symbols", "encoding", "theme"), [(UNICODE, "UTF-8", "harbor"), (ASCII, "ISO-8859-1", "ansi")]
)
async def test_each_state_has_a_symbol_and_a_word(
    symbols: Symbols, encoding: str, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", f"en_US.{encoding}")
    for status, sign_name, words in CASES:
        hand = Hand(0)
        pane = ServersPane(clock=hand)
        async with Stage(pane, theme=theme).run_test(size=(60, 10)) as pilot:
            pane.show_host(FakeHost(status))
            await pilot.pause()
            line = shown(pane)[1]
        sign = getattr(symbols, sign_name)
        assert line[0] in sign
        assert " ".join(words.split()) in " ".join(line.split())
