"""How the demo model finds texts, names and numbers in a sentence. Pure.

The patterns look at a bounded text only, and each runs in about linear time on it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from tui.core.ports import ToolSpec
from tui.model.demo.demo_places import find_place, find_zones
from tui.model.demo.demo_words import NUMBER_WORDS, words

MAX_TEXT = 4000
"""A longer sentence is looked at only so far: the patterns below must stay cheap."""

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
    """A sentence, and what of it is used up.

    Attributes:
        text: the whole.
        payload: what the sentence says to do it with ("buy milk" in "add a note: buy milk"), or "".
        taken: words that name the tool and are therefore no values.
        tool: for whom it is read.
        quoted: texts in quotes that are not yet used, in order.
        numbers: numbers that are not yet used, in order.
    """

    text: str
    payload: str
    taken: Collection[str]
    tool: ToolSpec
    quoted: list[str]
    numbers: list[str]


def payload_split(text: str) -> tuple[str, str]:
    """Return what a sentence says to do, and what it says to do it with ("add a note: buy milk")."""
    text = text[:MAX_TEXT]
    if found := _COLON.match(text):
        return found[1], found[2].strip()
    for pattern in (_SAYS, _SAYS_CHINESE):
        if found := pattern.search(text):
            return text[: found.start(1)], found[1].strip()
    return _QUOTED.sub(" ", text), ""


def read(text: str, tool: ToolSpec, taken: Collection[str]) -> Sentence:
    """Read a sentence once for all properties of `tool`; `taken` are words that name the tool."""
    _, payload = payload_split(text)
    quoted = [next(group for group in found.groups() if group) for found in _QUOTED.finditer(text)]
    spelled = re.sub(
        r"\b[a-z]+\b", lambda found: str(NUMBER_WORDS.get(found[0], found[0])), _QUOTED.sub(" ", text.lower())
    )
    return Sentence(text, payload, taken, tool, quoted, _NUMBER.findall(spelled))


def find_list(source: Sentence) -> list[str] | None:
    """Return what is quoted, or what the sentence enumerates; a single thing only if it looks like a path."""
    if source.quoted:
        return source.quoted
    if paths := _PATH.findall(source.text):
        return [path.rstrip(".,;") for path in paths]
    tail = source.payload or (found[1] if (found := _TAIL.search(source.text)) else "")
    items = [item.strip(EDGE) for item in re.split(r",|、|\band\b", tail) if item.strip(EDGE)]
    return items if len(items) > 1 else None


def find_string(name: str, source: Sentence, required: bool, *, sole: bool) -> str | None:
    """Return a string by what the property's name says that it is."""
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
