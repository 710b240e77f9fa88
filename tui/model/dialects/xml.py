"""The dialect `xml`: calls between tags, as models learned them from Cline.

A call is `<use_mcp_tool>` with `<server_name>`, `<tool_name>` and `<arguments>` that contain one JSON object.
The object is parsed as JSON, so tags in its strings have no effect. `<thinking>` is hidden, and
`<final_answer><answer>` shown.
"""

import json
import re

from tui.core.ports import ToolSpec
from tui.core.text import object_in
from tui.model.dialects.argument_repair import UnreadableJson, read_json, try_mend, typed_all
from tui.model.dialects.call_maker import CallMaker, apart
from tui.model.dialects.dialect_parser import RESULT, DialectParser, Steps, any_of, folded
from tui.model.dialects.leaked_program_forms import announces
from tui.model.openai_api.call_slots import is_cut

STOP = ("\n</use_mcp_tool>",)
"""Includes the line break, which no JSON string can contain, so that a tag in an argument is not the end."""

ANSWER = "<final_answer>"
"""The tag that begins an answer."""

_CALL = "<use_mcp_tool>"
_WITH_FIELDS = "<use_mcp_tool "
_OPENERS = (_CALL, _WITH_FIELDS, "```", ANSWER, RESULT, "<thinking>", "<think>")
_FIELDS = ("<server_name>", "<tool_name>", "<arguments>")
_CLOSER = "</use_mcp_tool>"
_OUTER = any_of([_CLOSER], folds=True)
_ANSWER_END = any_of(["</answer>", "</final_answer>"], folds=True)
_ANSWER_STOPS = ("</answer>", "</final_answer>", _CALL)
_ANSWER_STOP = any_of(_ANSWER_STOPS, folds=True)
_FINAL_END = any_of(["</final_answer>"], folds=True)
_ANGLE, _TAG_END = re.compile("<"), re.compile(r">|\n")
_ANY_CASE = re.IGNORECASE | re.ASCII
_SOON_CLOSED = re.compile(r"</arguments>|</use_mcp_tool>", _ANY_CASE)
_ARGUMENTS_END = re.compile(r"</arguments>(?=\s*(?:</use_mcp_tool>|<server_name>|<tool_name>))", _ANY_CASE)
_LAST_ENDS = (
    re.compile(r"</arguments>(?=\s*\Z)", _ANY_CASE),
    re.compile("(?=</use_mcp_tool>)", _ANY_CASE),
    re.compile("</arguments>", _ANY_CASE),
)
_CHILD = re.compile(r"\s*<([\w.-]{1,100})>(.*?)</\1>\s*", re.DOTALL)
_MAX_JUNK = 200
_FIELD = re.compile(
    r"\b(server_name|server|tool_name|tool|name)\s*=\s*(?:\"([^\"<>]{0,200})\"|'([^'<>]{0,200})')", _ANY_CASE
)
_OPEN_END = re.compile(r"[<>\n]")
_INFO = re.compile(r"```(?:xml|html|tool_(?:call|code|use)|plaintext|text)?[ \t]*\r?\n\s*", _ANY_CASE)
_INFO_SO_FAR = re.compile(r"```[a-z_]{0,12}[ \t]*(?:\r?\n\s*)?\Z", _ANY_CASE)
_FENCE_OR_CALL_END = re.compile(r"</use_mcp_tool>|\n[ \t]*(?=```)", _ANY_CASE)


def written(tool: ToolSpec, arguments: str) -> str:
    """Return a call in this dialect."""
    owner, name = apart(tool)
    server = f"<server_name>{owner}</server_name>\n" if owner else ""
    return (
        f"{_CALL}\n{server}<tool_name>{name}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n{_CLOSER}"
    )


class XmlParser(DialectParser):
    """Reads replies in the dialect `xml`."""

    def __init__(self, maker: CallMaker) -> None:
        self._never_closed: set[str] = set()
        self._tags = {
            f"<{folded(name)}>": tool
            for tool in maker.offered.tools
            for name in dict.fromkeys((tool.name, tool.tool))
            if name and maker.offered.find(name) is tool
        }
        super().__init__(maker, (*_OPENERS, *self._tags), folds=True)

    def _read(self, opener: str) -> Steps[bool]:
        if opener == _CALL:
            return (yield from self._read_call(len(_CALL), {}))
        if opener == _WITH_FIELDS:
            return (yield from self._call_with_fields())
        if opener == "```":
            return (yield from self._fenced_call())
        if opener in self._tags:
            return (yield from self._call_by_tag(opener))
        return (yield from self._answer() if opener == ANSWER else self._thinking(opener))

    def _thinking(self, opener: str) -> Steps[bool]:
        """Read thinking. In the middle of a line, only a closed tag is thinking; an open one is a mention."""
        closer = opener.replace("<", "</")
        if not self.visible.code.line_start:
            if closer in self._never_closed:
                return False
            if (yield from self._find(any_of([closer], folds=True))) is None:
                self._never_closed.add(closer)
                return False
        self.busy = True
        self._skip(len(opener))
        found = yield from self._find(any_of([closer], folds=True))
        self._think(self._part(0, found[0] if found else None).strip())
        self._skip(found[1] if found else self._size)
        self.busy = False
        return True

    def _answer(self) -> Steps[bool]:
        """Read `<final_answer>`; after a call, the answer is invented and is dropped."""
        if self._called:
            found = yield from self._find(_FINAL_END)
            self._skip(found[1] if found else self._size)
            return True
        self._skip(len(ANSWER))
        inner = yield from self._space(0)
        if (yield from self._starts(inner, ["<answer>"])):
            self._skip(inner + len("<answer>"))
        while (size := (yield from self._answer_end())) < 0:
            self._say(1)
        self._skip(size)
        return True

    def _answer_end(self) -> Steps[int]:
        """Emit text until a tag that may close the answer; return its size, or -1 for a mere mention."""
        while (found := self._search(_ANSWER_STOP)) is None:
            self._say_open(_ANSWER_STOPS)
            if not (yield from self._more()):
                self._say(self._size)
                return 0
        self._say(found[0])
        code = self.visible.code
        end = found[1] - found[0]
        word = folded(self._part(0, end))
        if word == _CALL:  # a call within an answer is only a mention, unless the answer is never closed
            open_ended = not code.inside and (yield from self._find(_ANSWER_END)) is None
            return 0 if open_ended and not self._cut else -1
        closes = not code.marked
        if word == "</answer>":
            end = yield from self._space(end)
            outer = yield from self._starts(end, ["</final_answer>"])
            end += len(outer)
            closes = bool(outer) and not code.marked
        if closes:
            return end
        # In code, or alone: it closes the answer only if the text ends here.
        behind = yield from self._space(end)
        return end if behind >= self._size else -1

    def _call_with_fields(self) -> Steps[bool]:
        """Read a call whose server and tool are attributes of its tag."""
        found = yield from self._find(_OPEN_END, len(_WITH_FIELDS))
        if found is None or self._part(found[0], found[1]) != ">":
            return False
        fields: dict[str, str] = {}
        for field in _FIELD.finditer(self._part(0, found[0])):
            kind = "<server_name>" if folded(field[1]).startswith("server") else "<tool_name>"
            fields.setdefault(kind, field[2] or field[3] or "")
        if not fields.get("<tool_name>"):
            return False
        return (yield from self._read_call(found[1], fields))

    def _fenced_call(self) -> Steps[bool]:
        """Read a call in a fence that begins the reply, or that a few words announce."""
        if not self.visible.code.line_start or not announces(self._before):
            return False
        while _INFO_SO_FAR.match(self._part(0, 64)) and (yield from self._more()):
            pass
        info = _INFO.match(self._part(0, 200))
        if info is None or not (yield from self._starts(info.end(), (_CALL, _WITH_FIELDS))):
            return False
        closer = yield from self._find(_FENCE_OR_CALL_END, info.end())
        end = closer[1] if closer else self._size
        behind = yield from self._space(end)
        mark = yield from self._starts(behind, ("```",))
        rest = yield from self._space(behind + len(mark))
        if rest >= self._size:
            if self._cut:  # more may have followed
                self._call(self._maker.lost(""), self._size)
                return True
        elif not (yield from self._starts(rest, (_CALL, "```"))):
            return False
        self._skip(info.end())
        taken = yield from self._read((yield from self._starts(0, (_CALL, _WITH_FIELDS))))
        if taken and mark:
            behind = yield from self._space(0)
            if (yield from self._starts(behind, ("```",))):
                self._skip(behind + 3)
        return taken

    def _call_by_tag(self, opener: str) -> Steps[bool]:
        """Read a call whose tag is the tool's name, with a tag for each argument or one JSON object."""
        tool = self._tags[opener]
        if not self.visible.code.line_start:
            return False
        start = yield from self._space(len(opener))
        if not (yield from self._starts(start, ("<", "{"))):
            return False
        closer = any_of([opener.replace("<", "</")], folds=True)
        found = yield from self._find(closer, start)
        if found is None:
            return False
        text = self._of_tags(self._part(start, found[0]).strip(), {"<tool_name>": tool.name})
        try:
            values = read_json(text)
        except UnreadableJson:
            return False
        properties = object_in(tool.schema, "properties")
        if not (isinstance(values, dict) and values and values.keys() <= properties.keys()):
            return False
        self._call(self._maker.of_value(tool.name, values, recovered=True), found[1])
        return True

    def _read_call(self, at: int, fields: dict[str, str]) -> Steps[bool]:
        whole = True
        self._form(fields.get("<tool_name>", "")[:64])
        while True:
            at = yield from self._space(at)
            tag = yield from self._starts(at, (*_FIELDS, _CLOSER))
            if tag not in _FIELDS:
                break
            if tag == "<arguments>":
                fields[tag], at, whole = yield from self._arguments(at + len(tag), fields)
            else:
                fields[tag], at = yield from self._name(at + len(tag))
                self._form(fields.get("<tool_name>", "")[:64])
        rest = self._part(at)
        ended = not tag and any(word.startswith(rest) for word in (*_FIELDS, _CLOSER))
        if not (tag or fields) and not (ended and self._cut):
            self._form(None)
            return False
        if not (tag or ended or "<arguments>" in fields):  # other text is there
            found = yield from self._find(_OUTER, at)
            at = found[1] if found else self._size
        at = self._size if ended else at + len(tag)
        server, tool, arguments = (fields.get(tag, "") for tag in _FIELDS)
        if not whole or (ended and self._cut and "<arguments>" not in fields):  # the reply ended in it
            call = self._maker.lost(tool, server, arguments)
        elif not tool:
            call = self._maker.broken("<tool_name> is missing in <use_mcp_tool>", "", server)
        else:
            call = self._maker.call(tool, arguments, server=server)
        self._call(call, at)
        return True

    def _name(self, at: int) -> Steps[tuple[str, int]]:
        """Read a name. It ends at any tag, because its own closing tag may be missing or misspelled."""
        found = yield from self._find(_ANGLE, at)
        end = found[0] if found else self._size
        name = self._part(at, end).strip()
        if (yield from self._starts(end, ["</"])):
            found = yield from self._find(_TAG_END, end)
            end = found[1] if found else self._size
        return name, end

    def _arguments(self, at: int, fields: dict[str, str]) -> Steps[tuple[str, int, bool]]:
        """Read `<arguments>` from after its tag: the text, the offset after it, whether it is complete."""
        start = yield from self._inside(at)
        if (yield from self._starts(start, ["{"])):
            end = yield from self._balanced(start)
            if end >= 0:
                text = self._part(start, end)
                if (behind := (yield from self._closed(end, "</arguments>"))) >= 0:
                    return text, behind, True
                if try_mend(text, guess=False) is not None:
                    return text, (yield from self._behind_junk(end)), True
        found = yield from self._find(_ARGUMENTS_END, at)
        ends = (self._search(pattern, at) for pattern in _LAST_ENDS)
        found = found or next((end for end in ends if end), None)
        if found is None:
            return self._part(start), self._size, False
        text = self._part(at, found[0]).strip()
        closed = bool(self._part(found[1]).strip()) or not is_cut(text)
        return self._of_tags(text, fields), found[1], closed

    def _behind_junk(self, at: int) -> Steps[int]:
        """Return the offset after up to `_MAX_JUNK` characters between arguments and their closing tag."""
        next_tag = yield from self._space(at)
        if (yield from self._starts(next_tag, (_CLOSER, *_FIELDS))):
            return next_tag
        found = yield from self._find(_SOON_CLOSED, at)
        if found is None or found[0] - at > _MAX_JUNK:
            return at
        return found[1] if folded(self._part(found[0], found[1])) == "</arguments>" else found[0]

    def _of_tags(self, text: str, fields: dict[str, str]) -> str:
        """Return arguments that were written as one tag each, as JSON; any other text unchanged."""
        values: dict[str, str] = {}
        at = 0
        while (child := _CHILD.match(text, at)) is not None:
            values[child[1]] = child[2]
            at = child.end()
        if not values or at < len(text):
            return text
        found = self._maker.offered.find(fields.get("<tool_name>", ""), fields.get("<server_name>", ""))
        return json.dumps(typed_all(values, found.schema if found else {}), ensure_ascii=False)
