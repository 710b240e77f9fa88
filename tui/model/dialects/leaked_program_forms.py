"""Forms of leaked calls in program syntax, in Gemma's notation, in channels, and without any mark. Pure.

`[name(key="value")]` of Llama 4, LFM2, OLMo 3 and Gemma 3, `call:name{key:value}` of Gemma 4, names on a line
of their own of Functionary and Qwen-Agent, the channels of gpt-oss, JSON as the whole reply or at its end.
Where no mark of the model shows that text is a call, it must be the whole reply or its end, and name a tool
exactly as it was offered, with arguments that the tool has.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ReasoningPart, TextPart, ToolSpec
from tui.core.text import object_in
from tui.model.dialects.argument_repair import (
    UnreadableJson,
    bracket_end,
    keywords,
    read_json,
    span,
    typed,
)
from tui.model.dialects.call_maker import ARGUMENT_KEYS, NAME, NAMED, TOOL_KEYS
from tui.model.dialects.leaked_forms import (
    AFTER,
    BETWEEN,
    UNKNOWN,
    Leak,
    LeakContext,
    LeakItem,
    fits,
    past,
)

FENCE_WORDS = r"tool_code|tool_calls?|tool_use|function_calls?"
"""Info strings of fences in which Gemma 3 and others write calls."""


PREFIX = r"(?:default_api\.|functions\.|tools\.)?"
MARKED = re.compile(
    rf"(?:<\|python_start\|>|<\|python_tag\|>|<\|tool_call_start\|>|<\|tool_call\|?>|<tool_code>|<tool_calls?>"
    rf"|<function_calls?>|<TOOLCALL>|(?P<fence>```(?:{FENCE_WORDS})\b))\s*(?:```\w*\s*)?"
    rf"(?=\[?\s*(?:print\(\s*)?{PREFIX}{NAME}\()"
)
_CALL = re.compile(rf"\s*(?P<print>print\(\s*)?{PREFIX}({NAME})(?=\()")
_SEPARATED = re.compile(r"[\s,;]*")
_CLOSED = re.compile(r"\s*\]?\s*(?:```)?\s*(?:<\|python_end\|>|</tool_code>)?")
_LIST_BEGUN = re.compile(r",\s*[\w.\-]{0,128}\Z")
BARE_CALL = re.compile(rf"\[?\s*(?={PREFIX}(?P<tool>{NAME})\()")


def program_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read a mark and calls in program syntax, in a list or one on each line."""
    text = opener.string
    found = _calls(text, opener.end(), scene)
    if found is None:
        return None
    end = past(_CLOSED, text, found.end)
    return Leak(past(OUTPUT, text, end) if opener["fence"] else end, found.items)


def bare_program_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read a reply that is only calls in program syntax, without any mark: Llama 4, ToolACE, xLAM."""
    text, at = opener.string, opener.start()
    start = at + 1 if text.startswith("[", at) else at
    first = _CALL.match(text, start)
    if scene.before.strip() or first is None or first["print"] or scene.exact(first[2]) is None:
        return None
    found = _calls(text, at, scene, exact=True)
    if found is None:
        return None
    end = found.end
    if start > at:
        end = past(_SPACE, text, end)
        if _LIST_BEGUN.match(text, end):
            return Leak(len(text), (*found.items, *scene.lost(text, end, UNKNOWN).items))
        end += text.startswith("]", end)
    if text[past(AFTER, text, end) :].strip():
        return None
    return scene.lost(text, at, scene.exact(first[2])) if scene.cut else Leak(end, found.items)


def _calls(text: str, at: int, scene: LeakContext, *, exact: bool = False) -> Leak | None:
    """Return successive calls, in a list or not; None if one is not of an offered tool."""
    at = at + 1 if text.startswith("[", at) else at
    made: list[CallRequest] = []
    while (opener := _CALL.match(text, at)) is not None:
        tool = scene.exact(opener[2]) if exact else scene.tool(opener[2])
        if tool is None:
            return None
        end = bracket_end(text, opener.end())
        if end < 0:
            lost = scene.lost(text, opener.start(2), tool)
            return Leak(lost.end, (*made, *lost.items))
        inner = text[opener.end() + 1 : end - 1]
        values = keywords(inner)
        if values is None:
            with suppress(_NotAnObject, _Unfinished):  # in Gemma's notation
                noted, stop = _container(text[:end], opener.end(), 0)
                values = noted if stop == end else None
        names = list(object_in(tool.schema, "properties"))
        if values and not exact and all(name.isdecimal() for name in values) and len(values) <= len(names):
            values = dict(zip(names, values.values(), strict=False))
        if values is None or any(name.isdecimal() for name in values) or (exact and not fits(values, tool)):
            return None
        made.append(scene.call(tool, values))
        if opener["print"]:
            end = past(_SPACE, text, end)
            end += text.startswith(")", end)
        behind = _SEPARATED.match(text, end)
        at = behind.end() if behind and _CALL.match(text, behind.end()) else end
        if at == end:
            break
    return Leak(at, tuple(made)) if made else None


# ---- Gemma 4, FunctionGemma, Gemini: call:name{key:<|"|>value<|"|>,other:2}

GEMMA = re.compile(
    rf"(?P<mark>(?:<\|tool_call\|?>|<start_function_call>|<tool_call>)\s*)?(?:call|declaration)[: ]\s?"
    rf"(?:default_api[:.])?(?P<tool>{NAME}?)\s*(?=[{{(])"
)
_STRING = re.compile(
    r"<\|\"\|>(?P<gemma>.*?)<\|\"\|>|<escape>(?P<escape>.*?)<escape>|(?P<json>\"(?:[^\"\\]|\\.)*\")"
    r"|'(?P<single>(?:[^'\\]|\\.)*)'",
    re.DOTALL,
)
_STRING_BEGUN = ('<|"|>', "<escape>", '"', "'")
_KEY = re.compile(r"\s*(?:<\|\"\|>|<escape>|[\"'])?([\w.$-]{1,100})(?:<\|\"\|>|<escape>|[\"'])?\s*[:=]\s*")
_RAW_END = re.compile(r",(?=\s*[\"'<]?[\w.$-]{1,100}[\"']?\s*[:=])|(?=[}\])])")
_ITEM_END = re.compile(r"(?=[,}\])])")
_CLOSERS = {"{": "}", "(": ")", "[": "]"}
_SPACE, _SEPARATORS = re.compile(r"\s*"), re.compile(r"[\s,]*")
_MAX_DEPTH = 16
_LONGEST_KEY = 120


class _NotAnObject(ValueError):
    """A text in brackets has no keys."""


class _Unfinished(ValueError):
    """The text ends before the object."""


def gemma_form(opener: re.Match[str], tool: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read an object with bare keys and values; without its mark, only at the beginning of a line."""
    text, marked = opener.string, opener["mark"] is not None
    if not marked and not (scene.line_start or scene.before.endswith("|>")):
        return None
    try:
        values, end = _container(text, opener.end(), 0)
    except _NotAnObject:
        return None
    except _Unfinished:
        return scene.lost(text, opener.start("tool"), tool)
    if not marked and not values.keys() <= object_in(tool.schema, "properties").keys():
        return None
    return Leak(end, (scene.call(tool, values),))


def _value(text: str, at: int, depth: int, raw_end: re.Pattern[str]) -> tuple[Any, int]:
    at = past(_SPACE, text, at)
    if depth > _MAX_DEPTH or at >= len(text):
        raise _Unfinished
    if text[at] in _CLOSERS:
        return _container(text, at, depth)
    if (string := _STRING.match(text, at)) is not None:
        if (quoted := string["json"]) is not None:
            try:
                return read_json(quoted), string.end()
            except UnreadableJson:
                return quoted[1:-1], string.end()
        return next(part for part in string.groups() if part is not None), string.end()
    end = None if text.startswith(_STRING_BEGUN, at) else raw_end.search(text, at)
    if end is None:
        raise _Unfinished
    return typed(text[at : end.start()].strip(), None), end.start()


def _container(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return the list or object whose bracket is at an offset, and its end.

    Raises _Unfinished if it has none, _NotAnObject if it cannot become one.
    """
    is_list, closer = text[at] == "[", _CLOSERS[text[at]]
    entries: dict[str, Any] = {}
    items: list[Any] = []
    at = past(_SEPARATORS, text, at + 1)
    while not text.startswith(closer, at):
        key = None if is_list else _KEY.match(text, at)
        if not (is_list or key) and (len(text) - at > _LONGEST_KEY or "\n\n" in text[at:]):
            raise _NotAnObject
        if not (is_list or key):
            raise _Unfinished
        value, end = _value(text, key.end() if key else at, depth + 1, _RAW_END if key else _ITEM_END)
        if end <= at:
            raise _NotAnObject
        if key:
            entries[key[1]] = value
        else:
            items.append(value)
        at = past(_SEPARATORS, text, end)
    return (items if is_list else entries), at + 1


# ---- a name on a line of its own: Functionary, Qwen-Agent

NAMED_ABOVE = re.compile(
    rf"(?:(?:<\|from\|>\s*assistant\s*)?<\|recipient\|>\s*(?P<recipient>{NAME})\s*<\|content\|>"
    rf"|✿FUNCTION✿\s*[:：]\s*(?P<qwen>{NAME})\s*\n\s*✿ARGS✿\s*[:：]"
    rf"|>>>\s?(?P<prompt>{NAME})\s*\n|(?P<bare>{NAME})[ \t]*\n)\s*(?={{)"
)
TO_ALL = re.compile(
    r"(?:>>>\s?all\s*\n|(?:<\|from\|>\s*assistant\s*)?<\|recipient\|>\s*all\s*<\|content\|>)"
    r"(?P<text>.*?)(?:<\|stop\|>|(?=>>>|<\|from\|>|<\|recipient\|>|✿)|\Z)",
    re.DOTALL,
)
_NEXT_LINE = re.compile(r">>>|<\|(?:from|recipient|stop)\|>")
_INVENTED = re.compile(r"\s*(?:✿(?:RESULT|RETURN)✿.*|<\|stop\|>)", re.DOTALL)


def said_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read text to the user."""
    text = opener["text"].strip()
    return Leak(opener.end(), (TextPart(text),)) if text else None


def line_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read the name of a tool on its line, and its arguments below."""
    text, bare = opener.string, opener["bare"]
    if bare and scene.before.strip():
        return None
    name = bare or opener["prompt"] or opener["recipient"] or opener["qwen"]
    tool = scene.exact(name) if bare else scene.tool(name)
    if tool is None:
        return None
    found = scene.with_object(text, opener.end(), tool)
    match found.items:
        case (CallRequest(truncated=False, arguments=arguments),) if bare or opener["prompt"]:
            # ">>>" is the prompt of Python's shell, too.
            more = text[past(AFTER, text, found.end) :].strip()
            if (more and not _NEXT_LINE.match(more)) or not fits(json.loads(arguments), tool):
                return None
    return replace(found, end=past(_INVENTED, text, found.end))


# ---- channels: Harmony, the form of gpt-oss

HEADER = re.compile(
    rf"(?:<\|start\|>\s*(?:assistant|functions\.[\w.-]+)?(?:\s*to=(?P<before>{NAME}))?\s*)?"
    rf"<\|channel\|>\s*(?P<channel>analysis|commentary|final)(?:\s*to=(?P<behind>{NAME}))?"
    r"\s*(?:<\|constrain\|>\s*)?(?:json|code)?\s*<\|message\|>"
)
_END = re.compile(r"\s*<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)|\Z")
_TERMINATOR = re.compile(r"\s*<\|(?:end|call|return)\|>")
STRIPPED = re.compile(r"\s*(?:assistant)?(?P<channel>analysis|commentary|final)")
_NEXT = re.compile(r"(?:assistant)(?=analysis|commentary|final)")
_TO = re.compile(rf"\s*to=({NAME}?)\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(?={{)")


def channel_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read messages of channels with their marks, one after the other.

    `analysis` is thinking, `final` and `commentary` are text, and `commentary to=functions.x` is a call.
    """
    text, begun = opener.string, opener.start()
    items: list[LeakItem] = []
    at = begun
    while (header := HEADER.match(text, at)) is not None:
        if name := header["before"] or header["behind"]:
            found = _channel_call(text, header.end(), name, scene)
            if found is None:
                return Leak(at, tuple(items)) if items else Leak(len(text), ())
            items.extend(found.items)
            at = past(_TERMINATOR, text, found.end)
            continue
        end = _END.search(text, header.end())
        assert end is not None
        items.extend(_channel_items(header["channel"], text[header.end() : end.start()]))
        at = end.end()
    return Leak(at, tuple(items)) if at > begun else None  # empty messages are text, and read only once


def stripped_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read messages of channels whose marks were stripped; the first one must be thinking or a call."""
    text, at = opener.string, opener.start()
    items: list[LeakItem] = []
    known = False
    while (header := STRIPPED.match(text, at)) is not None:
        is_final, start = header["channel"] == "final", header.end()
        if not is_final and (to := _TO.match(text, start)) is not None:
            found = _channel_call(text, to.end(), to[1], scene)
            if found is None:
                break
            items.extend(found.items)
            at, known = found.end, True
            continue
        following = _NEXT.search(text, start)
        if following is None and not is_final:
            break
        end = following.start() if following else len(text)
        items.extend(_channel_items(header["channel"], text[start:end]))
        at, known = end, known or is_final
    return Leak(at, tuple(items)) if known else None


def _channel_items(channel: str, text: str) -> list[LeakItem]:
    text = text.strip()
    if not text:
        return []
    return [ReasoningPart(text) if channel == "analysis" else TextPart(text)]


def _channel_call(text: str, start: int, name: str, scene: LeakContext) -> Leak | None:
    tool = scene.tool(name) or scene.tool(name.removesuffix("json")) or scene.tool(name.removesuffix("code"))
    start = past(_SPACE, text, start)
    if tool is None or not (text.startswith("{", start) or start >= len(text)):
        return None
    found = scene.with_object(text, start, tool)
    return found if found.items else None


# ---- JSON without a mark, as the whole reply: Llama, Qwen's coders

_BARE_BEGUN = re.compile(
    r'(?:\[\s*)?\{\s*(?:"tool_(?:calls|uses)"\s*:\s*\[\s*\{\s*)?(?:"(?:type|id)"\s*:\s*"[^"\\]{0,100}"\s*,\s*){0,2}'
    r'(?:"function"\s*:\s*\{\s*)?"(?:name|recipient_name)"\s*:\s*"([^"\\]{1,200})"\s*,\s*"(?:arguments|parameters|input)"\s*:\s*"?\{'
)
_NO_MORE = re.compile(r"[\s,;]*(?:<[|/]?[\w|]{0,20})?\Z")
_BARE_KEYS = frozenset(("name", "tool", "tool_name", "recipient_name", "function", "type", "id")) | {
    *("arguments", "parameters", "input"),
}


VALUE = re.compile(r"(?=[\[{])")


def bare_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read a reply that is only `{"name": …, "parameters": {…}}`, one or more.

    There is no mark, so everything must match: the keys, the tool, and the names of its arguments.
    """
    text, at = opener.string, opener.start()
    if scene.before.strip():
        return None

    def known(values: Mapping[str, Any], tool: ToolSpec) -> bool:
        return values.keys() <= (object_in(tool.schema, "properties") or values).keys()

    if (begun := _BARE_BEGUN.match(text, at)) is not None and span(text, at) < 0:
        return scene.lost(text, at, scene.tool(begun[1]))
    found: list[tuple[ToolSpec, Any]] = []
    while text.startswith(("{", "["), at) and (end := span(text, at)) >= 0:
        more = scene.described(text[at:end], scene.tool, known, _BARE_KEYS)
        if more is None:
            return None
        found += more
        at = past(BETWEEN, text, end)
    rest = text[past(AFTER, text, at) :]
    if found and rest.startswith("{") and span(rest, 0) < 0:
        return scene.lost(text, at, UNKNOWN)
    if not found or not _NO_MORE.match(rest):
        return None
    if scene.cut:
        return scene.lost(text, opener.start(), found[-1][0])
    return Leak(len(text), tuple(scene.call(tool, value) for tool, value in found))


# ---- JSON at the end of a reply, after a few words


OUTPUT = re.compile(r"\s*```(?:tool_output|tool_outputs|tool_result|output)\b.*", re.DOTALL)
ANNOUNCED_KEYS = frozenset((*TOOL_KEYS, *ARGUMENT_KEYS, "type", "id"))
ANNOUNCED = re.compile(rf"(?P<fence>```(?:json[5c]?|tool|(?P<native>{FENCE_WORDS}))?\s*)?(?=[\[{{])")
_FENCE_END = re.compile(r"\s*(?:```|`{0,2}\Z)")
_EXAMPLE = re.compile(
    r"\b(?:example|e\.g|for instance|such as|like this|looks? like|format|schema|syntax|sample|template"
    r"|structure|json|payload|snippet|body|if you|how to|to call|when calling|do(?:es)? not|don.t|never"
    r"|(?:you|one|it|this|that|which|they) (?:can|could|would|should|may|might|must)"
    r"|(?:can|could|would|should) be|(?:shall|should) i|want me|would you|do you"
    r"|instead|returned?|respon\w+|results?|outputs?|similar"
    r"|(?:do|did|will|would|has|had|have|should|could) not|cannot|\w+n['’]t|without|declin\w+|refus\w+"
    r"|cancel\w*|reject\w+|skip\w*|earlier|previous\w*|already|last (?:call|time|request)"
    r"|(?:i|we|you) (?:would|could|had|did|called|ran|used|made|sent|tried)"
    r"|(?:call|request|it|this|that|these|which) (?:was|were)"
    r"|nicht|kein\w*|aufruf|beispiel\w*|exemple|ejemplo|llamada|appel)\b"
    r"|[\"'“‘«„(]\s*\Z|\?\s*\Z|例如|比如|格式|示例",
    re.IGNORECASE,
)
_MOST_BEFORE = 300


def announced_form(opener: re.Match[str], _: ToolSpec, scene: LeakContext) -> Leak | None:
    """Read calls as JSON at the end of a reply that begins with a few words.

    It must be in the form that was offered: the exact name, known arguments, all required ones. Words about
    examples or formats make it text.
    """
    text, start, fence = opener.string, opener.end(), opener["fence"] is not None
    native = opener["native"] is not None
    if not native and not (announces(scene.before) and (fence or scene.before.strip())):
        return None
    end, find = span(text, start), scene.tool if native else scene.exact
    named = NAMED.search(text, start)
    tool = find(named[1]) if named else None
    if end < 0:
        return scene.lost(text, start, tool) if tool is not None else None
    calls = scene.described(text[start:end], find, (lambda *_: True) if native else fits, ANNOUNCED_KEYS)
    stop = past(_FENCE_END, text, end) if fence else end
    stop = past(OUTPUT, text, stop) if native else stop
    if calls is None or (not native and text[past(AFTER, text, stop) :].strip()):
        return None
    if scene.cut:
        return scene.lost(text, start, tool)
    return Leak(stop, tuple(scene.call(tool, values) for tool, values in calls))


def announces(before: str) -> bool:
    """Whether text may announce a call: a few words, none about an example, the past, or a refusal."""
    return len(before.strip()) <= _MOST_BEFORE and _EXAMPLE.search(before) is None
