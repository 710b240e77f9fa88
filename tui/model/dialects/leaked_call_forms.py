"""Forms of native calls that leak into text where a server does not parse them. Pure.

JSON, `<function=NAME={…}>` of Llama and Groq, GLM's tags, Python, channels. A form is a function of the whole
text and the position of a mark; it returns the leak at that position, or None.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ReasoningPart, TextPart, ToolSpec
from tui.model.dialects.argument_repair import (
    UnreadableJson,
    bracket_end,
    keywords,
    mend,
    properties_of,
    read_json,
    span,
    typed_all,
)
from tui.model.dialects.call_maker import NAMED, CallMaker, named_in

NAME = r"[\w.\-/]{1,128}"
BAR = r"[|｜‖]{1,2}"
_GAP = r"[▁_ ]"
_SEP = rf"<{BAR}\s*tool{_GAP}sep\s*{BAR}>"

AFTER = re.compile(
    rf"(?:\s*(?:</(?:\s*[|｜‖]*\s*DSML\s*[|｜‖]*\s*)?(?:[a-z_]{{1,20}}:)?(?:tool_calls?|function_calls?)\s*>|</TOOLCALL>"
    rf"|</longcat_tool_call>|<\|(?:END_ACTION|action_end|tools_suffix|tool_call_end|python_end)\|>|</tools>"
    rf"|<\|(?:tool_call:end|calls)\|>|<tool_call\|>|<end_function_call>|<end_of_turn>|<turn\|>|<\|tool_response>"
    rf"|<{BAR}\s*tool{_GAP}calls?{_GAP}(?:section{_GAP})?end\s*{BAR}>|<\|/?tool_call\|>|</\|tool_call\|>"
    rf"|<\|(?:eom_id|eot_id|im_end|end|call|return|endoftext)\|>|</s>|<{BAR}end▁of▁sentence{BAR}>))+"
)
"""Text without meaning that may follow a call."""

_JSON = re.compile(
    r"(?:<tool_calls?>|<\|tool_call\|>|<TOOLCALL>|<function_calls?>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|<longcat_tool_call>|<\|START_ACTION\|>|<\|action_start\|>\s*<\|plugin\|>|<\|tools_prefix\|>|<tools>"
    r"|functools(?=\[)|function call\s*<\|role_sep\|>|<\|tool_call_start\|>|<\|python_start\|>)"
    r"\s*(?:```\w*\s*)?(?=[\[{])"
)
_BETWEEN = re.compile(r"\s*[,;]?\s*(?=[\[{])")
_BEHIND = re.compile(r"[\s}\]`]*(?=</(?:tool_calls?|TOOLCALL|function_calls?)>)|\s*```")
_LEFT_OPEN = re.compile(r"\s*```|[\s)\]]*(?:/?>)?\s*</function>|[\s)\]]*/?>(?=\s*\Z)")
_NAMED = (
    re.compile(rf"\[TOOL_CALLS\]\s*({NAME})(?:\[CALL_ID\][\w-]{{0,64}})?(?:\[ARGS\])?\s*(?={{)"),
    re.compile(
        rf"(?:<{BAR}\s*tool{_GAP}calls{_GAP}begin\s*{BAR}>\s*)?<{BAR}\s*tool{_GAP}call{_GAP}begin\s*{BAR}>\s*"
        rf"(?:function\s*{_SEP}\s*)?({NAME})\s*(?:{_SEP})?\s*(?:```\w*\s*)?(?={{)"
    ),
    re.compile(
        rf"(?:<\|tool_calls?_section_begin\|>\s*)?<\|tool_call_begin\|>\s*((?P<id>{NAME}(?::\d{{1,6}})?))"
        r"\s*<\|tool_call_argument_begin\|>\s*(?={)"
    ),
    re.compile(rf"<\|python_tag\|>\s*({NAME})\s*(?={{)"),
    re.compile(
        rf"(?:<\|tool_calls\|>\s*)?<\|tool_call:begin\|>\s*[\w-]{{0,64}}\s*<\|tool_call:name\|>\s*({NAME})"
        r"\s*<\|tool_call:args\|>\s*(?={)"
    ),
    # Llama and Groq: the tag may be left open, the name or the arguments may be in brackets
    re.compile(rf"<function(?:[=(/:]|\s+)\s*[\"']?({NAME})[\"']?\s*[,)\]\[=:>(]*\s*(?={{)"),
    re.compile(rf"(?:<tool_calls>\s*)?<tool_call>\s*({NAME})\s*(?:```\w*\s*)?(?={{)"),
)
_PYTHON = re.compile(rf"(?:<\|python_tag\|>|<function=)\s*({NAME}?)(?:\.call)?\s*(?=\((?!\s*{{))")
_EMPTY = re.compile(rf"<function[=(]\s*({NAME})\s*\)?\s*>?\s*</function>")
_GLM = re.compile(rf"<tool_call>\s*({NAME})\s*(?=<arg_key>|</tool_call>)")
_KEY = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>", re.DOTALL)
_VALUE_END = re.compile(r"</arg_value>(?=\s*(?:<arg_key>|</tool_call>|\Z))")
_GLM_END = re.compile(r"\s*</tool_call>")
_CUT_TAG = re.compile(r"\s*<(?:arg_key>[^<]{0,200}(?:</?\w*>?\s*(?:<\w*)?)?|/?[\w:\s=\"'.|｜‖-]{0,200})\Z")
"""An unfinished tag at the end."""

_UNNAMED = re.compile(r"""\[?\s*\{\s*["'][^<]{0,120}\Z""")
_BARE_BEGUN = re.compile(
    r'(?:\[\s*)?\{\s*(?:"tool_(?:calls|uses)"\s*:\s*\[\s*\{\s*)?(?:"(?:type|id)"\s*:\s*"[^"\\]{0,100}"\s*,\s*){0,2}'
    r'(?:"function"\s*:\s*\{\s*)?"(?:name|recipient_name)"\s*:\s*"([^"\\]{1,200})"\s*,\s*"(?:arguments|parameters|input)"\s*:\s*"?\{'
)
_NO_MORE = re.compile(r"[\s,;]*(?:<[|/]?[\w|]{0,20})?\Z")
_BARE_KEYS = frozenset(("name", "tool", "tool_name", "recipient_name", "function", "type", "id")) | {
    *("arguments", "parameters", "input"),
}

UNKNOWN = ToolSpec("", "", {})
"""Stands for a tool that was not named before the reply ended."""

LeakItem = CallRequest | TextPart | ReasoningPart


@dataclass(frozen=True, slots=True)
class Leak:
    """The items in a text up to `end`; without items, the text is shown unchanged, marks included."""

    end: int
    items: tuple[LeakItem, ...]


@dataclass(frozen=True, slots=True)
class LeakContext:
    """The input of a form: how calls are made, and whether the endpoint truncated the reply.

    `before` is the text before the mark, up to a limit; `line_start`: only white space precedes it on its
    line.
    """

    maker: CallMaker
    cut: bool
    before: str = ""
    line_start: bool = True

    def exact(self, name: str) -> ToolSpec | None:
        """Return the tool that was offered under exactly this name, of a server."""
        return self.maker.offered.named(name) if "__" in name else None

    def tool(self, name: str) -> ToolSpec | None:
        return self.maker.offered.find(name)

    def lost(self, text: str, at: int, tool: ToolSpec | None) -> Leak:
        """Return the item at `at` that has no end: a lost call, or text if it names no tool."""
        if tool is None:
            return Leak(len(text), ())
        return Leak(len(text), (replace(self.maker.lost(tool.name, "", text[at:]), recovered=True),))

    def between_tags(
        self, text: str, at: int, tool: ToolSpec, values: Any, end: int, closer: re.Pattern[str]
    ) -> Leak:
        """Return the call with arguments from `at` to `end`; lost, or text, if its closing tag is missing."""
        closed, rest = closer.match(text, end), text[end:].strip()
        if closed is None and (self.cut or _CUT_TAG.match(text, end) or not (values or rest)):
            return self.lost(text, at, tool)
        if closed is None and (not values or rest):
            return Leak(len(text), ())
        call = self.maker.of_value(tool.name, values, recovered=True)
        return Leak(closed.end() if closed else end, (call,))

    def unread(self, text: str, at: int, end: int, tool: ToolSpec | None) -> Leak:
        """Return the item between two offsets that is not JSON: lost if the text ends there, else text.

        Only a closing mark could show whether it is broken, or truncated within a string.
        """
        return Leak(end, ()) if text[end:].strip() else self.lost(text, at, tool)


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the offset after what `pattern` matches at an offset, or the same one."""
    found = pattern.match(text, at)
    return found.end() if found else at


Form = Callable[[str, int, LeakContext], Leak | None]


def json_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a mark and one or more JSON values: Hermes, Qwen, Llama, Mistral, Granite, Nemotron."""
    opener = _JSON.match(text, at)
    if opener is None:
        return None
    end = opener.end()
    found: list[tuple[ToolSpec, Any]] = []
    while (stop := span(text, end)) >= 0:
        more = _tools_in(text[end:stop], scene)
        if more is None:
            return scene.unread(text, end, stop, _unfinished_tool(text, end, scene))
        if not more:
            return Leak(stop, ())
        found.extend(more)
        end = stop
        if (between := _BETWEEN.match(text, end)) is None:
            break
        end = between.end()
    calls = tuple(scene.maker.of_value(tool.name, value, recovered=True) for tool, value in found)
    if stop < 0:
        lost = scene.lost(text, end, _unfinished_tool(text, end, scene))
        return Leak(len(text), (*calls, *lost.items))
    end = past(_BEHIND, text, end)
    return Leak(end, calls)


def _unfinished_tool(text: str, at: int, scene: LeakContext) -> ToolSpec | None:
    """Return the tool of an unfinished object, or None if it is not a call."""
    if (named := NAMED.search(text, at)) is not None:
        return scene.tool(named[1])
    return UNKNOWN if _UNNAMED.match(text, at) else None


def _tools_in(text: str, scene: LeakContext) -> list[tuple[ToolSpec, Any]] | None:
    """Return the calls in a JSON value; [] if one is not of an offered tool, None if it is not JSON."""
    try:
        value = mend(text).value
    except UnreadableJson:
        return None
    found: list[tuple[ToolSpec, Any]] = []
    for item in value if isinstance(value, list) else [value]:
        named = named_in(item)
        tool = scene.maker.offered.find(named.tool, named.server) if named else None
        if named is not None and tool is not None:
            found.append((tool, named.arguments))
        elif (pair := _keyed(item, scene)) is not None:
            found.append(pair)
        else:
            return []
    return found


def _keyed(item: Any, scene: LeakContext) -> tuple[ToolSpec, Any] | None:
    """Return the call in an object whose only key is the name of a tool: Apertus."""
    if not isinstance(item, dict) or len(item) != 1:
        return None
    ((name, arguments),) = item.items()
    tool = scene.tool(str(name))
    return (tool, arguments) if tool is not None and isinstance(arguments, dict) else None


def named_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a mark, a name and a JSON object: Mistral, DeepSeek, Kimi, Llama, Solar."""
    opener = next((found for pattern in _NAMED if (found := pattern.match(text, at))), None)
    if opener is None:
        return None
    identity = opener.groupdict().get("id", "")
    tool = scene.tool(opener[1]) or (scene.tool(opener[1].rpartition(":")[0]) if identity else None)
    end = span(text, opener.end())
    if end < 0:
        return scene.lost(text, opener.end(), tool)
    try:
        value = mend(text[opener.end() : end]).value if tool else None
    except UnreadableJson:
        return scene.unread(text, opener.end(), end, tool)
    if tool is None:
        return Leak(end, ())
    end = past(_LEFT_OPEN, text, end)
    identity = identity if ":" in identity else ""
    return Leak(end, (scene.maker.of_value(tool.name, value, recovered=True, identity=identity),))


def glm_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read `<tool_call>name` with `<arg_key>` and `<arg_value>` in pairs: GLM."""
    opener = _GLM.match(text, at)
    tool = scene.tool(opener[1]) if opener else None
    if opener is None or tool is None:
        return None
    end = opener.end()
    values: dict[str, str] = {}
    while (key := _KEY.match(text, end)) is not None:
        closer = _VALUE_END.search(text, key.end())
        if closer is None:
            return scene.lost(text, opener.end(), tool)
        values[key[1].strip()] = text[key.end() : closer.start()]
        end = closer.end()
    return scene.between_tags(text, opener.end(), tool, typed_all(values, tool.schema), end, _GLM_END)


def python_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read `<|python_tag|>tool(name="value")` and `<function=tool(name="value")</function>`: Llama."""
    if (empty := _EMPTY.match(text, at)) is not None and (tool := scene.tool(empty[1])) is not None:
        return Leak(empty.end(), (scene.maker.of_value(tool.name, {}, recovered=True),))
    opener = _PYTHON.match(text, at)
    tool = scene.tool(opener[1]) if opener else None
    if opener is None or tool is None:
        return None
    end = bracket_end(text, opener.end())
    if end < 0:
        return scene.lost(text, opener.end(), tool)
    values = keywords(text[opener.end() + 1 : end - 1])
    if values is None or any(name.isdecimal() for name in values):
        return None
    end = past(_LEFT_OPEN, text, end)
    return Leak(end, (scene.maker.of_value(tool.name, values, recovered=True),))


def bare_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a reply that is only `{"name": …, "parameters": {…}}`, one or more: Llama, Qwen's coders.

    There is no mark, so everything must match: the keys, the tool, and the names of its arguments.
    """
    if scene.before.strip():
        return None
    if (begun := _BARE_BEGUN.match(text, at)) is not None and span(text, at) < 0:
        return scene.lost(text, at, scene.tool(begun[1]))
    found: list[tuple[ToolSpec, Any]] = []
    begin = at
    while text.startswith(("{", "["), at) and (end := span(text, at)) >= 0:
        try:
            value = read_json(text[at:end])
        except UnreadableJson:
            return None
        if isinstance(value, dict) and value.keys() in ({"tool_calls"}, {"tool_uses"}):
            (value,) = value.values()
        for item in value if isinstance(value, list) else [value]:
            if (call := _bare_call(item, scene)) is None:
                return None
            found.append(call)
        at = past(_BETWEEN, text, end)
    rest = text[past(AFTER, text, at) :]
    if found and rest.startswith("{") and span(rest, 0) < 0:
        return scene.lost(text, at, UNKNOWN)
    if not found or not _NO_MORE.match(rest):
        return None
    if scene.cut:
        return scene.lost(text, begin, found[-1][0])
    calls = (scene.maker.of_value(tool.name, value, recovered=True) for tool, value in found)
    return Leak(len(text), tuple(calls))


def _bare_call(value: Any, scene: LeakContext) -> tuple[ToolSpec, dict[str, Any]] | None:
    """Return the tool and the arguments that a JSON value names unambiguously, or None."""
    named = named_in(value) if isinstance(value, dict) and value.keys() <= _BARE_KEYS else None
    tool = scene.tool(named.tool) if named else None
    if named is None or tool is None:
        return None
    arguments = named.arguments
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments)
        except UnreadableJson:
            return None
    if not isinstance(arguments, dict):
        return None
    known = properties_of(tool.schema).keys()
    return (tool, arguments) if not known or arguments.keys() <= known else None


_HEADER = re.compile(
    rf"(?:<\|start\|>\s*(?:assistant|functions\.[\w.-]+)?(?:\s*to=(?P<before>{NAME}))?\s*)?"
    rf"<\|channel\|>\s*(?P<channel>analysis|commentary|final)(?:\s*to=(?P<behind>{NAME}))?"
    r"\s*(?:<\|constrain\|>\s*)?(?:json|code)?\s*<\|message\|>"
)
_END = re.compile(r"\s*<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)|\Z")
_TERMINATOR = re.compile(r"\s*<\|(?:end|call|return)\|>")
_STRIPPED = re.compile(r"\s*(?:assistant)?(?P<channel>analysis|commentary|final)")
_NEXT = re.compile(r"(?:assistant)(?=analysis|commentary|final)")
_TO = re.compile(rf"\s*to=({NAME}?)\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(?={{)")


def channel_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read messages of channels with their marks, one after the other: Harmony, the form of gpt-oss.

    `analysis` is thinking, `final` and `commentary` are text, and `commentary to=functions.x` is a call.
    """
    items: list[LeakItem] = []
    begun = at
    while (header := _HEADER.match(text, at)) is not None:
        name = header["before"] or header["behind"] or ""
        start = header.end()
        if name:
            found = _call(text, start, name, scene)
            if found is None:
                return Leak(at, tuple(items)) if items else Leak(len(text), ())
            items.extend(found.items)
            at = past(_TERMINATOR, text, found.end)
            continue
        end = _END.search(text, start)
        assert end is not None
        items.extend(_channel_items(header["channel"], text[start : end.start()]))
        at = end.end()
    return Leak(at, tuple(items)) if at > begun else None  # empty messages are text, and read only once


def stripped_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read messages of channels whose marks were stripped; the first one must be thinking or a call."""
    items: list[LeakItem] = []
    known = 0
    while (header := _STRIPPED.match(text, at)) is not None:
        start = header.end()
        to = _TO.match(text, start)
        if to is not None and header["channel"] != "final":
            found = _call(text, to.end(), to[1], scene)
            if found is None:
                break
            items.extend(found.items)
            at, known = found.end, known + 1
            continue
        following = _NEXT.search(text, start)
        if following is None and header["channel"] != "final":
            break
        end = following.start() if following else len(text)
        items.extend(_channel_items(header["channel"], text[start:end]))
        at = end
        if header["channel"] == "final":
            known += 1
    return Leak(at, tuple(items)) if known else None


def _channel_items(channel: str, text: str) -> list[LeakItem]:
    text = text.strip()
    if not text:
        return []
    return [ReasoningPart(text) if channel == "analysis" else TextPart(text)]


def _call(text: str, start: int, name: str, scene: LeakContext) -> Leak | None:
    tool = scene.tool(name) or scene.tool(name.removesuffix("json")) or scene.tool(name.removesuffix("code"))
    if tool is None:
        return None
    start += len(text[start:]) - len(text[start:].lstrip())
    end = span(text, start) if text.startswith("{", start) else -1
    if end < 0:
        cut = text.startswith("{", start) or start >= len(text)
        return scene.lost(text, start, tool) if cut else None
    try:
        value = mend(text[start:end]).value
    except UnreadableJson:
        return None if text[end:].strip() else scene.lost(text, start, tool)
    return Leak(end, (scene.maker.of_value(tool.name, value, recovered=True),))


_BEGUN_MARK = r"(?:<[^<>\n]{0,60}>?|\[TOOL_CALLS\]|commentary to=)"
_BEGUN_GAP = r"(?:[ \t]*\n\s*|[ \t]+(?=[\[{<]|\Z))?"
_BEGUN_WORD = r"[^\s<`]{1,140}(?:\s+(?:to=[^\s<`]{0,128}|j\w{0,3}))?"
_BEGUN = re.compile(
    rf"(?:{_BEGUN_MARK}{_BEGUN_GAP}){{1,4}}(?:{_BEGUN_WORD})?(?:\s*(?:{_BEGUN_MARK}|`{{1,3}}){_BEGUN_GAP}(?:{_BEGUN_WORD})?){{0,3}}\s*\Z"
)
"""Matches only marks and words between them; after a blank, a sentence begins."""

_BEGUN_SPECIAL = re.compile(r"<[|｜‖]|<[\w:]{1,30}(?:=| name=)|\[TOOL_CALLS\]|commentary to=")
"""Marks that never end a sentence, if the name of a tool follows."""

_BEGUN_CHANNEL = re.compile(r"<\|(?:start|channel)\|>(?!.*\bto=)", re.DOTALL)
_BEGUN_NAME = re.compile(r"[\w./-]{1,128}")
_MOST_BEGUN = 400


def begun_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read marks that too little text follows for an answer.

    Models may end a sentence with the name of a tag. So only a truncated reply, or a special mark with the
    name of a tool, counts as a call.
    """
    if len(text) - at > _MOST_BEGUN or _BEGUN_CHANNEL.match(text, at) or not _BEGUN.match(text, at):
        return None
    named = (scene.tool(word.group()) for word in _BEGUN_NAME.finditer(text, at))
    tool = next(filter(None, named), UNKNOWN)
    if not scene.cut and (tool is UNKNOWN or not _BEGUN_SPECIAL.search(text, at)):
        return None
    return scene.lost(text, at, tool)
