"""JSON with comments and trailing commas, which most hosts accept. Pure."""

import json
import re
from collections import Counter
from typing import Any

# Strings first, so that their content is not taken for a comment.
_PIECE = re.compile(
    r'"(?:[^"\\\n]++|\\[^\n])*"?|(?P<line>//[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<comma>,)(?=[\s/]*[}\]])',
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Return `text` as plain JSON of the same length, so that every line keeps its number."""

    def blanked(found: re.Match[str]) -> str:
        if found.lastgroup is None:
            return found.group()
        return re.sub(r"[^\n]", " ", found.group())

    # Twice: a trailing comma is only recognized once the comment after it is gone.
    return _PIECE.sub(blanked, _PIECE.sub(blanked, text))


def loads(text: str) -> tuple[Any, tuple[str, ...]]:
    """Parse JSON without comments; return it and the names that occur twice in one object (the last counts).

    Raises `ValueError`, as `json.JSONDecodeError` where the place is known, or `RecursionError`.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            twice.extend(key for key, count in Counter(key for key, _ in items).items() if count > 1)
        return found

    return json.loads(text, object_pairs_hook=pairs), tuple(twice)
