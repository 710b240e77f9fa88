"""How the demo model finds a place or a time zone in a sentence. Pure."""

import re
from collections.abc import Collection

from tui.model.demo.demo_words import (
    CHINESE,
    CHINESE_FILLER,
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
_TAIL = re.compile(r"\b(?:in|for|at|of|near|around)\s+", re.IGNORECASE)
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
"""In a sentence this short a word in lower case is taken for a place too ("weather nyc")."""


def find_place(text: str, taken: Collection[str] = (), description: str = "") -> str | None:
    """Return the place that `text` speaks of.

    Args:
        text: what the person said.
        taken: words that name the tool and are therefore no place.
        description: the tool's description; a Chinese name that stands in it is kept, others are
            given in Latin letters where a table knows them.
    """
    if is_cjk(text):
        return _chinese_place(text, description)
    for found in _POSSESSIVE.finditer(text):
        if not set(words(found[1])) & STOP_WORDS:
            return found[1]
    for tail in reversed(_TAIL.split(text)[1:]):
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
    """Return `tail` as a name of a place, if it can be one."""
    tail = re.split(r"[?!;:\n]|[.,](?:\s|$)(?!\s*[A-Z])", tail, maxsplit=1)[0]
    before = None
    while before != tail:
        before, tail = tail, _WHEN.sub("", tail)
    tail = tail.strip(" .,'\"`")
    tail = re.sub(r"^(?:the (?:city|town) of|the)\s+", "", tail, flags=re.IGNORECASE)
    good = 0 < len(tail.split()) <= MAX_WORDS and tail.casefold() not in _NO_PLACES
    return tail if good and re.match(r"[^\W\d]", tail) else None


def _leftover(text: str, taken: Collection[str]) -> str | None:
    """Return what is left of a sentence when its common words and the tool's own are gone."""
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
    """Return the IANA names of the time zones that `text` names, themselves or by a large city, in order."""
    spoken = text
    for chinese, latin in PLACES.items():
        spoken = spoken.replace(chinese, f" {latin} ")
    return [found[0] if "/" in found[0] else ZONES[found[0].casefold()] for found in _ZONE.finditer(spoken)]
