"""Everything that third-party servers offer, each used once through the real host."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conftest import until
from tests.real.installed import EVERYTHING, FILES, MEMORY, needs
from tests.real.reached import NAME, Reached, reached
from tui.core.questions import Action, AddressAnswer, FormAnswer, Refuser
from tui.core.servers import ServerSpec
from tui.core.tools import BinaryContent, CallFailure, LinkContent, ResourceContent, TextContent
from tui.core.traffic import Direction

pytestmark = [*needs(EVERYTHING, FILES, MEMORY), pytest.mark.timeout(120)]


class Accepting(Refuser):
    """Answers each form with its defaults and accepts each URL."""

    async def form(self, question):
        asked = question.schema["properties"].items()
        values = {name: one["default"] for name, one in asked if "default" in one}
        return FormAnswer(Action.ACCEPT, values | {"name": "Ada"})

    async def address(self, question):
        return AddressAnswer(Action.ACCEPT)


def spec(program, *args, **env):
    return ServerSpec(NAME, str(program), tuple(map(str, args)), env=env)


async def called(server, name, arguments):
    """Call a tool; its result must not be an error and must match its schema."""
    done = await server.call(name, **arguments)
    assert done.failure is CallFailure.NONE and not done.is_error and not done.warning, (name, done)
    return done


def methods(server, direction):
    return [message.get("method") for message in server.messages(direction)]


async def messages(server, name, /, **arguments):
    """Return the content of the messages of a prompt."""
    given = await server.host.workbench.get_prompt(NAME, name, arguments, call="hand-3", seconds=30)
    assert given.problem == ""
    return [message.content for message in given.messages]


# ---- server-everything ----


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def it() -> AsyncIterator[Reached]:
    """Yield one running server-everything for all tests that only read what it offers."""
    async with reached(spec(EVERYTHING), Accepting()) as found:
        yield found


on_shared_server = pytest.mark.asyncio(loop_scope="module")

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


async def test_each_tool_of_everything_returns_a_result_that_matches_its_schema():
    async with reached(spec(EVERYTHING), Accepting()) as it:
        assert set(it.tools()) - {"simulate-research-query"} <= set(CALLED)
        gave = {name: await called(it, name, CALLED[name]) for name in CALLED if name in it.tools()}
    text = {
        name: one.content[0].text for name, one in gave.items() if isinstance(one.content[0], TextContent)
    }
    assert "marco" in text["echo"] and "42" in text["get-sum"]
    assert gave["get-structured-content"].structured["conditions"]
    kinds = [one.kind for one in gave["get-tiny-image"].content if isinstance(one, BinaryContent)]
    assert kinds == ["image"]
    assert any(isinstance(one, ResourceContent) for one in gave["get-resource-reference"].content)
    assert any(isinstance(one, BinaryContent) for one in gave["gzip-file-as-resource"].content)


@on_shared_server
async def test_each_resource_of_everything_is_read_and_a_missing_one_is_not_found(it):
    listed, problem = await it.host.workbench.resources(NAME)
    fixed = [one.uri for one in listed if not one.template]
    assert (len(fixed), problem) == (7, "")
    for uri in fixed:
        (content,) = (await it.resource(uri)).content
        assert isinstance(content, ResourceContent) and content.text
    gone = await it.resource("demo://resource/none")
    assert gone.is_error and gone.content[0].text.startswith("Resource not found: demo://resource/none.")


@on_shared_server
async def test_each_template_of_everything_is_completed_and_read(it):
    listed, _ = await it.host.workbench.resources(NAME)
    text, blob = (one for one in listed if one.template)
    for template in (text, blob):
        assert (await it.host.workbench.complete(template, "resourceId", "7", {})).values == ("7",)
        assert (await it.host.workbench.complete(template, "resourceId", "x", {})).values == ()
    (read,) = (await it.resource(text.uri.replace("{resourceId}", "7"))).content
    assert isinstance(read, ResourceContent) and "Resource 7" in read.text
    (read,) = (await it.resource(blob.uri.replace("{resourceId}", "7"))).content
    assert isinstance(read, BinaryContent) and read.size > 20


@on_shared_server
async def test_each_prompt_of_everything_gives_messages_and_completes_from_other_arguments(it):
    listed, problem = await it.host.workbench.prompts(NAME)
    prompts = {one.name: one for one in listed}
    assert (sorted(prompts), problem) == (
        ["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"],
        "",
    )
    team = prompts["completable-prompt"]
    assert "Sales" in (await it.host.workbench.complete(team, "department", "", {})).values
    found = await it.host.workbench.complete(team, "name", "", {"department": "Sales"})
    assert found.values == ("David", "Eve", "Frank")
    assert await messages(it, "simple-prompt")
    assert "Oslo" in (await messages(it, "args-prompt", city="Oslo"))[0].text
    assert "Eve" in (await messages(it, "completable-prompt", department="Sales", name="Eve"))[0].text
    embedded = await messages(it, "resource-prompt", resourceType="Text", resourceId="2")
    assert any(isinstance(one, ResourceContent) for one in embedded)


@on_shared_server
async def test_the_resource_links_in_a_result_of_everything_can_be_read(it):
    found = (await it.call("get-resource-links", count=4)).content
    links = [one for one in found if isinstance(one, LinkContent)]
    assert len(links) == 4
    for link in links:
        assert not (await it.resource(link.uri)).is_error


async def test_log_messages_of_everything_arrive_at_the_requested_level():
    async with reached(replace(spec(EVERYTHING), log_level="debug")) as it:
        await until(lambda: "logging/setLevel" in methods(it, Direction.OUT))
        await it.call("toggle-simulated-logging")
        await until(lambda: "notifications/message" in methods(it, Direction.IN))


# ---- the others ----


async def test_each_tool_of_filesystem_returns_a_result(tmp_path: Path):
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    file, folder = str(tmp_path / "a.txt"), str(tmp_path)
    async with reached(spec(FILES, tmp_path)) as it:
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
        assert set(it.tools()) == set(calls)
        for name, arguments in calls.items():
            await called(it, name, arguments)
        assert it.host.workbench.subscribe(NAME, f"file://{file}").startswith(
            f"The server “{NAME}” does not support"
        )
    assert (tmp_path / "a.txt").read_text() == "bye"
    assert (tmp_path / "c.txt").read_text() == "milk"


async def test_each_tool_of_memory_returns_a_result_and_its_graph_is_a_resource(tmp_path: Path):
    ada = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    knows = {"from": "Ada", "to": "Ada", "relationType": "knows"}
    async with reached(spec(MEMORY, MEMORY_FILE_PATH=str(tmp_path / "memory.json"))) as it:
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
        assert set(it.tools()) == {*calls, "delete_entities"}
        for name, arguments in calls.items():
            await called(it, name, arguments)
        listed, _ = await it.host.workbench.resources(NAME)
        for one in listed:
            (content,) = (await it.resource(one.uri)).content
            assert isinstance(content, ResourceContent) and "Ada" in content.text
        await called(it, "delete_entities", {"entityNames": ["Ada"]})
