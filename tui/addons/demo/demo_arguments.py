"""Finds a tool's arguments in a sentence for the demo model, guided by the tool's schema. Pure.

The patterns search only a bounded text, each in about linear time.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tui.addons.demo.demo_words import (
    CHINESE_NOISE,
    NUMBERS,
    PLACES,
    STOP_WORDS,
    ZONES,
    is_cjk,
    longest_first,
    words,
)
from tui.core.late_compiling import late
from tui.core.ports import ToolSpec

MAX_PROPERTIES = 64
MAX_TEXT = 4000
"""Maximum characters of a sentence that are read, so that the patterns stay cheap."""

MAX_PLACE_WORDS = 5
MAX_BARE_WORDS = 3
"""In a sentence this short, a lower-case word may be a place too ("weather nyc")."""

EDGE = " \t\n\"'`“”「」.,;!?。，；！？"
PLACE_WORDS = "location city place town region country where destination area"
_TEXT_WORDS = "text content message note body msg comment input description summary value"

_QUOTED = late(r"\"([^\"]{1,2000})\"|“([^”]{1,2000})”|「([^」]{1,2000})」|`([^`]{1,2000})`")
_NUMBER = late(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_PATH = late(r"(?<!\w)((?:~|\.{1,2})?/[^\s\"'`,;?!]*|\b[\w-]+(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b)")
_PAYLOADS = (
    late(r"^.{2,80}?(?<!https)(?<!http)[:：](?!//)\s*(\S.*)$", re.S),
    late(
        r"\b(?:(?:note|memo|todo|reminder|message)s?\s+(?:that\s+says|saying|that|to|about)"
        r"|remember\s+(?:to|that)|remind\s+me\s+(?:to|that|about))\s+(.+)$",
        re.I | re.S,
    ),
    late(
        r"(?:记一下|记下来?|记住|提醒我|(?:添加|新增|加|写)(?:一条|一个)?(?:笔记|备忘录?|便签))[\s,，:：]*(\S.*)$",
        re.S,
    ),
)
"""What follows is content ("buy milk" in "add a note: buy milk")."""

_KINDS = {
    "url uri link": (late(r"\b(https?://[^\s\"'<>)\]]+)"),),
    "email mail": (late(r"([\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),),
    "date day since until": (late(r"\b(\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?)\b"),),
    "time clock": (late(r"(?<!\d)((?:[01]?\d|2[0-3]):[0-5]\d)(?!\d)"),),
    "path file filename filepath directory dir folder": (_PATH,),
    "query q search keyword keywords term terms pattern phrase needle word": (
        _QUOTED,
        late(
            r"\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|about|matching|with(?: the word)?|for)"
            r"\s+(?:(?:the|a|an|my|word)\s+)?(.+)$",
            re.I,
        ),
        late(r"\b(?:find|search|look up|grep|locate)\s+(?!(?:for|in|my|the)\b)(.+)$", re.I),
        late(
            r"(?:提到|关于|包含|含有|搜索|查找|有)了?(.+?)(?:的?(?:笔记|备忘|便签|文件).*)?[?？。!！吗呢]*$"
        ),
    ),
    _TEXT_WORDS: (
        *_PAYLOADS,
        _QUOTED,
        late(
            r"\b(?:add|put|save|write|store|note|jot)\s+(.+?)\s+"
            r"(?:(?:to|in|into|on)\s+(?:my|the)\s+\w+|as\s+an?\s+\w+|down)\W*$",
            re.I,
        ),
    ),
    "id key number uuid slug identifier": (
        _QUOTED,
        late(
            r"#(\w[\w-]*)|\b(?:id|number|no\.?)\s*[:=]?\s*([\w-]*\d[\w-]*)|(?<![\w-])((?=[\w-]*\d)\w[\w-]*)",
            re.I,
        ),
    ),
}
"""By the words of a property's name, what its value looks like: the first group of the first match."""

_ZONE = late(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Za-z_/+-]+"
    rf"|(?<!\w)(?:{longest_first([*ZONES])})(?!\w)",
    re.I,
)
_PLACE_TAIL = late(r"\b(?:in|for|at|of|near|around)\s+(?:the\s+(?:(?:city|town)\s+of\s+)?)?", re.I)
_POSSESSIVE = late(r"\b([A-Z][\w-]*(?: [A-Z][\w-]*){0,3})['’]s\b")
_WHEN = late(
    r"(?:\b(?:right now|at the moment|this (?:morning|afternoon|evening|week|weekend)|next week|today"
    r"|tomorrow|tonight|currently|now|please|like|thanks|thank you|and|then|going to be|be)(?:\W+|$))+$",
    re.I,
)
_CJK_RUN = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}|[A-Za-z][A-Za-z .'-]*[A-Za-z]")
_PLACE_NAME = late("|".join(PLACES))
_NO_PLACES = "it this that there here general all me you my your morning evening moment world".split()


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments found in a sentence.

    Attributes:
        values: by property name.
        missing: required properties that were not found, in the schema's order.
        required: required properties that were found.
    """

    values: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, and the numbers in it that are not used yet. `taken` are words that name the tool."""

    text: str
    taken: Collection[str]
    tool: ToolSpec
    numbers: list[str]


def payload_split(text: str) -> tuple[str, str]:
    """Return the request and the content of a sentence ("add a note: buy milk")."""
    text = text[:MAX_TEXT]
    for pattern in _PAYLOADS:
        if found := pattern.search(text):
            return text[: found.start(1)], found[1].strip()
    return _QUOTED.sub(" ", text), ""


def fill(tool: ToolSpec, text: str, taken: Collection[str] = ()) -> Filled:
    """Find the arguments of `tool`, whose schema may be anything, in `text`.

    Words in `taken` name the tool and are therefore not values.
    """
    raw, names = tool.schema.get("properties"), tool.schema.get("required")
    items = list(raw.items())[:MAX_PROPERTIES] if isinstance(raw, Mapping) else []
    properties = {str(name): schema if isinstance(schema, Mapping) else {} for name, schema in items}
    required = [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []
    required = sorted(required[:MAX_PROPERTIES], key=[*properties, *required].index)
    text = text[:MAX_TEXT].strip()
    values: dict[str, Any] = {}
    spelled = re.sub(r"\b[a-z]+\b", lambda word: NUMBERS.get(word[0], word[0]), text.lower())
    source = _Sentence(text, taken, tool, _NUMBER.findall(_QUOTED.sub(" ", spelled)))
    for name in sorted(properties, key=lambda name: name not in required):
        value = _named(text, name, properties[name])
        value = _value(name, properties[name], source, required) if value is None else value
        if value is not None:
            values[name] = value
    missing = tuple(name for name in required if name not in values)
    return Filled(values, missing, tuple(name for name in required if name in values))


def _named(text: str, name: str, schema: Mapping[str, Any]) -> Any:
    """Return a value that a sentence names: `city=Oslo`, `days: 3`, `id is x`, `content "hi"`."""
    label = re.escape(name).replace("_", "[_ ]")
    between = r"(?:\s*(?:=|[:：](?!//)|\s(?:is|of)\s)\s*|\s+(?=\"|[\w-]*\d))"
    found = re.search(rf"(?<!\w){label}{between}(\"[^\"]*\"|'[^']*'|[^\s,;，；]+)", text, re.I)
    return None if found is None else _coerce(found[1].strip(EDGE), schema)


def _coerce(raw: str, schema: Mapping[str, Any]) -> Any:
    """Return `raw` as the schema's type, or None if it cannot be that."""
    enum = schema.get("enum")
    if isinstance(enum, list):
        return next((item for item in enum if str(item).casefold() == raw.casefold()), None)
    match _type(schema):
        case "integer" | "number" as kind:
            if not re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", raw):
                return None
            number = float(raw)
            return int(number) if number.is_integer() else (number if kind == "number" else None)
        case "boolean":
            return {"true": True, "yes": True, "on": True, "false": False, "no": False}.get(raw.casefold())
        case "array":
            return [item.strip() for item in raw.split(",") if item.strip()] or None
        case "object" | "null":
            return None
    return raw or None


def _type(schema: Mapping[str, Any]) -> str:
    """Return the first type that the schema names besides null; "string" if it names none."""
    kinds = schema.get("type")
    options = schema.get("anyOf") or schema.get("oneOf")
    if not kinds and isinstance(options, list):
        kinds = [option.get("type") for option in options if isinstance(option, Mapping)]
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return next((kind for kind in kinds if isinstance(kind, str) and kind != "null"), "string")


def _value(name: str, schema: Mapping[str, Any], source: _Sentence, required: Collection[str]) -> Any:
    """Return a value for one property, or None. Optional ones need explicit words."""
    spoken = words(source.text)
    if isinstance(enum := schema.get("enum"), list):
        said = re.findall(r"\w+", source.text.casefold())
        return next((item for item in enum if isinstance(item, str) and item.casefold() in said), None)
    match _type(schema):
        case "integer" | "number" if source.numbers:
            near = any(word in spoken for word in words(name))
            near = near or (name in ("duration", "timeout") and "second" in spoken)
            if name in required or near or len(source.numbers) == len(source.tool.schema["properties"]) == 1:
                return _coerce(source.numbers.pop(0), schema)
        case "array" if name in required:
            return [next(filter(None, found)) for found in _QUOTED.findall(source.text)] or None
        case "string":
            return _string(name, source, required)
    return None


def _string(name: str, source: _Sentence, required: Collection[str]) -> str | None:
    """Return a string by the kind of value that the property's name suggests."""
    kinds = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]", " ", name).lower().split())
    if kinds & {"timezone", "tz", "zone"}:
        return _zone(source.text, bool(kinds & {"target", "to", "destination"}))
    if kinds.intersection(PLACE_WORDS.split()):
        return _place(source)
    for known, patterns in _KINDS.items():
        if kinds.intersection(known.split()):
            if known == _TEXT_WORDS and name not in required:
                return _first((_QUOTED,), source.text)
            return _first(patterns, source.text) or _after_name(source, any_word=known == _TEXT_WORDS)
    if name not in required:
        return None
    sole = (*_PAYLOADS, late(r"\b(?:for|of|in|named|called|to|with|about|from|on|at)\s+(.+)$", re.I))
    return _first((_QUOTED, *(sole if len(required) == 1 else ())), source.text)


def _first(patterns: Collection[re.Pattern[str]], text: str) -> str | None:
    """Return the group of the first pattern that matches."""
    found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return None if found is None else found[found.lastindex or 0].strip(EDGE) or None


def _after_name(source: _Sentence, *, any_word: bool) -> str | None:
    """Return what follows the tool's own words: a text ("echo hello"), or a name like `eat-fish`."""
    first, _, rest = source.text.partition(" ")
    if any_word:
        return rest if words(first) == words(source.tool.tool or source.tool.name) else None
    *before, last = source.text.strip(EDGE).split() or [""]
    name = set(words(before[-1])) if before else set()
    return last if name and name <= set(source.taken) and re.fullmatch(r"\w+(?:[-_]\w+)+", last) else None


def _zone(text: str, second: bool) -> str | None:
    """Return the first or second IANA time zone in `text`, by its own name or that of a large city."""
    for chinese, latin in PLACES.items():
        text = text.replace(chinese, f" {latin} ")
    zones = [ZONES.get(found[0].casefold(), found[0]) for found in _ZONE.finditer(text)]
    return zones[second] if len(zones) > second else None


def _place(source: _Sentence) -> str | None:
    """Return the place in a sentence.

    A Chinese name in the tool's description is kept, others are written in Latin letters if they are known.
    """
    text = source.text
    if is_cjk(text):
        if known := _PLACE_NAME.findall(text):
            return "、".join(name if name in source.tool.description else PLACES[name] for name in known)
        rest = _CJK_RUN.search(CHINESE_NOISE.sub(" ", text))
        return rest[0].removesuffix("市") if rest else None
    for found in _POSSESSIVE.finditer(text):
        if not STOP_WORDS.intersection(words(found[1])):
            return found[1]
    for tail in reversed(_PLACE_TAIL.split(text)[1:]):
        name = re.split(r"[?!;:\n]|[.,](?:\s|$)(?!\s*[A-Z])", tail, maxsplit=1)[0]
        name = _WHEN.sub("", name).strip(" .,'\"`")
        short = len(name.split()) <= MAX_PLACE_WORDS and name.casefold() not in _NO_PLACES
        if short and re.match(r"[^\W\d]", name):
            return name
    # Otherwise, what is left without common words and those that name the tool.
    left = [
        raw for raw in re.findall(r"[\w'-]+", text) if STOP_WORDS.union(source.taken).isdisjoint(words(raw))
    ]
    joined = " ".join(left)
    if not 0 < len(left) <= 3 or joined not in text or re.search(r"\d", joined):
        return None
    return joined if joined[0].isupper() or len(text.split()) <= MAX_BARE_WORDS else None
