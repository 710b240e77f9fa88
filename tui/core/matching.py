"""Matching what a user types: the rows of a list that it filters, and names, abbreviated or misspelled. Pure.

A typed text filters a list by its words: a row is shown if its text contains all of them, in any order,
without regard to case and composition. It completes what has all of them, or at least all of its letters.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from typing import TypeVar
from unicodedata import category, normalize

from tui.core.text import fold

T = TypeVar("T")
MAX_CHARS = 64
"""Longer words are truncated: a comparison takes the product of both lengths."""

MAX_NAMES = 1_000
"""More names are ignored: a comparison takes up to 1 ms."""


def search_words(typed: str) -> list[str]:
    """Return the folded words of a typed text. A match contains all of them, possibly within other words."""
    return fold(typed).split()


def has_words(text: str, typed: str) -> bool:
    """Return whether a text contains each word of a typed text."""
    words = search_words(typed)
    folded = fold(text) if words else ""
    return all(word in folded for word in words)


def word_spans(text: str, typed: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the first match of each word of a typed text, to highlight it."""
    for word in search_words(typed):
        yield from islice(spans(text, word), 1)


def nearness(text: str, typed: str, *, abbreviated: bool = False) -> int:
    """Return how near a text is to a typed text, to rank it; 0 if it does not have all its words.

    Best begins with the typed text, then come its words as whole words, at the start of words, and anywhere.
    Last, if it may be `abbreviated`, all its letters in their order, at least two.
    """
    words, folded = search_words(typed), fold(text)
    if folded.startswith(" ".join(words)):
        return 5
    if all(word in folded for word in words):
        starts = [rf"(?<![^\W_]){re.escape(word)}" for word in words]
        are_starts = all(re.search(start, folded) for start in starts)
        return 2 + are_starts + (are_starts and all(re.search(rf"{one}(?![^\W_])", folded) for one in starts))
    letters, query = iter(folded), "".join(words)
    return int(abbreviated and len(query) > 1 and all(letter in letters for letter in query))


def nearest(
    found: Iterable[T], typed: str, named: Callable[[T], str] = str, *, abbreviated: bool = True
) -> list[T]:
    """Return what a typed text may complete to, the nearest first; equally near ones keep their order."""
    near = [(nearness(named(one), typed, abbreviated=abbreviated), one) for one in found]
    return [one for rank, one in sorted(near, key=lambda pair: -pair[0]) if rank]


def folded_name(name: str) -> str:
    """Return `name` without what is easily misspelled: case, and - or _."""
    return fold(name).replace("-", "_")


def _in_order(name: str) -> str:
    return "_".join(sorted(name.split("_")))


def similar_names(word: str, names: Iterable[str], count: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names that `word` misspells, the most similar one first, then those that it abbreviates.

    The same words in another order are nearest: `order_count` for `count_orders`.
    """
    known: dict[str, str] = {}
    for name in islice(names, MAX_NAMES):
        known.setdefault(folded_name(name), name)
    word = folded_name(word[:MAX_CHARS])
    turned = {_in_order(name): name for name in known if "_" in name}
    reordered = get_close_matches(_in_order(word), turned, 1, 0.9) if "_" in word else ()
    close = [turned[name] for name in reordered] + get_close_matches(word, known, count, cutoff)
    begun = (name for name in known if word and name.startswith(word))
    return [known[name] for name in islice(dict.fromkeys((*close, *begun)), count)]


def by_name(names: Iterable[str], text: str) -> list[str]:
    """Return the name that is `text`, or else the names that start or end with it."""
    known = list(names)
    parts = (name for name in known if text and (name.startswith(text) or name.endswith(text)))
    return [text] if text in known else list(parts)


def nearest_name(word: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name that `word` misspells or abbreviates, or ""."""
    return next(iter(similar_names(word, names, 1, cutoff)), "")


def spans(text: str, folded: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each match of a folded text in another text, from left to right.

    If part of a character matches, such as an "s" of "ß", the match is that character, once.
    """
    whole = fold(text)
    at = whole.find(folded) if folded else -1
    if at < 0:
        return
    origins = _origins(text, len(whole))
    last = 0
    while at >= 0:
        start, end = origins[at][0], origins[at + len(folded) - 1][1]
        if start >= last:
            yield start, end
            last = end
        at = whole.find(folded, at + len(folded))


def _origins(text: str, length: int) -> list[tuple[int, int]]:
    """Return for each character of a folded text the start and end of its origin in the text."""
    if length == len(text) and text.isascii():
        return [(at, at + 1) for at in range(length)]
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and not is_boundary(text[end]):
            end += 1
        places += [(start, end)] * len(fold(text[start:end]))
        start = end
    return places


def is_boundary(char: str) -> bool:
    """Return whether a character never combines with the one before it."""
    return char < "\u0300" or not (category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")


def composed(text: str) -> str:
    """Return a text canonically composed, as regular expressions and their subjects are."""
    return text if text.isascii() else normalize("NFC", text)


def likely_name(word: str, names: Iterable[str]) -> str:
    """Return the name that `word` abbreviates or misspells, or ""; one of two letters could mean any."""
    return nearest_name(word, names, cutoff=0.75) if len(word) > 2 else ""
