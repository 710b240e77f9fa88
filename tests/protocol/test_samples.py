"""The sample servers do what their descriptions say."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tui.core.events import ToolCallEnded
from tui.core.example_questions import examples
from tui.core.permission.approval_policy import Mode
from tui.core.ports import Answer, ApprovalRequest, Decision
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.locations import sample_server


@pytest.fixture(autouse=True)
def notes_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "notes" / "notes.json"
    monkeypatch.setenv("MCPTUI_NOTES_FILE", str(path))
    return path


@asynccontextmanager
async def connected(name: str) -> AsyncIterator[Client]:
    """Connect to a fresh process of a sample server."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(sample_server(name))], env=dict(os.environ)
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


def keep(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")


def kept(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    return "\n".join(item.text for item in result.content if item.type == "text"), result.is_error


@pytest.mark.parametrize(
    ("location", "answer"),
    [
        ("Beijing", "Weather in Beijing: sunny, 25 °C."),
        ("北京", "Weather in Beijing: sunny, 25 °C."),
        ("  shanghai ", "Weather in Shanghai: cloudy, 28 °C."),
        ("Hangzhou, China", "Weather in Hangzhou: light rain, 22 °C."),
        ("New York City", "Weather in NYC: windy, 18 °C."),
    ],
)
async def test_weather_knows_four_places_by_their_common_names(location: str, answer: str):
    async with connected("weather") as client:
        assert await call(client, "get_weather", location=location) == (answer, False)


async def test_weather_reports_an_unknown_place():
    async with connected("weather") as client:
        text, is_error = await call(client, "get_weather", location="Paris")
        assert text == ("No weather for 'Paris'. Known places: Beijing, Shanghai, Hangzhou, NYC.")
        assert not is_error


async def test_weather_lists_the_earlier_requests():
    async with connected("weather") as client:
        assert (await call(client, "list_get_weather_records"))[0] == "No weather requests yet."
        await call(client, "get_weather", location="NYC")
        assert "Weather in NYC: windy" in (await call(client, "list_get_weather_records"))[0]


async def test_a_note_can_be_added_found_listed_and_deleted(notes_file: Path):
    async with connected("notes") as client:
        added, _ = await call(client, "add_note", text="Buy MILK and 豆腐")
        note = added.removeprefix("Added note ").partition(":")[0]
        assert (await call(client, "search_notes", query="milk 豆腐"))[0] == f"{note}: Buy MILK and 豆腐"
        assert (await call(client, "list_notes"))[0] == f"{note}: Buy MILK and 豆腐"
        assert (await call(client, "delete_note", id=note))[0].startswith("Deleted note")
        assert (await call(client, "list_notes"))[0] == "No notes yet."
    assert json.loads(kept(notes_file)) == []


async def test_two_notes_with_the_same_text_have_different_ids():
    async with connected("notes") as client:
        first, _ = await call(client, "add_note", text="same")
        second, _ = await call(client, "add_note", text="same")
        assert first.partition(":")[0] != second.partition(":")[0]


async def test_an_empty_note_and_an_unknown_id_are_errors_with_a_next_step():
    async with connected("notes") as client:
        assert (await call(client, "add_note", text=" "))[1]
        text, is_error = await call(client, "delete_note", id="nothing")
        assert is_error
        assert "Call list_notes for the ids" in text


async def test_an_unreadable_notes_file_is_reported_and_not_changed(notes_file: Path):
    keep(notes_file, "precious but not JSON")
    async with connected("notes") as client:
        for tool, arguments in (("list_notes", {}), ("add_note", {"text": "x"})):
            text, is_error = await call(client, tool, **arguments)
            assert is_error
            assert "It was not changed" in text
    assert kept(notes_file) == "precious but not JSON"


async def test_notes_have_a_resource_and_a_prompt_with_all_of_them():
    async with connected("notes") as client:
        await call(client, "add_note", text="buy milk")
        resource = await client.read_resource("notes://all")
        assert "buy milk" in resource.contents[0].text
        prompt = await client.get_prompt("summarize_notes")
        assert "buy milk" in prompt.messages[0].content.text


async def test_slow_counts_with_progress():
    seen: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total))

    async with connected("slow") as client:
        result = await client.call_tool("count_slowly", {"seconds": 0.05}, progress_callback=progress)
        assert result.content[0].text == "Counted to 0.05."
    assert seen[0] == (0, 0.05)
    assert seen[-1] == (0.05, 0.05)


async def test_slow_returns_a_tool_error_on_request():
    async with connected("slow") as client:
        text, is_error = await call(client, "always_fails")
        assert is_error
        assert "This tool always fails" in text


@pytest.mark.parametrize(
    ("name", "reading", "destroying"),
    [
        ("weather", {"get_weather", "list_get_weather_records"}, set()),
        ("notes", {"list_notes", "search_notes"}, {"delete_note"}),
        ("slow", {"count_slowly", "always_fails"}, set()),
    ],
)
async def test_the_annotations_of_the_tools_are_correct(name: str, reading: set[str], destroying: set[str]):
    async with connected(name) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools if tool.annotations.read_only_hint} == reading
        assert {tool.name for tool in tools if tool.annotations.destructive_hint} == destroying
        assert all(tool.description and tool.title for tool in tools)


async def test_slow_crashes_its_process_with_a_last_line_on_stderr(tmp_path: Path):
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(sample_server("slow"))], env=dict(os.environ)
    )
    with (tmp_path / "stderr").open("w+") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr)) as client:
            with pytest.raises(MCPError, match="closed"):
                await client.call_tool("crash", {})
        stderr.seek(0)
        assert stderr.read().splitlines()[-1] == "RuntimeError: asked to crash"


async def test_the_demo_model_answers_every_example_question():
    runtime = Runtime(Options(demo=True, mode=Mode.ALL, save=False, paced=False), os.environ)
    await runtime.ready(taps=False, record=False, start=False)
    try:
        assert runtime.uses_samples
        await runtime.host.start_all(["weather", "notes", "slow"])
        questions = examples(runtime.host.toolbox.tools(), count=20)
        assert len(questions) >= 3 and questions[:4] == tuple(runtime.examples())
        for example in questions:
            question = example.question
            events = [event async for event in runtime.conversations.ask(question, Nobody()).events()]
            ended = [event for event in events if isinstance(event, ToolCallEnded)]
            assert ended and not any(event.is_error for event in ended), question
    finally:
        await runtime.shutdown()


class Nobody:
    async def ask(self, request: ApprovalRequest) -> Decision:
        return Decision(Answer.NO, by_user=False)
