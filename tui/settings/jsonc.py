"""JSON with comments and trailing commas, as VS Code writes it. Pure."""

import json
import re
from collections import Counter
from typing import Any

# What is a string, so that nothing in one is taken for a comment; then what is to be blanked.
_PIECE = re.compile(
    r'"(?:[^"\\\n]++|\\[^\n])*"?|(?P<line>//[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<comma>,)(?=[\s/]*[}\]])',
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Return `text` as plain JSON of the same length, with every line where it was."""

    def blanked(found: re.Match[str]) -> str:
        if found.lastgroup is None:
            return found.group()
        return re.sub(r"[^\n]", " ", found.group())

    # Twice: a comma is only seen to trail once the comment behind it is gone.
    return _PIECE.sub(blanked, _PIECE.sub(blanked, text))


def loads(text: str) -> tuple[Any, tuple[str, ...]]:
    """Parse JSON without comments.

    Returns:
        The value, and the names that stand twice in one object: the last one counts, the first is lost.

    Raises:
        ValueError: it is not JSON; a `json.JSONDecodeError` where the place is known.
        RecursionError: it is nested too deeply.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            twice.extend(key for key, count in Counter(key for key, _ in items).items() if count > 1)
        return found

    return json.loads(text, object_pairs_hook=pairs), tuple(twice)
