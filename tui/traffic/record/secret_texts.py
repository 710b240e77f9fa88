"""Finds secret values in JSON strings that contain JSON, and replaces them with marks. Pure."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tui.core.jsonrpc.skimmer import value_end
from tui.core.secrets.named_values import SecretArguments, named_values
from tui.core.secrets.places import SecretSpan
from tui.core.traffic import Redaction

_OPENED = re.compile(rb'\{\s*+"')

Hidden = tuple[bytes, frozenset[str]]
"""Redacted bytes, and the names in their marks."""

Redact = Callable[[bytes], tuple[bytes, tuple[Redaction, ...]]]
"""Returns bytes with marks for the secrets in them, and the positions of the marks."""

Finder = Callable[[bytes], Iterable[SecretSpan]]


class Place(NamedTuple):
    """The position of a value and its replacement, with quotes escaped as at that position."""

    start: int
    end: int
    name: str
    quote: bytes


def spliced(raw: bytes, places: Iterable[SecretSpan | Place]) -> Hidden:
    """Return `raw` with a mark at each of the places."""
    parts: list[bytes] = []
    names: set[str] = set()
    done = 0
    for place in sorted(places, key=lambda one: one.start):
        if place.start < done:
            continue
        quote = place.quote if isinstance(place, Place) else b'"'
        parts += (raw[done : place.start], quote, f"[redacted:{place.name}]".encode(), quote)
        names.add(place.name)
        done = place.end
    return (b"".join((*parts, raw[done:])), frozenset(names)) if names else (raw, frozenset())


def within(raw: bytes, start: int, end: int, find: Finder) -> Iterator[Place]:
    """Yield the places in `raw` of the values that `find` finds in the string from `start` to `end`.

    The range includes the quotes.
    """
    inner = raw[start + 1 : end]
    inner = inner.removesuffix(b'"') if raw[end - 1 : end] == b'"' and end - start > 1 else inner
    if b'\\"' not in inner and b"\\u0022" not in inner:
        return
    starts, text = _unescaped(inner)
    for span in find(text):
        yield Place(start + 1 + starts[span.start], start + 1 + starts[span.end], span.name, b'\\"')


_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)


def _unescaped(inner: bytes) -> tuple[list[int], bytes]:
    """Return a JSON string without escapes, and the original position of each byte and of the end."""
    text = bytearray()
    origin: list[int] = []
    done = 0
    for found in _ESCAPE.finditer(inner):
        text += inner[done : found.start()]
        origin += range(done, found.start())
        try:
            char = str(json.loads(b'"' + found[0] + b'"')).encode("utf-8", "replace")
        except ValueError:
            char = found[0]
        text += char
        origin += [found.start()] * len(char)
        done = found.end()
    text += inner[done:]
    origin += range(done, len(inner) + 1)
    return origin, bytes(text)


def in_prose(text: bytes, known: SecretArguments) -> Iterator[SecretSpan]:
    """Yield secret values in JSON objects within prose, where a model writes calls as text."""
    done, secret = 0, None
    while opened := _OPENED.search(text, done):
        try:
            end = value_end(text, opened.start())
        except ValueError:
            end = -1
        done = len(text) if end < 0 else end
        secret = secret or known.in_text(text.decode("utf-8", "replace"))
        yield from named_values(text, opened.start(), done, secret)
