"""Finds a tool's arguments in a sentence for the demo model, guided by the tool's schema. Pure.

The patterns search only a bounded text, each in about linear time.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tui.addons.demo.demo_words import (
    CHINESE_NOISE,
    NUMBERS,
    PLACES,
    STOP_WORDS,
    SYNONYMS,
    ZONES,
    is_cjk,
    longest_first,
    words,
)
from tui.core.jsonrpc.reader import loads
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

_QUOTED = late(
    r"\"([^\"]{1,2000})\"|“([^”]{1,2000})”|「([^」]{1,2000})」|`([^`]{1,2000})`|'([^']{2,2000})'(?!\w)"
)
_NUMBER = late(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_PATH = late(r"(?<!\w)(?:~|\.{1,2})?/[^\s\"'`,;?!]*|\b[\w-]+(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b")
_URL = late(r"\bhttps?://[^\s\"'<>)\]]+")
_EMAIL = late(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = late(r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b")
_TIME = late(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
_ID = late(
    r"#(\w[\w-]*)|\b(?:id|number|no\.?)\s*[:=]?\s*([\w-]*\d[\w-]*)|(?<![\w-])((?=[\w-]*\d)\w[\w-]*)", re.I
)
_GIVEN = (
    r"\s*(?:=|[:：](?!//)|\s(?:is|of)\s)\s*(\"[^\"]*\"|'[^']*'|[^\s,;，；]+)",
    r"\s+(\"[^\"]*\"|[\w-]*\d[\w-]*)",
)
_SLUG = late(r"\w+(?:[-_]\w+)+")
_COLON = late(r"^(.{2,80}?)(?<!https)(?<!http)[:：](?!//)\s*(\S.*)$", re.S)
_SAYS = (
    late(
        r"\b(?:(?:note|memo|todo|reminder|message)s?"
        r"\s+(?:that\s+says|saying|that|to|about|with(?:\s+the\s+text)?)"
        r"|remember\s+(?:to|that)|remind\s+me\s+(?:to|that|about)"
        r"|(?:note|jot|write)\s+(?:it\s+)?down\s*(?:that)?|note\s+that)\s+(.+)$",
        re.I | re.S,
    ),
    late(
        r"(?:记一下|记下来?|记住|提醒我|(?:添加|新增|加|写|建)(?:一条|一个|个)?(?:新的?)?"
        r"(?:笔记|备忘录?|便签))[\s,，:：]*(\S.*)$",
        re.S,
    ),
)
_INTO = late(
    r"\b(?:add|put|save|write|store|note|jot)\s+(.+?)\s+"
    r"(?:(?:to|in|into|on)\s+(?:my|the)\s+\w+|as\s+an?\s+\w+|down)\W*$",
    re.I,
)
_ABOUT = (
    late(
        r"\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|about|matching|including|regarding"
        r"|with(?: the word)?|for)\s+(.+)$",
        re.I,
    ),
    late(
        r"\b(?:find|search|look up|grep|locate)\s+(?!(?:for|in|my|the)\b)(.+?)"
        r"(?:\s+(?:in|among|from)\s+.+)?$",
        re.I,
    ),
    late(r"(?:提到|关于|包含|含有|搜索|查找|有)了?(.+?)(?:的?(?:笔记|备忘|便签|文件).*)?[?？。!！吗呢]*$"),
)
_TAIL = late(r"\b(?:for|of|in|named|called|to|with|about|from|on|at)\s+(.+)$", re.I)
_ARTICLE = late(r"^(?:the|a|an|my|word|phrase)\s+|^(?:我的)?(?:笔记|备忘录?|便签)\s*(?:里|中)?的?\s*", re.I)

_PLACE_TAIL = late(r"\b(?:in|for|at|of|near|around)\s+(?:the\s+(?:(?:city|town)\s+of\s+)?)?", re.I)
_POSSESSIVE = late(r"\b([A-Z][\w-]*(?: [A-Z][\w-]*){0,3})['’]s\b")
_WHEN = late(
    r"(?:\b(?:right now|at the moment|this (?:morning|afternoon|evening|week|weekend)|next week|today"
    r"|tomorrow|tonight|currently|now|please|like|thanks|thank you|and|then|going to be|be)(?:\W+|$))+$",
    re.I,
)
_LATIN_NAME = late(r"[A-Za-z][A-Za-z .'-]*[A-Za-z]")
_CJK_RUN = late("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}")
_PLACE_NAME = late("|".join(PLACES))
_NO_PLACES = "it this that there here general all me you my your morning evening moment world".split()
_ZONE = late(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Za-z_/+-]+"
    rf"|(?<!\w)(?:{longest_first([*ZONES])})(?!\w)",
    re.I,
)


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
    """A sentence, and the quoted texts and numbers in it that are not used yet, in order.

    `taken` are words that name the tool and are therefore not values, `payload` is its content ("buy milk" in
    "add a note: buy milk") or "", `sole` says that the tool requires one argument.
    """

    text: str
    payload: str
    taken: Collection[str]
    tool: ToolSpec
    sole: bool
    quoted: list[str]
    numbers: list[str]

    def quote(self) -> str | None:
        return self.quoted.pop(0) if self.quoted else None


def payload_split(text: str) -> tuple[str, str]:
    """Return the request and the content of a sentence ("add a note: buy milk")."""
    text = text[:MAX_TEXT]
    if found := _COLON.match(text):
        return found[1], found[2].strip()
    for pattern in _SAYS:
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
    values = _inline_json(text, properties)
    if not values:
        values = _named(text, properties)
        spelled = re.sub(
            r"\b[a-z]+\b", lambda word: NUMBERS.get(word[0], word[0]), _QUOTED.sub(" ", text.lower())
        )
        quoted = [next(filter(None, found.groups())) for found in _QUOTED.finditer(text)]
        quoted = [quote for quote in quoted if quote not in values.values()]
        numbers = _NUMBER.findall(spelled)
        source = _Sentence(text, payload_split(text)[1], taken, tool, len(required) == 1, quoted, numbers)
        for name in sorted(properties, key=lambda name: name not in required):
            if name not in values:
                value = _value(name, properties[name], source, name in required)
                if value is not None:
                    values[name] = value
    missing = tuple(name for name in required if name not in values)
    return Filled(values, missing, tuple(name for name in required if name in values))


def _inline_json(text: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object in `text` if its keys are those of the tool."""
    if (start := text.find("{")) < 0:
        return {}
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
        value = loads(text[start:end])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and set(value) <= set(properties) else {}


def _named(text: str, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the named values in a sentence: `city=Oslo`, `days: 3`, `id is x`, `id 5`."""
    values: dict[str, Any] = {}
    for name, schema in properties.items():
        label = re.escape(name).replace("_", "[_ ]")
        for given in _GIVEN:
            if found := re.search(rf"(?<!\w){label}{given}", text, re.I):
                value = _coerce(found[1].strip(EDGE), schema)
                if value is not None:
                    values[name] = value
                break
    return values


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
            choices = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
            return choices.get(raw.casefold())
        case "array":
            return [item.strip() for item in raw.split(",") if item.strip()] or None
        case "object" | "null":
            return None
    return raw or None


def _type(schema: Mapping[str, Any]) -> str:
    """Return the first type that the schema names besides null; "string" if it names none."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return kinds
    if isinstance(kinds, list):
        return next((str(kind) for kind in kinds if kind != "null"), "string")
    options = schema.get("anyOf") or schema.get("oneOf")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, Mapping) and option.get("type") != "null":
            return _type(option)
    return "string"


def _value(name: str, schema: Mapping[str, Any], source: _Sentence, required: bool) -> Any:
    """Return a value for one property, or None. Optional ones need explicit words."""
    if isinstance(enum := schema.get("enum"), list):
        said = set(re.findall(r"\w+", source.text.casefold()))
        return next((item for item in enum if isinstance(item, str) and item.casefold() in said), None)
    match _type(schema):
        case "integer" | "number" if source.numbers:
            spoken = words(source.text)
            near = any(word in spoken for word in words(name))
            near = near or (name in ("duration", "seconds", "timeout") and "second" in spoken)
            only = len(source.numbers) == 1 and len(source.tool.schema["properties"]) == 1
            value = _coerce(source.numbers[0], schema) if required or near or only else None
            if value is not None:
                source.numbers.pop(0)
            return value
        case "boolean":
            label = r"[\s_-]*".join(map(re.escape, name.split("_")))
            found = re.search(rf"\b(with(?:out)?|no|not)\s+{label}\b", source.text, re.I)
            return found[1].casefold() == "with" if found else None
        case "array" if required:
            items = schema.get("items")
            return _list(source) if isinstance(items, Mapping) and items.get("type") == "string" else None
        case "string":
            return _string(name, source, required)
    return None


def _list(source: _Sentence) -> list[str] | None:
    """Return the quoted or listed items; a single item counts only if it looks like a path."""
    found = source.quoted or [path.rstrip(".,;") for path in _PATH.findall(source.text)]
    if found:
        return found
    items = [item.strip(EDGE) for item in re.split(r",|、|\band\b", _rest(source) or "") if item.strip(EDGE)]
    return items if len(items) > 1 else None


def _string(name: str, source: _Sentence, required: bool) -> str | None:
    """Return a string by the kind of value that the property's name suggests."""
    kinds = set(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]", " ", name).lower().split())
    finders: dict[str, Callable[[], str | None]] = {
        "url uri link": lambda: _first(_URL, source.text),
        "email mail": lambda: _first(_EMAIL, source.text),
        "date day since until": lambda: _first(_DATE, source.text),
        "timezone tz zone": lambda: _zone(source.text, bool(kinds & {"target", "to", "destination"})),
        "time clock": lambda: _first(_TIME, source.text),
        PLACE_WORDS: lambda: _place(source),
        "path file filename filepath directory dir folder": lambda: _path(source),
        "query q search keyword keywords term terms pattern phrase needle word": lambda: _query(source),
        "text content message note body msg comment input description summary value": lambda: (
            _text(source) if required else source.quote()
        ),
        "id key number uuid slug identifier": lambda: _identifier(source),
    }
    for known, find in finders.items():
        if kinds.intersection(known.split()):
            return (find() or "").strip() or None
    return (source.quote() or (_rest(source) if source.sole else None)) if required else None


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[0].rstrip(".,;") if found else None


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
        if latin := _LATIN_NAME.search(text):
            return latin[0]
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
    return _leftover(text, source.taken)


def _leftover(text: str, taken: Collection[str]) -> str | None:
    """Return a sentence without common words and without the words that name the tool."""
    common = STOP_WORDS.union(taken, (word for word, meaning in SYNONYMS.items() if meaning in taken))
    left = [raw for raw in re.findall(r"[\w'-]+", text) if common.isdisjoint(words(raw))]
    joined = " ".join(left)
    if not 0 < len(left) <= 3 or joined not in text or re.search(r"\d", joined):
        return None
    return joined if joined[0].isupper() or len(text.split()) <= MAX_BARE_WORDS else None


def _path(source: _Sentence) -> str | None:
    for quote in source.quoted:
        if _PATH.match(quote):
            source.quoted.remove(quote)
            return quote
    return _first(_PATH, source.text) or (source.quote() if len(source.quoted) == 1 else None)


def _text(source: _Sentence) -> str | None:
    if source.payload:
        return source.payload.strip(' \t\n"“”')
    if found := source.quote():
        return found
    if into := _INTO.search(source.text):
        return into[1].strip(EDGE)
    first, _, rest = source.text.partition(" ")
    return rest if words(first) == words(source.tool.tool or source.tool.name) else None


def _query(source: _Sentence) -> str | None:
    if found := source.quote():
        return found
    found = source.payload or next(
        (match[1] for pattern in _ABOUT if (match := pattern.search(source.text))), ""
    )
    return _ARTICLE.sub("", found.strip(EDGE))


def _identifier(source: _Sentence) -> str | None:
    if found := source.quote():
        return found
    if match := _ID.search(source.text):
        return match[match.lastindex or 0]
    *before, last = source.text.strip(EDGE).split() or [""]
    name = set(words(before[-1])) if before else set()
    return last if name and name <= set(source.taken) and _SLUG.fullmatch(last) else None


def _rest(source: _Sentence) -> str | None:
    if source.payload:
        return source.payload.strip(EDGE)
    match = _TAIL.search(source.text)
    return _ARTICLE.sub("", match[1].strip(EDGE)) if match else None
