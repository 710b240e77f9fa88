"""Prompts of servers and snippets of the user, as commands in the composer."""

from dataclasses import replace

import pytest

from tests.conftest import until
from tests.ui.app_stage import keys, opened, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.prompt_stage import FORECAST, runtime_with_prompts
from tui.core.errors import McptuiError
from tui.core.servers import ServerSpec, ServerState, ServerStatus
from tui.core.tools import ResourceContent, TextContent
from tui.core.workbench import PromptMessage, PromptResult
from tui.ui.dialogs.picker import Picker
from tui.ui.forms.form_pane import FormPane
from tui.ui.workbench.bars import BenchTab
from tui.ui.workbench.screen import ServerScreen


@pytest.mark.parametrize(
    "line",
    [
        "/weather:forecast city=Oslo",
        "/weather:forecast Oslo",
        "/prompt weather:forecast city=Oslo",
        "/prompt forecast city=Oslo",  # only one server has it
    ],
)
async def test_a_prompt_is_inserted_into_the_composer_for_review(line: str):
    runtime = runtime_with_prompts()
    async with opened(runtime) as (app, pilot):
        await send(pilot, line)
        await until(lambda: app.main.composer.text == "How will it be?")
        assert runtime.workbench.called[0][:2] == ("forecast", {"city": "Oslo"})
        assert runtime.conversations.asked == []


async def test_an_ambiguous_prompt_lists_its_servers():
    runtime = runtime_with_prompts()
    runtime.workbench.known_prompts = (FORECAST, replace(FORECAST, server="river"))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/prompt forecast city=Oslo")
        await shows(app, "2 servers have this prompt", "/weather:forecast")
        assert runtime.workbench.called == []


@pytest.mark.parametrize("line", ["/weather:forecast ", "/prompt weather:forecast "])
async def test_values_of_an_argument_are_suggested_by_the_server_of_the_prompt(line: str):
    runtime = runtime_with_prompts()
    runtime.workbench.values = {"city": ("Oslo", "São Paulo", "Osaka")}
    async with opened(runtime) as (app, pilot):
        await keys(pilot, f"{line}ci")
        await shows(app, "city=")
        await pilot.press("tab", "O")
        await shows(app, "city=Oslo", "city=Osaka")
        await pilot.press("tab")
        assert app.main.composer.text == f"{line}city=Oslo "
        assert runtime.workbench.completed[-1] == ("city", "O", {})
        app.main.composer.show("")
        await keys(pilot, f"{line}city=S")
        await shows(app, "city=São Paulo")
        await pilot.press("tab")
        assert app.main.composer.text == f'{line}city="São Paulo" '


async def test_a_prompt_with_missing_arguments_opens_its_form():
    runtime = runtime_with_prompts()
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/weather:forecast")
        await until(lambda: isinstance(app.screen, ServerScreen) and app.screen.tab is BenchTab.PROMPTS)
        await shows(app, "city")
        assert runtime.workbench.called == []


async def test_a_completed_form_inserts_the_prompt_into_the_composer():
    runtime = runtime_with_prompts()
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/weather:forecast")
        await until(lambda: isinstance(app.screen, ServerScreen) and app.screen.tab is BenchTab.PROMPTS)
        await until(lambda: isinstance(app.focused, FormPane))
        await keys(pilot, "Oslo")
        await pilot.press("ctrl+s")
        await until(lambda: runtime.workbench.called)
        assert runtime.workbench.called[0][:2] == ("forecast", {"city": "Oslo"})
        await shows(app, "How will it be?")
        await pilot.press("f5")
        await until(lambda: app.main.composer.text.strip() == "How will it be?")


async def test_content_of_a_prompt_other_than_text_is_attached():
    runtime = runtime_with_prompts(says("I see."))
    runtime.workbench.said = PromptResult(
        "",
        (
            PromptMessage("user", TextContent("Look at this.")),
            PromptMessage("user", ResourceContent("file:///a", "text/plain", "the content")),
            PromptMessage("assistant", TextContent("I will.")),
        ),
    )
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/weather:forecast Oslo")
        await until(lambda: "Look at this." in app.main.composer.text)
        assert "(assistant) I will." in app.main.composer.text
        await pilot.press("enter")
        await shows(app, "I see.")
        ((_, attachments),) = runtime.conversations.asked
        assert [one.data for one in attachments] == ["the content"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/model olama", "olama: model not found. Did you mean “ollama”?"),
        ("/notes:summary all", "the server “notes” is not running. Start it to use its prompts."),
        ("/weather:forecast Atlantis", "no such city"),
    ],
)
async def test_a_command_that_fails_returns_to_the_input_with_the_reason(line: str, why: str):
    runtime = runtime_with_prompts()
    runtime.host.put(ServerStatus("notes", ServerSpec("notes", "python"), ServerState.STOPPED))
    runtime.workbench.said = PromptResult(problem="no such city")
    async with opened(runtime) as (app, pilot):
        await send(pilot, line)
        await shows(app, why)
        assert app.main.composer.text == line and runtime.conversations.asked == []


async def test_prompt_without_a_name_lists_the_prompts():
    async with opened(runtime_with_prompts()) as (app, pilot):
        await send(pilot, "/prompt")
        await until(lambda: isinstance(app.screen, Picker))
        await pilot.press("enter")
        await until(lambda: app.main.composer.text == "/weather:forecast ")
        await until(lambda: app.main.composer.has_focus)


async def test_a_snippet_is_filled_in_and_inserted_into_the_composer():
    runtime = FakeRuntime()
    runtime.snippets = {"review": "Review {file}.", "brief": "Be brief."}
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/review app.py")
        await until(lambda: app.main.composer.text == "Review app.py.")
        app.main.composer.show("")
        await send(pilot, "/brief And kind.")
        await until(lambda: app.main.composer.text == "Be brief.\nAnd kind.")


async def test_a_snippet_with_missing_values_lists_them():
    runtime = FakeRuntime()
    runtime.snippets = {"trip": "From {start} to {end}."}
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/trip start=Oslo")
        await until(lambda: app.main.composer.text == "/trip start=Oslo end=")
        await shows(app, "Enter a value for end.")


async def test_a_snippet_with_the_name_of_a_command_is_reported():
    runtime = FakeRuntime()
    runtime.snippets = {"help": "Help me."}
    async with opened(runtime) as (app, _):
        await shows(app, "[snippets] help")


async def test_an_error_of_a_command_is_shown_unchanged():
    runtime = FakeRuntime()

    async def compact() -> str:
        raise McptuiError("there is nothing to summarize yet")

    runtime.conversations.compact = compact  # type: ignore[method-assign]
    async with opened(runtime) as (app, pilot):
        await send(pilot, "/compact")
        await shows(app, "there is nothing to summarize yet")
