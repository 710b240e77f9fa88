"""Schemas with their references resolved: what is only written in another way is no difference. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.permission.differences import suspicion_of_change
from tui.core.schemas.alternatives import as_json
from tui.core.schemas.schemas import DATA, NAME_MAPS

MAX_DEPTH = 60
MAX_PARTS = 20_000
_HOLDERS = ("$defs", "definitions")
_WORDS = ("title", "description", "default", "examples")
"""Keywords that a schema may have beside a reference, instead of those of its target."""

Schema = Mapping[str, Any]


def resolved(before: Any, after: Any) -> tuple[Any, Any]:
    """Return two schemas to compare: with references resolved if they are written in other places.

    Both are returned as they are if one is recursive or too large, or a new text is suspicious.
    """
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return before, after
    if not (any(_references(before)) or any(_references(after)) or _holds(before) or _holds(after)):
        return before, after
    try:
        both = _Resolver(before).root(), _Resolver(after).root()
    except _Unresolved:
        return before, after
    is_same = as_json(both[0]) == as_json(both[1])
    is_other = is_same or sorted(_references(before)) != sorted(_references(after))
    return both if is_other and not suspicion_of_change(before, after) else (before, after)


class _Unresolved(Exception):
    """A schema is recursive, or too large."""


class _Resolver:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MAX_PARTS

    def root(self) -> Any:
        return self._copy(self._root, ())

    def _copy(self, value: Any, open_refs: tuple[str, ...], depth: int = 0) -> Any:
        """Return a schema, or a list of them, without references and definitions. Raises _Unresolved."""
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise _Unresolved
        if isinstance(value, list):
            return [self._copy(one, open_refs, depth + 1) for one in value]
        if not isinstance(value, Mapping):
            return value
        beside = {
            key: {name: self._copy(one, open_refs, depth + 1) for name, one in inner.items()}
            if key in NAME_MAPS and isinstance(inner, Mapping)
            else inner
            if key in DATA
            else self._copy(inner, open_refs, depth + 1)
            for key, inner in value.items()
            if key not in (*REFERENCES, *_HOLDERS)
        }
        ref, written = reference(value), [key for key in REFERENCES if key in value]
        if not written:
            return beside
        target = local_target(self._root, ref)
        if len(written) > 1 or ref in open_refs or not isinstance(target, Mapping):
            raise _Unresolved
        found = self._copy(target, (*open_refs, ref), depth + 1)
        is_plain = all(key in _WORDS or key not in found for key in beside)
        return {**found, **beside} if is_plain else {**beside, "allOf": [found, *_parts(beside)]}


def _parts(schema: Schema) -> list[Any]:
    found = schema.get("allOf")
    return found if isinstance(found, list) else []


def _holds(schema: Schema) -> bool:
    return any(key in schema for key in _HOLDERS)


def _references(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the references below a value with their places."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        if ref := reference(value):
            yield f"{path} {ref}"
        for key, inner in value.items():
            yield from _references(inner, f"{path}/{key}", depth + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _references(inner, f"{path}/{at}", depth + 1)
