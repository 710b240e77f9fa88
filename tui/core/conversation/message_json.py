"""Messages as JSON objects, for saved sessions and their exports. Pure.

Each object has a `VERSION`. Reading is tolerant: a missing field, or one of another type, takes its
default, and unknown fields are ignored. Only an object that is not a message at all is rejected.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, cast, get_args

from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
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


def message_object(message: Message) -> Object:
    """Return a message as a JSON object, without fields at their default.

    `at` is stored next to the message, so it is omitted too.
    """
    match message:
        case UserMessage():
            found: Object = {"role": "user", "text": message.text}
        case AssistantMessage():
            found = {
                "role": "assistant",
                "text": message.text,
                "reasoning": message.reasoning,
                "calls": [_call_object(call) for call in message.calls],
                "model": message.model,
                "echo": plain(message.echo),
                "partial": message.partial,
                "seconds": message.seconds,
                "thought": message.thought,
                "usage": asdict(message.usage) if message.usage is not None else None,
            }
        case ToolMessage():
            found = {
                "role": "tool",
                "call_id": message.call_id,
                "name": message.name,
                "text": message.text,
                "is_error": message.is_error,
                "kept": message.kept,
                "seconds": message.seconds,
                "why": message.why,
                "server": message.server,
            }
    if not isinstance(message, AssistantMessage):
        found["attachments"] = [_attachment_object(one) for one in message.attachments]
    return {"v": VERSION} | {name: value for name, value in found.items() if value or value == {}}


def message_of(found: object) -> Message:
    """Return the message in a JSON object; raise ValueError with the reason in words if it is not one."""
    if not isinstance(found, Mapping):
        raise ValueError("not an object")
    match found.get("role"):
        case "user":
            return UserMessage(_text(found, "text"), _attachments(found), _number(found, "at"))
        case "assistant":
            return AssistantMessage(
                text=_text(found, "text"),
                reasoning=_text(found, "reasoning"),
                calls=tuple(_call_of(one) for one in _list(found, "calls")),
                model=_text(found, "model"),
                echo=_object(found, "echo"),
                partial=found.get("partial") is True,
                seconds=_number(found, "seconds"),
                thought=_number(found, "thought"),
                usage=_usage(found.get("usage")),
            )
        case "tool":
            return ToolMessage(
                call_id=_text(found, "call_id"),
                name=_text(found, "name"),
                text=_text(found, "text"),
                is_error=found.get("is_error") is True,
                attachments=_attachments(found),
                kept=_text(found, "kept"),
                seconds=_number(found, "seconds"),
                why=_text(found, "why"),
                server=_text(found, "server"),
            )
        case role:
            raise ValueError(f'"role" is "{clean_line(str(role), 40)}", not "user", "assistant" or "tool"')


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


def _call_object(call: CallRequest) -> Object:
    found: Object = {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "truncated": call.truncated,
        "extra": plain(call.extra),
        "recovered": call.recovered,
        "problem": call.problem,
    }
    return {name: value for name, value in found.items() if value or value == {}}


def _call_of(found: Any) -> CallRequest:
    if not isinstance(found, Mapping):
        raise ValueError("a call is not an object")
    return CallRequest(
        id=_text(found, "id"),
        name=_text(found, "name"),
        arguments=_text(found, "arguments"),
        truncated=found.get("truncated") is True,
        extra=_object(found, "extra"),
        recovered=found.get("recovered") is True,
        problem=_text(found, "problem"),
    )


def _attachment_object(one: Attachment) -> Object:
    made = {"kind": one.kind, "mime": one.mime, "name": one.name, "size": one.size, "data": one.data}
    return made | ({"server": one.server} if one.server else {})


def _attachments(found: Mapping[Any, Any]) -> tuple[Attachment, ...]:
    return tuple(map(_attachment_of, _list(found, "attachments")))


def _attachment_of(found: Any) -> Attachment:
    if not isinstance(found, Mapping):
        raise ValueError("an attachment is not an object")
    kind, size = found.get("kind"), found.get("size")
    return Attachment(
        kind=cast(_Kind, kind) if kind in get_args(_Kind) else "blob",
        mime=_text(found, "mime"),
        name=_text(found, "name"),
        size=whole(size, 2**63 - 1) or 0,
        data=_text(found, "data"),
        server=_text(found, "server"),
    )


def _text(found: Mapping[Any, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _number(found: Mapping[Any, Any], name: str) -> float:
    return float(bounded(found.get(name)) or 0)


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, Mapping):
        return None
    prompt, completion, cached = (int(_number(found, name)) for name in ("prompt", "completion", "cached"))
    return Usage(prompt, completion, found.get("estimated") is True, cached)


def _list(found: Mapping[Any, Any], name: str) -> list[Any]:
    value = found.get(name)
    return value if isinstance(value, list) else []


def _object(found: Mapping[Any, Any], name: str) -> Mapping[str, Any] | None:
    value = found.get(name)
    return value if isinstance(value, dict) else None
