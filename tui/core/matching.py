"""Matching what a user types: names that it misspells, for "Did you mean …?". Pure."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MAX_CHARS = 64
"""Longer words are truncated: a comparison takes the product of both lengths."""

MAX_NAMES = 1_000
"""More names are ignored: a comparison takes up to 1 ms."""


def fold(name: str) -> str:
    """Return `name` without what is easily misspelled: case, and - or _."""
    return name.casefold().replace("-", "_")


def similar_names(word: str, names: Iterable[str], count: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names that `word` misspells, the most similar one first, then those that it abbreviates."""
    known: dict[str, str] = {}
    for name in islice(names, MAX_NAMES):
        known.setdefault(fold(name), name)
    word = fold(word[:MAX_CHARS])
    close = get_close_matches(word, known, count, cutoff)
    begun = (name for name in known if word and name.startswith(word))
    return [known[name] for name in islice(dict.fromkeys((*close, *begun)), count)]


def nearest_name(word: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name that `word` misspells or abbreviates, or ""."""
    return next(iter(similar_names(word, names, 1, cutoff)), "")
