"""Everything that third-party servers offer, each used once through the real host."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.protocol.test_questions import Person
from tests.real.installed import EVERYTHING, FILES, MEMORY, needs
from tests.real.reached import NAME, reached
from tui.core.servers import ServerSpec
from tui.core.tools import BinaryContent, CallFailure, ResourceContent, TextContent
from tui.core.traffic import Direction

pytestmark = [*needs(EVERYTHING, FILES, MEMORY), pytest.mark.timeout(120)]


def spec(program, *args, **env):
    return ServerSpec(NAME, str(program), tuple(map(str, args)), env=env)


async def called(server, name, arguments):
    """Call a tool; its result must not be an error and must match its schema."""
    done = await server.call(name, **arguments)
    assert done.failure is CallFailure.NONE and not done.is_error and not done.warning, (name, done)
    return done


def methods(server, direction):
    return [message.get("method") for message in server.messages(direction)]


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
    async with reached(replace(spec(EVERYTHING), log_level="debug"), Person({"name": "Ada"})) as it:
        assert (await it.host.workbench.identity(NAME)).protocol == "2025-11-25"
        await until(lambda: "logging/setLevel" in methods(it, Direction.OUT))
        assert set(it.tools()) - {"simulate-research-query"} <= set(CALLED)
        gave = {name: await called(it, name, CALLED[name]) for name in CALLED if name in it.tools()}
        await until(lambda: "notifications/message" in methods(it, Direction.IN))
    text = {
        name: one.content[0].text for name, one in gave.items() if isinstance(one.content[0], TextContent)
    }
    assert "marco" in text["echo"] and "42" in text["get-sum"]
    assert gave["get-structured-content"].structured["conditions"]
    kinds = [one.kind for one in gave["get-tiny-image"].content if isinstance(one, BinaryContent)]
    assert kinds == ["image"]
    assert any(isinstance(one, ResourceContent) for one in gave["get-resource-reference"].content)
    assert any(isinstance(one, BinaryContent) for one in gave["gzip-file-as-resource"].content)


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
