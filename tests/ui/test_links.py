"""Links in results are read and attached in place. Prompts are inserted into the message or sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened as opened_app
from tests.ui.app_stage import shows
from tests.ui.bench_app import app_of, bench_of, called, opened, rich
from tests.ui.bench_stage import PIXEL, rich_runtime
from tests.ui.fakes import FakeRuntime, calls, says
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult
from tui.core.workbench import PromptMessage, PromptResult
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.confirm import Confirm
from tui.ui.results.result_screen import ResultScreen

ARCHIVE = "weather://archive/beijing"
ANSWER = ToolResult((TextContent("See there."), LinkContent(ARCHIVE, "archive", "Ten years")))


def with_link() -> FakeRuntime:
    runtime = FakeRuntime(calls("weather__get_weather"), says("There you are."), says("Read."))
    runtime.toolbox.answers["get_weather"] = ANSWER
    runtime.workbench.answers[ARCHIVE] = ToolResult((ResourceContent(ARCHIVE, "", "1996: hot"),))
    return runtime


@asynccontextmanager
async def answered(runtime: FakeRuntime) -> AsyncIterator[tuple[McptuiApp, Pilot[int]]]:
    """The app after a turn whose call had links in its result."""
    async with opened_app(runtime) as (app, pilot):
        await pilot.press(*"go", "enter")
        await shows(app, "There you are.")
        yield app, pilot


async def test_enter_reads_a_link_in_a_call_and_a_key_attaches_it() -> None:
    runtime = with_link()
    async with answered(runtime) as (app, pilot):
        await shows(app, f"link   archive  {ARCHIVE}")
        card = next(iter(app.main.regions.conversation.cards.values()))
        app.main.regions.conversation.focus()
        app.main.regions.conversation._aim((card, card.targets[-1]))
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ResultScreen))
        await shows(app, "RESOURCE", "weather › archive", "1996: hot")
        assert runtime.workbench.called[0][0] == ARCHIVE
        await pilot.press("a")
        await shows(app, f"Attached to the next message: {ARCHIVE}")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert f"[@{ARCHIVE}]" in app.main.composer.text


async def test_a_link_is_followed_from_the_full_result_and_escape_returns_to_it() -> None:
    runtime = with_link()
    async with answered(runtime) as (app, pilot):
        await pilot.press("f2", "v")
        await shows(app, "RESULT", "See there.")
        await pilot.press("end", "enter")
        await shows(app, "RESOURCE", "1996: hot")
        await pilot.press("escape")
        await shows(app, "RESULT", "See there.")
        await pilot.press("end", "a", "escape")
        await until(lambda: app.main.composer.text == f"[@weather:{ARCHIVE}] ")


async def test_a_link_in_a_result_of_the_workbench_is_read_and_attached() -> None:
    runtime = rich_runtime()
    runtime.workbench.answers["get_weather"] = ANSWER
    async with opened(runtime) as (screen, pilot):
        app, bench = app_of(screen), bench_of(screen)
        await pilot.press("enter", *"Oslo", "ctrl+s")
        await shows(app, "See there.")
        screen.set_focus(bench.page)
        await pilot.press("end", "enter")
        await until(lambda: isinstance(app.screen, ResultScreen))
        await shows(app, f"this is {ARCHIVE}")
        await pilot.press("escape")
        await until(lambda: app.screen is screen)
        await pilot.press("a")
        await until(lambda: app.main.composer.text == f"[@weather:{ARCHIVE}] ")


async def test_a_web_address_is_opened_only_after_confirmation_and_a_suspicious_one_is_flagged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visited: list[str] = []
    monkeypatch.setattr("tui.core.web.open_browser", lambda address: bool(visited.append(address)))
    runtime = with_link()
    links = (LinkContent("https://a.com.evil.example/x", "web"), LinkContent("javascript:alert(1)", "odd"))
    runtime.toolbox.answers["get_weather"] = ToolResult(links)
    async with answered(runtime) as (app, pilot):
        await pilot.press("f2", "v")
        await shows(app, "RESULT", "odd")
        await pilot.press("home", "o")
        await shows(app, "in the browser?", "https://a.com.evil.example/x", "belongs to evil.example")
        await pilot.press("n", "o")
        await until(lambda: isinstance(app.screen, Confirm))
        app.screen._delay._shown = 0.0
        await pilot.press("y")
        await until(lambda: visited == ["https://a.com.evil.example/x"])
        await shows(app, "Cannot open a browser here.")


async def test_closing_the_screen_while_a_link_is_read_cancels_the_request() -> None:
    runtime = with_link()
    async with answered(runtime) as (app, pilot):
        runtime.workbench.gate = asyncio.Event()
        await pilot.press("f2", "v")
        await shows(app, "RESULT", "See there.")
        await pilot.press("end", "enter")
        await until(lambda: runtime.workbench.called)
        await pilot.press("escape")
        await until(lambda: runtime.workbench.cancelled == 1)


async def test_a_resource_and_a_filled_in_template_are_attached_from_the_list() -> None:
    async with rich() as (_runtime, screen, pilot):
        app = app_of(screen)
        await pilot.press("3")
        await shows(app, "stations")
        await pilot.press("a")
        await until(lambda: app.main.composer.text == "[@weather:weather://stations] ")
        await pilot.press("down", "a")
        await shows(app, "! city is required")
        await pilot.press("enter", *"Oslo", "escape", "a")
        await until(lambda: "[@weather:weather://archive/Oslo]" in app.main.composer.text)


async def test_an_image_is_attached_unchanged_and_unsupported_content_is_not() -> None:
    async with rich() as (runtime, screen, pilot):
        app, bench = app_of(screen), bench_of(screen)
        bench.list.select("tool get_radar")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await called(runtime)
        await shows(app, "image/png")
        screen.set_focus(bench.page)
        await pilot.press("a")
        await until(lambda: app.main.composer.text == "[@get_radar] ")
        blob = BinaryContent("blob", "x/y", 3, "AAEC", "weather://blob")
        runtime.workbench.answers["get_radar"] = ToolResult((blob,))
        await pilot.press("ctrl+s")
        await shows(app, "weather://blob")
        await pilot.press("a")
        await shows(app, "Not attached: unsupported type: only")


def prompt() -> FakeRuntime:
    runtime = rich_runtime()
    said = (
        PromptMessage("user", TextContent("/clear is what I say.")),
        PromptMessage("user", BinaryContent("image", "image/png", 70, PIXEL)),
    )
    runtime.workbench.said = PromptResult("", said)
    return runtime


async def test_a_prompt_is_inserted_into_the_message_with_its_embedded_content() -> None:
    runtime = prompt()
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        await pilot.press("4", "enter", *"a", "tab", *"b", "ctrl+s")
        await shows(app, "/clear is what I say.")
        await pilot.press("f5")
        await until(lambda: app.screen is app.main)
        assert app.main.composer.text == "[@weather:compare]  /clear is what I say."


async def test_a_prompt_is_sent_at_once_and_the_draft_is_kept() -> None:
    runtime = prompt()
    async with opened(runtime) as (screen, pilot):
        app = app_of(screen)
        app.main.composer.show("half a sentence")
        await pilot.press("4", "A")
        await shows(app, "Get a prompt first")
        await pilot.press("enter", *"a", "tab", *"b", "ctrl+s")
        await shows(app, "/clear is what I say.")
        await pilot.press("escape", "A")
        await until(lambda: runtime.conversations.asked)
        ((text, attachments),) = runtime.conversations.asked
        assert (text.strip(), attachments[0].mime) == ("@weather:compare  /clear is what I say.", "image/png")
        assert app.main.composer.text == "half a sentence"
