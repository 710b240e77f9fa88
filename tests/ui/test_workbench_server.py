"""The workbench and its server: exits and restarts, requests for lists, the log."""

from dataclasses import replace

from tests.card_server import card, card_server
from tests.conftest import until
from tests.ui.app_stage import screen_text, shows
from tests.ui.bench_app import app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import TOOLS, rich_runtime
from tests.ui.fakes import FakeRuntime
from tui.core.servers import ServerState, StopReason, Transport
from tui.core.tools import CallFailure, TextContent, ToolResult
from tui.core.traffic import Direction, Kind
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.screen import ServerScreen

LAST_WORDS = "weather exited with code 1 during the call.\nIts last lines:\nRuntimeError: out of clouds"


def end(runtime: FakeRuntime) -> None:
    status = runtime.host.status("weather")
    ended = replace(status, state=ServerState.STOPPED, reason=StopReason.EXITED, exit_code=1, pid=None)
    runtime.workbench.offered["weather"] = []
    runtime.host.put(ended)


def come_back(runtime: FakeRuntime) -> None:
    runtime.workbench.offered["weather"] = list(TOOLS)
    runtime.host.request_start("weather")


# ---- a server that exits ----


async def test_a_call_that_crashes_its_server_is_lost_and_shows_the_last_output() -> None:
    runtime = rich_runtime()

    def crash(_: object) -> ToolResult:
        end(runtime)
        return ToolResult((TextContent(LAST_WORDS),), is_error=True, failure=CallFailure.SERVER_DIED)

    runtime.workbench.answers["get_radar"] = crash
    async with opened(runtime) as (screen, pilot):
        await pilot.press("down", "down", "down", "ctrl+s")
        await shows(app_of(screen), "† lost", "exited with code 1", "RuntimeError: out of clouds", "s starts")
        bench = bench_of(screen)
        assert bench.item is not None and bench.item.label == "get_radar"
        assert bench.calls.selected is not None


async def test_lists_are_readable_without_the_server_and_a_restarted_one_keeps_the_calls() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("down", "down", "down", "ctrl+s")
        await called(runtime)
        end(runtime)
        await shows(app_of(screen), "starts it")
        await pilot.press("up", "up")
        await shows(app_of(screen), "get_forecast", "The days to come.")
        await pilot.press("ctrl+s")
        await shows(app_of(screen), "The server is not running. Press s to start it.")
        assert len(runtime.workbench.called) == 1
        await pilot.press("down", "down")
        come_back(runtime)
        await until(lambda: screen.shared.status.state is ServerState.RUNNING)
        await shows(app_of(screen), "pid 4711")
        bench = bench_of(screen)
        assert bench.item is not None and bench.item.label == "get_radar"
        assert bench.calls.selected is not None and bench.calls.selected.result is not None


async def test_a_disabled_server_is_not_started_and_shows_how_to_enable_it() -> None:
    async with rich() as (runtime, screen, pilot):
        status = runtime.host.status("weather")
        disabled = replace(status.spec, disabled=True)
        runtime.host.put(
            replace(status, spec=disabled, state=ServerState.STOPPED, reason=StopReason.DISABLED, pid=None)
        )
        await pilot.press("down")
        await pilot.press("ctrl+s")
        await shows(app_of(screen), "It is disabled. Press o in the servers pane to enable it.")
        assert "starts it" not in screen_text(app_of(screen))
        await pilot.press("s")
        said = "The server “weather” is disabled. Press o in the servers pane to enable it."
        await until(lambda: any(said == one.message for one in app_of(screen)._notifications))
        assert runtime.host.status("weather").state is ServerState.STOPPED


async def test_a_late_answer_after_the_server_exited_does_not_clear_the_list() -> None:
    runtime = rich_runtime()
    async with opened(runtime) as (screen, _):
        await shows(app_of(screen), "3 resources 1")
        end(runtime)
        await shows(app_of(screen), "starts it")
        await screen.offers._listed(BenchTab.RESOURCES)
        assert screen.benches[BenchTab.RESOURCES].list.counts == (2, 2)


async def test_tools_that_cannot_be_listed_are_explained_and_not_new_when_they_are_back() -> None:
    async with rich() as (runtime, screen, pilot):
        await shows(app_of(screen), "tools 5")
        tools, status = runtime.workbench.offered["weather"], runtime.host.status("weather")
        runtime.workbench.offered["weather"] = []
        runtime.host.put(replace(status, listing_problem="The database is locked."))
        await shows(app_of(screen), "tools 5 !", "! The database is locked.", "get_forecast")
        await pilot.press("down", "down", "down", "ctrl+s")
        await called(runtime)
        runtime.host.put(replace(status, listing_problem="The database is locked.", restarts=2))
        await until(lambda: "The database is locked." not in screen_text(app_of(screen)))
        runtime.workbench.offered["weather"] = tools
        runtime.host.put(status)
        await until(lambda: "tools 5 !" not in screen_text(app_of(screen)))
        assert "changed" not in screen_text(app_of(screen))


async def test_a_server_whose_tools_were_never_listed_is_not_said_to_have_none() -> None:
    runtime = rich_runtime()
    runtime.workbench.offered["weather"] = []
    runtime.host.put(replace(runtime.host.status("weather"), listing_problem="The database is locked."))
    async with opened(runtime) as (screen, _):
        await shows(app_of(screen), "! The database is locked.")
        assert "has no tools" not in screen_text(app_of(screen))


# ---- what it offers ----


async def test_starting_a_server_requests_resources_and_prompts_once() -> None:
    runtime = rich_runtime()
    asked: list[str] = []
    ask = runtime.workbench.prompts

    async def counting(server: str) -> object:
        asked.append(server)
        return await ask(server)

    runtime.workbench.prompts = counting  # type: ignore[assignment, method-assign]
    async with opened(runtime) as (screen, pilot):
        await shows(app_of(screen), "2 tools 5", "3 resources 1", "4 prompts 1")
        for _ in range(5):
            screen.look()
        await pilot.press("4", "3", "4")
        assert asked == ["weather"]
        await pilot.press("r")
        runtime.host.put(replace(runtime.host.status("weather"), state=ServerState.STARTING))
        screen.look()
        come_back(runtime)
        await until(lambda: len(asked) == 2)


# ---- to the traffic and back ----


async def test_one_escape_returns_from_the_traffic_of_a_call() -> None:
    async with rich() as (_runtime, screen, pilot):
        app = app_of(screen)
        await pilot.press("down", "down", "down", "ctrl+s")
        await until(lambda: (call := bench_of(screen).calls.selected) is not None and call.result is not None)
        await pilot.press("f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_mounted)
        await shows(app, "call:hand-1", "Press esc to go back")
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, ServerScreen))


async def test_escape_clears_a_typed_filter_first() -> None:
    runtime = rich_runtime()
    runtime.recorded.call("get_weather")
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await pilot.press("6", "f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_mounted)
        await shows(app, "server:weather")
        await pilot.press("slash", *"server:weather kind:request", "enter")
        await shows(app, "server:weather kind:request")
        await pilot.press("escape")
        await until(lambda: "kind:request" not in screen_text(app))
        assert isinstance(app.screen, TrafficScreen)
        assert "filter › server:weather" in screen_text(app)
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, ServerScreen))


# ---- its log ----


def logged(runtime: FakeRuntime, level: str, data: object, **fields: object) -> None:
    params = {"level": level, "data": data, **fields}
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    runtime.recorded.add(Kind.NOTIFICATION, message, method="notifications/message")


async def test_the_log_has_stderr_logging_messages_and_printed_lines_in_order() -> None:
    runtime = rich_runtime()
    runtime.recorded.add(Kind.NOT_JSON, b"Server listening on port 3000")
    runtime.recorded.add(Kind.NOT_RPC, {"level": 30, "msg": "ready"})
    runtime.recorded.add(Kind.NOT_RPC, {"type": "result", "content": "3"}, method="result")  # line dialect
    runtime.recorded.add(Kind.NOT_JSON, b"typed by mcptui", direction=Direction.OUT)
    runtime.recorded.add(Kind.NOT_JSON, b"<html>", detail={"exchange": 2, "status": 200})
    runtime.recorded.add(Kind.EVENT, method="spawn", detail={"event": "spawn", "pid": 4000})
    runtime.recorded.add(Kind.STDERR, b"cache is \x1b[31mcold\x1b[0m \x1b]52;c;x\x07")
    logged(runtime, "warning", "disk is nearly full", logger="store")
    logged(runtime, "info", {"message": "GET /beijing", "status": 200})
    runtime.recorded.call("get_weather")
    runtime.recorded.add(Kind.STDERR, b"of another", source="notes")
    runtime.recorded.add(Kind.EVENT, method="gave up", detail={"event": "gave up", "id": "7"})
    async with opened(runtime) as (screen, pilot):
        await pilot.press("5")
        await shows(app_of(screen), "GET /beijing")
        said = [line[10:].rstrip() for line in screen.log_lines.text.split("\n")]
        assert said == [
            "stdout     Server listening on port 3000",
            'stdout     {"level": 30, "msg": "ready"}',
            "response   <html>",
            "spawn      pid 4000",
            "stderr     cache is cold ␛]52;c;x␇",
            "warning    store: disk is nearly full",
            'info       GET /beijing  {"status": 200}',
        ]
        logged(runtime, "error", "first line\nsecond line")
        await shows(app_of(screen), "error      first line")
        assert screen.log_lines.text.endswith("\n" + " " * 21 + "second line")


async def test_the_log_is_in_the_order_of_time_when_a_process_was_recorded_after_the_last_one() -> None:
    runtime = rich_runtime()
    for ms, word in ((2000, "stop"), (-1500, "spawn")):
        runtime.recorded.add(Kind.EVENT, after_ms=ms, method=word, detail={"event": word})
    async with opened(runtime) as (screen, pilot):
        await pilot.press("5")
        await shows(app_of(screen), "spawn")
        assert [line.split()[1] for line in screen.log_lines.text.split("\n")] == ["spawn", "stop"]


async def test_http_events_are_sentences_in_the_log_and_invalid_messages_are_unchanged() -> None:
    runtime = rich_runtime()
    asked = {"event": "http", "exchange": 2, "http": "GET", "url": "http://h/mcp", "headers": {"a": "b"}}
    runtime.recorded.add(Kind.EVENT, method="http", detail=asked)
    runtime.recorded.add(Kind.EVENT, method="http", detail={"event": "http", "exchange": 2, "status": 202})
    runtime.recorded.add(Kind.NOTIFICATION, b'{"params": [}', method="notifications/message")
    logged(runtime, "警告\x1b[2J and more", None)
    async with opened(runtime) as (screen, pilot):
        await pilot.press("5")
        await shows(
            app_of(screen), "The client opened a message stream from server weather", "HTTP 202: accepted"
        )
        assert "exchange" not in screen.log_lines.text
        await shows(app_of(screen), 'message    {"params": [}', "警告␛[2J…  null")


async def test_a_long_log_is_loaded_from_its_end_and_can_be_searched() -> None:
    runtime = rich_runtime()
    for number in range(1_200):
        runtime.recorded.add(Kind.STDERR, b"line %d" % number)
    async with opened(runtime) as (screen, pilot):
        await pilot.press("5")
        await shows(app_of(screen), "line 1199")
        await until(lambda: screen.log_lines.text.count("\n") == 999)
        assert screen.log_lines.text.split("\n")[0].endswith("line 200")
        await pilot.press("slash", *"line 777", "enter")
        await until(lambda: screen.log_lines.found == "1 of 1")


# ---- narrow screens ----


async def test_calls_with_one_argument_show_its_value() -> None:
    async with rich() as (runtime, screen, pilot):
        await pilot.press("enter", *"Oslo", "ctrl+s")
        await called(runtime)
        await until(lambda: '"Oslo"' in screen_text(app_of(screen)).split("CALLS")[1])


async def test_the_overview_offers_no_key_that_has_no_effect_there() -> None:
    async with rich() as (_runtime, screen, pilot):
        app = app_of(screen)
        await pilot.press("1")
        await until(lambda: "/ filter" not in screen_text(app).splitlines()[-1])
        assert "enter open" not in screen_text(app).splitlines()[-1]
        await pilot.press("5")
        await shows(app, "/ filter")


# ---- its card ----


async def test_the_overview_compares_the_server_with_its_card() -> None:
    runtime = rich_runtime()
    async with card_server() as server:
        server.documents["/card"] = card(f"{server.origin}/mcp")
        status = runtime.host.status("weather")
        spec = replace(status.spec, url=f"{server.origin}/mcp", card=f"{server.origin}/card")
        runtime.host.put(replace(status, spec=replace(spec, command="", transport=Transport.HTTP)))
        async with opened(runtime) as (screen, pilot):
            assert server.asked == []
            await pilot.press("1")
            await shows(app_of(screen), "SERVER CARD", "the card says 2.1.0, the server 1.4.0")
        assert len(server.asked) == 1
