"""The one walker over values, above all to remove secrets: JSON and our own dataclasses, nested. Pure.

JSON is walked without recursion, because a server may nest it as deeply as it likes. Of our own types, the
fields by which something is asked for again are not changed: `server`, `id` and the like.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from tui.core.secrets.encodings import data_uri, octets_of, plain_base64

T = TypeVar("T")
Clear = Callable[[str], str]
OMITTED: Any = object()
"""The value that `changed` leaves out."""

_SHORTEST_NUMBER = 10**7
"""Numbers with fewer digits than `redact.MIN_SECRET` are not searched."""

_KEPT = frozenset(
    "server tool id call_id call kept digest origin kind role model profile recording parent by rule".split()
)
"""Fields of our own types that are not changed: what is asked for by them would not be found."""

_NAMED = frozenset({"Tool", "PromptInfo", "PromptArgument", "CallRequest", "ToolMessage"})
"""Types that are asked for by `name`."""


def texts_in(value: Any, of_media: Clear = str) -> Iterator[str]:
    """Yield every text in a value, names of members and long numbers included, in no particular order.

    `of_media` returns what to search of the base64 of a picture, a sound or a file.
    """
    waiting = [value]
    while waiting:
        match waiting.pop():
            case Enum():
                pass
            case str() as text:
                yield text
            case Mapping() as inner:
                yield from inner
                waiting.extend(inner.values())
            case list() | tuple() as items:
                waiting.extend(items)
            case int() | float() as number:
                if abs(number) >= _SHORTEST_NUMBER:
                    yield str(number)
            case other if is_dataclass(other):
                found = {name: getattr(other, name) for name in _walked(other)}
                if _is_media(found):
                    yield of_media(found.pop("data"))
                waiting.extend(one for one in found.values() if not isinstance(one, int | float))
            case _:
                pass


def without_secrets(value: T, clear: Clear, media: Clear | None = None) -> T:
    """Return a value with `clear` applied to its texts; the value itself if there is nothing to change.

    Its texts are searched at once, which is cheaper than one by one. `media` clears base64 in place of
    `clear_base64`; with `unchanged`, it is not even searched.
    """
    of_media = _decoded if media is None else (lambda data: "") if media is unchanged else str
    joined = "\n".join(texts_in(value, of_media))
    return value if clear(joined) == joined else redacted(value, clear, media)


def redacted(value: T, clear: Clear, media: Clear | None = None) -> T:
    """Return a copy of a value with `clear` applied to every text, name of a member and long number."""
    root: list[Any] = [value]
    waiting: list[Any] = [root]

    def copied(inner: Any) -> Any:
        match inner:
            case Enum():
                return inner
            case str():
                return clear(inner)
            case Mapping():
                waiting.append(copy := {clear(str(name)): item for name, item in inner.items()})
                return copy
            case list() | tuple():
                waiting.append(items := list(inner))
                return items
            case int() | float() if abs(inner) >= _SHORTEST_NUMBER and clear(str(inner)) != str(inner):
                return clear(str(inner))
            case _:
                return _of_our_type(inner, clear, media) if is_dataclass(inner) else inner

    while waiting:
        holder = waiting.pop()
        for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            holder[key] = copied(inner)
    return cast(T, root[0])


def changed(value: Any, change: Callable[[tuple[Any, ...], Any], Any], path: tuple[Any, ...] = ()) -> Any:
    """Return a copy of a value with `change(path, part)` in place of each part, the whole value first.

    Only a part that it returns as it is, is walked in turn; one for which it returns `OMITTED` is left out.
    It is recursive, so `change` must limit the depth of what a server sent.
    """
    found = change(path, value)
    if found is not value:
        return found
    match value:
        case Mapping():
            parts = {name: changed(inner, change, (*path, name)) for name, inner in value.items()}
            return {name: one for name, one in parts.items() if one is not OMITTED}
        case list() | tuple():
            items = (changed(inner, change, (*path, place)) for place, inner in enumerate(value))
            return type(value)(one for one in items if one is not OMITTED)
        case _ if is_dataclass(value):
            ours: Any = value
            names = [one.name for one in fields(ours)]
            return replace(
                ours, **{name: changed(getattr(ours, name), change, (*path, name)) for name in names}
            )
    return value


def _of_our_type(value: Any, clear: Clear, media: Clear | None) -> Any:
    changed: dict[str, Any] = {}
    found = {name: getattr(value, name) for name in _walked(value)}
    for name, inner in found.items():
        match inner:
            case int() | float() | None | Enum():
                continue
            case str() if name == "kind":
                continue
            case str() if name == "data" and _is_media(found):
                shown: Any = media(inner) if media else clear_base64(inner, clear)
                if shown != inner:
                    changed["size"] = len(base64.b64decode(plain_base64(shown) or "") or shown)
            case str() if name == "arguments":
                shown = clear_json(inner, clear)
            case tuple():
                shown = tuple(redacted(one, clear, media) for one in inner)
            case _:
                shown = redacted(inner, clear, media)
        if not isinstance(inner, str) or shown != inner:
            changed[name] = shown
    return replace(value, **changed) if changed else value


def _walked(value: Any) -> tuple[str, ...]:
    """Return the names of the fields that are changed, and `kind`, which says what `data` is."""
    kept = _KEPT | {"name"} if type(value).__name__ in _NAMED else _KEPT
    names = [field.name for field in fields(value)]
    media = {"kind"} if {"kind", "data", "size"} <= set(names) else set()
    return tuple(name for name in names if name not in kept or name in media)


def _is_media(found: Mapping[str, Any]) -> bool:
    return "kind" in found and found["kind"] != "text"


def clear_json(text: str, clear: Clear) -> str:
    """Return JSON text without secrets; valid JSON stays valid."""
    cleared = clear(text)
    if cleared == text:
        return text
    try:
        return json.dumps(redacted(json.loads(text), clear), ensure_ascii=False)
    except (ValueError, RecursionError):
        return cleared


def clear_base64(data: str, clear: Clear) -> str:
    """Return base64, however it is written, whose bytes contain no secret; other text is cleared itself."""
    plain = plain_base64(data)
    held = _held(plain)
    cleared = clear(held)
    if cleared != held:
        return data_uri(data) + base64.b64encode(octets_of(cleared)).decode()
    return data if plain == data else clear(data)


def unchanged(data: str) -> str:
    """Return base64 as it is."""
    return data


def _decoded(data: str) -> str:
    """Return what to search of base64: also the text itself, unless it is plain base64."""
    plain = plain_base64(data)
    return _held(plain) if plain == data else f"{data}\n{_held(plain)}"


def _held(plain: str | None) -> str:
    return base64.b64decode(plain or "").decode("utf-8", "surrogateescape")
