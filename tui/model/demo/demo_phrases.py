"""How the demo model finds texts, names, numbers, places and time zones in a sentence. Pure.

The patterns search a bounded text only, and each takes about linear time.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from tui.core.ports import ToolSpec
from tui.model.demo.demo_words import (
    CHINESE,
    CHINESE_FILLER,
    NUMBER_WORDS,
    PLACES,
    STOP_WORDS,
    SYNONYMS,
    ZONES,
    is_cjk,
    words,
)

_IANA = re.compile(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Za-z_/+-]+"
)
_PLACE_TAIL = re.compile(r"\b(?:in|for|at|of|near|around)\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b([A-Z][\w-]*(?: [A-Z][\w-]*){0,3})['’]s\b")
_WHEN = re.compile(
    r"\s*\b(?:right now|at the moment|this (?:morning|afternoon|evening|week|weekend)|next week|today"
    r"|tomorrow|tonight|currently|now|please|like|thanks|thank you|and|then|going to be|be)\W*$",
    re.IGNORECASE,
)
_LATIN_NAME = re.compile(r"[A-Za-z][A-Za-z .'-]*[A-Za-z]")
_CJK_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,8}")
_NOISE = re.compile("|".join(map(re.escape, sorted([*CHINESE, *CHINESE_FILLER], key=len, reverse=True))))
_PLACE_NAME = re.compile("|".join(sorted(PLACES, key=len, reverse=True)))
_NO_PLACES = frozenset(
    "it this that there here general all me you my your morning evening moment world".split()
)
_ZONE = re.compile(
    rf"{_IANA}|(?<!\w)(?:{'|'.join(map(re.escape, sorted(ZONES, key=len, reverse=True)))})(?!\w)",
    re.IGNORECASE,
)
MAX_WORDS = 5
MAX_BARE_WORDS = 3
"""In a sentence this short a lower-case word may be a place too ("weather nyc")."""


def find_place(text: str, taken: Collection[str] = (), description: str = "") -> str | None:
    """Return the place in `text`.

    Args:
        text: what the person said.
        taken: words that name the tool and are therefore not places.
        description: the tool's description; a Chinese name in it is kept, others are written in Latin
            letters if they are known.
    """
    if is_cjk(text):
        return _chinese_place(text, description)
    for found in _POSSESSIVE.finditer(text):
        if not set(words(found[1])) & STOP_WORDS:
            return found[1]
    for tail in reversed(_PLACE_TAIL.split(text)[1:]):
        if place := _trimmed(tail):
            return place
    return _leftover(text, taken)


def _chinese_place(text: str, description: str) -> str | None:
    known = _PLACE_NAME.findall(text)
    if known:
        return "、".join(name if name in description else PLACES[name] for name in known)
    if latin := _LATIN_NAME.search(text):
        return latin[0]
    rest = _CJK_RUN.search(_NOISE.sub(" ", text))
    return rest[0].removesuffix("市") or None if rest else None


def _trimmed(tail: str) -> str | None:
    """Return `tail` as a place name, if it can be one."""
    tail = re.split(r"[?!;:\n]|[.,](?:\s|$)(?!\s*[A-Z])", tail, maxsplit=1)[0]
    before = None
    while before != tail:
        before, tail = tail, _WHEN.sub("", tail)
    tail = tail.strip(" .,'\"`")
    tail = re.sub(r"^(?:the (?:city|town) of|the)\s+", "", tail, flags=re.IGNORECASE)
    good = 0 < len(tail.split()) <= MAX_WORDS and tail.casefold() not in _NO_PLACES
    return tail if good and re.match(r"[^\W\d]", tail) else None


def _leftover(text: str, taken: Collection[str]) -> str | None:
    """Return what remains of a sentence without its common words and the tool's own."""
    left = []
    for raw in re.findall(r"[\w'-]+", text):
        stems = words(raw)
        if not any(stem in STOP_WORDS or stem in taken or SYNONYMS.get(stem) in taken for stem in stems):
            left.append(raw)
    joined = " ".join(left)
    one_run = re.search(re.escape(joined), text) if joined else None
    if not one_run or not 0 < len(left) <= 3 or any(char.isdigit() for char in joined):
        return None
    return joined if joined[0].isupper() or len(text.split()) <= MAX_BARE_WORDS else None


def find_zones(text: str) -> list[str]:
    """Return the IANA names of the time zones in `text`, named themselves or by a large city, in order."""
    spoken = text
    for chinese, latin in PLACES.items():
        spoken = spoken.replace(chinese, f" {latin} ")
    return [found[0] if "/" in found[0] else ZONES[found[0].casefold()] for found in _ZONE.finditer(spoken)]


MAX_TEXT = 4000
"""Only so much of a sentence is read: the patterns below must stay cheap."""

_QUOTED = re.compile(
    r"\"([^\"]{1,2000})\"|“([^”]{1,2000})”|「([^」]{1,2000})」|`([^`]{1,2000})`|'([^']{2,2000})'(?!\w)"
)
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")
_URL = re.compile(r"\bhttps?://[^\s\"'<>)\]]+")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?\b")
_TIME = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
_PATH = re.compile(r"(?<!\w)(?:~|\.{1,2})?/[^\s\"'`,;?!]*|\b[\w-]+(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b")
_ID = re.compile(
    r"#(\w[\w-]*)|\b(?:id|number|no\.?)\s*[:=]?\s*([\w-]*\d[\w-]*)|(?<![\w-])((?=[\w-]*\d)\w[\w-]*)",
    re.IGNORECASE,
)
_SLUG = re.compile(r"\w+(?:[-_]\w+)+")
_COLON = re.compile(r"^(.{2,80}?)(?<!https)(?<!http)[:：](?!//)\s*(\S.*)$", re.DOTALL)
_SAYS = re.compile(
    r"\b(?:(?:note|memo|todo|reminder|message)s?\s+(?:that\s+says|saying|that|to|about|with(?:\s+the\s+text)?)"
    r"|remember\s+(?:to|that)|remind\s+me\s+(?:to|that|about)|(?:note|jot|write)\s+(?:it\s+)?down\s*(?:that)?"
    r"|note\s+that)\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_INTO = re.compile(
    r"\b(?:add|put|save|write|store|note|jot)\s+(.+?)\s+"
    r"(?:(?:to|in|into|on)\s+(?:my|the)\s+\w+|as\s+an?\s+\w+|down)\W*$",
    re.IGNORECASE,
)
_SAYS_CHINESE = re.compile(
    r"(?:记一下|记下来?|记住|提醒我|(?:添加|新增|加|写|建)(?:一条|一个|个)?(?:新的?)?(?:笔记|备忘录?|便签))[\s,，:：]*(\S.*)$",
    re.DOTALL,
)
_ABOUT = re.compile(
    r"\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|about|matching|including|regarding"
    r"|with(?: the word)?|for)\s+(.+)$",
    re.IGNORECASE,
)
_FIND_IN = re.compile(
    r"\b(?:find|search|look up|grep|locate)\s+(?!for\b|in\b|my\b|the\b)(.+?)(?:\s+(?:in|among|from)\s+.+)?$",
    re.IGNORECASE,
)
_ABOUT_CHINESE = re.compile(
    r"(?:提到|关于|包含|含有|搜索|查找|有)了?(.+?)(?:的?(?:笔记|备忘|便签|文件).*)?[?？。!！吗呢]*$"
)
_TAIL = re.compile(r"\b(?:for|of|in|named|called|to|with|about|from|on|at)\s+(.+)$", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an|my|word|phrase)\s+", re.IGNORECASE)
_NOUN_CHINESE = re.compile(r"^(?:我的)?(?:笔记|备忘录?|便签)\s*(?:里|中)?的?\s*")
EDGE = " \t\n\"'`“”「」.,;!?。，；！？"

PLACE_WORDS = frozenset("location city place town region country where destination area".split())
_ZONE_WORDS = frozenset("timezone tz zone".split())
_SECOND_WORDS = frozenset("target to destination".split())
_QUERY_WORDS = frozenset(
    "query q search keyword keywords term terms pattern phrase text_query needle word".split()
)
_TEXT_WORDS = frozenset("text content message note body msg comment input description summary value".split())
_PATH_WORDS = frozenset("path file filename filepath directory dir folder".split())
_ID_WORDS = frozenset("id key number uuid slug identifier".split())


@dataclass(slots=True)
class Sentence:
    """A sentence, and what of it is unused.

    Attributes:
        text: the whole sentence.
        payload: its content ("buy milk" in "add a note: buy milk"), or "".
        taken: words that name the tool and are therefore not values.
        tool: the tool that it is read for.
        quoted: unused quoted texts, in order.
        numbers: unused numbers, in order.
    """

    text: str
    payload: str
    taken: Collection[str]
    tool: ToolSpec
    quoted: list[str]
    numbers: list[str]


def payload_split(text: str) -> tuple[str, str]:
    """Return the request and the content of a sentence ("add a note: buy milk")."""
    text = text[:MAX_TEXT]
    if found := _COLON.match(text):
        return found[1], found[2].strip()
    for pattern in (_SAYS, _SAYS_CHINESE):
        if found := pattern.search(text):
            return text[: found.start(1)], found[1].strip()
    return _QUOTED.sub(" ", text), ""


def read(text: str, tool: ToolSpec, taken: Collection[str]) -> Sentence:
    """Parse a sentence once for all properties of `tool`; `taken` are words that name the tool."""
    _, payload = payload_split(text)
    quoted = [next(group for group in found.groups() if group) for found in _QUOTED.finditer(text)]
    spelled = re.sub(
        r"\b[a-z]+\b", lambda found: str(NUMBER_WORDS.get(found[0], found[0])), _QUOTED.sub(" ", text.lower())
    )
    return Sentence(text, payload, taken, tool, quoted, _NUMBER.findall(spelled))


def find_list(source: Sentence) -> list[str] | None:
    """Return what is quoted or enumerated; a single item only if it looks like a path."""
    if source.quoted:
        return source.quoted
    if paths := _PATH.findall(source.text):
        return [path.rstrip(".,;") for path in paths]
    tail = source.payload or (found[1] if (found := _TAIL.search(source.text)) else "")
    items = [item.strip(EDGE) for item in re.split(r",|、|\band\b", tail) if item.strip(EDGE)]
    return items if len(items) > 1 else None


def find_string(name: str, source: Sentence, required: bool, *, sole: bool) -> str | None:
    """Return a string by the kind of value that the property's name suggests."""
    kinds = {word for word in re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) if word}
    finders: list[tuple[frozenset[str], Callable[[Sentence], str | None]]] = [
        (frozenset({"url", "uri", "link"}), lambda source: _first(_URL, source.text)),
        (frozenset({"email", "mail"}), lambda source: _first(_EMAIL, source.text)),
        (frozenset({"date", "day", "since", "until"}), lambda source: _first(_DATE, source.text)),
        (_ZONE_WORDS, lambda source: _zone(source, bool(kinds & _SECOND_WORDS))),
        (frozenset({"time", "clock"}), lambda source: _first(_TIME, source.text)),
        (PLACE_WORDS, lambda source: find_place(source.text, source.taken, source.tool.description)),
        (_PATH_WORDS, _path),
        (_QUERY_WORDS, _query),
        (_TEXT_WORDS, _text if required else _quoted),
        (_ID_WORDS, _identifier),
    ]
    for known, finder in finders:
        if kinds & known:
            return (finder(source) or "").strip() or None
    if not required:
        return None
    return _quoted(source) or (_tail(source) if sole else None)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[0].rstrip(".,;") if found else None


def _path(source: Sentence) -> str | None:
    for quoted in source.quoted:
        if _PATH.match(quoted):
            source.quoted.remove(quoted)
            return quoted
    return _first(_PATH, source.text) or (_quoted(source) if len(source.quoted) == 1 else None)


def _zone(source: Sentence, second: bool) -> str | None:
    zones = find_zones(source.text)
    return zones[second] if len(zones) > second else None


def _quoted(source: Sentence) -> str | None:
    return source.quoted.pop(0) if source.quoted else None


def _text(source: Sentence) -> str | None:
    if source.payload:
        return source.payload.strip(' \t\n"“”')
    if found := _quoted(source):
        return found
    if found_into := _INTO.search(source.text):
        return found_into[1].strip(EDGE)
    first, _, rest = source.text.partition(" ")
    own = words(source.tool.tool or source.tool.name)
    return rest.strip() or None if words(first) == own else None


def _query(source: Sentence) -> str | None:
    if found := _quoted(source):
        return found
    if source.payload:
        return _ARTICLE.sub("", source.payload.strip(EDGE)) or None
    for pattern in (_ABOUT, _FIND_IN, _ABOUT_CHINESE):
        if match := pattern.search(source.text):
            return _NOUN_CHINESE.sub("", _ARTICLE.sub("", match[1].strip(EDGE))) or None
    return None


def _identifier(source: Sentence) -> str | None:
    if found := _quoted(source):
        return found
    if match := _ID.search(source.text):
        return next((group for group in match.groups() if group), None)
    *before, last = source.text.strip(EDGE).split() or [""]
    named = bool(before) and set(words(before[-1])) <= set(source.taken) and bool(words(before[-1]))
    return last if named and _SLUG.fullmatch(last) else None


def _tail(source: Sentence) -> str | None:
    if source.payload:
        return source.payload.strip(EDGE)
    match = _TAIL.search(source.text)
    return _ARTICLE.sub("", match[1].strip(EDGE)) or None if match else None
