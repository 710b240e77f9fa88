"""The dialects whose calls are one JSON object: `json` and `chatmcp`.

`json` is a bare `{"tool": …, "arguments": …}`, as in MCP's simple-chatbot example. The object is the whole
reply, or on its own lines, or in a code fence, because models write JSON in fences. So only an object that
names an offered tool is a call; any other JSON is an answer.

`chatmcp` is `<<tool-start>>`, one JSON object, `<<tool-end>>`, as in the ChatMCP client. The object has
`server_name`, `tool_name` and `tool_params`. The model gets an error for a call that cannot be parsed, which
ChatMCP ignores silently.
"""

import json
import re

from tui.core.ports import ToolSpec
from tui.model.dialects.argument_repair import UnreadableJson, mend, span, try_mend
from tui.model.dialects.call_maker import (
    ARGUMENT_KEYS,
    NAMED,
    SERVER_KEYS,
    TOOL_KEYS,
    CallMaker,
    Named,
    apart,
    named_in,
)
from tui.model.dialects.dialect_parser import RESULT, DialectParser, Steps, any_of

_LINE_END = re.compile(r"\n")
_HEAD = re.compile(r"""\[?\s*\{\s*["'](\w{1,30})["']""")
_HEAD_SO_FAR = re.compile(r"""\[?\s*(?:\{\s*(?:["']\w{0,30})?)?\Z""")
_BEGINS = re.compile(
    r"""\{\s*["'](?:tool|name)["']\s*:\s*["']([^"'\\]{1,200})["']\s*,\s*["'](?:arguments|parameters)["']\s*:"""
)
_KEYS = frozenset(
    (*SERVER_KEYS, *TOOL_KEYS, *ARGUMENT_KEYS, "id", "type", "thought", "thoughts", "reasoning")
)
_INFO = frozenset(("", "json", "jsonc", "json5", "tool", "tool_call", "tool_calls", "tool_code", "tool_use"))
"""Info strings of a fence that may contain a call; any other word marks an example."""


def written(tool: ToolSpec, arguments: str) -> str:
    """Return a call in this dialect."""
    return f'{{"tool": {json.dumps(tool.name)}, "arguments": {arguments}}}'


class JsonParser(DialectParser):
    """Reads replies in the dialect `json`."""

    def __init__(self, maker: CallMaker) -> None:
        super().__init__(maker, ("{", "[", "```", RESULT))

    def _read(self, opener: str) -> Steps[bool]:
        if not self.visible.code.line_start:
            self._say(len(opener))
        elif opener == "```":
            yield from self._fenced()
        else:
            yield from self._bare()
        return True

    def _fenced(self) -> Steps[None]:
        """Read a fence whose content may be calls; emit it unchanged if not."""
        found = yield from self._find(_LINE_END, 3)
        first = found[1] if found else self._size
        info = self._part(3, first)
        start = at = yield from self._space(first)
        self.busy = True
        calls = info.strip().lower() in _INFO and (yield from self._looks_like(start)) == "call"
        end = at
        while calls and (yield from self._starts(at, ("{", "["))):
            end = yield from self._balanced(at)
            at = yield from self._space(end if end >= 0 else self._size)
        self.busy = False
        closed = yield from self._starts(at, ("```",))
        if calls and end < 0:
            self._unfinished(start, first)
        elif not calls or not (closed or at >= self._size):
            self._say(first)
        elif not self._take(self._part(start, end), at + len(closed)):
            self._say(first)

    def _bare(self) -> Steps[None]:
        """Read JSON that begins a line: a call, or an answer, which is shown whole."""
        looks = yield from self._looks_like(0)
        if not looks:
            self._say(1)
            return
        self.busy = looks == "call"
        end = yield from self._balanced(0)
        behind = -1
        if end >= 0:
            behind = yield from self._line_end(end)
        self.busy = False
        if end < 0:
            self._unfinished(0, self._size)
        elif behind < 0 or not self._take(self._part(0, end), behind):
            self._say(end)

    def _looks_like(self, start: int) -> Steps[str]:
        """Return "call" if the text begins like a call, "json" for other JSON, else ""."""
        while True:
            head = self._part(start, start + 400)
            if (found := _HEAD.match(head)) is not None:
                return "call" if found[1].lower() in _KEYS else "json"
            if not _HEAD_SO_FAR.match(head) or not (yield from self._more()):
                return ""

    def _line_end(self, at: int) -> Steps[int]:
        """Return the offset after JSON if nothing but more JSON follows on its line, else -1."""
        while True:
            rest = self._part(at, at + 1)
            if rest in (" ", "\t", "\r", ",", ";"):
                at += 1
            elif rest or not (yield from self._more()):
                return at if rest in ("", "\n", "{", "[") else -1

    def _unfinished(self, start: int, otherwise: int) -> None:
        """Handle truncated JSON at the end of the reply: a lost call, or text."""
        text = self._part(start)
        begun = _BEGINS.match(text)
        if begun and self._maker.offered.find(begun[1]):
            self._call(self._maker.lost(begun[1], "", text), self._size)
        else:
            self._say(otherwise)

    def _take(self, text: str, size: int) -> bool:
        """Return False if `text` contains anything but calls."""
        try:
            calls = _named(text)
        except UnreadableJson as error:
            begun = _BEGINS.match(text)
            if not begun or not self._maker.offered.find(begun[1]):
                return False
            self._call(self._maker.broken(f"the call is not valid JSON ({error})", begun[1], "", text), size)
            return True
        if not calls or not all(self._maker.offered.find(item.tool, item.server) for item, _ in calls):
            return False
        for place, (item, guessed) in enumerate(calls):
            call = self._maker.of_value(item.tool, item.arguments, server=item.server, recovered=guessed)
            self._call(call, 0 if place else size)
        return True


def _named(text: str) -> list[tuple[Named, bool]]:
    """Return the calls in one or more JSON values, and whether each took a guess; [] if one is not a call."""
    found: list[tuple[Named, bool]] = []
    at = 0
    while (at := at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n,;"))) < len(text):
        end = span(text, at)
        mended = mend(text[at : end if end > 0 else None])
        at = end if end > 0 else len(text)
        values = mended.value if isinstance(mended.value, list) else [mended.value]
        for value in values:
            named = named_in(value)
            if named is None or not (named.told or len(value) == 1):
                return []
            found.append((named, mended.guessed))
    return found


# ---- chatmcp

CHATMCP_STOP = ("\n<<tool-end>>",)
"""Includes the line break, which no JSON string can contain, so that a mark in an argument is not the end."""

_START, _END = "<<tool-start>>", "<<tool-end>>"
_SPACED_START, _SPACED_END = "<< tool-start >>", "<< tool-end >>"
_CLOSER = any_of([_END, _SPACED_END], folds=True)


def written_chatmcp(tool: ToolSpec, arguments: str) -> str:
    """Return a call in this dialect."""
    owner, name = apart(tool)
    name = json.dumps(name, ensure_ascii=False)
    server = f'"server_name": {json.dumps(owner, ensure_ascii=False)}, ' if owner else ""
    return f'{_START}\n{{{server}"tool_name": {name}, "tool_params": {arguments}}}\n{_END}'


class ChatMcpParser(DialectParser):
    """Reads replies in the dialect `chatmcp`."""

    def __init__(self, maker: CallMaker) -> None:
        super().__init__(maker, (_START, _SPACED_START, RESULT), folds=True)

    def _read(self, opener: str) -> Steps[bool]:
        self._form("")
        start = yield from self._inside(len(opener))
        if not (yield from self._starts(start, ("{", "["))):
            if start >= self._size and self._cut:
                self._call(self._maker.lost(""), self._size)
                return True
            self._form(None)
            return False
        end = yield from self._balanced(start)
        if end >= 0:
            behind = yield from self._closed(end, _END, _SPACED_END)
            following = yield from self._space(end)
            more = yield from self._starts(following, ("{",))
            if behind >= 0 or (not more and try_mend(self._part(start, end), guess=False) is not None):
                self._emit_call(self._part(start, end), max(behind, end), closed=True)
                return True
        found = yield from self._find(_CLOSER, start)
        if found is None:
            self._emit_call(self._part(start), self._size, closed=False)
        else:
            self._emit_call(self._part(start, found[0]), found[1], closed=True)
        return True

    def _emit_call(self, text: str, size: int, *, closed: bool) -> None:
        tool = found[1] if (found := NAMED.search(text)) else ""
        try:
            mended = mend(text, guess=closed)
        except UnreadableJson as error:
            problem = f"the text between {_START} and {_END} is not valid JSON ({error})"
            call = self._maker.broken(problem, tool, "", text) if closed else self._maker.lost(tool, "", text)
            self._call(call, size)
            return
        named = named_in(mended.value)
        if named is None:
            problem = 'expected one object with a "tool_name" between the tags'
            call = self._maker.broken(problem, tool, "", text)
        else:
            call = self._maker.of_value(
                named.tool, named.arguments, server=named.server, recovered=mended.guessed
            )
        self._call(call, size)
