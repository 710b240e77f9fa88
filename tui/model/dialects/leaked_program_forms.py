"""Forms of leaked calls in program syntax, in Gemma's notation, and after a few words of announcement. Pure.

`[name(key="value")]` of Llama 4, LFM2, OLMo 3 and Gemma 3, `call:name{key:value}` of Gemma 4, names on a line
of their own of Functionary and Qwen-Agent, and one JSON object at the end of a reply. Where no mark of the
model shows that text is a call, it must be the whole reply or its end, and name a tool exactly as it was
offered, with arguments that the tool has.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import TextPart, ToolSpec
from tui.model.dialects.argument_repair import (
    UnreadableJson,
    bracket_end,
    keywords,
    mend,
    properties_of,
    read_json,
    span,
    typed,
)
from tui.model.dialects.call_maker import ARGUMENT_KEYS, NAMED, TOOL_KEYS, named_in
from tui.model.dialects.leaked_call_forms import AFTER, NAME, UNKNOWN, Leak, LeakContext, past

FENCE_WORDS = r"tool_code|tool_calls?|tool_use|function_calls?"
"""Info strings of fences in which Gemma 3 and others write calls."""

_PREFIX = r"(?:default_api\.|functions\.|tools\.)?"
_OPENER = re.compile(
    rf"(?:<\|python_start\|>|<\|python_tag\|>|<\|tool_call_start\|>|<\|tool_call\|?>|<tool_code>|<tool_calls?>"
    rf"|<function_calls?>|<TOOLCALL>|(?P<fence>```(?:{FENCE_WORDS})\b))\s*(?:```\w*\s*)?"
    rf"(?=\[?\s*(?:print\(\s*)?{_PREFIX}{NAME}\()"
)
_CALL = re.compile(rf"\s*(?P<print>print\(\s*)?{_PREFIX}({NAME})(?=\()")
_BETWEEN = re.compile(r"[\s,;]*")
_CLOSED = re.compile(r"\s*\]?\s*(?:```)?\s*(?:<\|python_end\|>|</tool_code>)?")
_LIST_BEGUN = re.compile(r",\s*[\w.\-]{0,128}\Z")
_OUTPUT = re.compile(r"\s*```(?:tool_output|tool_outputs|tool_result|output)\b.*", re.DOTALL)


def program_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a mark and calls in program syntax, in a list or one on each line."""
    opener = _OPENER.match(text, at)
    if opener is None:
        return None
    found = _calls(text, opener.end(), scene)
    if found is None:
        return None
    end = found.end
    end = past(_CLOSED, text, end)
    if opener["fence"]:
        end = past(_OUTPUT, text, end)
    return Leak(end, found.items)


def bare_program_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a reply that is only calls in program syntax, without any mark: Llama 4, ToolACE, xLAM."""
    start = at + 1 if text.startswith("[", at) else at
    first = _CALL.match(text, start)
    if scene.before.strip() or first is None or first["print"] or scene.exact(first[2]) is None:
        return None
    found = _calls(text, at, scene, exact=True)
    if found is None:
        return None
    end = found.end
    if start > at:
        end += len(text[end:]) - len(text[end:].lstrip())
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
            values = _noted(text[opener.end() : end])
        names = list(properties_of(tool.schema))
        if values and not exact and all(name.isdecimal() for name in values) and len(values) <= len(names):
            values = dict(zip(names, values.values(), strict=False))
        if values is None or any(name.isdecimal() for name in values) or (exact and not _fits(values, tool)):
            return None
        made.append(scene.maker.of_value(tool.name, values, recovered=True))
        if opener["print"]:
            end += len(text[end:]) - len(text[end:].lstrip())
            end += text.startswith(")", end)
        behind = _BETWEEN.match(text, end)
        at = behind.end() if behind and _CALL.match(text, behind.end()) else end
        if at == end:
            break
    return Leak(at, tuple(made)) if made else None


def _noted(text: str) -> dict[str, Any] | None:
    """Return the arguments in brackets in Gemma's notation, or None if they are not in it."""
    try:
        read = _read_object(text, 0)
    except NotAnObject:
        return None
    return read[0] if read is not None and read[1] == len(text) else None


def _fits(values: Mapping[str, Any], tool: ToolSpec) -> bool:
    """Whether a tool has all of these arguments, and all that it requires are among them."""
    properties, required = properties_of(tool.schema), tool.schema.get("required")
    needed = required if isinstance(required, list) else []
    return values.keys() <= properties.keys() and all(name in values for name in needed)


# ---- Gemma 4, FunctionGemma, Gemini: call:name{key:<|"|>value<|"|>,other:2}

_GEMMA = re.compile(
    rf"(?P<mark>(?:<\|tool_call\|?>|<start_function_call>|<tool_call>)\s*)?(?:call|declaration)[: ]\s?"
    rf"(?:default_api[:.])?({NAME}?)\s*(?=[{{(])"
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
_MAX_DEPTH = 16
_LONGEST_KEY = 120


class NotAnObject(ValueError):
    """A text in brackets has no keys."""


def gemma_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read a call in Gemma's notation; without its mark, only at the beginning of a line."""
    opener = _GEMMA.match(text, at)
    tool = scene.tool(opener[2]) if opener else None
    if opener is None or tool is None:
        return None
    if not opener["mark"] and not (scene.line_start or scene.before.endswith("|>")):
        return None
    try:
        read = _read_object(text, opener.end())
    except NotAnObject:
        return None
    if read is None:
        return scene.lost(text, opener.start(2), tool)
    values, end = read
    if not opener["mark"] and not values.keys() <= properties_of(tool.schema).keys():
        return None
    return Leak(end, (scene.maker.of_value(tool.name, values, recovered=True),))


def _read_object(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """Return an object with bare keys and values, and its end; None if it has none.

    Raises NotAnObject if it cannot become one.
    """
    try:
        found = _value(text, at, 0, _RAW_END)
    except (IndexError, RecursionError):
        return None
    if found is None or not isinstance(found[0], dict):
        return None
    return found[0], found[1]


def _value(text: str, at: int, depth: int, raw_end: re.Pattern[str]) -> tuple[Any, int] | None:
    at += len(text[at : at + 200]) - len(text[at : at + 200].lstrip())
    if depth > _MAX_DEPTH or at >= len(text):
        return None
    if text[at] in _CLOSERS:
        return _container(text, at, depth)
    if (string := _STRING.match(text, at)) is not None:
        if (quoted := string["json"]) is not None:
            try:
                return read_json(quoted), string.end()
            except UnreadableJson:
                return quoted[1:-1], string.end()
        return next(part for part in string.groups() if part is not None), string.end()
    if text.startswith(_STRING_BEGUN, at):
        return None
    end = raw_end.search(text, at)
    if end is None:
        return None
    return typed(text[at : end.start()].strip(), None), end.start()


def _container(text: str, at: int, depth: int) -> tuple[Any, int] | None:
    opener, closer = text[at], _CLOSERS[text[at]]
    entries: dict[str, Any] = {}
    items: list[Any] = []
    at += 1
    while True:
        at += len(text[at : at + 200]) - len(text[at : at + 200].lstrip())
        if at >= len(text):
            return None
        if text[at] == closer:
            return (items if opener == "[" else entries), at + 1
        if text[at] == ",":
            at += 1
            continue
        if opener == "[":
            found = _value(text, at, depth + 1, _ITEM_END)
            if found is not None:
                items.append(found[0])
        elif (key := _KEY.match(text, at)) is not None:
            found = _value(text, key.end(), depth + 1, _RAW_END)
            if found is not None:
                entries[key[1]] = found[0]
        elif len(text) - at > _LONGEST_KEY or "\n\n" in text[at:]:
            raise NotAnObject
        else:
            return None
        if found is None:
            return None
        if found[1] <= at:
            raise NotAnObject
        at = found[1]


# ---- a name on a line of its own: Functionary, Qwen-Agent

_LINE_NAMED = (
    re.compile(rf">>>\s?({NAME})\s*\n\s*(?={{)"),
    re.compile(rf"(?:<\|from\|>\s*assistant\s*)?<\|recipient\|>\s*({NAME})\s*<\|content\|>\s*(?={{)"),
    re.compile(rf"✿FUNCTION✿\s*[:：]\s*({NAME})\s*\n\s*✿ARGS✿\s*[:：]\s*(?={{)"),
)
_BARE_NAMED = re.compile(rf"({NAME})[ \t]*\n\s*(?={{)")
_TO_ALL = re.compile(
    r"(?:>>>\s?all\s*\n|(?:<\|from\|>\s*assistant\s*)?<\|recipient\|>\s*all\s*<\|content\|>)"
    r"(?P<text>.*?)(?:<\|stop\|>|(?=>>>|<\|from\|>|<\|recipient\|>|✿)|\Z)",
    re.DOTALL,
)
_NEXT_LINE = re.compile(r">>>|<\|(?:from|recipient|stop)\|>")
_INVENTED = re.compile(r"\s*(?:✿(?:RESULT|RETURN)✿.*|<\|stop\|>)", re.DOTALL)


def line_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read the name of a tool on its line, and its arguments below."""
    if (said := _TO_ALL.match(text, at)) is not None:
        return Leak(said.end(), (TextPart(said["text"].strip()),)) if said["text"].strip() else None
    opener = next((found for pattern in _LINE_NAMED if (found := pattern.match(text, at))), None)
    tool = scene.tool(opener[1]) if opener else None
    exact = opener is None or text.startswith(">>>", at)  # also the prompt of Python's shell
    if opener is None and not scene.before.strip() and (opener := _BARE_NAMED.match(text, at)) is not None:
        tool = scene.exact(opener[1])
    if opener is None or tool is None:
        return None
    end = span(text, opener.end())
    if end < 0:
        return scene.lost(text, opener.end(), tool)
    try:
        value = mend(text[opener.end() : end]).value
    except UnreadableJson:
        return scene.unread(text, opener.end(), end, tool)
    if exact:
        more = text[past(AFTER, text, end) :].strip()
        if (more and not _NEXT_LINE.match(more)) or not (isinstance(value, dict) and _fits(value, tool)):
            return None
    end = past(_INVENTED, text, end)
    return Leak(end, (scene.maker.of_value(tool.name, value, recovered=True),))


# ---- one JSON object at the end of a reply, after a few words

ANNOUNCED_KEYS = frozenset((*TOOL_KEYS, *ARGUMENT_KEYS, "type", "id"))
_FENCED = re.compile(rf"```(?:json[5c]?|tool|(?P<native>{FENCE_WORDS}))?\s*(?=[\[{{])")
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


def announced_form(text: str, at: int, scene: LeakContext) -> Leak | None:
    """Read calls as JSON at the end of a reply that begins with a few words.

    It must be in the form that was offered: the exact name, known arguments, all required ones. Words about
    examples or formats make it text.
    """
    fence = _FENCED.match(text, at)
    start = fence.end() if fence else at
    native = fence is not None and fence["native"] is not None
    if not text.startswith(("{", "["), start):
        return None
    if not native and not (announces(scene.before) and (fence or scene.before.strip())):
        return None
    end = span(text, start)
    named = NAMED.search(text, start)
    tool = (scene.tool(named[1]) if native else scene.exact(named[1])) if named else None
    if end < 0:
        return scene.lost(text, start, tool) if tool is not None else None
    calls = _announced(text[start:end], scene, native=native)
    stop = past(_FENCE_END, text, end) if fence else end
    if native:
        stop = past(_OUTPUT, text, stop)
    if calls is None or (not native and text[past(AFTER, text, stop) :].strip()):
        return None
    if scene.cut:
        return scene.lost(text, start, tool)
    made = tuple(scene.maker.of_value(tool.name, values, recovered=True) for tool, values in calls)
    return Leak(stop, made)


def announces(before: str) -> bool:
    """Whether text may announce a call: a few words, none about an example, the past, or a refusal."""
    return len(before.strip()) <= _MOST_BEFORE and _EXAMPLE.search(before) is None


def _announced(
    text: str, scene: LeakContext, *, native: bool
) -> list[tuple[ToolSpec, Mapping[str, Any]]] | None:
    """Return the tools and arguments of a JSON text, or None if any part of it is not such a call."""
    try:
        value = read_json(text)
    except UnreadableJson:
        return None
    found: list[tuple[ToolSpec, Mapping[str, Any]]] = []
    for item in value if isinstance(value, list) else [value]:
        named = named_in(item) if isinstance(item, dict) and item.keys() <= ANNOUNCED_KEYS else None
        tool = (scene.tool(named.tool) if native else scene.exact(named.tool)) if named else None
        if named is None or tool is None or not isinstance(named.arguments, dict):
            return None
        if not (native or _fits(named.arguments, tool)):
            return None
        found.append((tool, named.arguments))
    return found or None


# ---- what must follow a mark that is also a word

_EXPECTED = (
    (">>>", re.compile(rf">>>\s?(?:\Z|({NAME})\s*(?:\Z|\n))")),
    ("call:", re.compile(rf"call:\s?(?:default_api[:.])?(?:\Z|({NAME}?)\s*(?:\Z|[{{(]))")),
    ("<tools>", re.compile(r"<tools>\s*(?:\Z|[\[{])")),
    ("functools[", re.compile(r"functools\[\s*(?:\Z|\{)")),
    (
        "```",
        re.compile(
            rf"```(?:[a-z0-9_]{{0,20}}\Z|(?:json[5c]?|tool|{FENCE_WORDS})?"
            rf"\s+(?:\Z|[\[{{]|(?:\[\s*)?(?:print\(\s*)?{_PREFIX}(?:\Z|({NAME})(?:\Z|\())))"
        ),
    ),
)
_FIRST_KEY = re.compile(
    r'(?:```[a-z0-9_]{0,20}\s{1,8})?(?:\[\s*\Z|(?:\[\s*)?\{\s*(?:\Z|"([a-z_]{0,20})(?:\Z|")))'
)
_FENCE_NATIVE = re.compile(rf"```(?:(?:{FENCE_WORDS})\b|[a-z0-9_]{{0,20}}\Z)")


def is_hopeless(head: str, scene: LeakContext) -> bool:
    """Whether a text that begins with a mark cannot become a call of these forms any more."""
    for word, expected in _EXPECTED:
        if not head.startswith(word):
            continue
        if (found := expected.match(head)) is None:
            return True
        name = found[1] if found.re.groups else None
        ended = found.end() < len(head) or head[-1:] in ("{", "(", "\n")
        if name and ended and name != "all" and scene.tool(name) is None:
            return True
    if not head.startswith(("{", "```")) or _FENCE_NATIVE.match(head):
        return False
    if not announces(scene.before) or (head.startswith("{") and not scene.before.strip()):
        return True
    key = _FIRST_KEY.match(head)
    if key is None or (key[1] and key.end() < len(head) and key[1] not in ANNOUNCED_KEYS):
        return True
    named = NAMED.search(head)
    return named is not None and scene.exact(named[1]) is None


def may_begin(head: str, names: Collection[str]) -> bool | None:
    """Whether a reply begins with the name of a tool and what follows one; None if that is not known yet."""
    found = _BEGINS.match(head)
    if found is None:
        return False
    word, rest = found[1], head[found.end() :]
    if not rest:
        return None if any(name.startswith(word) for name in names) else False
    if word not in names or "__" not in word:
        return False
    if rest[0] == "(":
        return True
    below = rest.lstrip(" \t")
    if below and below[0] != "\n":
        return False
    bare = below.lstrip()
    return None if not bare and len(rest) < 20 else bare.startswith("{")


_BEGINS = re.compile(r"(?:\[\s{0,8})?([\w.\-]{0,128})")
