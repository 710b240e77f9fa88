"""Byte strings that a body must contain to match a search, so that other bodies are skipped. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from unicodedata import normalize

from tui.core.text import fold, is_boundary

_LETTERS = re.compile("[a-z0-9 _]+")


def signs(needle: str) -> Sequence[bytes]:
    """Return byte strings, at least one of which is in every lowercased body whose text contains the needle.

    This holds unless an ASCII letter, digit, blank, underscore or backslash is written as an escape.
    """
    letters = max(_LETTERS.findall(needle.lower() if needle.isascii() else fold(needle)), key=len, default="")
    if letters:
        others = {char for char in FOLDS_TO_LETTERS if not set(fold(char)).isdisjoint(letters)}
        return [letters.encode(), *json_forms(others)]
    # A mark may come from another character when marks are reordered, and U+FFFD from any byte.
    alone = [char for char in needle if char > "\x7f" and char != "\ufffd" and is_boundary(char)]
    return min((json_forms(_sources(char)) for char in set(alone)), key=len, default=[b""])


FOLDS_TO_LETTERS = "\u00df\u0130\u0149\u017f\u1e9a\u1e9e\u212a\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
"""Non-ASCII characters whose folded form contains one of `_LETTERS`."""


def _sources(char: str) -> set[str]:
    """Return characters, at least one of which is in every text whose folded form contains `char`."""
    marks = normalize("NFD", char)[1:]
    return {char, *marks}.union(*(_folding_to().get(one, ()) for one in (char, *marks)))


@cache
def _folding_to() -> Mapping[str, Sequence[str]]:
    """Return for each character the other characters whose folded form contains it."""
    found: dict[str, list[str]] = {}
    for char in map(chr, range(0x80, 0x30000)):  # later characters do not fold
        if (folded := fold(char)) != char:
            for each in folded:
                found.setdefault(each, []).append(char)
    return found


def json_forms(chars: Iterable[str]) -> list[bytes]:
    """Return the JSON forms of characters: literal, escaped, or the second half of an escaped pair."""
    forms: list[bytes] = []
    for char in chars:
        forms.append(char.encode("utf-8", "surrogatepass"))
        forms.append(b"\\u" + char.encode("utf-16-be", "surrogatepass")[-2:].hex().encode())
    return forms
