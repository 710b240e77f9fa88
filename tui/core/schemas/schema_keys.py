"""Names of properties that an endpoint refuses, changed on the way out and back on the way in. Pure.

Anthropic takes letters, digits, `_`, `.` and `-` only, 64 of them at most; `$top` and `filter[id]` are
common in tools made from OpenAPI.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Names that are accepted."""


def with_plain_keys(schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a schema whose names are all accepted, and its new names with the old ones.

    A new name is unique in the whole schema, so that it can be told from all others without knowing where
    it stands.
    """
    names = list(dict.fromkeys(_names(schema)))
    taken = set(names)
    renames: dict[str, str] = {}
    for name in names:
        if not KEY.fullmatch(name):
            renames[name] = _fresh(name, taken)
            taken.add(renames[name])
    if not renames:
        return dict(schema), {}
    return _renamed(schema, renames), {new: old for old, new in renames.items()}


def renamed_keys(value: Any, names: Mapping[str, str]) -> Any:
    """Return arguments with other names, wherever in them they stand; what `names` lacks stays."""
    if isinstance(value, Mapping):
        return {names.get(key, key): renamed_keys(item, names) for key, item in value.items()}
    return [renamed_keys(item, names) for item in value] if isinstance(value, list) else value


def _fresh(name: str, taken: set[str]) -> str:
    stem = re.sub(r"[^a-zA-Z0-9_.-]+", "_", name)[:64] or "_"
    if stem not in taken:
        return stem
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
    for length in range(8, 64, 8):
        if (fresh := f"{stem[: 63 - length]}_{digest[:length]}") not in taken:
            return fresh
    raise AssertionError("a hash of 56 digits was taken")


def _names(node: Any) -> Iterator[str]:
    """Yield every name of a property in a schema."""
    if isinstance(node, list):
        for item in node:
            yield from _names(item)
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if key == "properties" and isinstance(value, Mapping):
            yield from map(str, value)
            for inner in value.values():
                yield from _names(inner)
        elif key not in _DATA:
            yield from _names(value)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_renamed(item, names) for item in node]
    if not isinstance(node, Mapping):
        return node
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties" and isinstance(value, Mapping):
            made[key] = {names.get(name, name): _renamed(inner, names) for name, inner in value.items()}
        elif key == "required" and isinstance(value, list):
            made[key] = [names.get(name, name) if isinstance(name, str) else name for name in value]
        else:
            made[key] = value if key in _DATA else _renamed(value, names)
    return made


_DATA = frozenset({"enum", "const", "default", "examples", "example"})
"""Keywords whose values are no schemas."""
