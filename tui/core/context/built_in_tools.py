"""mcptui's own tool `read_result`, offered while a complete result is stored."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.ports import Toolbox
from tui.core.text import clean_line
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult

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
        seconds: float,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        if not is_read_result(tool):
            return await self._inner.call(tool, arguments, seconds=seconds, progress=progress, clocks=clocks)
        if wrong := _argument_problem(arguments):
            return ToolResult((TextContent(wrong),), is_error=True)
        return self._read(arguments)

    def _read(self, arguments: Mapping[str, Any]) -> ToolResult:
        name = arguments["name"]
        text = self._result_store.find(name)
        if text is None:
            return ToolResult((TextContent(self._missing(name)),), is_error=True)
        offset, needle = arguments.get("offset") or 0, arguments.get("grep") or ""
        limit = min(arguments.get("limit") or self._room, self._room)
        if offset >= len(text):
            why = f"{name} has {len(text):,} characters; offset {offset:,} is past the end"
            return ToolResult((TextContent(why),), is_error=True)
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
