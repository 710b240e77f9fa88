"""Text and values that can be encoded as UTF-8 and JSON. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def sendable(text: str) -> str:
    """Return `text` with adjacent halves of surrogate pairs joined, and lone ones as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class SurrogateJoiner:
    """Joins the halves of a surrogate pair that arrive in two pieces of a text."""

    def __init__(self) -> None:
        self._half = ""

    def join(self, piece: str) -> str:
        """Return the complete text so far; a first half at the end of `piece` waits for the second."""
        text = self._half + piece
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return sendable(text[: len(text) - len(self._half)])

    def finish(self) -> str:
        half, self._half = self._half, ""
        return sendable(half)


def plain_json(value: Any) -> Any:
    """Return `value` as JSON types that can be encoded."""
    match value:
        case str():
            return sendable(value)
        case Mapping():
            return {sendable(str(key)): plain_json(item) for key, item in value.items()}
        case Sequence():
            return [plain_json(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
