"""Values in JSON text that are secret by their name, such as `"password": "…"`. Pure; the text stays JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.secrets.places import SecretSpan, names_a_secret_argument

_MEMBER = re.compile(rb'"([\w .-]{1,80})"\s*:\s*("(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*)')
_EMPTY = (b'""', b'"')
_NOT_IN_A_NAME = re.compile("[^A-Za-z0-9_.-]")


def named_values(raw: bytes, start: int, end: int) -> Iterator[SecretSpan]:
    """Yield the texts and numbers between `start` and `end` that are secret by their name."""
    for found in _MEMBER.finditer(raw, start, end):
        name = found[1].decode("utf-8", "replace")
        if found[2] not in _EMPTY and names_a_secret_argument(name):
            yield SecretSpan(*found.span(2), _NOT_IN_A_NAME.sub("_", name))


def without_named_values(text: str) -> str:
    """Return JSON text with a mark for each value that is secret by its name."""
    raw = text.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    done = 0
    for place in named_values(raw, 0, len(raw)):
        parts += (raw[done : place.start], f'"[redacted:{place.name}]"'.encode())
        done = place.end
    return b"".join((*parts, raw[done:])).decode("utf-8", "surrogatepass") if parts else text


def without_named_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call with such marks; the same object if there is nothing to mark."""
    try:
        text = json.dumps(arguments)
        clear = without_named_values(text)
        return arguments if clear == text else json.loads(clear)
    except (TypeError, ValueError, RecursionError):
        return arguments
