"""The command palette over the app: what it finds, and what it opens."""

from textual.command import CommandList

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, shows
from tests.ui.fake_host import FakeHost, running
from tests.ui.fakes import FakeRuntime
from tui.ui.keys.action_table import ACTIONS, OF_SCREENS, Context
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.traffic.statistics import StatisticsScreen
from tui.ui.workbench.screen import ServerScreen


async def test_the_palette_finds_actions_and_servers_by_name_and_highlights_it():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("ctrl+p", *"stop notes")
        await shows(app, "Stop “notes”")
        line = app.screen.query_one(CommandList).get_option_at_index(0).prompt
        assert [line.plain[span.start : span.end] for span in line.spans][:2] == ["Stop", "notes"]
        await pilot.press("enter")
        await until(lambda: runtime.host.asked == [("stop", "notes")])


async def test_the_palette_offers_every_available_action_once():
    async with opened(FakeRuntime()) as (app, _):
        await shows(app, "RUNNING")
        titles = [command.title for command in app.commands()]
        assert len(titles) == len({*titles})
        keys = {command.title: command.help for command in app.commands()}
        assert keys["Show all keys and commands"] == "f1, ?, /help"
        assert keys["New conversation"] == "ctrl+n, /clear"
        assert keys["Show, edit and try the rules for tool calls"] == "P in servers, /rules"
        assert "/export" not in keys["Export the conversation"]  # which says why it is not available
        idle = {"chat.cancel", "chat.continue", "composer.take_back", "chat.parent", "chat.uncompact"}
        idle |= {"chat.retry", "chat.rewrite", "chat.compare", "chat.branch", "chat.result", "chat.export"}
        idle |= {"chat.copy"}
        assert {
            action.help
            for action in ACTIONS
            if action.palette
            and action.id not in idle
            and action.context not in (Context.QUESTION, *OF_SCREENS)
        } <= {*titles}


async def test_the_label_of_a_key_finds_its_command_first():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("ctrl+p", *"watch")
        await shows(app, "restart when files change")
        lines = [line for line in screen_text(app).split("\n") if "Workbench: " in line]
        assert "restart when files change" in lines[0]


async def test_the_reason_why_a_long_command_is_unavailable_is_shown_in_full():
    async with opened(FakeRuntime(), (80, 24)) as (app, pilot):
        await shows(app, "2 of 3")
        await pilot.press("ctrl+p", *"keep the call")
        await shows(app, "Keep the call and its result", "not available: ")
        assert "…" not in "".join(line for line in screen_text(app).split("\n") if "not av" in line)


async def chosen(app, pilot, words, title):
    await pilot.press("ctrl+p", *words)
    await shows(app, title)
    await pilot.press("enter")


async def test_an_action_of_another_screen_is_found_by_name_and_run_there():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await chosen(app, pilot, "statistics", "Traffic: show statistics of each server and tool")
        await until(lambda: isinstance(app.screen, StatisticsScreen))
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, TrafficScreen))


async def test_an_action_that_needs_a_selection_on_another_screen_opens_it_and_names_the_key():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await chosen(app, pilot, "resend unchanged", "Traffic: resend the request unchanged")
        await shows(app, "Press R to resend the request unchanged.")
        assert isinstance(app.screen, TrafficScreen)


async def test_an_action_of_another_screen_is_found_from_a_screen_too():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("f3", "enter")
        await until(lambda: isinstance(app.screen, ServerScreen))
        await chosen(app, pilot, "statistics", "Traffic: show statistics of each server and tool")
        await until(lambda: isinstance(app.screen, StatisticsScreen))


async def test_servers_whose_long_names_look_alike_each_have_their_commands() -> None:
    long = "x" * 63
    async with opened(FakeRuntime(host=FakeHost(running(f"{long}1"), running(f"{long}2")))) as (app, _):
        await until(lambda: app.main.parts is not None and app.main.parts.runtime.is_ready)
        stops = [command for command in app.commands() if command.title.startswith("Stop “")]
        assert len({command.title for command in stops}) == 1
        for command in stops:
            command.run()
        assert app.main.parts.runtime.host.asked == [("stop", f"{long}1"), ("stop", f"{long}2")]
