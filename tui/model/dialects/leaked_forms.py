"""Forms of native calls that leak into text where a server does not parse them. Pure.

JSON, `<function=NAME={…}>` of Llama and Groq, GLM's tags, Python, tags for each parameter (Qwen, MiniMax,
DeepSeek's DSML, Llama, Kimi), and marks alone. `leaked_program_forms` has the others.
"""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ReasoningPart, TextPart, ToolSpec
from tui.core.text import list_in, object_in
from tui.model.dialects.argument_repair import (
    UnreadableJson,
    bracket_end,
    keywords,
    mend,
    read_json,
    span,
    try_mend,
    typed,
    typed_all,
)
from tui.model.dialects.call_maker import NAME, NAMED, CallMaker, named_in

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

    def call(self, tool: ToolSpec, arguments: Any, identity: str = "") -> CallRequest:
        return self.maker.of_value(tool.name, arguments, recovered=True, identity=identity)

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
        return Leak(closed.end() if closed else end, (self.call(tool, values),))

    def unread(self, text: str, at: int, end: int, tool: ToolSpec | None) -> Leak:
        """Return the item between two offsets that is not JSON: lost if the text ends there, else text.

        Only a closing mark could show whether it is broken, or truncated within a string.
        """
        return Leak(end, ()) if text[end:].strip() else self.lost(text, at, tool)

    def with_object(self, text: str, at: int, tool: ToolSpec | None, identity: str = "") -> Leak:
        """Return the call whose arguments are the JSON object at `at`."""
        end = span(text, at)
        if end < 0:
            return self.lost(text, at, tool)
        try:
            value = mend(text[at:end]).value if tool else None
        except UnreadableJson:
            return self.unread(text, at, end, tool)
        return Leak(end, (self.call(tool, value, identity),) if tool else ())

    def described(
        self,
        text: str,
        find: Callable[[str], ToolSpec | None],
        fits: Callable[[Mapping[str, Any], ToolSpec], bool],
        keys: Collection[str],
    ) -> list[tuple[ToolSpec, Mapping[str, Any]]] | None:
        """Return the calls in a JSON value that has no mark; None if any part of it is not certainly one."""
        try:
            value = read_json(text)
            if isinstance(value, dict) and value.keys() in ({"tool_calls"}, {"tool_uses"}):
                (value,) = value.values()
            found: list[tuple[ToolSpec, Mapping[str, Any]]] = []
            for item in value if isinstance(value, list) else [value]:
                named = named_in(item) if isinstance(item, dict) and item.keys() <= set(keys) else None
                tool = find(named.tool) if named else None
                if named is None or tool is None:
                    return None
                given = named.arguments
                given = read_json(given) if isinstance(given, str) else given
                if not isinstance(given, dict) or not fits(given, tool):
                    return None
                found.append((tool, given))
        except UnreadableJson:
            return None
        return found or None


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the offset after what `pattern` matches at an offset, or the same one."""
    found = pattern.match(text, at)
    return found.end() if found else at


def fits(values: Mapping[str, Any], tool: ToolSpec) -> bool:
    """Whether a tool has all of these arguments, and all that it requires are among them."""
    known, needed = object_in(tool.schema, "properties"), list_in(tool.schema, "required")
    return values.keys() <= known.keys() and all(name in values for name in needed)


Read = Callable[[re.Match[str], ToolSpec, LeakContext], Leak | None]
"""Reads a form from its beginning on, which was matched by the pattern beside it in the table.

The tool is that of the group `tool`, else `UNKNOWN`.
"""

# ---- a mark and JSON: Hermes, Qwen, Llama, Mistral, Granite, Nemotron

JSON = re.compile(
    r"(?:<tool_calls?>|<\|tool_call\|>|<TOOLCALL>|<function_calls?>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|<longcat_tool_call>|<\|START_ACTION\|>|<\|action_start\|>\s*<\|plugin\|>|<\|tools_prefix\|>|<tools>"
    r"|functools(?=\[)|function call\s*<\|role_sep\|>|<\|tool_call_start\|>|<\|python_start\|>)"
    r"\s*(?:```\w*\s*)?(?=[\[{])"
)
BETWEEN = re.compile(r"\s*[,;]?\s*(?=[\[{])")
_BEHIND = re.compile(r"[\s}\]`]*(?=</(?:tool_calls?|TOOLCALL|function_calls?)>)|\s*```")
_LEFT_OPEN = re.compile(r"\s*```|[\s)\]]*(?:/?>)?\s*</function>|[\s)\]]*/?>(?=\s*\Z)")
_UNNAMED = re.compile(r"""\[?\s*\{\s*["'][^<]{0,120}\Z""")


def json_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read one or more JSON values."""
    text, end = opener.string, opener.end()
    calls: list[LeakItem] = []
    while (stop := span(text, end)) >= 0:
        more = _tools_in(text[end:stop], scene)
        if more is None:
            return scene.unread(text, end, stop, _unfinished_tool(text, end, scene))
        if not more:
            return Leak(stop, ())
        calls.extend(scene.call(tool, value) for tool, value in more)
        end = stop
        if (between := BETWEEN.match(text, end)) is None:
            return Leak(past(_BEHIND, text, end), tuple(calls))
        end = between.end()
    lost = scene.lost(text, end, _unfinished_tool(text, end, scene))
    return Leak(len(text), (*calls, *lost.items))


def _unfinished_tool(text: str, at: int, scene: LeakContext) -> ToolSpec | None:
    """Return the tool of an unfinished object, or None if it is not a call."""
    if (named := NAMED.search(text, at)) is not None:
        return scene.tool(named[1])
    return UNKNOWN if _UNNAMED.match(text, at) else None


def _tools_in(text: str, scene: LeakContext) -> list[tuple[ToolSpec, Any]] | None:
    """Return the calls in a JSON value; [] if one is not of an offered tool, None if it is not JSON."""
    if (read := try_mend(text)) is None:
        return None
    found: list[tuple[ToolSpec, Any]] = []
    for item in read.value if isinstance(read.value, list) else [read.value]:
        named = named_in(item)
        arguments = named.arguments if named else None
        tool = scene.maker.offered.find(named.tool, named.server) if named else None
        if tool is None and isinstance(item, dict) and len(item) == 1:  # Apertus: the name is the only key
            ((name, arguments),) = item.items()
            tool = scene.tool(str(name)) if isinstance(arguments, dict) else None
        if tool is None:
            return []
        found.append((tool, arguments))
    return found


# ---- a mark, a name and a JSON object: Mistral, DeepSeek, Kimi, Llama, Solar

NAMED_OBJECT = (
    re.compile(rf"\[TOOL_CALLS\]\s*(?P<name>{NAME})(?:\[CALL_ID\][\w-]{{0,64}})?(?:\[ARGS\])?\s*(?={{)"),
    re.compile(
        rf"(?:<{BAR}\s*tool{_GAP}calls{_GAP}begin\s*{BAR}>\s*)?<{BAR}\s*tool{_GAP}call{_GAP}begin\s*{BAR}>\s*"
        rf"(?:function\s*{_SEP}\s*)?(?P<name>{NAME})\s*(?:{_SEP})?\s*(?:```\w*\s*)?(?={{)"
    ),
    re.compile(
        rf"(?:<\|tool_calls?_section_begin\|>\s*)?<\|tool_call_begin\|>\s*(?P<name>(?P<id>{NAME}(?::\d{{1,6}})?))"
        r"\s*<\|tool_call_argument_begin\|>\s*(?={)"
    ),
    re.compile(rf"<\|python_tag\|>\s*(?P<name>{NAME})\s*(?={{)"),
    re.compile(
        rf"(?:<\|tool_calls\|>\s*)?<\|tool_call:begin\|>\s*[\w-]{{0,64}}\s*<\|tool_call:name\|>\s*(?P<name>{NAME})"
        r"\s*<\|tool_call:args\|>\s*(?={)"
    ),
    # Llama and Groq: the tag may be left open, the name or the arguments may be in brackets
    re.compile(rf"<function(?:[=(/:]|\s+)\s*[\"']?(?P<name>{NAME})[\"']?\s*[,)\]\[=:>(]*\s*(?={{)"),
    re.compile(rf"(?:<tool_calls>\s*)?<tool_call>\s*(?P<name>{NAME})\s*(?:```\w*\s*)?(?={{)"),
)


def named_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read the object; of a tool that is not offered, it is text."""
    identity = opener.groupdict().get("id", "")
    name = opener["name"]
    tool = scene.tool(name) or (scene.tool(name.rpartition(":")[0]) if identity else None)
    found = scene.with_object(opener.string, opener.end(), tool, identity if ":" in identity else "")
    return replace(found, end=past(_LEFT_OPEN, opener.string, found.end))


# ---- GLM: <tool_call>name, with <arg_key> and <arg_value> in pairs

GLM = re.compile(rf"<tool_call>\s*(?P<tool>{NAME})\s*(?=<arg_key>|</tool_call>)")
_KEY = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>", re.DOTALL)
_VALUE_END = re.compile(r"</arg_value>(?=\s*(?:<arg_key>|</tool_call>|\Z))")
_GLM_END = re.compile(r"\s*</tool_call>")
_CUT_TAG = re.compile(r"\s*<(?:arg_key>[^<]{0,200}(?:</?\w*>?\s*(?:<\w*)?)?|/?[\w:\s=\"'.|｜‖-]{0,200})\Z")
"""An unfinished tag at the end."""


def glm_form(opener: re.Match[str], tool: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read the pairs."""
    text, end = opener.string, opener.end()
    values: dict[str, str] = {}
    while (key := _KEY.match(text, end)) is not None:
        closer = _VALUE_END.search(text, key.end())
        if closer is None:
            return scene.lost(text, opener.end(), tool)
        values[key[1].strip()] = text[key.end() : closer.start()]
        end = closer.end()
    return scene.between_tags(text, opener.end(), tool, typed_all(values, tool.schema), end, _GLM_END)


# ---- Llama: <|python_tag|>tool(name="value"), <function=tool(name="value")</function>

PYTHON = (
    re.compile(rf"(?:<\|python_tag\|>|<function=)\s*(?P<tool>{NAME}?)(?:\.call)?\s*(?=\((?!\s*{{))"),
    re.compile(rf"<function[=(]\s*(?P<tool>{NAME})\s*\)?\s*>?\s*</function>"),
)


def python_form(opener: re.Match[str], tool: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read the arguments in brackets, all of which are named."""
    text, begin = opener.string, opener.end()
    if opener.re is PYTHON[1]:  # without arguments
        return Leak(begin, (scene.call(tool, {}),))
    end = bracket_end(text, begin)
    if end < 0:
        return scene.lost(text, begin, tool)
    values = keywords(text[begin + 1 : end - 1])
    if values is None or any(name.isdecimal() for name in values):
        return None
    return Leak(past(_LEFT_OPEN, text, end), (scene.call(tool, values),))


# ---- tags, one for each parameter: Qwen, MiniMax, DeepSeek's DSML, Llama, Kimi
#
# Values are plain text, so a closing tag in a value looks like the one that ends it. It ends the value only
# if it closes no tag that the value opened, and the next parameter or the end of the call follows.

_D = r"(?:\s*[|｜‖]*\s*DSML\s*[|｜‖]*\s*)?(?:[a-z_]{1,20}:)?"
_WRAPPER = rf"<{_D}(?:tool_calls?|function_calls?)\s*>"
TAGS = re.compile(
    rf"(?:{_WRAPPER}\s*){{0,4}}<(?P<dsml>{_D})(?:function|invoke|tool)"
    r"(?:\s*=\s*[\"']?(?P<bare>[\w.:/-]{1,128})[\"']?|\s+name\s*=\s*[\"']?(?P<named>[^\"'>\s]{1,128})[\"']?)"
    r"(?P<rest>[^<>{}]{0,200})>"
)
_PARAMETER = re.compile(
    rf"\s*<{_D}parameter(?:\s*=\s*[\"']?(?P<bare>[^\"'>]{{1,200}}?)[\"']?"
    r"|\s+name\s*=\s*[\"']?(?P<named>[^\"'>]{1,200}?)[\"']?)(?P<rest>(?:\s[^>]{0,200})?)>"
)
_ANY_PARAMETER = re.compile(rf"<(?P<close>/)?{_D}parameter(?(close)\s*|[\s=][^>]{{0,400}})>")
_BOUNDARY = re.compile(
    rf"\s*(?:<{_D}parameter[\s=]|</{_D}(?:function|invoke|tool|tool_calls?|function_calls?)\s*>|\Z)"
)
_SPACE = re.compile(r"\s*")
_BRACKET = re.compile(r"[(\[]\s*(?={)")
_BRACKETS = re.compile(r"\s*[)\]]+")
_TAGS_END = re.compile(
    rf"\s*</{_D}(?:function|invoke|tool)\s*>"
    rf"|\s*(?=</{_D}(?:tool_calls?|function_calls?)\s*>)"
)
_BREAKS = re.compile(r"\A\r?\n|\r?\n\Z")
_STRING = re.compile(r"string\s*=\s*[\"']?(true|false)")


def tag_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read a call between tags, its parameters between tags or as one JSON object."""
    text, tool = opener.string, scene.tool(opener["bare"] or opener["named"])
    if tool is None:
        return None
    if opener["rest"].rstrip().endswith("/"):
        return Leak(opener.end(), (scene.call(tool, {}),))
    start = past(_SPACE, text, opener.end())
    begin = past(_BRACKET, text, start)
    if text.startswith("{", begin):
        end, read = span(text, begin), None
        with suppress(UnreadableJson):
            if end >= 0:
                read = mend(text[begin:end]).value, past(_BRACKETS, text, end) if begin > start else end
    else:
        read = _parameters(text, opener.end(), tool, exact="DSML" in opener["dsml"], cut=scene.cut)
    if read is None:
        whole = span(text, start) if text.startswith("{", start) else -1
        return scene.lost(text, start, None if whole >= 0 and text[whole:].strip() else tool)
    return scene.between_tags(text, start, tool, *read, _TAGS_END)


def _parameters(
    text: str, at: int, tool: ToolSpec, *, exact: bool, cut: bool
) -> tuple[dict[str, Any], int] | None:
    """Return the parameters from `at` on and where they end; None if one of them has no end."""
    properties = object_in(tool.schema, "properties")
    values: dict[str, Any] = {}
    while (opener := _PARAMETER.match(text, at)) is not None:
        ends = _value_end(text, opener.end(), properties, cut)
        if ends is None:
            return None
        value = text[opener.end() : ends[0]]
        name = (opener["bare"] or opener["named"]).strip()
        at = ends[1]
        said = _STRING.search(opener["rest"])
        if not exact:  # without the line breaks next to the tags
            value = _BREAKS.sub("", value)
        values.setdefault(name, value if said and said[1] == "true" else typed(value, properties.get(name)))
    return values, at


def _value_end(text: str, start: int, properties: Mapping[str, Any], cut: bool) -> tuple[int, int] | None:
    """Return where a value and its closing tag end, or None.

    Tags that the value opens are counted first. If that finds no end, one of them was only a word, or the
    next parameter after an unclosed one; or the reply was truncated (`cut`).
    """
    depth = 0
    first: tuple[int, int] | None = None
    for found in _ANY_PARAMETER.finditer(text, start):
        if not found["close"]:
            depth += 1
            continue
        if _BOUNDARY.match(text, found.end()):
            if not depth:
                return found.start(), found.end()
            first = first or (found.start(), found.end())
        depth = max(0, depth - 1)
    if cut or first is None:
        return None
    for found in _ANY_PARAMETER.finditer(text, start, first[0]):
        opener = _PARAMETER.match(text, found.start())
        if opener and (opener["bare"] or opener["named"]) in properties:
            return found.start(), found.start()
    return first


# ---- Kimi K3: <|open|>call tool="name"<|sep|>, and <|open|>argument key="key" type="type"<|sep|> for each

XTML = re.compile(
    r"<\|open\|>\s*(?:tools\s*(?:<\|sep\|>\s*<\|open\|>\s*)?)?call\s+tool=\""
    rf"(?:functions\.)?(?P<tool>{NAME})\"[^<>]{{0,60}}<\|sep\|>"
)
_XTML_ARGUMENT = re.compile(
    r"\s*<\|open\|>\s*argument\s+key=\"([^\"]{1,200})\"(?:\s+type=\"(\w{1,20})\")?[^<>]{0,60}<\|sep\|>"
    r"(.*?)<\|close\|>\s*argument\s*<\|sep\|>",
    re.DOTALL,
)
_XTML_END = re.compile(r"\s*<\|close\|>\s*call\s*<\|sep\|>(?:\s*<\|close\|>\s*tools\s*<\|sep\|>)?")


def xtml_form(opener: re.Match[str], tool: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read a call of Kimi K3; the type beside a value says whether it is text or JSON."""
    text, end = opener.string, opener.end()
    properties, values = object_in(tool.schema, "properties"), dict[str, Any]()
    while (found := _XTML_ARGUMENT.match(text, end)) is not None:
        value = found[3] if found[2] == "string" else typed(found[3], properties.get(found[1]))
        values.setdefault(found[1], value)
        end = found.end()
    if (closed := _XTML_END.match(text, end)) is None:
        return scene.lost(text, opener.end(), tool)
    return Leak(closed.end(), (scene.call(tool, values),))


# ---- only the beginning of a call

_BEGUN_MARK = r"(?:<[^<>\n]{0,60}>?|\[TOOL_CALLS\]|commentary to=)"
_BEGUN_GAP = r"(?:[ \t]*\n\s*|[ \t]+(?=[\[{<]|\Z))?"
_BEGUN_WORD = r"[^\s<`]{1,140}(?:\s+(?:to=[^\s<`]{0,128}|j\w{0,3}))?"
BEGUN = re.compile(
    rf"(?=[\s\S]{{0,400}}\Z)(?:{_BEGUN_MARK}{_BEGUN_GAP}){{1,4}}(?:{_BEGUN_WORD})?(?:\s*(?:{_BEGUN_MARK}|`{{1,3}}){_BEGUN_GAP}(?:{_BEGUN_WORD})?){{0,3}}\s*\Z"
)
"""Matches only marks and words between them, at most 400 characters; after a blank, a sentence begins.

The length is checked first: there are thousands of ways to divide marks and words that do not match.
"""

_BEGUN_SPECIAL = re.compile(r"<[|｜‖]|<[\w:]{1,30}(?:=| name=)|\[TOOL_CALLS\]|commentary to=")
"""Marks that never end a sentence, if the name of a tool follows."""

_BEGUN_CHANNEL = re.compile(r"<\|(?:start|channel)\|>(?!.*\bto=)", re.DOTALL)
_BEGUN_NAME = re.compile(r"[\w./-]{1,128}")


def begun_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read marks that too little text follows for an answer.

    Models may end a sentence with the name of a tag. So only a truncated reply, or a special mark with the
    name of a tool, counts as a call.
    """
    text, at = opener.string, opener.start()
    if _BEGUN_CHANNEL.match(text, at):
        return None
    named = (scene.tool(word.group()) for word in _BEGUN_NAME.finditer(text, at))
    tool = next(filter(None, named), UNKNOWN)
    if not scene.cut and (tool is UNKNOWN or not _BEGUN_SPECIAL.search(text, at)):
        return None
    return scene.lost(text, at, tool)
