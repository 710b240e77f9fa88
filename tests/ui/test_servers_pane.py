"""The servers pane, as a user sees and controls it."""

import pytest

from tests.conftest import until
from tests.ui.stage import SECOND, FakeHost, Hand, Stage, press, row_with, server, shown, stopped
from tui.core.servers import ServerState, StopReason
from tui.ui.chat.side_panes import ServersPane
from tui.ui.widgets.server_rows import toggle_server


def pane_and_host(*statuses: object) -> tuple[ServersPane, FakeHost, Hand]:
    hand = Hand()
    return ServersPane(clock=hand), FakeHost(*statuses), hand  # type: ignore[arg-type]


async def test_before_the_configuration_is_read_the_pane_says_so() -> None:
    pane = ServersPane()
    async with Stage(pane).run_test(size=(60, 6)):
        assert shown(pane)[:2] == ["SERVERS", "Loading the configuration…"]


async def test_without_servers_the_pane_says_how_to_add_one() -> None:
    pane, host, _ = pane_and_host()
    async with Stage(pane).run_test(size=(60, 8)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        text = " ".join(shown(pane))
    assert "No servers configured." in text
    assert "mcptui config init" in text


async def test_a_running_server_shows_tools_and_uptime() -> None:
    pane, host, hand = pane_and_host(server("weather", tools=2, since_ns=936 * SECOND))
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        title, line = shown(pane)[:2]
        assert title.split() == ["SERVERS", "1", "of", "1"]
        assert line.split() == ["●", "weather", "RUNNING", "2", "tools", "1", "m"]
        hand.turn(60)
        pane.tick()
        assert shown(pane)[1].endswith("2 m")


async def test_names_with_wide_characters_are_aligned() -> None:
    pane, host, _ = pane_and_host(server("天气", tools=2), server("notes", tools=4))
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        lines = [pane.render_line(y) for y in (1, 2)]
        assert {line.cell_length for line in lines} == {pane.columns}
    assert [line.text.index("RUNNING") for line in lines] == [7, 9]


async def test_a_crashed_server_shows_its_last_output() -> None:
    status = stopped("slow", StopReason.CRASHED, exit_code=1, stderr_last="RuntimeError: asked to crash")
    pane, host, _ = pane_and_host(status)
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        lines = shown(pane)
    assert "crashed, code 1" in lines[1]
    assert lines[2] == "  last: RuntimeError: asked to crash"


async def test_a_server_that_failed_to_start_shows_the_reason_and_the_next_step() -> None:
    status = stopped(
        "weather",
        StopReason.FAILED_TO_START,
        detail="weather did not start: `python weather.py` exited with code 1 after 0.3 s.",
        next_step="Press l for its log, r to retry.",
    )
    pane, host, _ = pane_and_host(status)
    async with Stage(pane).run_test(size=(60, 8)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        text = " ".join(" ".join(shown(pane)).split())
    assert "`python weather.py` exited with code 1 after 0.3 s." in text
    assert "Press l for its log, r to retry." in text


async def test_a_starting_server_shows_its_duration_and_last_output() -> None:
    status = server("npx", ServerState.STARTING, since_ns=997 * SECOND, stderr_last="fetching packages")
    pane, host, _ = pane_and_host(status)
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        lines = shown(pane)
    assert lines[1].split()[1:] == ["npx", "STARTING", "3", "s"]
    assert lines[2] == "  fetching packages"


async def test_only_a_starting_or_stopping_server_has_a_spinner() -> None:
    pane, host, hand = pane_and_host(server("npx", ServerState.STARTING), server("weather"))
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        signs = set()
        for _ in range(8):
            hand.turn(0.16)
            pane.tick()
            signs.add((shown(pane)[1][0], shown(pane)[2][0]))
    assert {moving for moving, _ in signs} == set("◐◓◑◒")
    assert {still for _, still in signs} == {"●"}


async def test_without_animations_there_is_no_spinner() -> None:
    pane, host, hand = pane_and_host(server("npx", ServerState.STARTING))
    stage = Stage(pane)
    stage.animation_level = "none"
    async with stage.run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        signs = set()
        for _ in range(8):
            hand.turn(0.16)
            pane.tick()
            signs.add(shown(pane)[1][0])
    assert signs == {"◐"}


async def test_without_changes_nothing_is_repainted(monkeypatch: pytest.MonkeyPatch) -> None:
    pane, host, hand = pane_and_host(server("weather"))
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        painted: list[object] = []
        monkeypatch.setattr(pane, "refresh", lambda *regions, **_: painted.append(regions))
        for _ in range(30):
            hand.turn(0.03)
            pane.tick()
        assert painted == []


async def test_the_process_id_is_shown_if_there_is_room() -> None:
    pane, host, _ = pane_and_host(server("weather", pid=4242))
    async with Stage(pane).run_test(size=(100, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        assert "pid 4242" in shown(pane)[1]
        await pilot.resize_terminal(40, 6)
        await until(lambda: pane.size.width == 40)
        pane.tick()
        assert "pid" not in shown(pane)[1]


async def test_space_unfolds_the_details_of_a_server() -> None:
    status = server(
        "weather",
        pid=4242,
        start_ms=312.0,
        protocol="2026-07-28",
        title="Weather",
        version="1.2",
        prompts=1,
        tools=2,
    )
    pane, host, _ = pane_and_host(status)
    async with Stage(pane).run_test(size=(60, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await press(pilot, "space")
        lines = shown(pane)
        assert row_with(lines, "command").split() == ["command", "python", "weather.py"]
        assert row_with(lines, "process").split(maxsplit=1)[1] == "pid 4242, started in 0.3 s"
        assert row_with(lines, "offers").split(maxsplit=1)[1] == "2 tools, 1 prompt"
        assert row_with(lines, "protocol").split()[1] == "2026-07-28"
        await press(pilot, "space")
        assert not any("command" in line for line in shown(pane))


async def test_disabled_tools_and_waiting_tasks_are_counted() -> None:
    pane, host, _ = pane_and_host(server("weather", tools=12, withheld=3, tools_off=3, tasks=1))
    async with Stage(pane).run_test(size=(70, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        assert "12 tools, 3 off, 1 task" in shown(pane)[1]


async def test_a_tool_that_the_server_keeps_from_models_is_not_counted_as_disabled() -> None:
    pane, host, _ = pane_and_host(server("weather", tools=12, withheld=1))
    async with Stage(pane).run_test(size=(70, 12)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        assert "11 of 12 tools" in shown(pane)[1] and "12 tools," not in shown(pane)[1]
        pane.focus()
        await press(pilot, "space")
        assert "12 tools, 1 not offered to the model" in row_with(shown(pane), "offers")


async def test_omitted_tools_are_listed_with_the_reason() -> None:
    pane, host, _ = pane_and_host(server("odd", quarantined=(("bad", "its inputSchema is no object"),)))
    async with Stage(pane).run_test(size=(60, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await pilot.pause()
        assert "  1 tool omitted" in shown(pane)
        await press(pilot, "space")
        assert "bad: its inputSchema is no object" in row_with(shown(pane), "omitted  ")


async def test_a_failed_listing_is_not_reported_as_an_omitted_tool() -> None:
    pane, host, _ = pane_and_host(server("slow", listing_problem="no answer within 30 s"))
    async with Stage(pane).run_test(size=(60, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await pilot.pause()
        assert "  tools/list: no answer within 30 s" in shown(pane)
        await press(pilot, "space")
        assert row_with(shown(pane), "listing").split(maxsplit=1)[1] == "tools/list: no answer within 30 s"
        assert not any("omitted" in line for line in shown(pane))


async def test_the_cursor_moves_from_server_to_server() -> None:
    died = stopped("b", StopReason.EXITED, exit_code=1, stderr_last="bye")
    pane, host, _ = pane_and_host(server("a"), died, server("c"))
    async with Stage(pane).run_test(size=(60, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await pilot.pause()
        seen = [pane.selected]
        for _ in range(3):
            await press(pilot, "down")
            seen.append(pane.selected)
        await press(pilot, "up")
        seen.append(pane.selected)
    assert seen == ["a", "b", "c", "c", "b"]


async def test_the_selection_stays_with_its_server_when_lines_are_added_above() -> None:
    pane, host, _ = pane_and_host(server("a"), server("b"))
    async with Stage(pane).run_test(size=(60, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await press(pilot, "down")
        host.change("a", state=ServerState.STOPPED, reason=StopReason.CRASHED, stderr_last="ouch")
        pane.tick()
        assert pane.selected == "b"
        await press(pilot, "up")
        assert pane.selected == "a"


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
    pane, host, _ = pane_and_host(status)
    async with Stage(pane).run_test(size=(120, 12)) as pilot:
        pane.show_host(host)
        pane.focus()
        await press(pilot, "space")
        text = "".join(shown(pane))
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e")
    assert "[/x][@click=app.quit]" in text


async def test_each_line_fits_every_width() -> None:
    died = stopped("a-server-with-a-long-name", StopReason.EXITED, exit_code=1, stderr_last="天气 " * 50)
    pane, host, _ = pane_and_host(server("weather", tools=12, pid=99999), died, server("天气预报天气预报"))
    async with Stage(pane).run_test(size=(120, 30)) as pilot:
        pane.show_host(host)
        pane.focus()
        await press(pilot, "space")
        for width in (20, 37, 44, 60, 100):
            await pilot.resize_terminal(width, 30)
            await pilot.pause()
            pane.tick()
            assert {pane.render_line(y).cell_length for y in range(30)} == {pane.columns}


async def test_the_title_stays_while_servers_scroll() -> None:
    pane, host, _ = pane_and_host(*[server(f"server{number}") for number in range(30)])
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        pane.focus()
        await press(pilot, "end")
        lines = shown(pane)
        assert lines[0].startswith("SERVERS")
        assert "server29" in lines[-1]
        assert pane.selected == "server29"
        await press(pilot, "home")
        assert "server0 " in shown(pane)[1]


async def test_a_click_selects_a_server() -> None:
    pane, host, _ = pane_and_host(server("a"), server("b"))
    async with Stage(pane).run_test(size=(60, 6)) as pilot:
        pane.show_host(host)
        await pilot.pause()
        await pilot.click(pane, offset=(4, 2))
        await pilot.pause()
        assert pane.selected == "b"
        await pilot.click(pane, offset=(4, 0))
        await pilot.pause()
        assert pane.selected == "b"
