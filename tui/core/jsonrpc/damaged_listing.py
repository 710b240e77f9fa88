"""Reads answers in which a part cannot be read, and loses only that part. Pure.

A part is an entry of a listing (one tool, one resource) or a member of a listing or of a handshake. It cannot
be read if it is nested too deeply, has a number out of range, or is not JSON inside its brackets.
"""

import re
from typing import Any

from tui.core.jsonrpc.reader import MAX_DEPTH, MAX_PARTS, NotJson, read_json
from tui.core.jsonrpc.skimmer import after_space, items, outline

MAX_LISTED = 10_001
"""One more than are offered, so that the surplus is noticed."""

_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
_HANDSHAKES = ("capabilities", "supportedVersions")
_CANDIDATE = re.compile(rb'"(?:%s)"' % "|".join((*_LISTS, *_HANDSHAKES)).encode())
_LOOKED_AT = 64 * 1024


class Unreadable(dict[str, Any]):
    """The readable part of an entry or a member, which may be empty, and `why` the rest is missing."""

    def __init__(self, why: str, readable: dict[str, Any] | None = None) -> None:
        super().__init__(readable or {})
        self.why = why


def may_be_damaged_listing(raw: bytes) -> bool:
    """Whether a rejected line may be a listing or a handshake; cheap for anything else."""
    return b'"result"' in raw and _CANDIDATE.search(raw, 0, _LOOKED_AT) is not None


def read_damaged_listing(raw: bytes) -> dict[str, Any] | None:
    """Return the listing or handshake that `read_json` rejects, None if it is neither.

    An entry that cannot be read is `Unreadable`, with its readable members. It lets other threads run: 10,000
    damaged entries take 0.15 s.
    """
    if not may_be_damaged_listing(raw) or raw.count(b"{") + raw.count(b"[") > MAX_PARTS:
        return None
    try:
        places = _members(raw, after_space(raw, 0), len(raw.rstrip(b" \t\r\n")))
        found = _members(raw, *places.pop("result"))
        if found.keys().isdisjoint((*_LISTS, *_HANDSHAKES)):
            return None
        result = {
            key: _entries(raw, *place)
            if key in _LISTS and raw[place[0] : place[0] + 1] == b"["
            else _entry(raw, *place)
            for key, place in found.items()
        }
        return {key: _read(raw, *place) for key, place in places.items()} | {"result": result}
    except (KeyError, ValueError, RecursionError):
        return None


def _read(raw: bytes, start: int, end: int) -> Any:
    return read_json(raw[start:end], patient=True)


def _members(raw: bytes, start: int, end: int) -> dict[str, tuple[int, int]]:
    found = outline(raw, start)
    if found.end != end:
        raise ValueError("cut off")
    return found.members


def _entries(raw: bytes, start: int, end: int) -> list[Any]:
    places = list(items(raw, start, MAX_LISTED))
    after = after_space(raw, places[-1][1] if places else start + 1)
    if len(places) < MAX_LISTED and after != end - 1:
        raise ValueError("no comma")
    return [_entry(raw, *place) for place in places]


def _entry(raw: bytes, start: int, end: int) -> Any:
    whole = _member(raw, start, end)
    if not isinstance(whole, Unreadable) or raw[start : start + 1] != b"{":
        return whole
    try:
        places = _members(raw, start, end)
    except ValueError:
        return whole
    read = {key: _member(raw, *place) for key, place in places.items()}
    return Unreadable(
        next(
            (f"its {key} {value.why}" for key, value in read.items() if isinstance(value, Unreadable)),
            whole.why,
        ),
        {key: value for key, value in read.items() if not isinstance(value, Unreadable)},
    )


def _member(raw: bytes, start: int, end: int) -> Any:
    try:
        return _read(raw, start, end)
    except RecursionError:
        return Unreadable(f"nests deeper than {MAX_DEPTH} levels")
    except NotJson as problem:
        return Unreadable(f"has {problem.part}")
    except ValueError:
        return Unreadable("is not JSON")
