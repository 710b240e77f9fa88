"""Finds secret values in JSON text by name, such as `"password": "…"`. Pure; the text stays JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.jsonrpc.skimmer import value_end
from tui.core.secrets.places import SecretSpan
from tui.core.secrets.tool_arguments import BY_NAME, SecretNames

_TEXT = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*)(?:"(\s*+:\s*+)?|\\?\Z)', re.DOTALL)
"""A text, whole or cut off, and the colon after it if it is the name of a member."""

_EMPTY = re.compile(rb'(?:null|"?"|\{\s*\}|\[\s*\])')
_WORD = re.compile(rb"(?:true|false)")
_NOT_IN_A_NAME = re.compile("[^A-Za-z0-9_.-]")
_LONGEST = 400
"""Maximum bytes of a name; values with a longer one are not found."""


def named_values(raw: bytes, start: int, end: int, secret: SecretNames = BY_NAME) -> Iterator[SecretSpan]:
    """Yield the secret values between `start`, which is not within a text, and `end`.

    If only the name suggests a secret, true and false are kept: they say whether there is one.
    """
    while found := _TEXT.search(raw, start, end):
        start = found.end()
        if found[2] is None or len(found[1]) > _LONGEST:
            continue
        name = _name(found[1])
        if not secret.includes(name):
            continue
        try:
            stop = value_end(raw, start)
        except ValueError:
            continue
        stop = end if stop < 0 else min(stop, end)
        value = raw[start:stop]
        if _EMPTY.fullmatch(value) or (_WORD.fullmatch(value) and not secret.declares(name)) or not value:
            continue
        yield SecretSpan(start, stop, mark_name(name))
        start = stop


def mark_name(name: str) -> str:
    """Return the name of a value as it is written in a mark."""
    return _NOT_IN_A_NAME.sub("_", name)[:80]


def without_named_values(text: str, secret: SecretNames = BY_NAME) -> str:
    """Return JSON text with a mark for each secret value."""
    raw = text.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    done = 0
    for place in named_values(raw, 0, len(raw), secret):
        parts += (raw[done : place.start], f'"[redacted:{place.name}]"'.encode())
        done = place.end
    return b"".join((*parts, raw[done:])).decode("utf-8", "surrogatepass") if parts else text


def without_named_arguments(arguments: Mapping[str, Any], secret: SecretNames = BY_NAME) -> Mapping[str, Any]:
    """Return the arguments of a call with such marks; the same object if there is nothing to mark."""
    try:
        text = json.dumps(arguments)
        clear = without_named_values(text, secret)
        return arguments if clear == text else json.loads(clear)
    except (TypeError, ValueError, RecursionError):
        return arguments


def _name(quoted: bytes) -> str:
    if quoted.isascii() and b"\\" not in quoted:
        return quoted.decode("ascii")
    try:
        return str(json.loads(b'"' + quoted + b'"'))
    except ValueError:
        return quoted.decode("utf-8", "replace")
