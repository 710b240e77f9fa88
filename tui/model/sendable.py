"""Text and values as they can be encoded. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any


def sendable(text: str) -> str:
    """Return `text` without lone surrogates, which cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


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
