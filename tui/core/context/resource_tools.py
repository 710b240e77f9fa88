"""mcptui's own tools that list and read the resources of servers for which the user allows it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tui.core.context.built_in_tools import BUILT_IN, SERVER
from tui.core.ports import Toolbox
from tui.core.text import clean_line, fold
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
from tui.core.units import size as in_bytes
from tui.core.workbench import ResourceInfo

LIST, READ = "list_resources", "read_resource"
PAGE = 100
MAX_URI = 8_192


class ResourceSource(Protocol):
    """The resources that a model may read."""

    def servers(self) -> Sequence[str]:
        """Return the running servers whose resources it may read."""

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        """Return the resources and templates of one server, and a problem, or ""."""

    async def read(self, server: str, uri: str, seconds: float) -> ToolResult: ...


class ResourceToolbox:
    """A toolbox that adds `list_resources` and `read_resource` while there is a server to read from."""

    def __init__(self, inner: Toolbox, source: ResourceSource) -> None:
        self._inner = inner
        self._source = source
        self._made: tuple[object, tuple[Tool, ...]] = (None, ())

    def tools(self) -> Sequence[Tool]:
        """Return the tools; built-in ones come last, so that the others keep their positions."""
        tools, servers = self._inner.tools(), tuple(self._source.servers())
        if not servers:
            return tools
        name, taken = SERVER, {tool.server for tool in tools if not tool.digest.startswith(BUILT_IN)}
        while name in taken:
            name += "-"
        if self._made[0] != (name, servers):
            self._made = (name, servers), _tools(name, servers)
        return [*tools, *self._made[1]]

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return (
            _argument_problem(tool, arguments)
            if is_resource_tool(tool)
            else await self._inner.check(tool, arguments)
        )

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        if not is_resource_tool(tool):
            return await self._inner.call(tool, arguments, seconds=seconds, progress=progress, clocks=clocks)
        if problem := _argument_problem(tool, arguments) or self._not_allowed(arguments["server"]):
            return _failed(problem)
        if tool.name == READ:
            return await self._source.read(arguments["server"], arguments["uri"], seconds)
        return await self._list(arguments)

    def _not_allowed(self, server: str) -> str:
        known = self._source.servers()
        if server in known:
            return ""
        names = ", ".join(clean_line(name, 64) for name in known) or "none"
        return f"no resources from {clean_line(server, 64)!r}. Servers with resources: {names}"

    async def _list(self, arguments: Mapping[str, Any]) -> ToolResult:
        found, problem = await self._source.resources(arguments["server"])
        if problem and not found:
            return _failed(clean_line(problem, 400))
        wanted = fold(arguments.get("grep") or "")
        lines = [line for one in found if wanted in fold(line := _line(one))]
        start = arguments.get("offset") or 0
        shown = lines[start : start + PAGE]
        if start + PAGE < len(lines):
            shown.append(f"[more: offset {start + PAGE} of {len(lines):,}]")
        return ToolResult(
            (TextContent("\n".join(shown) or "(no resources)"),), warning=clean_line(problem, 400)
        )


def is_resource_tool(tool: Tool) -> bool:
    """Whether a tool lists or reads resources, so that its results come from a server."""
    return tool.digest in (BUILT_IN + LIST, BUILT_IN + READ)


def is_resource_read(tool: Tool) -> bool:
    """Whether a tool is `read_resource`, whose argument, a URI, is sent to a server."""
    return tool.digest == BUILT_IN + READ


def _tools(server: str, readable: Sequence[str]) -> tuple[Tool, ...]:
    names = ", ".join(clean_line(name, 64) for name in readable)
    whose = {"type": "string", "description": f"Name of the server, one of: {names}"}
    listing = {
        "server": whose,
        "grep": {
            "type": "string",
            "description": "Return only resources that contain this text (case-insensitive)",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Index of the first resource (default: 0)",
        },
    }
    reading = {"server": whose, "uri": {"type": "string", "description": "URI of the resource"}}
    return (
        _tool(server, LIST, "List resources of a server: documents and data by URI.", listing, ["server"]),
        _tool(
            server,
            READ,
            (
                "Read a resource of a server. Use a URI from list_resources, or a template with its values "
                "filled in."
            ),
            reading,
            ["server", "uri"],
        ),
    )


def _tool(server: str, name: str, words: str, properties: Mapping[str, Any], needed: Sequence[str]) -> Tool:
    return Tool(
        server,
        name,
        description=words,
        schema={"type": "object", "properties": properties, "required": list(needed)},
        read_only=True,
        destructive=False,
        idempotent=True,
        trusted=True,
        digest=BUILT_IN + name,
        pinned=True,
    )


def _argument_problem(tool: Tool, arguments: Mapping[str, Any]) -> str:
    if unknown := arguments.keys() - tool.schema["properties"].keys():
        return f"unknown argument {clean_line(min(unknown), 60)}"
    if not isinstance(arguments.get("server"), str):
        return "server must be the name of a server"
    if tool.name == READ:
        uri = arguments.get("uri")
        return "" if isinstance(uri, str) and 0 < len(uri) <= MAX_URI else "uri must be a URI"
    offset = arguments.get("offset")
    if offset is not None and (not isinstance(offset, int) or isinstance(offset, bool) or offset < 0):
        return "offset must be an integer, at least 0"
    return "" if isinstance(arguments.get("grep"), str | None) else "grep must be a string"


def _line(one: ResourceInfo) -> str:
    """Return a resource as one line: URI, name, type, size and description."""
    name = clean_line(one.title or one.name, 120)
    facts = [clean_line(one.mime, 60), "" if one.size is None else in_bytes(one.size)]
    facts.append("template" if one.template else "")
    about = ", ".join(filter(None, facts))
    words = " — ".join(filter(None, (name, clean_line(one.description, 200))))
    return f"{clean_line(one.uri, 1_000)}  {words}{f' ({about})' if about else ''}".rstrip()


def _failed(text: str) -> ToolResult:
    return ToolResult((TextContent(text),), is_error=True)
