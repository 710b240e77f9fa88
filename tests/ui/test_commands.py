"""Commands in the composer: completing them, running them, and losing nothing."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.command import CommandPalette

from tests.conftest import until
from tests.ui.app_stage import answered, keys, opened, screen_text, send, shows
from tests.ui.fakes import WEATHER, FakeRuntime, says
from tests.ui.prompt_stage import runtime_with_prompts
from tui.core.context.context_parts import ContextPart
from tui.core.conversation.conversation import UserMessage
from tui.core.workbench import PromptInfo
from tui.settings.state.project_file import ProjectFile
from tui.ui.dialogs.help import HelpScreen
from tui.ui.dialogs.picker import Picker
from tui.ui.workbench.screen import ServerScreen

# ---- the list ----


async def test_a_slash_lists_the_commands_with_arguments_and_descriptions():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/")
        await shows(app, "/model [NAME [ID]]", "Switch model", "more")


async def test_the_list_is_filtered_while_typing_and_closed_without_the_slash():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/ex")
        await shows(app, "/export")
        assert "/tools" not in screen_text(app)
        await pilot.press("backspace", "backspace", "backspace")
        await until(lambda: "/export" not in screen_text(app))


async def test_tab_completes_a_command_and_lists_its_arguments():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/exp")
        await pilot.press("tab")
        assert app.main.composer.text == "/export "
        await shows(app, "markdown", "one page, for sharing")
        await pilot.press("down", "down", "enter")
        assert app.main.composer.text == "/export json "


async def test_down_and_enter_select_another_command():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/re")
        await shows(app, "/resource", "/retry", "/rename")
        await pilot.press("down", "down", "enter")
        assert app.main.composer.text == "/rename "


async def test_escape_closes_the_list_and_does_not_stop_the_turn():
    never = asyncio.Event()
    async with opened(FakeRuntime([never])) as (app, pilot):
        await send(pilot, "go")
        await until(lambda: app.main.parts.turns.running)
        await keys(pilot, "/m")
        await pilot.press("escape")
        assert app.main.composer.text == "/m" and not app.main.regions.suggestions.display
        assert app.main.parts.turns.running and not app.main.parts.turns.stopping


async def test_tab_without_a_list_goes_to_the_next_pane():
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("tab")
        assert not app.main.composer.has_focus


async def test_enter_right_after_a_partial_command_runs_the_suggested_one():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/hel")
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, HelpScreen))
        assert app.main.composer.text == ""


async def test_a_click_selects_a_suggestion():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/re")
        await shows(app, "/retry")
        await pilot.pause()  # its rows are painted once more as they get their place
        await pilot.click("#suggestions", offset=(5, 0))
        await until(lambda: app.main.composer.text == "/resource ")


async def test_prompts_of_running_servers_and_snippets_are_in_the_list():
    runtime = runtime_with_prompts()
    runtime.snippets = {"review": "Review {file}."}
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "/fore")
        await shows(app, "/weather:forecast city=…", "The weather to come")
        app.main.composer.clear()
        await keys(pilot, "/rev")
        await shows(app, "/review file=…", "Review {file}.")


async def test_prompt_names_from_a_server_are_cleaned():
    runtime = FakeRuntime()
    runtime.workbench.known_prompts = (
        PromptInfo("weather", "a\x1b]0;x\x07"),
        PromptInfo("weather", "[red]x"),
    )
    async with opened(runtime) as (app, pilot):
        await keys(pilot, "/weath")
        await shows(app, "/weather:[red]x")
        assert "\x1b" not in screen_text(app)


# ---- text that is not a command ----


@pytest.mark.parametrize("text", ["/etc/hosts", "// a comment", " /help", " /revython"])
async def test_text_that_only_looks_like_a_command_is_sent_unchanged(text: str):
    runtime = FakeRuntime(says("Sent."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, text)
        await shows(app, "Sent.")
        assert runtime.conversations.asked[0][0] == text


async def test_an_unknown_command_is_reported_and_sent_after_a_leading_space():
    runtime = FakeRuntime(says("Sent."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/revython")
        await shows(app, "Unknown command /revython. See /help.")
        assert app.main.composer.text == "/revython" and runtime.conversations.asked == []
        await pilot.press("home", "space", "enter")
        await shows(app, "Sent.")
        assert runtime.conversations.asked[0][0] == " /revython"


# ---- running commands ----


async def test_model_without_a_name_opens_the_list_of_models():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "/model")
        await until(lambda: type(app.screen).__name__ == "ModelsScreen")


async def test_model_with_a_name_switches_the_model():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/model ollama qwen3:32b")
        await until(lambda: ("switch", "ollama", "qwen3:32b") in runtime.conversations.done)
        await shows(app, "Model: ")


async def test_model_names_are_completed():
    async with opened(FakeRuntime()) as (app, pilot):
        await keys(pilot, "/model oll")
        await shows(app, "qwen3:8b, http://127.0.0.1:11434/v1")
        await pilot.press("tab")
        assert app.main.composer.text == "/model ollama "


async def test_clear_runs_before_the_next_message_is_sent():
    async with answered("first", "One.", "Two.") as (app, pilot, runtime):
        await send(pilot, "/clear")
        await send(pilot, "second")
        await shows(app, "Two.")
        assert "One." not in screen_text(app)
        assert [m.text for m in runtime.conversation.messages if isinstance(m, UserMessage)] == ["second"]


async def nothing_to_compact() -> str:
    return "Nothing to compact yet."


async def test_compact_says_once_how_many_turns_were_summarized():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "/compact")
        await shows(app, "0 turns summarized for the model · enter shows it · u undoes it")
        assert screen_text(app).count("summari") == 1


async def test_compact_says_that_there_is_nothing_to_compact():
    runtime = FakeRuntime()
    runtime.conversations.compact = nothing_to_compact  # type: ignore[method-assign]
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/compact")
        await shows(app, "Nothing to compact yet.")


async def test_a_command_on_the_conversation_is_refused_while_a_turn_runs():
    async with opened(FakeRuntime([asyncio.Event()])) as (app, pilot):
        await send(pilot, "go")
        await until(lambda: app.main.parts.turns.running)
        await send(pilot, "/compact")
        await shows(app, "/compact: a turn is running. esc stops it.")
        assert app.main.composer.text == "/compact"


async def test_escape_stops_a_command_and_returns_the_messages_queued_after_it():
    runtime = FakeRuntime()
    begun, never = asyncio.Event(), asyncio.Event()

    async def compact() -> str:
        begun.set()
        await never.wait()
        return ""

    runtime.conversations.compact = compact  # type: ignore[method-assign]
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/compact")
        await begun.wait()
        await send(pilot, "behind it")
        await pilot.press("escape")
        await until(lambda: sorted(app.main.composer.text.split("\n")) == ["/compact", "behind it"])
        assert runtime.conversations.asked == []


async def test_export_writes_the_conversation_to_a_file(tmp_path: Path):
    runtime = FakeRuntime(says("Hello."))
    async with opened(runtime, (400, 40)) as (app, pilot):  # wide enough for the path in one line
        await send(pilot, "hi")
        await shows(app, "Hello.")
        path = tmp_path / "talk.html"
        await send(pilot, f"/export {path}")
        await shows(app, "Contains: 2 messages, 1 redacted value")
        assert not path.exists()
        await pilot.press("enter")
        await shows(app, "● conversation")
        assert not path.exists()
        await pilot.press("ctrl+s")
        await until(path.exists)
        assert path.read_text() == "html"
        await send(pilot, f"/export html {path}")
        await shows(app, "Contains: 2 messages")
        await pilot.press("enter")
        await shows(app, "already exists")


async def test_one_enter_sends_a_command_whose_argument_is_complete(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with answered("hi", "Hello.") as (app, pilot, _):
        await keys(pilot, "/export html")
        await shows(app, "one page, for sharing")
        await pilot.press("enter")
        await shows(app, "Contains: 2 messages")
        await pilot.press("enter")
        await shows(app, "● conversation")
        await pilot.press("ctrl+s")
        await shows(app, "Exported to")


async def test_an_empty_conversation_cannot_be_exported_renamed_branched_or_retried():
    async with opened(FakeRuntime()) as (app, pilot):
        for line in ("/export json", "/rename x", "/branch", "/retry"):
            await send(pilot, line)
            await until(lambda line=line: app.main.composer.text == line)
            app.main.composer.show("")


async def test_rename_and_branch_change_the_conversation():
    async with answered("hi", "Hello.") as (app, pilot, runtime):
        await send(pilot, "/rename Greetings")
        await shows(app, "“Greetings”")
        await send(pilot, "/branch")
        await until(lambda: ("branch", 2) in runtime.conversations.done)
        await shows(app, "Hello.")


async def test_retry_resends_the_last_question():
    async with answered("why?", "Bad.", "Better.") as (app, pilot, runtime):
        await send(pilot, "/retry")
        await shows(app, "Better.")
        assert "Bad." not in screen_text(app)
        assert [text for text, _ in runtime.conversations.asked] == ["why?", "why?"]


async def test_tools_lists_the_tools_and_opens_the_workbench():
    async with opened(FakeRuntime()) as (app, pilot):
        app.main.parts.runtime.request.marks = {("weather", "get_weather"): "left out of the last question"}
        await send(pilot, "/tools")
        await until(lambda: isinstance(app.screen, Picker))
        await shows(app, "weather › get_weather   · left out of the", "notes › delete_note")
        await shows(app, "TOOLS   2 of 2 offered to the model · 1 marked")
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ServerScreen))
        assert app.screen.server == WEATHER.server


async def test_tools_counts_only_those_that_the_model_is_offered():
    runtime = FakeRuntime()
    runtime.workbench.offered[WEATHER.server] = [replace(WEATHER, withheld="meant for the app")]
    async with opened(runtime) as (app, pilot):
        await send(pilot, f"/tools {WEATHER.server}")
        await shows(
            app, "TOOLS   0 of 1 offered to the model", "get_weather   · not offered: meant for the app"
        )


async def test_tools_reports_a_server_that_is_not_running():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "/tools slow")
        await shows(app, "slow: no running server has this name")


async def test_a_command_typed_during_loading_runs_once_the_app_has_loaded():
    gate = asyncio.Event()
    runtime = FakeRuntime(says("Hello."), gate=gate)
    runtime.snippets = {"brief": "Be brief."}
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/system Be kind.")
        await send(pilot, "hi")
        await send(pilot, "/brief")
        await shows(app, "loading")
        assert runtime.conversations.asked == [] and runtime.conversations.system == ""
        gate.set()
        await shows(app, "Hello.", "Be brief.")
        assert runtime.conversations.system == "Be kind."


async def test_the_palette_offers_the_commands_that_have_no_key():
    runtime = FakeRuntime()
    async with opened(runtime) as (app, _):
        await shows(app, "RUNNING")
        offered = {command.help: command for command in app.commands()}
        offered["/compact "].run()
        await until(lambda: ("compact",) in runtime.conversations.done)
        offered["/rename [TITLE]"].run()
        assert app.main.composer.text == "/rename "


async def test_the_palette_finds_an_unavailable_command_and_shows_the_reason():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await pilot.press("ctrl+p")
        await until(lambda: isinstance(app.screen, CommandPalette))
        await shows(app, "New conversation")
        assert "Compare with another model" not in screen_text(app)
        await pilot.press(*"compare with another")
        await shows(app, "Compare with another model", "not available: the conversation is empty")
        await pilot.press("down", "enter")
        await shows(app, "Not available: the conversation is empty.")


async def test_project_instructions_are_shown_and_used_after_confirmation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("Answer in one sentence.")
    runtime = FakeRuntime()
    runtime.request.project = ProjectFile(tmp_path / "answers.json")
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/instructions")
        await shows(app, "Answer in one sentence.", "Not in use.")
        app.screen._delay._shown = 0.0
        await pilot.press("y")
        await until(lambda: runtime.request.project.used is not None)
        await shows(app, "The model receives AGENTS.md")


async def test_without_project_instructions_the_command_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "/instructions")
        await shows(app, "AGENTS.md: not found in this folder")


async def test_context_shows_the_parts_of_the_next_request():
    runtime = FakeRuntime()
    runtime.request.shown_parts = [ContextPart("System prompt", 80), ContextPart("2 tools", 400, "weather")]
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/context")
        await shows(app, "weather, 2 tools", "~400", "Total")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


async def test_status_shows_model_servers_limits_session_theme_and_files():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "/status")
        await shows(app, "STATUS", "Model", "Servers", "20 steps", "Theme", "Recording", "mcptui.log")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


@pytest.mark.parametrize("word", ["quit", "exit"])
async def test_a_word_that_may_wish_to_quit_is_offered_first_and_sent_by_a_second_enter(word: str):
    runtime = FakeRuntime(says("Sent."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, word)
        await shows(app, "ctrl+q quits. Press enter again")
        assert (runtime.conversations.asked, app.main.composer.text) == ([], word)
        await pilot.press("enter")
        await shows(app, "Sent.")
        assert runtime.conversations.asked[0][0] == word


async def test_help_alone_opens_the_help_and_stays_in_the_input():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, "help")
        await until(lambda: app.screen is not app.main)
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert app.main.composer.text == "help"


async def test_a_vi_command_quits():
    async with opened(FakeRuntime()) as (app, pilot):
        await send(pilot, ":wq")
        await until(lambda: not app.is_running)


async def test_a_tool_name_is_completed_while_typing_and_sent_as_typed():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await keys(pilot, "call get_")
        await shows(app, "get_weather", "weather:")
        await pilot.press("tab")
        assert app.main.composer.text == "call get_weather "
        await keys(pilot, "or add_")
        await pilot.press("enter")
        await until(lambda: app.main.composer.text == "")


async def test_tab_completes_the_prefix_of_a_tool_name():
    async with opened(FakeRuntime()) as (app, pilot):
        await shows(app, "RUNNING")
        await keys(pilot, "use get")
        await pilot.press("tab")
        assert app.main.composer.text == "use get_weather "
        await keys(pilot, "nothing")
        await pilot.press("tab")
        assert not app.main.composer.has_focus
