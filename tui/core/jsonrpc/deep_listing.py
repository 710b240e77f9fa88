"""Listings with entries that are nested too deeply: each costs itself, not the list. Pure."""

from functools import partial
from typing import Any

from tui.core.jsonrpc.reader import MAX_DEPTH, MAX_PARTS, read_json
from tui.core.jsonrpc.skimmer import after_space, items, outline

MAX_LISTED = 10_000
_LISTS = ("tools", "resources", "resourceTemplates", "prompts")


def read_deep_listing(raw: bytes, *, patient: bool = False) -> dict[str, Any] | None:
    """Return the response of a listing that `read_json` refuses for its depth, None if it is none.

    Members of entries that are too deep are cut off; what is left of them is deeper than a schema may be.
    `patient` is as in `read_json`.
    """
    if raw.count(b"{") + raw.count(b"[") > MAX_PARTS:
        return None
    read = partial(_read, raw, patient)
    try:
        places = _members(raw, after_space(raw, 0), len(raw.rstrip(b" \t\r\n")))
        listed = _members(raw, *places.pop("result"))
        if listed.keys().isdisjoint(_LISTS):
            return None
        result = {
            key: [_entry(raw, patient, *entry) for entry in items(raw, place[0], MAX_LISTED)]
            if key in _LISTS and raw[place[0] : place[0] + 1] == b"["
            else read(*place)
            for key, place in listed.items()
        }
        return {key: read(*place) for key, place in places.items()} | {"result": result}
    except (KeyError, ValueError, RecursionError):
        return None


def _read(raw: bytes, patient: bool, start: int, end: int) -> Any:
    return read_json(raw[start:end], patient=patient)


def _members(raw: bytes, start: int, end: int) -> dict[str, tuple[int, int]]:
    found = outline(raw, start)
    if found.end != end:
        raise ValueError("cut off")
    return found.members


def _entry(raw: bytes, patient: bool, start: int, end: int) -> Any:
    try:
        return _read(raw, patient, start, end)
    except RecursionError:
        if raw[start : start + 1] != b"{":
            return _too_deep()
    return {key: _member(raw, patient, *place) for key, place in _members(raw, start, end).items()}


def _member(raw: bytes, patient: bool, start: int, end: int) -> Any:
    try:
        return _read(raw, patient, start, end)
    except RecursionError:
        return _too_deep()


def _too_deep() -> Any:
    value: dict[str, Any] = {}
    for _ in range(MAX_DEPTH // 2):
        value = {"…": value}
    return value
