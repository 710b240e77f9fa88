"""Comparing texts without case, and however accents are composed, as Unicode folds. Pure.

Two texts match when they differ only in case (full case folding, in every script) or in how characters are
composed (NFC, NFD).
"""

from collections.abc import Iterator
from unicodedata import category, normalize


def fold(text: str) -> str:
    """Return the form in which texts are compared: without case, and canonically composed."""
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def composed(text: str) -> str:
    """Return a text canonically composed: what a regular expression is matched against, and its pattern."""
    return text if text.isascii() else normalize("NFC", text)


def spans(text: str, folded: str) -> Iterator[tuple[int, int]]:
    """Yield where a folded text is found in another one: start and end, from left to right.

    What lies inside of a character, such as an "s" of "ß", is found as the whole character, once.
    """
    whole = fold(text)
    at = whole.find(folded) if folded else -1
    if at < 0:
        return
    places = _places(text, len(whole))
    last = 0
    while at >= 0:
        start, end = places[at][0], places[at + len(folded) - 1][1]
        if start >= last:
            yield start, end
            last = end
        at = whole.find(folded, at + len(folded))


def _places(text: str, length: int) -> list[tuple[int, int]]:
    """Return for each character of a folded text from where to where in the text it comes from."""
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
    """Return whether a character stands alone, whatever comes before it: it never combines with that."""
    return char < "\u0300" or not (category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")
