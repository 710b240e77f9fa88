"""Partial quotes of a key: its head or tail alone, or both around a mask like `sk-a***wxyz`. Pure.

Endpoints quote the key that they refuse, cut to a length or masked. Only keys of endpoints are looked for
in this way: parts of other secret values, such as a URL in a header, are ordinary text.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

MIN_KEY = 16
"""Characters; parts of a shorter key would match ordinary text."""

MIN_PART = 12
"""Characters of a head or a tail that is quoted alone: a shorter one may be public, like `sk-ant-api03-`."""

MIN_MASKED = 6
"""Characters of the key that are visible around a mask."""

MIN_PRIVATE = 3
"""Of these, how many are not part of a public prefix: `sk-proj-...` is a placeholder and quotes no key."""

MAX_MASKS = 2000
"""Masks that are looked at in one body: a flood of dots must not keep the recorder busy."""

_MASK = re.compile(
    rb"\*{3,}|\.{3,}|[xX]{4,}|#{3,}|(?:\xe2\x80[\xa2\xa6]|\xe2\x97\x8f|\xc2\xb7)+|(?:\\u20(?:22|26)|\\u25cf)+"
)
_PUBLIC = re.compile(rb"AIza(?:Sy)?|(?:[a-z]{1,8}[0-9]{0,2}[-_])*")
"""Prefixes that all keys of a provider share: `sk-`, `sk-ant-api03-`, `github_pat_`."""

_MASK_HINTS = (b"***", b"...", b"xxxx", b"XXXX", b"###", b"\xe2\x80", b"\xe2\x97", b"\xc2\xb7", b"\\u2")


class PartialQuotes:
    """Finds parts of keys in bytes.

    Args:
        keys: names by value; those shorter than `MIN_KEY` are ignored.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = [
            (octets, name, _public(octets))
            for value, name in keys.items()
            if len(octets := value.encode()) >= MIN_KEY
        ]

    def spans_in(self, raw: bytes) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of every part of a key."""
        for key, name, public in self._keys:
            for start, end in (*_heads(raw, key, max(MIN_PART, public + MIN_PRIVATE)), *_tails(raw, key)):
                yield start, end, name
        if self._keys and any(hint in raw for hint in _MASK_HINTS):
            yield from self._masked(raw)

    def _masked(self, raw: bytes) -> Iterator[tuple[int, int, str]]:
        for found in islice(_MASK.finditer(raw), MAX_MASKS):
            start, end = found.span()
            for key, name, public in self._keys:
                head, tail = _head_before(raw, start, key), _tail_behind(raw, end, key)
                if head + tail >= MIN_MASKED and max(0, head - public) + tail >= MIN_PRIVATE:
                    yield start - head, end + tail, name


def _public(key: bytes) -> int:
    """Return the length of the public prefix of a key."""
    found = _PUBLIC.match(key)
    return found.end() if found else 0


def _heads(raw: bytes, key: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    start = raw.find(key[:shortest])
    while start >= 0:
        length = min(shortest, len(key))
        while length < len(key) and raw[start + length : start + length + 1] == key[length : length + 1]:
            length += 1
        yield start, start + length
        start = raw.find(key[:shortest], start + length)


def _tails(raw: bytes, key: bytes) -> Iterator[tuple[int, int]]:
    place = raw.find(key[-MIN_PART:])
    while place >= 0:
        end, length = place + MIN_PART, MIN_PART
        while length < len(key) and end > length and raw[end - length - 1] == key[-length - 1]:
            length += 1
        yield end - length, end
        place = raw.find(key[-MIN_PART:], end)


def _head_before(raw: bytes, place: int, key: bytes) -> int:
    """Return how many bytes of the head of `key` end at `place`."""
    if raw[place - 1 : place] not in key:
        return 0
    longest = min(place, len(key) - 1)
    return next((size for size in range(longest, 0, -1) if raw.startswith(key[:size], place - size)), 0)


def _tail_behind(raw: bytes, place: int, key: bytes) -> int:
    """Return how many bytes of the tail of `key` begin at `place`."""
    if raw[place : place + 1] not in key:
        return 0
    longest = min(len(raw) - place, len(key) - 1)
    return next((size for size in range(longest, 0, -1) if raw.startswith(key[-size:], place)), 0)
