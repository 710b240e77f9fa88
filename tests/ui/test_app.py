"""The app as a user runs it: keys in, regions and text out. The turn loop is the real one."""

import asyncio

import pytest
from textual.screen import Screen

from tests.conftest import until
from tests.ui.app_stage import answered, opened, screen_text, send, shows
from tests.ui.fake_host import crashed
from tests.ui.fakes import FakeRuntime, FakeToolbox, calls, says
from tui.core.errors import ConfigError
from tui.core.ports import TextPart
from tui.core.turn.limits import Limits
from tui.ui.chat import regions
from tui.ui.dialogs.question_dialog import QuestionDialog
from tui.ui.forms.form_pane import FormPane
from tui.ui.keys.action_table import ACTIONS, MAIN, Context
from tui.ui.keys.bindings import method_at
from tui.ui.lists.models import ModelsScreen
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.permission.rules import RulesScreen
from tui.ui.results.result_screen import ResultScreen
from tui.ui.traffic.entry_view import EntryView
from tui.ui.traffic.screen import TrafficScreen
from tui.ui.workbench.log_screen import LogScreen
from tui.ui.workbench.screen import ServerScreen

# ---- opening ----


async def test_the_app_opens_with_the_servers_the_model_and_three_example_questions():
    async with opened(FakeRuntime()) as (app, _):
        await shows(app, "demo model, offline", "2 of 3", "RUNNING", "exited, code 1")
        await shows(
            app, "What's the weather in Hangzhou?", "Add a note: buy milk", "Which notes mention milk?"
        )


async def test_the_prompt_has_the_accent_color_only_while_the_composer_has_the_focus():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "2 of 3")
        prompt = app.main.query_one("#prompt")
        focused = prompt.styles.color
        await pilot.press("f3")
        await until(lambda: prompt.styles.color != focused)
        await pilot.press("f5")
        await until(lambda: prompt.styles.color == focused)


async def test_a_changed_server_is_shown_without_waiting_for_the_next_tick(monkeypatch):
    monkeypatch.setattr(regions, "SLOW", 1000.0)
    runtime = FakeRuntime()
    async with opened(runtime) as (app, _):
        await shows(app, "2 of 3")
        runtime.host.put(crashed("weather"))
        await shows(app, "1 of 3")


async def test_the_panes_are_laid_out_once_when_they_appear_and_once_when_the_servers_do(monkeypatch):
    layouts: list[bool] = []
    lay_out = Screen._refresh_layout

    def counted(screen, *arguments, **options):
        panes = screen.query("#servers")
        layouts.extend(pane.row_count() > 2 for pane in panes)
        lay_out(screen, *arguments, **options)

    monkeypatch.setattr(Screen, "_refresh_layout", counted)
    gate = asyncio.Event()
    async with opened(FakeRuntime(gate=gate)) as (app, pilot):
        await pilot.pause()
        assert layouts == [False]
        gate.set()
        await shows(app, "2 of 3")
        await pilot.pause()
    assert layouts == [False, True]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_startup_problems_are_shown_with_the_welcome_until_the_first_message(size):
    runtime = FakeRuntime(
        says("Hello."), problems=["config.toml: readable by others", "config.toml:3 is odd"]
    )
    runtime.warnings = frozenset({"config.toml: readable by others"})
    async with opened(runtime, size) as (app, pilot):
        await shows(
            app, "! config.toml: readable", "✗ config.toml:3 is odd", "Ask anything", "pick an example"
        )
        await send(pilot, "hi")
        await shows(app, "! config.toml: readable", "✗ config.toml:3 is odd", "Hello.")
        assert "pick an example" not in screen_text(app)


async def test_a_theme_and_a_key_that_cannot_be_used_are_named_with_their_place_in_the_file():
    async with opened(FakeRuntime(theme="harbr", keys={"no.such": "f11"})) as (app, _):
        await shows(app, "✗ c.toml: ui.theme: theme “harbr” not found", "✗ c.toml: ui.keys.no.such")


# ---- a turn ----


async def test_an_answer_with_a_tool_call_is_shown_in_conversation_and_trace():
    runtime = FakeRuntime(calls("weather__get_weather", '{"location": "Beijing"}'), says("Sunny, 25 °C."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "北京天气如何")
        await shows(app, "北京天气如何", "get_weather", "Sunny, 25 °C.", "rule-based", "turn 1", "step 2")
        assert runtime.toolbox.called == [("get_weather", {"location": "Beijing"})]


async def test_escape_stops_the_turn_and_the_next_one_works():
    never = asyncio.Event()
    runtime = FakeRuntime([TextPart("Once upon"), never], says("Fine."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once upon")
        await pilot.press("escape")
        await until(lambda: not app.main.parts.turns.running)
        await send(pilot, "shorter")
        await shows(app, "Stopped.", "Fine.")


async def test_the_meters_are_shown_only_while_a_turn_runs():
    gate = asyncio.Event()
    async with opened(FakeRuntime([gate, *says("Done.")])) as (app, pilot):
        assert "calls 0 of 100" not in screen_text(app)
        await send(pilot, "go")
        await shows(app, "step 1 of 20", "calls 0 of 100", "of 15 m 00 s")
        gate.set()
        await until(lambda: "calls 0 of 100" not in screen_text(app))


async def test_after_a_limit_a_key_continues_the_turn():
    runtime = FakeRuntime(
        calls("weather__get_weather"), says("So far."), says("All of it."), limits=Limits(max_steps=1)
    )
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "Limit reached: 1 step", "ctrl+g")
        await until(lambda: not app.main.parts.turns.running)
        await pilot.press("ctrl+g")
        await shows(app, "All of it.")


async def test_a_new_conversation_is_empty():
    async with answered("first", "Answer one.") as (app, pilot, runtime):
        await pilot.press("ctrl+n")
        await until(lambda: "Answer one." not in screen_text(app))
        await shows(app, "Which notes mention milk?")
        assert runtime.conversation.messages == []


async def test_enter_sends_an_example():
    runtime = FakeRuntime(says("Rainy."))
    async with opened(runtime) as (app, pilot):
        await shows(app, "Hangzhou")
        await pilot.press("f2")
        await until(lambda: app.main.regions.conversation._target)
        await pilot.press("enter")
        await shows(app, "Rainy.")
        assert "Hangzhou" in runtime.model.requests[0].messages[0].text


# ---- servers ----


@pytest.mark.parametrize(("key", "what"), [("s", "stop"), ("r", "restart")])
async def test_keys_stop_and_restart_the_selected_server(key, what):
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("f3", "down", key)
        assert runtime.host.asked == [(what, "notes")]


# ---- regions ----


async def test_below_100_columns_one_region_is_shown_and_keys_switch_it():
    async with opened(FakeRuntime(), (80, 24)) as (app, pilot):
        await shows(app, "Conversation f2", "Trace f6", "Servers f3")
        assert "RUNNING" not in screen_text(app)
        await pilot.press("f3")
        await shows(app, "weather", "RUNNING")
        await pilot.press("f6")
        await shows(app, "Model steps and tool calls appear here")
        await pilot.press("f2")
        await shows(app, "Hangzhou")


async def test_an_approval_question_brings_the_conversation_to_the_front():
    gate = asyncio.Event()
    runtime = FakeRuntime([gate, *calls("notes__delete_note", '{"id": "milk"}')])
    async with opened(runtime, (80, 24)) as (app, pilot):
        await send(pilot, "go")
        await pilot.press("f3")
        gate.set()
        await shows(app, "delete or overwrite data")


async def test_below_24_rows_the_header_folds_into_the_status_line():
    async with opened(FakeRuntime(), (80, 18)) as (app, _):
        await until(lambda: not app.main.regions.header.display)
        await shows(app, "demo model, offline", "2 of 3")


async def test_a_wide_terminal_shows_the_call_under_the_cursor_while_the_trace_has_the_focus():
    runtime = FakeRuntime(calls("weather__get_weather", '{"location": "Beijing"}'), says("Warm."))
    async with opened(runtime, (160, 40)) as (app, pilot):
        await send(pilot, "How warm is it?")
        await shows(app, "Warm.")
        trace = app.main.regions.trace
        height = trace.size.height
        await pilot.press("f6", "home", "down", "down")
        await until(lambda: len(app.screen.query("#trace-preview")) == 1)
        await shows(app, "Result")
        assert trace.has_focus
        await pilot.press("f5")
        await until(lambda: trace.size.height == height)


@pytest.mark.parametrize("region", ["conversation", "servers", "trace"])
async def test_the_same_key_maximizes_and_restores_a_region(region):
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "SERVERS")
        pane = getattr(app.main.regions, region)
        before = pane.region.width
        app.main.regions.go_to(Context[region.upper()])
        await pilot.press("ctrl+o")
        await until(lambda: pane.region.width == 120)
        await pilot.press("ctrl+o")
        await until(lambda: pane.region.width == before)


async def test_clicking_a_tab_focuses_its_pane():
    async with opened(FakeRuntime(), (80, 24)) as (app, pilot):
        await shows(app, "Servers f3")
        await pilot.click("#rule-top", offset=(36, 0))
        await until(lambda: app.focused is app.main.regions.servers)


# ---- the rest ----


async def test_quitting_is_immediate_when_nothing_runs():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("ctrl+q")
        await until(lambda: app._exit)


@pytest.mark.parametrize("second", ["y", "ctrl+q"])
async def test_quitting_asks_while_a_turn_runs(second):
    async with opened(FakeRuntime([asyncio.Event()])) as (app, pilot):
        await send(pilot, "go")
        await pilot.press("ctrl+q")
        await shows(app, "A turn is running.")
        assert not app._exit
        await pilot.press("n")
        await until(lambda: len(app.screen_stack) == 1)
        await pilot.press("ctrl+q", second)
        await until(lambda: app._exit)


async def test_quitting_asks_before_it_discards_what_was_typed_in_a_dialog():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f12", "x", "escape", "ctrl+q")
        await shows(app, "Press ctrl+q again to discard your changes.")
        assert not app._exit
        await pilot.press("ctrl+q")
        await until(lambda: app._exit)


async def test_ctrl_c_clears_the_draft_and_then_says_how_to_quit():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press(*"draft", "ctrl+c")
        await until(lambda: app.main.composer.text == "")
        await pilot.press("ctrl+z")
        await until(lambda: app.main.composer.text == "draft")
        await pilot.press("ctrl+c", "ctrl+c")
        await shows(app, "Press ctrl+q to quit.")


async def test_the_conversation_scrolls_while_the_input_has_the_focus():
    async with opened(FakeRuntime(says("line\n\n" * 80)), (80, 24)) as (app, pilot):
        await send(pilot, "go")
        pane = app.main.regions.conversation
        await until(lambda: not app.main.parts.turns.running and pane.max_scroll_y > 60)
        await until(lambda: pane.scroll_y == pane.max_scroll_y)
        await pilot.press("pageup")
        await until(lambda: 0 < pane.scroll_y < pane.max_scroll_y)
        await pilot.press("ctrl+home")
        await until(lambda: pane.scroll_y == 0)
        await pilot.press("pagedown")
        await until(lambda: pane.scroll_y > 0)
        await pilot.press("ctrl+end")
        await until(lambda: pane.scroll_y == pane.max_scroll_y and pane.following)
        assert app.main.composer.has_focus


async def test_the_help_shows_every_key_of_the_table():
    async with opened(FakeRuntime(), (120, 160)) as (app, pilot):
        await pilot.press("f1")
        await shows(app, "Anywhere", *(action.help for action in ACTIONS if action.context in MAIN))
        await pilot.press("escape")
        await until(lambda: len(app.screen_stack) == 1)


async def test_a_question_mark_is_text_in_the_composer_and_help_elsewhere():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("question_mark")
        assert app.main.composer.text == "?"
        await pilot.press("f3", "question_mark")
        await shows(app, "change keys under [ui.keys] in the configuration")


async def test_a_theme_is_previewed_while_selecting_and_saved_when_selected():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("ctrl+t")
        await until(lambda: len(app.screen_stack) == 2)
        await pilot.press("down")
        await until(lambda: app.theme != "harbor")
        await pilot.press("enter")
        await until(lambda: runtime.configuration.saved_themes == [app.theme])


async def test_saving_a_theme_does_not_block_the_screen():
    runtime = FakeRuntime()
    go_on = asyncio.Event()

    async def save(name: str) -> None:
        await go_on.wait()
        raise ConfigError("is being changed", where="config.toml")

    runtime.configuration.save_theme = save
    async with opened(runtime) as (app, pilot):
        try:
            await pilot.press("ctrl+t", "down", "enter")
            await until(lambda: len(app.screen_stack) == 1)
            await pilot.press("h", "i")
            assert app.main.composer.text == "hi" and not app._notifications
        finally:
            go_on.set()
        await until(lambda: bool(app._notifications))
        assert [one.message for one in app._notifications] == ["config.toml: is being changed"]


async def test_every_action_in_the_table_has_a_handler():
    async with opened(FakeRuntime()) as (app, _):
        panes = {
            Context.COMPOSER: app.main.composer,
            Context.CONVERSATION: app.main.regions.conversation,
            Context.ENTRY: EntryView,
            Context.BENCH_FORM: FormPane,
        }
        for action in ACTIONS:
            assert isinstance(app.main.parts.why_not(action), str), action.id
            if action.method == f"app.act('{action.id}')":
                assert callable(method_at(app.main.parts, action.call)), action.id
                continue
            if action.call:
                continue  # the screens' own: tests/ui/test_every_key.py
            place, _, name = action.method.partition("(")[0].rpartition(".")
            screens = (ServerScreen, SessionsScreen, ModelsScreen, RulesScreen, ResultScreen, LogScreen)
            screen = next((one for one in screens if action.context in one.CONTEXTS), TrafficScreen)
            if action.id.startswith("ask."):
                screen = QuestionDialog
            doer = {"app": app, "screen": screen}.get(place) or panes.get(action.context, app)
            assert callable(getattr(doer, f"action_{name}", None)), action.id


async def test_configured_keys_replace_those_of_the_table():
    runtime = FakeRuntime(says("Sent."), keys={"composer.send": "ctrl+d"})
    async with opened(runtime) as (app, pilot):
        await pilot.press("h", "i", "ctrl+d")
        await shows(app, "Sent.")


async def test_markup_in_a_notification_is_shown_as_text():
    async with opened(FakeRuntime()) as (app, _):
        app.notify("[/x] [@click=app.quit]go[/] \x1b]52;c;aGk=\x07", title="[red]")
        await shows(app, "[/x] [@click=app.quit]go[/]", "[red]")


async def test_k_cancels_the_running_call_and_the_turn_continues():
    cancelled = []

    class Stuck(FakeToolbox):
        async def call(self, tool, arguments, *, seconds, progress, clocks=None):
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(tool.name)

    runtime = FakeRuntime(calls("weather__get_weather"), says("Never mind."))
    runtime.toolbox = Stuck(runtime.toolbox.offered)
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "running")
        await pilot.press("f2", "K")
        await shows(app, "cancelled", "Never mind.")
        assert cancelled == ["get_weather"]
        await pilot.press("K")
        await shows(app, "Cannot cancel the selected running call: no turn is running.")


async def test_theme_and_keys_of_a_reloaded_configuration_apply_at_once():
    async with opened(FakeRuntime()) as (app, pilot):
        assert app.apply_ui("quay", {"focus.servers": ["f11"]}) == []
        assert app.theme == "quay"
        await pilot.press("f11")
        await until(lambda: app.main.regions.servers.has_focus)
        assert "no.such" in " ".join(map(str, app.apply_ui("quay", {"no.such": ["f11"]})))
