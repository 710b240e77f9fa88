"""The dialect `react`: Thought, Action, Action Input, Observation, Final Answer, each at the start of a line.

An action runs even if the model continues with an invented observation and answer: everything from
`Observation:` on is dropped. After `Final Answer:` everything is text.
"""

import re
from collections.abc import Mapping
from typing import Any

from tui.core.conversation.conversation import CallRequest, ToolMessage
from tui.core.ports import TextPart, ToolSpec
from tui.core.text import object_in
from tui.model.dialects.argument_repair import (
    UnreadableJson,
    bracket_end,
    keywords,
    mend,
    read_json,
    sole_property,
    try_mend,
    typed,
)
from tui.model.dialects.call_maker import CallMaker, named_in
from tui.model.dialects.dialect_parser import DialectParser, Steps, Visible

_LEAD = r"[ \t]*(?:#{1,6}[ \t]+)?"
_WORD = r"(thought|action[ _]input|action|observation|final[ _]answer)(?:[ \t]+\d{1,3})?"
_EMPHASIS = r"(\*{1,3}|_{1,2}|)"
_LINE = rf"{_LEAD}{_EMPHASIS}{_WORD}(?:(?:\*{{1,3}}|_{{1,2}})[ \t]*[:：]|[ \t]*[:：](?:\1)?)"
_KEYWORD, KEYWORD_LINE = (re.compile(rf"{before}{_LINE}", re.IGNORECASE) for before in ("", r"\n"))
_NONE = re.compile(
    r"(?:none|n/?a|no action|no tool|nothing|null|-+)?(?: (?:needed|required|necessary))?[.!]?", re.I
)
_ANSWER = re.compile(r"(?:final[ _]?answer|finish|answer|respond)", re.IGNORECASE)
_APPLIED = re.compile(r"([\w./:-]{1,128})[ \t]*([(\[])")
_INLINE_INPUT = re.compile(r"[,;]?[ \t]*(?:\*\*)?Action[ _]Input(?:\*\*)?[ \t]*[:：]", re.IGNORECASE)


_TICKS = re.compile(r"(`{1,2})(?!`)(.*?)(?<!`)\1", re.DOTALL)
MAX_PAIRS = 16_384
MAX_NAMED = 200


def meant_by(text: str, tool: ToolSpec | None) -> tuple[Any, bool] | str:
    """Return the arguments of an input and whether it took a guess, or what is wrong with it."""
    text = text.strip()
    if (inline := _TICKS.fullmatch(text)) is not None:  # code in Markdown
        text = inline[2].strip()
    schema: Mapping[str, Any] = tool.schema if tool else {}
    if _NONE.fullmatch(text.strip("`")) or text in ("{}", '""', "()"):
        return {}, False
    if text.startswith(("{", "```", "~~~")):
        try:
            mended = mend(text)
            return mended.value, mended.guessed
        except UnreadableJson as error:
            if text.startswith("{"):
                return f"the Action Input is not valid JSON ({error})"
            text = text.strip("`~ \n")
    sole = sole_property(schema)
    named = keywords(text)
    properties = object_in(schema, "properties")
    if named and properties and all(name in properties for name in named):
        return named, False
    if (told := _pairs(text, properties)) is not None:
        return told, True
    if sole:
        if named and list(named) == ["0"]:
            return {sole: named["0"]}, False
        return {sole: typed(_unquoted(text), properties[sole])}, False
    if named and properties and all(name.isdecimal() for name in named) and len(named) <= len(properties):
        return dict(zip(properties, named.values(), strict=False)), True
    return "the Action Input must be one JSON object"


def _pairs(text: str, properties: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments in `city=Oslo, days=2`, with `=` or `:`, or None if it is not that."""
    if not properties or len(text) > MAX_PAIRS:
        return None
    names = "|".join(re.escape(str(name)) for name in properties)
    key = re.compile(rf"(?:\A|[,;\n])\s*(?:[-*•]\s+)?[\"'`]?({names})[\"'`]?[ \t]*[=:][ \t]*")
    found = list(key.finditer(text))
    if not found or found[0].start() or len({one[1] for one in found}) < len(found):
        return None
    ends = [*(one.start() for one in found[1:]), len(text)]
    values = (text[one.end() : end].strip().rstrip(",;") for one, end in zip(found, ends, strict=True))
    return {
        one[1]: typed(_unquoted(value), properties[one[1]]) for one, value in zip(found, values, strict=True)
    }


def _unquoted(text: str) -> str:
    if text[:1] == text[-1:] == '"':
        try:
            return str(read_json(text))
        except UnreadableJson:
            return text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'`" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


STOP = ("\nObservation:",)

_LINE_END = re.compile(r"\n")
_VISIBLE = re.compile(r"[^ \t]")
_FENCES = ("```", "~~~")
_IN_LINE = re.compile(r"[ \t]*(?:json)?[ \t]*(?=\{)", re.IGNORECASE)
_HEAD = 48
"""Characters at the beginning of a line in which a keyword is searched."""

_BEGINNINGS = ("thought", "action", "observation", "final answer", "final_answer")


def written(tool: ToolSpec, arguments: str) -> str:
    """Return a call in this dialect."""
    return f"Action: {tool.name}\nAction Input: {arguments}"


def observed(message: ToolMessage) -> str:
    """Return a result in this dialect."""
    return f"Observation: {message.text}"


class ReactParser(DialectParser):
    """Reads replies in the dialect `react`."""

    def __init__(self, maker: CallMaker) -> None:
        super().__init__(maker)
        self._mind = Visible()
        self._thinking = False

    def _parse(self) -> Steps[None]:
        while True:
            shown = yield from self._find(_VISIBLE)
            code = (self._mind if self._thinking else self.visible).code
            in_code = code.inside_behind(self._part(0, shown[0] if shown else None))
            kind, size = ("", 0) if in_code else (yield from self._keyword(0))
            if kind == "answer":
                if not self._called:
                    self._skip(size)
                    self._thinking = False
                    while (yield from self._line()):
                        pass
                return
            if kind == "observation" and (self._called or self._thinking):
                return
            if kind == "thought":
                self._skip(size)
                self._mind.block()
                self._thinking = True
            if not (kind == "action" and (yield from self._action(size))):
                if not (yield from self._line()):
                    return

    def _keyword(self, start: int) -> Steps[tuple[str, int]]:
        """Return kind ("thought", "input", …) and size of the keyword at the beginning of a line, if any."""
        while True:
            head = self._part(start, start + _HEAD)
            begun = head.lstrip(" \t#*_").lower()
            may_come = "\n" not in head and len(head) < _HEAD
            may_come = may_come and any(word.startswith(begun[: len(word)]) for word in _BEGINNINGS)
            if not may_come or not (yield from self._more()):
                break
        if (found := _KEYWORD.match(head)) is None:
            return "", 0
        return found[2].lower().replace("_", " ").removeprefix("action ").removeprefix("final "), found.end()

    def _line(self) -> Steps[bool]:
        """Return False at the end of the reply."""
        while (end := self._search(_LINE_END)) is None:
            self._take(self._size)
            if not (yield from self._more()):
                return False
        self._take(end[1])
        return True

    def _take(self, size: int) -> None:
        if not self._thinking:
            self._say(size)
        elif size:
            self._think(self._mind.say(self._drop(size)))

    def _action(self, start: int) -> Steps[bool]:
        """Return False if it is not a call."""
        self._form("")
        at = yield from self._space(start)
        taken = False
        if (yield from self._starts(at, ("{", *_FENCES))):
            taken = yield from self._json_action(at)
        elif not (at >= self._size and self._cut):
            taken = yield from self._named_action(at)
        self._form(None)
        if taken:
            self._thinking = False
        return taken

    def _json_action(self, at: int) -> Steps[bool]:
        """Read `{"action": …, "action_input": …}`, bare or in a fence."""
        text, end = yield from self._object(at)
        if (mended := try_mend(text)) is None:
            return False
        named = named_in(mended.value)
        if named is None:
            return False
        tool = self._maker.offered.find(named.tool)
        if tool is None and _ANSWER.fullmatch(named.tool):
            self._skip(end)
            self._answer(str(named.arguments or ""))
            return True
        if isinstance(named.arguments, str):
            call = self._call_of_input(named.tool, tool, named.arguments)
        else:
            call = self._maker.of_value(named.tool, named.arguments, recovered=mended.guessed)
        self._call(call, end)
        return True

    def _named_action(self, start: int) -> Steps[bool]:
        """Read the name of a tool, and its input in brackets or after `Action Input:`."""
        found = yield from self._find(_LINE_END, start)
        end = found[0] if found else self._size
        line = self._part(start, end)
        inline = _INLINE_INPUT.search(line)
        written = line[: inline.start()] if inline else line
        name = written.strip().strip("*`\"' \t").rstrip(".,;:").strip("*`\"' \t")
        applied = _APPLIED.match(name)
        bracket = start + written.find(name) + applied.start(2) if applied else -1
        name = applied[1] if applied else name[:MAX_NAMED]
        tool, nothing = self._maker.offered.find(name), bool(_NONE.fullmatch(name))
        self._form(name[:64])
        if applied and tool is not None:
            return (yield from self._applied(tool, bracket))
        kind, behind = "input", start + inline.end() if inline else end
        if not inline:
            at = yield from self._space(end)
            kind, size = (yield from self._keyword(at)) if at < self._size else ("", 0)
            behind = at + size
        if kind == "input":
            text, size = yield from self._input(behind)
        elif not (tool or nothing) or (found is None and self._cut):
            return False
        else:
            text, size = "", end
        if tool is None and nothing:
            self._skip(size)
        elif tool is None and _ANSWER.fullmatch(name):
            self._skip(size)
            self._answer(text or "")
        else:
            self._call(self._call_of_input(name, tool, text), size)
        return True

    def _answer(self, text: str) -> None:
        """Show the answer that the model passed to an invented tool."""
        if shown := self.visible.say(text.strip()):
            self._out.append(TextPart(shown))

    def _call_of_input(self, name: str, tool: ToolSpec | None, text: str | None) -> CallRequest:
        """Return the call for an input, or for one that never ended (None)."""
        if text is None:
            return self._maker.lost(name)
        meant = meant_by(text, tool)
        if isinstance(meant, str):
            return self._maker.broken(meant, name, "", text)
        return self._maker.of_value(name, meant[0], recovered=meant[1])

    def _applied(self, tool: ToolSpec, start: int) -> Steps[bool]:
        while (end := bracket_end(self._part(start), 0)) < 0:
            if not (yield from self._more()):
                # the bracket that ends the first line, which may hold an apostrophe
                line = self._part(start).partition("\n")[0].rstrip().rstrip("`*.")
                end = len(line) if line.endswith((")", "]")) else -1
                break
        if end < 0:
            self._call(self._maker.lost(tool.name), self._size)
            return True
        text = self._part(start + 1, start + end - 1)
        self._call(self._call_of_input(tool.name, tool, text), start + end)
        return True

    def _input(self, start: int) -> Steps[tuple[str | None, int]]:
        """Read the text after `Action Input:`; None instead of the text if its end is missing."""
        at = yield from self._space(start)
        if "\n" in self._part(start, at) and (yield from self._keyword(at))[1]:
            return "", start
        if (yield from self._starts(at, ("{", *_FENCES))):
            text, end = yield from self._object(at)
            if text:
                return text, end
        found = yield from self._find(KEYWORD_LINE, at)
        end = found[0] if found else self._size
        text = self._part(at, end)
        lost = found is None and (self._cut or text.startswith(("{", *_FENCES)))
        return (None if lost else text), end

    def _object(self, at: int) -> Steps[tuple[str, int]]:
        """Read a JSON object, or a fence with anything in it; "" if it has no end."""
        word = yield from self._starts(at, _FENCES)
        start = at
        if word:
            line = yield from self._find(_LINE_END, at)
            inline = _IN_LINE.match(self._part(at + len(word), line[0] if line else None))
            if inline:
                start = at + len(word) + inline.end()
            else:
                start = yield from self._space(line[1] if line else self._size)
        if (yield from self._starts(start, ("{",))):
            end = yield from self._balanced(start)
            text = self._part(start, end) if end >= 0 else ""
            if not word or not text:
                return text, max(end, at)
            behind = yield from self._space(end)
            return text, behind + 3 if (yield from self._starts(behind, (word,))) else end
        if not word:
            return "", at
        found = yield from self._find(re.compile(rf"\n?[ \t]*{word}"), start)
        return (self._part(start, found[0]), found[1]) if found else ("", at)
