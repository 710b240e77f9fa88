"""mcptui's own tools that read: `read_result`, and those that list and read resources of servers.

`read_result` is offered while a complete result is stored, the others for servers whose resources the user
allows models to read.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tui.core.ports import Toolbox
from tui.core.text import clean_line, fold
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult
from tui.core.units import size as in_bytes
from tui.core.workbench import ResourceInfo

MAX_RESULTS = 100
MAX_BYTES = 64 * 1024 * 1024

_NAME = re.compile(r"result-([1-9][0-9]{0,8})")


class ResultStore:
    """Stores complete results of one conversation; the oldest are dropped, but never the newest."""

    def __init__(
        self,
        results: Mapping[str, str] | None = None,
        *,
        max_results: int = MAX_RESULTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.max_results = max_results
        self.max_bytes = max_bytes
        self._texts: dict[str, str] = {}
        self._bytes = 0
        self._last = 0
        for name, text in (results or {}).items():
            if found := _NAME.fullmatch(name):
                self._last = max(self._last, int(found[1]))
                self._put(name, text)

    def __len__(self) -> int:
        return len(self._texts)

    def name_of(self, text: str) -> str:
        return next((name for name, kept in self._texts.items() if kept == text), "")

    def keep(self, text: str) -> str:
        """Store `text` and return its name; names are never reused."""
        self._last += 1
        name = f"result-{self._last}"
        self._put(name, text)
        return name

    def find(self, name: str) -> str | None:
        return self._texts.get(name)

    def was_here(self, name: str) -> bool:
        found = _NAME.fullmatch(name)
        return found is not None and int(found[1]) <= self._last and name not in self._texts

    def names(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def _put(self, name: str, text: str) -> None:
        self._texts[name] = text
        self._bytes += sys.getsizeof(text)
        while len(self._texts) > 1 and (len(self._texts) > self.max_results or self._bytes > self.max_bytes):
            self._bytes -= sys.getsizeof(self._texts.pop(next(iter(self._texts))))


SERVER = "mcptui"
"""The server name of these tools, shown to the user and the model. A real server may have it too."""

BUILT_IN = "built-in/"
"""Prefix of the digests of built-in tools. Servers cannot imitate it: digests of their tools are hashes."""

READ_RESULT = "read_result"
PAGE_BYTES = 16_384
MIN_PAGE = 64
FRAME = 160
"""Bytes of a page that are reserved for its heading and footer."""

CONTEXT = 120
"""Characters shown on each side of a match in a line that is too long to show completely."""

MAX_LINE = 400
MAX_MATCHES = 200

_DIGEST = f"{BUILT_IN}read_result"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of the stored result, such as result-3"},
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Character offset to start at (default: 0)",
        },
        "limit": {"type": "integer", "minimum": 1, "description": "Maximum number of characters"},
        "grep": {
            "type": "string",
            "description": "Return only lines that contain this text (case-insensitive)",
        },
    },
    "required": ["name"],
}


def is_read_result(tool: Tool) -> bool:
    """Return whether `tool` is `read_result`."""
    return tool.digest == _DIGEST


class BuiltInToolbox:
    """A toolbox that adds the built-in tools. `read_result` reads `result_store` in pages of `page_bytes`."""

    def __init__(self, inner: Toolbox, result_store: ResultStore, page_bytes: int = PAGE_BYTES) -> None:
        self._inner = inner
        self._result_store = result_store
        self._room = max(MIN_PAGE, page_bytes - FRAME)
        self._own = _tool(SERVER)

    def tools(self) -> Sequence[Tool]:
        """Return the tools; built-in ones come last, so that the others keep their positions."""
        tools = self._inner.tools()
        if not len(self._result_store):
            return tools
        taken = {tool.server for tool in tools if not tool.digest.startswith(BUILT_IN)}
        while self._own.server in taken:
            self._own = _tool(self._own.server + "-")
        return [*tools, self._own]

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        if not is_read_result(tool):
            return await self._inner.check(tool, arguments)
        return _argument_problem(arguments)

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        if not is_read_result(tool):
            return await self._inner.call(tool, arguments, seconds=seconds, progress=progress, clocks=clocks)
        if wrong := _argument_problem(arguments):
            return ToolResult.failed(wrong)
        return self._read(arguments)

    def _read(self, arguments: Mapping[str, Any]) -> ToolResult:
        name = arguments["name"]
        text = self._result_store.find(name)
        if text is None:
            return ToolResult.failed(self._missing(name))
        offset, needle = arguments.get("offset") or 0, arguments.get("grep") or ""
        limit = min(arguments.get("limit") or self._room, self._room)
        if offset >= len(text):
            why = f"{name} has {len(text):,} characters; offset {offset:,} is past the end"
            return ToolResult.failed(why)
        told = (
            _matches(name, text, needle, offset, limit)
            if needle
            else _page(name, text, offset, limit, self._room)
        )
        return ToolResult((TextContent(told),))

    def _missing(self, name: str) -> str:
        kept = ", ".join(self._result_store.names()[-20:])
        if self._result_store.was_here(name):
            return f"{name} is no longer stored. Call the tool again. Stored results: {kept}."
        return f"No result is named {clean_line(name, 60)}. Stored results: {kept}."


def _tool(server: str) -> Tool:
    return Tool(
        server,
        READ_RESULT,
        description=(
            "Read more of a tool result that was too large to show in full. The note in the result "
            "gives its name. Use offset to continue reading, or grep to find lines."
        ),
        schema=_SCHEMA,
        read_only=True,
        destructive=False,
        idempotent=True,
        trusted=True,
        digest=_DIGEST,
    )


def _argument_problem(arguments: Mapping[str, Any]) -> str:
    if unknown := arguments.keys() - _SCHEMA["properties"].keys():
        return f"unknown argument {clean_line(min(unknown), 60)}"
    for key, least in (("offset", 0), ("limit", 1)):
        value = arguments.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            return f"{key} must be an integer, at least {least}"
    if not isinstance(arguments.get("name"), str):
        return "name must be a string, such as result-3"
    if not isinstance(arguments.get("grep"), str | None):
        return "grep must be a string"
    return ""


def _page(name: str, text: str, offset: int, limit: int, room: int) -> str:
    piece = text[offset : offset + limit]
    if not piece.isascii():
        piece = piece.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    end = offset + len(piece)
    rest = f"\n[more: offset {end}]" if end < len(text) else "\n[end]"
    return f"[{name}, characters {offset:,} to {end:,} of {len(text):,}]\n{piece}{rest}"


def _matches(name: str, text: str, needle: str, offset: int, limit: int) -> str:
    lines: list[str] = []
    room, at = limit, offset
    searched, wanted = _folded(text, needle)
    while (at := searched.find(wanted, at)) >= 0:
        start, end = _line_around(text, at, at + len(wanted))
        line = f"{start}: {text[start:end]}"
        room -= len(line.encode("utf-8", "replace")) + 1
        if lines and (room < 0 or len(lines) >= MAX_MATCHES):
            lines.append(f"[more: grep again with offset {at}]")
            break
        lines.append(line)
        at = end
    else:
        lines.append("[end]" if lines else f"[nothing at or after offset {offset:,}]")
    return f'[{name}, {len(text):,} characters; matches of "{clean_line(needle, 60)}"]\n' + "\n".join(lines)


def _folded(text: str, needle: str) -> tuple[str, str]:
    """Return both texts case-folded, or unchanged if folding would change offsets in `text` (Turkish İ)."""
    lower = text.lower()
    return (lower, needle.lower()) if len(lower) == len(text) else (text, needle)


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the line around a match, or of a part of it."""
    line_start = text.rfind("\n", max(0, start - MAX_LINE), start) + 1
    line_end = text.find("\n", end, end + MAX_LINE)
    starts_near = line_start > 0 or start < MAX_LINE
    line_end = len(text) if line_end < 0 and len(text) - end < MAX_LINE else line_end
    if starts_near and 0 <= line_end and line_end - line_start <= MAX_LINE:
        return line_start, line_end
    first = max(line_start, start - CONTEXT)
    last = min(len(text), end + CONTEXT)
    return first, last if line_end < 0 else min(last, line_end)


LIST, READ = "list_resources", "read_resource"
PAGE = 100
MAX_URI = 8_192


class ResourceSource(Protocol):
    """The resources that a model may read."""

    def servers(self) -> Sequence[str]:
        """Return the running servers whose resources it may read."""

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        """Return the resources and templates of one server, and a problem, or ""."""

    async def read(self, server: str, uri: str, seconds: float | CallTimeout) -> ToolResult: ...


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
            _resource_problem(tool, arguments)
            if is_resource_tool(tool)
            else await self._inner.check(tool, arguments)
        )

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        if not is_resource_tool(tool):
            return await self._inner.call(tool, arguments, seconds=seconds, progress=progress, clocks=clocks)
        if problem := _resource_problem(tool, arguments) or self._not_allowed(arguments["server"]):
            return ToolResult.failed(problem)
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
            return ToolResult.failed(clean_line(problem, 400))
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
        _resource_tool(
            server, LIST, "List resources of a server: documents and data by URI.", listing, ["server"]
        ),
        _resource_tool(
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


def _resource_tool(
    server: str, name: str, words: str, properties: Mapping[str, Any], needed: Sequence[str]
) -> Tool:
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


def _resource_problem(tool: Tool, arguments: Mapping[str, Any]) -> str:
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
