"""What a model meant by the arguments that it wrote. Pure; never repairs what was cut off."""

import hashlib
import json
from collections.abc import Collection
from typing import Any

from tui.model.openai_api.sendable import sendable

_NO_ARGUMENTS = ("", "null", "None", "[]", '""')
MAX_OBJECTS = 64
"""Objects in a row on one call; the loop runs far fewer."""


MAX_LOOKED_AT = 50_000_000
"""Characters that are parsed to see whether one call is whole: about a second, where each fragment asks."""


class Arguments:
    """The arguments of one call while they are written, in pieces or in snapshots that grow.

    Which of the two it is cannot be known before the end: `{"a":` and `{"a":1}` may be two snapshots, or the
    beginning of `{"a":{"a":1}}`. So both readings are kept until then.
    """

    def __init__(self) -> None:
        self.size = 0
        """Characters of the shorter reading."""
        self._pieces: list[str] = []
        self._looked_at = 0
        self._snapshot: list[str] = []
        self._last = ""

    def add(self, text: str) -> None:
        """Take the next piece or snapshot."""
        self._last = text
        # Not even looked at while normal arguments grow: a piece is shorter than what it continues.
        grown = self.size and len(text) >= self.size and (whole := self._shorter()).startswith("{")
        if grown and text.startswith(whole):
            self._snapshot = [text]
            self.size = len(text)
        else:
            if self._snapshot:
                self._snapshot.append(text)
            self.size += len(text)
        self._pieces.append(text)

    def _shorter(self) -> str:
        return "".join(self._snapshot or self._pieces)

    @property
    def is_object(self) -> bool:
        """Whether this begins as an object does, or one in a string."""
        return next((piece.lstrip()[:1] for piece in self._pieces if piece.strip()), "") in ("{", '"')

    @property
    def complete(self) -> bool:
        """Whether this is one whole object in either reading."""
        if not self.size or self._last.rstrip()[-1:] not in ("", "}", '"'):
            return False
        self._pieces = ["".join(self._pieces)]
        self._looked_at += len(self._pieces[0])
        if self._looked_at > MAX_LOOKED_AT:
            return False
        return is_complete(self._pieces[0]) or is_complete(self._shorter())

    @property
    def text(self) -> str:
        """What was written: all pieces, unless only snapshots explain them."""
        joined = "".join(self._pieces)
        return self._shorter() if self._snapshot and not _may_go_on(joined) else joined


def fresh_id(seed: str, used: Collection[str]) -> str:
    """Return an id of nine letters and digits (what Mistral takes) that depends on `seed` only."""
    number = 0
    while True:
        made = hashlib.sha256(f"{seed}\0{number}".encode("utf-8", "replace")).hexdigest()[:9]
        if made not in used:
            return made
        number += 1


def is_complete(text: str) -> bool:
    """Whether `text` is one whole JSON object, or a JSON string with one in it."""
    text = text.strip()
    if text[:1] == text[-1:] == '"':
        text = str(_parsed(text) or "").strip()
    return text.startswith("{") and text.endswith("}") and isinstance(_parsed(text), dict)


def settle_arguments(text: str) -> list[tuple[str, bool]]:
    """Return the arguments of the one or more calls that `text` holds, each as (JSON text, truncated).

    No arguments are `{}`; JSON in a JSON string is taken out of it; several objects in a row are several
    calls; text that ends in the middle is marked and left as it is, and so is what is no JSON at all.
    """
    text = sendable(text).strip()
    if text in _NO_ARGUMENTS:
        return [("{}", False)]
    value = _parsed(text)
    for _ in range(2):
        if not isinstance(value, str):
            break
        text, value = value.strip(), _parsed(value)
        if text in _NO_ARGUMENTS:
            return [("{}", False)]
    if isinstance(value, dict):
        return [(text if _strictly(text) else json.dumps(value, ensure_ascii=False), False)]
    if objects := _in_a_row(text):
        return [(entry, False) for entry in objects]
    return [(text, is_cut(text))]


def _may_go_on(text: str) -> bool:
    """Whether `text` is JSON, or the beginning of some that ends where an object or a string may."""
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(text: str) -> Any:
    """Return the JSON value of `text`, or None; raw line breaks in strings are let pass."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _strictly(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _in_a_row(text: str) -> list[str]:
    """Return the objects of `{…}{…}`, each as it is or in a string; [] if it is anything else.

    An empty object before others is a place holder, an object said twice is one, and a special token
    behind the last object is noise.
    """
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text) and len(found) < MAX_OBJECTS:
        if found and text.startswith(("<|", "</"), at):
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        value = _parsed(value) if isinstance(value, str) else value
        if not isinstance(value, dict):
            return []
        if not found or value != found[-1]:
            found.append(value)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    meant = [value for value in found if value] or found[:1]
    return [json.dumps(value, ensure_ascii=False) for value in meant]


def is_cut(text: str) -> bool:
    """Whether `text` is the beginning of a JSON object (or of one in a string), cut off before its end."""
    if not text.startswith(("{", '"')):
        return False
    depth: list[str] = []
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth.append("}" if char == "{" else "]")
        elif char in "}]" and (not depth or depth.pop() != char):
            return False
    return in_string or bool(depth)
