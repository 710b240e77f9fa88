"""The dialect `chatmcp`: `<<tool-start>>`, one JSON object, `<<tool-end>>`, as in the ChatMCP client.

The object has `server_name`, `tool_name` and `tool_params`. The model gets an error for a call that cannot be
parsed, which ChatMCP ignores silently.
"""

import json

from tui.core.ports import ToolSpec
from tui.model.dialects.argument_repair import UnreadableJson, mend, readable
from tui.model.dialects.call_maker import NAMED, CallMaker, apart, named_in
from tui.model.dialects.dialect_parser import RESULT, DialectParser, Steps, any_of

STOP = ("\n<<tool-end>>",)
"""Includes the line break, which no JSON string can contain, so that a mark in an argument is not the end."""

_START, _END = "<<tool-start>>", "<<tool-end>>"
_SPACED_START, _SPACED_END = "<< tool-start >>", "<< tool-end >>"
_OPENERS = (_START, _SPACED_START, RESULT)
_OPENER = any_of(_OPENERS, folds=True)
_CLOSER = any_of([_END, _SPACED_END], folds=True)


def written(tool: ToolSpec, arguments: str) -> str:
    """Return a call in this dialect."""
    owner, name = apart(tool)
    name = json.dumps(name, ensure_ascii=False)
    server = f'"server_name": {json.dumps(owner, ensure_ascii=False)}, ' if owner else ""
    return f'{_START}\n{{{server}"tool_name": {name}, "tool_params": {arguments}}}\n{_END}'


class ChatMcpParser(DialectParser):
    """Reads replies in the dialect `chatmcp`."""

    def __init__(self, maker: CallMaker) -> None:
        super().__init__(maker)
        self._reader.folds = True

    def _parse(self) -> Steps[None]:
        while opener := (yield from self._say_until(_OPENERS, _OPENER)):
            if opener == RESULT:
                if self._invents():
                    return
            elif (yield from self._read_call(len(opener))):
                continue
            self._say(1)

    def _read_call(self, begin: int) -> Steps[bool]:
        """Return False if the text only mentions a call."""
        self._form("")
        start = yield from self._inside(begin)
        if not (yield from self._reader.starts(start, ("{", "["))):
            if start >= len(self._reader) and self._cut:
                self._call(self._maker.lost(""), len(self._reader))
                return True
            self._form(None)
            return False
        end = yield from self._reader.balanced(start)
        if end >= 0:
            behind = yield from self._closed(end, _END, _SPACED_END)
            following = yield from self._reader.space(end)
            more = yield from self._reader.starts(following, ("{",))
            if behind >= 0 or (not more and readable(self._reader.cut(start, end))):
                self._emit_call(self._reader.cut(start, end), max(behind, end), closed=True)
                return True
        found = yield from self._reader.find(_CLOSER, start)
        if found is None:
            self._emit_call(self._reader.cut(start), len(self._reader), closed=False)
        else:
            self._emit_call(self._reader.cut(start, found[0]), found[1], closed=True)
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
