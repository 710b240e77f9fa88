"""Titles of conversations, made from the first question without a model. Pure.

Independent of the language: a sentence ends at the end mark of any script, and formatting is removed.
"""

import re
import unicodedata

from tui.core.late_compiling import late
from tui.core.text import clean

CELLS = 60
"""Maximum width of a title in cells."""

READ = 2000
"""Characters of the question that are read."""

_FENCE = late(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_LINK = late(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_START = late(r"^[\s>#*+•–—-]+")
_EMPHASIS = late(r"\*\*|(?<!\w)__|__(?!\w)|`|~~")
# A full stop ends a sentence only before a space: 3.11, example.com. The marks of other scripts always do.
_END = late(r"[.!?…]+(?=[\s\"'”’»)\]]|$)|[。！？｡।॥؟۔።፧]+")
_TRAILING = " \t.,;:。，、；：،؛-–—"


def title_of(text: str) -> str:
    """Return a title for a conversation that starts with `text`: one line of at most 60 cells, or "".

    It is the first sentence of the first line with text; code blocks count only if there is nothing else.
    """
    head = clean(text[:READ])
    for candidate in (_FENCE.sub("\n", head), head):
        for line in candidate.splitlines():
            if said := _sentence(line):
                return said
    return ""


def cells(text: str) -> int:
    """Return the approximate width of a text in cells: wide characters two, marks none."""
    return sum(map(_width, text))


def shortened(text: str, most: int = CELLS) -> str:
    """Return a line cut to `most` cells, between words if possible, with an ellipsis."""
    if cells(text) <= most:
        return text
    room, end = most - 1, 0
    for end, char in enumerate(text):  # noqa: B007 - where it stops is what is wanted
        room -= _width(char)
        if room < 0:
            break
    head = text[:end]
    word = head.rfind(" ")
    if text[end : end + 1] not in (" ", "") and word > end * 2 // 3:
        head = head[:word]
    return head.rstrip(_TRAILING) + "…"


def _sentence(line: str) -> str:
    bare = _EMPHASIS.sub("", _LINK.sub(r"\1", _LINE_START.sub("", line)))
    bare = " ".join(bare.split())
    if not any(map(str.isalnum, bare)):
        return ""
    for end in _END.finditer(bare):
        if sum(map(str.isalnum, bare[: end.start()])) > 3:  # "1. Do this": a number is not a sentence
            bare = bare[: end.end()]
            break
    return shortened(bare.rstrip(_TRAILING) or bare)


def _width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
