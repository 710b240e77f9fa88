"""JSON from a server: bounded in depth and in parts, read in a thread without stopping all others. Pure.

The reader is Python's own `json`, here and in the trace view, so that what a person sees is what is used.
"""

import contextlib
import gc
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 256
"""Levels of nesting that are accepted; everything behind may then recurse without counting."""

MAX_PARTS = 250_000
"""Objects and lists in one large value: 16 MiB can hold five million, which are 400 MB of memory."""

FEW_LISTS = 20_000
"""Lists that the reader in C may read in a row without letting another thread run: some milliseconds."""

MAX_FOUND = 8

# Pairs stay, other escapes stay, an escaped half of a surrogate pair alone becomes U+FFFD.
_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class NotJson(ValueError):
    """The reader met what JSON does not have (NaN, Infinity) or what cannot be kept."""


def read_json(raw: bytes, *, patient: bool = False) -> Any:
    """Return the value of a text.

    Args:
        raw: UTF-8; what is not becomes U+FFFD, and so does half of a surrogate pair.
        patient: let other threads run while reading, and count the parts; several times slower.

    Raises:
        NotJson: it has something that is refused; the message names it.
        RecursionError: it is nested too deeply.
        ValueError: it is not JSON.
    """
    text = _text_of(raw)
    if patient:
        with _no_collections():
            value = _read_patiently(text)
    else:
        value = json.loads(text, **_STRICT)
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH:
        _check_depth(value)
    return value


def objects_within(raw: bytes, opening: re.Pattern[str]) -> list[Any]:
    """Return the JSON objects that begin like `opening` somewhere in a text, at most `MAX_FOUND`."""
    text = _text_of(raw)
    decoder = json.JSONDecoder(**_STRICT)
    found: list[Any] = []
    start = opening.search(text)
    for _ in range(MAX_FOUND):
        if start is None:
            break
        try:
            value, end = decoder.raw_decode(text, start.start())
            _check_depth(value)
            found.append(value)
        except (ValueError, RecursionError):
            end = start.end()
        start = opening.search(text, end)
    return found


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Keep the garbage collector still: it looks at every part again and again while there are ever more.

    All other threads wait while it looks (measured: 0.2 s for a schema of 3 MiB), and JSON has no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _text_of(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPES.sub(lambda found: "\ufffd" if found[1] else found[0], text)
    return text


def _read_patiently(text: str) -> Any:
    left = MAX_PARTS

    def counted(value: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise NotJson(f"more than {MAX_PARTS:,} objects and lists")
        return value

    # Reading in C holds the interpreter's lock to the end; a call of Python code per value lets go.
    decoder = json.JSONDecoder(**_STRICT, object_hook=counted, parse_int=_whole)
    if text.count("[") > FEW_LISTS:
        # C asks nobody about a list (measured: five million of them held the lock for 1.6 s).
        read_list: Callable[..., Any] = json.decoder.JSONArray  # type: ignore[attr-defined]
        decoder.parse_array = lambda *args: counted(read_list(*args))  # type: ignore[attr-defined]
        decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    return decoder.decode(text)


def _refuse(word: str) -> Any:
    raise NotJson(word)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):  # 1e999 is JSON, but nobody behind us could write it again
        raise NotJson("a number out of range")
    return value


def _whole(digits: str) -> int:
    return int(digits)


_STRICT: dict[str, Any] = {"parse_constant": _refuse, "parse_float": _finite}


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise RecursionError
