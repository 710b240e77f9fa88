"""mcptui's own tools: `read_result`, `find_tools`, and those that list and read resources of servers."""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tui.core.ports import Toolbox
from tui.core.text import clean_line, fold
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.units import size as in_bytes
from tui.core.workbench import ResourceInfo

MAX_RESULTS = 100
MAX_BYTES = 64 * 1024 * 1024

_NAME = re.compile(r"result-([1-9][0-9]{0,8})")


class ResultStore:
    """Stores complete results of one conversation; the oldest are dropped, but never the newest."""

    def __init__(self, results: Mapping[str, str] | None = None) -> None:
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
        while len(self._texts) > 1 and (len(self._texts) > MAX_RESULTS or self._bytes > MAX_BYTES):
            self._bytes -= sys.getsizeof(self._texts.pop(next(iter(self._texts))))


SERVER = "mcptui"
"""The server name of these tools, shown to the user and the model. A real server may have it too."""

BUILT_IN = "built-in/"
"""Prefix of the digests of built-in tools. Servers cannot imitate it: digests of their tools are hashes."""

READ_RESULT, LIST, READ, FIND_TOOLS = "read_result", "list_resources", "read_resource", "find_tools"
PAGE_BYTES = 16_384
MIN_PAGE = 64
FRAME = 160
"""Bytes of a page that are reserved for its heading and footer."""

CONTEXT = 120
"""Characters shown on each side of a match in a line that is too long to show completely."""

MAX_LINE = 400
MAX_MATCHES = 200
PAGE = 100
"""Resources in one page of a list."""

MAX_URI, MAX_QUERY = 8_192, 400
_LONGEST = {"query": MAX_QUERY}
"""Maximum characters of arguments; of others, `MAX_URI`."""


def built_in_tool(
    server: str, name: str, about: str, properties: Mapping[str, Any], *required: str, pinned: bool = False
) -> Tool:
    """Return the definition of one of mcptui's own tools. They only read."""
    return Tool(
        server,
        name,
        description=about,
        schema={"type": "object", "properties": properties, "required": list(required)},
        read_only=True,
        destructive=False,
        idempotent=True,
        trusted=True,
        digest=BUILT_IN + name,
        pinned=pinned,
    )


def own_server(tools: Iterable[Tool]) -> str:
    """Return the server name of mcptui's own tools: one that no server has."""
    taken = {tool.server for tool in tools if not built_in(tool)}
    name = SERVER
    while name in taken:
        name += "-"
    return name


def built_in(tool: Tool) -> str:
    """Return which of mcptui's own tools it is, by its name; "" for a tool of a server."""
    return tool.digest.removeprefix(BUILT_IN) if tool.digest.startswith(BUILT_IN) else ""


def argument_problem(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return why arguments do not match the schema of one of mcptui's own tools, or ""."""
    properties, required = tool.schema["properties"], tool.schema["required"]
    if unknown := arguments.keys() - properties.keys():
        return f"unknown argument {clean_line(min(unknown), 60)}"
    for name, rule in properties.items():
        value = arguments.get(name)
        if value is None and name not in required:
            continue
        if rule["type"] == "string":
            most = _LONGEST.get(name, MAX_URI)
            if not isinstance(value, str) or len(value) > most or (name in required and not value.strip()):
                return f"{name} must be a string of at most {most} characters"
        else:
            least, most = rule["minimum"], rule.get("maximum", math.inf)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                return f"{name} must be an integer, at least {least}" + (
                    f" and at most {most}" if most < math.inf else ""
                )
    return ""


class ResourceSource(Protocol):
    """The resources that a model may read."""

    def servers(self) -> Sequence[str]:
        """Return the running servers whose resources it may read."""

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        """Return the resources and templates of one server, and a problem, or ""."""

    async def read(self, server: str, uri: str, seconds: float | CallTimeout) -> ToolResult: ...


class OwnTools(Protocol):
    """Further tools of mcptui's own, of an extension."""

    def tools(self, server: str) -> Iterable[Tool]:
        """Return their definitions; `server` is the name under which own tools are offered."""

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], clocks: Pausable = NO_CLOCKS
    ) -> ToolResult | None:
        """Call one; None if it is not one of these. The arguments match its schema.

        The `clocks` are to stand still while the user is asked.
        """


@dataclass(slots=True)
class BuiltInToolbox:
    """A toolbox that adds the built-in tools.

    `read_result` reads `result_store` in pages; `page_bytes` is how many bytes of a text fit into one. Two
    others list and read `resources`. `find_tools`, which the `ToolOffer` defines, gets its result from
    `search`. `skills` returns the tools for skills, None without any.
    """

    inner: Toolbox
    result_store: ResultStore
    page_bytes: Callable[[str], int] = lambda text: PAGE_BYTES
    resources: ResourceSource | None = None
    search: Callable[[Mapping[str, Any]], str] = lambda arguments: ""
    skills: Callable[[], OwnTools | None] = lambda: None

    def tools(self) -> Sequence[Tool]:
        """Return the tools; built-in ones come last, so that the others keep their positions."""
        tools, readable, has_results = self.inner.tools(), self._readable, len(self.result_store) > 0
        skills = self.skills()
        if not (readable or has_results or skills):
            return tools
        server = own_server(tools)
        results = [_result_tool(server)] if has_results else []
        of_skills = skills.tools(server) if skills is not None else ()
        return [*tools, *_resource_tools(server, readable), *of_skills, *results]

    @property
    def _readable(self) -> tuple[str, ...]:
        return tuple(self.resources.servers()) if self.resources is not None else ()

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        if not built_in(tool):
            return await self.inner.check(tool, arguments)
        return argument_problem(tool, arguments)

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        **more: Any,
    ) -> ToolResult:
        """Call a tool; `more` is for the tools of servers."""
        if not built_in(tool):
            return await self.inner.call(tool, arguments, seconds=seconds, **more)
        if problem := argument_problem(tool, arguments):
            return ToolResult.failed(problem)
        if built_in(tool) == FIND_TOOLS:
            return ToolResult((TextContent(self.search(arguments)),))
        if built_in(tool) == READ_RESULT:
            return self._read(arguments)
        if (skills := self.skills()) is not None:
            clocks: Pausable = more.get("clocks", NO_CLOCKS)
            if (found := await skills.call(tool, arguments, clocks)) is not None:
                return found
        if self.resources is None or arguments["server"] not in self.resources.servers():
            names = ", ".join(clean_line(name, 64) for name in self._readable) or "none"
            refused = f"no resources from {clean_line(arguments['server'], 64)!r}"
            return ToolResult.failed(f"{refused}. Servers with resources: {names}")
        if built_in(tool) == READ:
            return await self.resources.read(arguments["server"], arguments["uri"], seconds)
        return _listing(*await self.resources.resources(arguments["server"]), arguments)

    def _read(self, arguments: Mapping[str, Any]) -> ToolResult:
        name = arguments["name"]
        text = self.result_store.find(name)
        if text is None:
            why = f"No result is named {clean_line(name, 60)}."
            if self.result_store.was_here(name):
                why = f"{name} is no longer stored. Call the tool again."
            kept = ", ".join(self.result_store.names()[-20:])
            return ToolResult.failed(f"{why} Stored results: {kept}.")
        offset, needle = arguments.get("offset") or 0, arguments.get("grep") or ""
        room = max(MIN_PAGE, self.page_bytes(" " * FRAME + text[offset:]) - FRAME)
        limit = min(arguments.get("limit") or room, room)
        if offset >= len(text):
            why = f"{name} has {len(text):,} characters; offset {offset:,} is past the end"
            return ToolResult.failed(why)
        if needle:
            return ToolResult((TextContent(_matches(name, text, needle, offset, limit)),))
        return ToolResult((TextContent(_page(name, text, offset, limit, room)),))


def _result_tool(server: str) -> Tool:
    return built_in_tool(
        server,
        READ_RESULT,
        "Read more of a tool result that was too large to show in full. The note in the result gives its "
        "name. Use offset to continue reading, or grep to find lines.",
        {
            "name": text_property("Name of the stored result, such as result-3"),
            "offset": number_property("Character offset to start at (default: 0)"),
            "limit": number_property("Maximum number of characters", 1),
            "grep": text_property("Return only lines that contain this text (case-insensitive)"),
        },
        "name",
    )


def text_property(about: str) -> Mapping[str, Any]:
    """Return the schema of an argument that is a text."""
    return {"type": "string", "description": about}


def number_property(about: str, least: int = 0, **most: int) -> Mapping[str, Any]:
    """Return the schema of an argument that is an integer, with a `maximum` if there is one."""
    return {"type": "integer", "minimum": least, **most, "description": about}


def _resource_tools(server: str, readable: Sequence[str]) -> Iterator[Tool]:
    if not readable:
        return
    names = ", ".join(clean_line(name, 64) for name in readable)
    whose = text_property(f"Name of the server, one of: {names}")
    yield built_in_tool(
        server,
        LIST,
        "List resources of a server: documents and data by URI.",
        {
            "server": whose,
            "grep": text_property("Return only resources that contain this text (case-insensitive)"),
            "offset": number_property("Index of the first resource (default: 0)"),
        },
        "server",
        pinned=True,
    )
    yield built_in_tool(
        server,
        READ,
        "Read a resource of a server. Use a URI from list_resources, or a template with its values filled "
        "in.",
        {"server": whose, "uri": text_property("URI of the resource")},
        "server",
        "uri",
        pinned=True,
    )


def _listing(found: Sequence[ResourceInfo], problem: str, arguments: Mapping[str, Any]) -> ToolResult:
    if problem and not found:
        return ToolResult.failed(clean_line(problem, 400))
    wanted = fold(arguments.get("grep") or "")
    lines = [line for one in found if wanted in fold(line := _line(one))]
    start = arguments.get("offset") or 0
    shown = lines[start : start + PAGE]
    if start + PAGE < len(lines):
        shown.append(f"[more: offset {start + PAGE} of {len(lines):,}]")
    text = TextContent("\n".join(shown) or "(no resources)")
    return ToolResult((text,), warning=clean_line(problem, 400))


def _line(one: ResourceInfo) -> str:
    name = clean_line(one.title or one.name, 120)
    facts = [clean_line(one.mime, 60), "" if one.size is None else in_bytes(one.size)]
    facts.append("template" if one.template else "")
    about = ", ".join(filter(None, facts))
    words = " — ".join(filter(None, (name, clean_line(one.description, 200))))
    return f"{clean_line(one.uri, 1_000)}  {words}{f' ({about})' if about else ''}".rstrip()


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
    searched, wanted = text.lower(), needle.lower()
    if len(searched) != len(text):  # offsets would differ (Turkish İ)
        searched, wanted = text, needle
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


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the line around a match, or of a part of it."""
    line_start = text.rfind("\n", max(0, start - MAX_LINE), start) + 1
    line_end = text.find("\n", end, end + MAX_LINE)
    starts_near = line_start > 0 or start < MAX_LINE
    line_end = len(text) if line_end < 0 and len(text) - end < MAX_LINE else line_end
    if starts_near and 0 <= line_end and line_end - line_start <= MAX_LINE:
        return line_start, line_end
    return max(line_start, start - CONTEXT), min(len(text) if line_end < 0 else line_end, end + CONTEXT)
