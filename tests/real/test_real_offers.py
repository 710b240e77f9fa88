"""Everything that servers of others offer, each thing once, through the ordinary host."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import until
from tests.real.installed import EVERYTHING, FILES, MEMORY, THINKING, needs
from tui.core.ports import MonotonicClock
from tui.core.questions import Action, AddressAnswer, FormAnswer, Refuser
from tui.core.servers import ServerSpec, ServerState
from tui.core.tools import BinaryContent, CallFailure, LinkContent, ResourceContent, TextContent
from tui.host.host import Host

pytestmark = needs(EVERYTHING, FILES, MEMORY, THINKING)


class Accepting(Refuser):
    """Answers each form with its defaults and accepts each address."""

    async def form(self, question):
        asked = question.schema["properties"].items()
        return FormAnswer(
            Action.ACCEPT, {name: one["default"] for name, one in asked if "default" in one} | NAMED
        )

    async def address(self, question):
        return AddressAnswer(Action.ACCEPT)


NAMED = {"name": "Ada"}


class Served:
    """One server, what travelled, and short ways to use it."""

    def __init__(self, host, lines):
        self.host = host
        self.lines = lines
        self.bench = host.workbench

    @property
    def tools(self):
        return {tool.name: tool for tool in self.bench.tools("srv")}

    async def call(self, name, /, **arguments):
        done = await self.bench.call_tool(
            self.tools[name], arguments, call="hand-1", seconds=30, progress=lambda *_: None
        )
        assert done.failure is CallFailure.NONE, (name, done)
        assert not done.is_error and not done.warning, (name, done)
        return done

    async def read(self, uri):
        return await self.bench.read_resource("srv", uri, call="hand-2", seconds=30)

    async def prompt(self, name, /, **arguments):
        given = await self.bench.get_prompt("srv", name, arguments, call="hand-3", seconds=30)
        assert given.problem == ""
        return [message.content for message in given.messages]

    def count(self, words):
        return sum(words.encode() in line for line in self.lines)


@asynccontextmanager
async def served(program, *args, log_level="", **env):
    lines = []
    spec = ServerSpec("srv", str(program), tuple(map(str, args)), env=env, log_level=log_level)
    host = Host(
        [spec], sink=lambda seen: lines.append(seen.raw), clock=MonotonicClock(), questioner=Accepting()
    )
    try:
        await host.start_all()
        assert host.status("srv").state is ServerState.RUNNING
        yield Served(host, lines)
    finally:
        await host.shutdown()


# ---- server-everything ----

CALLED = {
    "echo": {"message": "marco"},
    "get-annotated-message": {"messageType": "error", "includeImage": True},
    "get-env": {},
    "get-resource-links": {"count": 4},
    "get-resource-reference": {"resourceType": "Text", "resourceId": 3},
    "get-structured-content": {"location": "New York"},
    "get-sum": {"a": 2, "b": 40},
    "get-tiny-image": {},
    "gzip-file-as-resource": {"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"},
    "trigger-long-running-operation": {"duration": 0.2, "steps": 2},
    "get-roots-list": {},
    "trigger-elicitation-request": {},
    "trigger-url-elicitation": {"url": "https://example.com/x", "message": "Look", "elicitationId": "e1"},
    "toggle-simulated-logging": {},
    "toggle-subscriber-updates": {},
}


async def test_each_tool_of_everything_gives_a_result_that_matches_its_schema():
    async with served(EVERYTHING) as it:
        assert set(it.tools) - {"simulate-research-query"} <= set(CALLED)
        gave = {name: await it.call(name, **CALLED[name]) for name in CALLED if name in it.tools}
    text = {
        name: one.content[0].text for name, one in gave.items() if isinstance(one.content[0], TextContent)
    }
    assert "marco" in text["echo"] and "42" in text["get-sum"]
    assert gave["get-structured-content"].structured["conditions"]
    kinds = [one.kind for one in gave["get-tiny-image"].content if isinstance(one, BinaryContent)]
    assert kinds == ["image"]
    assert any(isinstance(one, ResourceContent) for one in gave["get-resource-reference"].content)
    assert any(isinstance(one, BinaryContent) for one in gave["gzip-file-as-resource"].content)


async def test_each_resource_of_everything_is_read_and_one_that_is_not_there_is_not_found():
    async with served(EVERYTHING) as it:
        listed, problem = await it.bench.resources("srv")
        fixed = [one.uri for one in listed if not one.template]
        assert (len(fixed), problem) == (7, "")
        for uri in fixed:
            (content,) = (await it.read(uri)).content
            assert isinstance(content, ResourceContent) and content.text
        gone = await it.read("demo://resource/none")
        assert gone.is_error and gone.content[0].text.startswith("Resource not found: demo://resource/none.")


async def test_each_template_of_everything_is_completed_and_read():
    async with served(EVERYTHING) as it:
        listed, _ = await it.bench.resources("srv")
        text, blob = (one for one in listed if one.template)
        for template in (text, blob):
            assert (await it.bench.complete(template, "resourceId", "7", {})).values == ("7",)
            assert (await it.bench.complete(template, "resourceId", "x", {})).values == ()
        (read,) = (await it.read(text.uri.replace("{resourceId}", "7"))).content
        assert isinstance(read, ResourceContent) and "Resource 7" in read.text
        (read,) = (await it.read(blob.uri.replace("{resourceId}", "7"))).content
        assert isinstance(read, BinaryContent) and read.size > 20


async def test_each_prompt_of_everything_is_completed_with_what_is_filled_in_and_gives_messages():
    async with served(EVERYTHING) as it:
        listed, problem = await it.bench.prompts("srv")
        prompts = {one.name: one for one in listed}
        assert (sorted(prompts), problem) == (
            ["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"],
            "",
        )
        team = prompts["completable-prompt"]
        assert "Sales" in (await it.bench.complete(team, "department", "", {})).values
        found = await it.bench.complete(team, "name", "", {"department": "Sales"})
        assert found.values == ("David", "Eve", "Frank")
        assert await it.prompt("simple-prompt")
        assert "Oslo" in (await it.prompt("args-prompt", city="Oslo"))[0].text
        assert "Eve" in (await it.prompt("completable-prompt", department="Sales", name="Eve"))[0].text
        embedded = await it.prompt("resource-prompt", resourceType="Text", resourceId="2")
        assert any(isinstance(one, ResourceContent) for one in embedded)


async def test_the_links_of_a_result_of_everything_lead_to_resources():
    async with served(EVERYTHING) as it:
        found = (await it.call("get-resource-links", count=4)).content
        links = [one for one in found if isinstance(one, LinkContent)]
        assert len(links) == 4
        for link in links:
            assert not (await it.read(link.uri)).is_error


async def test_updates_of_a_subscribed_resource_of_everything_are_reported_until_it_is_unsubscribed():
    uri = "demo://resource/dynamic/text/1"
    async with served(EVERYTHING) as it:
        assert it.bench.subscribe("srv", uri) == ""
        await until(lambda: it.count("Received Subscribe Resource request") == 1)
        await it.call("toggle-subscriber-updates")
        await until(lambda: it.bench.subscriptions("srv")[uri].updates >= 1)
        it.bench.unsubscribe("srv", uri)
        await until(lambda: it.count("Received Unsubscribe Resource request") == 1)
        assert it.bench.subscriptions("srv") == {}


async def test_the_log_of_everything_comes_at_the_level_that_is_asked_for():
    async with served(EVERYTHING, log_level="debug") as it:
        await until(lambda: it.count('"logging/setLevel"') == 1)
        await it.call("toggle-simulated-logging")
        await until(lambda: it.count("notifications/message") >= 1)


# ---- the others ----


async def test_each_tool_of_filesystem_gives_a_result(tmp_path: Path):
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    file, folder = str(tmp_path / "a.txt"), str(tmp_path)
    async with served(FILES, tmp_path) as it:
        calls = {
            "read_file": {"path": file},
            "read_text_file": {"path": file, "head": 1},
            "read_media_file": {"path": str(tmp_path / "p.png")},
            "read_multiple_files": {"paths": [file]},
            "write_file": {"path": str(tmp_path / "b.txt"), "content": "milk"},
            "edit_file": {"path": file, "edits": [{"oldText": "hello", "newText": "bye"}]},
            "create_directory": {"path": str(tmp_path / "d")},
            "list_directory": {"path": folder},
            "list_directory_with_sizes": {"path": folder},
            "directory_tree": {"path": folder},
            "move_file": {"source": str(tmp_path / "b.txt"), "destination": str(tmp_path / "c.txt")},
            "search_files": {"path": folder, "pattern": "*.txt"},
            "get_file_info": {"path": file},
            "list_allowed_directories": {},
        }
        assert set(it.tools) == set(calls)
        for name, arguments in calls.items():
            await it.call(name, **arguments)
        assert it.bench.subscribe("srv", f"file://{file}").startswith("srv does not offer")
    assert (tmp_path / "a.txt").read_text() == "bye"
    assert (tmp_path / "c.txt").read_text() == "milk"


async def test_each_tool_of_memory_gives_a_result_and_its_graph_is_a_resource(tmp_path: Path):
    ada = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    knows = {"from": "Ada", "to": "Ada", "relationType": "knows"}
    async with served(MEMORY, MEMORY_FILE_PATH=str(tmp_path / "memory.json")) as it:
        calls = {
            "create_entities": {"entities": [ada]},
            "create_relations": {"relations": [knows]},
            "add_observations": {"observations": [{"entityName": "Ada", "contents": ["reads"]}]},
            "read_graph": {},
            "search_nodes": {"query": "Ada"},
            "open_nodes": {"names": ["Ada"]},
            "delete_observations": {"deletions": [{"entityName": "Ada", "observations": ["reads"]}]},
            "delete_relations": {"relations": [knows]},
        }
        assert set(it.tools) == {*calls, "delete_entities"}
        for name, arguments in calls.items():
            await it.call(name, **arguments)
        listed, _ = await it.bench.resources("srv")
        for one in listed:
            (content,) = (await it.read(one.uri)).content
            assert isinstance(content, ResourceContent) and "Ada" in content.text
        await it.call("delete_entities", entityNames=["Ada"])


async def test_sequential_thinking_takes_a_thought():
    async with served(THINKING) as it:
        done = await it.call(
            "sequentialthinking", thought="So.", nextThoughtNeeded=False, thoughtNumber=1, totalThoughts=1
        )
        assert isinstance(done.content[0], TextContent)
        assert not it.bench.tools("none")


@pytest.mark.parametrize("program", [EVERYTHING, THINKING], ids=lambda path: path.name)
async def test_a_server_is_stopped_without_a_trace(program: Path):
    async with served(program) as it:
        await it.host.stop("srv")
        assert it.host.status("srv").state is ServerState.STOPPED
