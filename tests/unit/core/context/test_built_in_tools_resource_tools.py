"""The tools by which a model lists and reads resources."""

import pytest

from tests.unit.core.stand_ins import FunctionToolbox, policy_of
from tui.core.context.built_in_tools import BuiltInToolbox, ResultStore
from tui.core.context.tool_selection import MOST_FOUND, find_tools
from tui.core.permission.approval_policy import Verdict
from tui.core.tools import ResourceContent, ToolResult
from tui.core.workbench import ResourceInfo

FOUND = [
    ResourceInfo("notes", "notes://all", "all", description="All notes\x1b[2J", mime="text/plain", size=1200),
    ResourceInfo("notes", "notes://{id}", "one", template=True),
]


class Source:
    def __init__(self, *names, found=FOUND, problem=""):
        self.names = names
        self.found = found
        self.problem = problem
        self.asked = []

    def servers(self):
        return self.names

    async def resources(self, server):
        return self.found, self.problem

    async def read(self, server, uri, seconds):
        self.asked.append((server, uri, seconds))
        return ToolResult((ResourceContent(uri, "text/plain", "milk"),))


async def call(source, name, **arguments):
    box = BuiltInToolbox(FunctionToolbox(), ResultStore(), resources=source)
    (tool,) = [tool for tool in box.tools() if tool.name == name]
    return await box.call(tool, arguments, seconds=5, progress=lambda *_: None)


def text(result):
    (content,) = result.content
    return content.text


def test_resource_tools_are_offered_only_if_a_server_has_resources():
    box = BuiltInToolbox(FunctionToolbox(), ResultStore(), resources=Source())
    assert [tool.name for tool in box.tools()] == ["echo"]
    box = BuiltInToolbox(FunctionToolbox(), ResultStore(), resources=Source("notes"))
    assert [tool.name for tool in box.tools()] == ["echo", "list_resources", "read_resource"]


def test_resource_tools_run_without_approval_like_read_result():
    kept = ResultStore({"result-1": "x"})
    tools = BuiltInToolbox(FunctionToolbox(), kept, resources=Source("notes")).tools()
    assert [tool.server for tool in tools[1:]] == ["mcptui"] * 3
    assert {policy_of().judge(tool).verdict for tool in tools[1:]} == {Verdict.ALLOW}


async def test_resources_are_listed_one_per_line_and_cleaned():
    listed = text(await call(Source("notes"), "list_resources", server="notes"))
    assert listed == ("notes://all  all — All notes␛[2J (text/plain, 1.2 kB)\nnotes://{id}  one (template)")
    assert text(await call(Source("notes"), "list_resources", server="notes", grep="ALL")).count("\n") == 0


async def test_a_long_list_is_paged():
    many = [ResourceInfo("notes", f"a://{number}") for number in range(250)]
    source = Source("notes", found=many)
    first = text(await call(source, "list_resources", server="notes"))
    assert first.startswith("a://0\n") and first.endswith("[more: offset 100 of 250]")
    last = text(await call(source, "list_resources", server="notes", offset=200))
    assert last.startswith("a://200\n") and last.endswith("a://249")


async def test_a_failed_listing_is_reported():
    source = Source("notes", found=(), problem="It took too long.")
    result = await call(source, "list_resources", server="notes")
    assert result.is_error and text(result) == "It took too long."


async def test_resources_are_read_from_allowed_servers_only():
    source = Source("notes")
    result = await call(source, "read_resource", server="notes", uri="notes://all")
    assert result.content == (ResourceContent("notes://all", "text/plain", "milk"),)
    refused = await call(source, "read_resource", server="secrets", uri="notes://all")
    assert refused.is_error and "Servers with resources: notes" in text(refused)
    assert source.asked == [("notes", "notes://all", 5)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_result", {}),
        ("read_result", {"name": 1}),
        ("read_result", {"name": "result-1", "offset": True}),
        ("read_result", {"name": "result-1", "limit": 0}),
        ("read_result", {"name": "result-1", "limit": 1.5}),
        ("read_result", {"name": "result-1", "grep": ["x"]}),
        ("read_resource", {"server": "notes"}),
        ("read_resource", {"server": "notes", "uri": "x" * 9000}),
        ("read_resource", {"server": 7, "uri": "x"}),
        ("list_resources", {"server": "notes", "offset": -1}),
        ("list_resources", {"server": "notes", "what": 1}),
        ("find_tools", {"query": " "}),
        ("find_tools", {"query": "x", "limit": MOST_FOUND + 1}),
    ],
)
async def test_invalid_arguments_are_rejected_before_and_by_the_call(name, arguments):
    box = BuiltInToolbox(FunctionToolbox(), ResultStore({"result-1": "x"}), resources=Source("notes"))
    tool = next(tool for tool in (*box.tools(), find_tools(())) if tool.name == name)
    assert await box.check(tool, arguments)
    assert (await box.call(tool, arguments, seconds=5, progress=lambda *_: None)).is_error
