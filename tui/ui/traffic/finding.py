"""Where a text stands in a large body, found without keeping other threads waiting. Pure."""

from collections.abc import Iterator

STEP = 512 * 1024
MOST = 10_000
"""Finds; nobody steps through more."""


def places(data: bytes, text: str) -> list[int]:
    """Return the offsets where `text` begins, upper and lower case alike (ASCII), as it is and as escaped."""
    needles = {text.lower().encode("utf-8", "replace"), _escaped(text)}
    found: set[int] = set()
    for needle in filter(None, needles):
        for place in _places(data, needle):
            found.add(place)
            if len(found) >= MOST:
                return sorted(found)
    return sorted(found)


def _escaped(text: str) -> bytes:
    """Return the text as JSON with only ASCII letters has it."""
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in text.lower()).encode()


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    for start in range(0, len(data), STEP):
        piece = data[start : start + STEP + len(needle) - 1].lower()
        at = piece.find(needle)
        while at >= 0:
            yield start + at
            at = piece.find(needle, at + 1)
