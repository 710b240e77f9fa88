"""Messages as JSON objects, for saved sessions and their exports. Pure.

Each object has a `VERSION`. Reading is tolerant: a missing field, or one of another type, takes its
default, and unknown fields are ignored. Only an object that is not a message at all is rejected.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, cast, get_args

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Compaction,
    Message,
    Remark,
    RemarkKind,
    ToolMessage,
    Usage,
    UserMessage,
)
from tui.core.text import clean_line
from tui.core.units import bounded, whole

VERSION = 1
"""Version of the objects. It increases when an older reader would misread newer objects."""

MAX_DEPTH = 64
"""Levels of nesting kept in a provider's opaque fields; deeper values become null."""

MAX_BITS = 13_000
"""A larger integer becomes null: Python reads and writes at most 4,300 digits."""

Object = dict[str, Any]
_Kind = Literal["text", "image", "audio", "blob"]
_TYPES: Mapping[Any, type] = {"user": UserMessage, "assistant": AssistantMessage, "tool": ToolMessage}
_ROLES = {kind: role for role, kind in _TYPES.items()}


def message_object(message: Message) -> Object:
    """Return a message as a JSON object, without fields at their default.

    `at` is stored next to the message, so it is omitted too.
    """
    found = _written(message)
    attached = {"attachments": found.pop("attachments")} if "attachments" in found else {}
    found.pop("at", None)
    return {"v": VERSION, "role": _ROLES[type(message)], **found, **attached}


def message_of(found: object) -> Message:
    """Return the message in a JSON object; raise ValueError with the reason in words if it is not one."""
    if not isinstance(found, Mapping):
        raise ValueError("not an object")
    role = found.get("role")
    if not isinstance(role, str) or role not in _TYPES:
        raise ValueError(f'"role" is "{clean_line(str(role), 40)}", not "user", "assistant" or "tool"')
    return cast(Message, read(_TYPES[role], found))


def remark_object(remark: Remark) -> Object:
    """Return a remark as a JSON object, without its time; fields at their default are left out."""
    found = {name: one for name, one in _members(remark).items() if one or name in ("place", "text")}
    found.pop("at", None)
    return found


def remark_of(found: Mapping[str, Any], at: float = 0.0) -> Remark | None:
    """Return the remark in a JSON object; None if it has a wrong type or an unknown kind."""
    one = cast(Remark, read(Remark, {**found, "at": at}))
    given = {"place": None, "text": None, **found}
    is_whole = all(getattr(one, name) == given[name] for name in Remark.__slots__[:-1] if name in given)
    return one if is_whole and one.kind in get_args(RemarkKind) else None


def dumps(value: Any) -> str:
    """Return JSON in ASCII, which can store any text, even lone surrogates."""
    return json.dumps(value, separators=(",", ":"))


def plain(value: Any, depth: int = 0) -> Any:
    """Return any value as JSON can hold it: bounded in depth, without NaN, with names as text."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return int(value) if value.bit_length() <= MAX_BITS else None
        case float():
            return float(value) if math.isfinite(value) else None
        case Mapping() if depth < MAX_DEPTH:
            return {str(name): plain(one, depth + 1) for name, one in value.items()}
        case list() | tuple() if depth < MAX_DEPTH:
            return [plain(one, depth + 1) for one in value]
        case _:
            return None


def _written(value: Any) -> Any:
    match value:
        case UserMessage() | AssistantMessage() | ToolMessage() | CallRequest():
            return {name: one for name, one in _members(value).items() if one or one == {}}
        case Attachment():
            return {name: one for name, one in _members(value).items() if one or name != "server"}
        case Usage():
            return _members(value)
        case tuple():
            return [_written(one) for one in value]
        case Mapping():
            return plain(value)
        case _:
            return value


def _members(value: Any) -> Object:
    return {field.name: _written(getattr(value, field.name)) for field in fields(value)}


def read(kind: type, found: Any, what: str = "") -> Any:
    """Return a value of one of our types; `what` names it if it is not an object. Raises ValueError."""
    if not isinstance(found, Mapping):
        raise ValueError(f"{what} is not an object")
    return kind(**{field.name: _READERS[field.type](found.get(field.name)) for field in fields(kind)})


def _list_of(kind: type, what: str) -> Callable[[Any], Any]:
    return lambda found: tuple(read(kind, one, what) for one in (found if isinstance(found, list) else ()))


def _usage(found: Mapping[Any, Any]) -> Usage:
    prompt, completion, cached = (whole(found.get(name)) or 0 for name in ("prompt", "completion", "cached"))
    return Usage(prompt, completion, found.get("estimated") is True, cached)


_READERS: Mapping[Any, Callable[[Any], Any]] = {
    str: lambda found: found if isinstance(found, str) else "",
    bool: lambda found: found is True,
    int: lambda found: whole(found, 2**63 - 1) or 0,
    float: lambda found: float(bounded(found) or 0),
    _Kind: lambda found: found if found in get_args(_Kind) else "blob",
    RemarkKind: lambda found: found,
    str | None: lambda found: found if isinstance(found, str) else None,
    bool | None: lambda found: found is True,
    float | None: lambda found: bounded(found),
    Compaction | None: lambda found: found if isinstance(found, Compaction) else None,
    tuple[CallRequest, ...]: _list_of(CallRequest, "a call"),
    tuple[Attachment, ...]: _list_of(Attachment, "an attachment"),
    Mapping[str, Any] | None: lambda found: found if isinstance(found, dict) else None,
    Usage | None: lambda found: _usage(found) if isinstance(found, Mapping) else None,
}
"""How to read a field, by its type. A value of another type becomes the default."""
