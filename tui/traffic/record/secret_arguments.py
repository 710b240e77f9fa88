"""Removes secret arguments of calls from recorded messages: to servers, to models and from models. Pure.

Only within `arguments`, so names of the protocol such as `progressToken` are not affected. What is sent is
not changed.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tui.core.jsonrpc.skimmer import outline, value_end
from tui.core.secrets.named_values import SecretArguments, SecretNames, named_values
from tui.core.secrets.places import SecretSpan
from tui.core.traffic import Captured, Direction, Kind
from tui.traffic.record.secret_replies import without_secret_deltas
from tui.traffic.record.secret_texts import Hidden, Place, Redact, in_prose, spliced, within

_CALL, _ARGUMENTS = b'"tools/call"', b'"arguments"'
_SCHEMA, _SAYS = b'"inputSchema"', (b'"writeOnly"', b'"password"')

_WRITTEN = re.compile(rb'"arguments"\s*+:\s*+(?=")')
_SAID_OR_ROLE = re.compile(rb'"role"\s*+:\s*+"([a-z]+)"|"(?:content|text)"\s*+:\s*+(?=")')
_TOOL = re.compile(rb'"name"\s*+:\s*+("[^"\\]*+(?:\\.[^"\\]*+)*")')
_DECODER = json.JSONDecoder()
_MEMBER = re.compile(rb'"arguments"\s*+:\s*+')
_SMALL = 16 * 1024
"""Bytes of a message that is parsed to find its arguments; a larger one would keep other threads waiting."""

_NEAR = 600
"""Bytes before and after the arguments of a call in which its name is searched."""


def without_secret_calls(captured: Captured, raw: bytes, known: SecretArguments, redact: Redact) -> Hidden:
    """Return `raw`, the beginning of the captured bytes, without secret arguments.

    A reply in pieces is also returned without the secrets that `redact` finds in its joined texts.
    """
    if captured.kind is Kind.MODEL_REQUEST:
        return spliced(raw, [*_written(raw, known), *_in_model_text(raw, known)])
    if captured.kind is Kind.MODEL_REPLY:
        changed = without_secret_deltas(raw, known, redact)
        return (
            changed
            if changed is not None
            else spliced(raw, [*_written(raw, known), *_in_model_text(raw, known, all_of_it=True)])
        )
    if captured.kind is None and captured.direction is Direction.OUT:
        return without_secret_arguments(raw, known, captured.source)
    return raw, frozenset()


def without_secret_arguments(raw: bytes, known: SecretArguments, server: str = "") -> Hidden:
    """Return a message with a mark for each secret argument of a tool call."""
    if _CALL not in raw or _ARGUMENTS not in raw:
        return raw, frozenset()
    start, end, tool = _arguments_in_small(raw) or _arguments_in(raw)
    return spliced(raw, list(named_values(raw, start, end, known.of(server, tool))))


def has_schemas(captured: Captured) -> bool:
    """Return whether it may say which arguments are secret."""
    raw = captured.raw
    is_list = captured.kind is None and captured.direction is Direction.IN and _SCHEMA in raw
    return is_list and any(word in raw for word in _SAYS)


def learn_schemas(captured: Captured, known: SecretArguments) -> None:
    """Learn the secret arguments from a tool list, when nothing else reads it (`mcptui tap`)."""
    if not has_schemas(captured):
        return
    try:
        message = json.loads(captured.raw)
        tools = message["result"]["tools"]
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                known.learn(captured.source, name, tool.get("inputSchema"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def _arguments_in_small(raw: bytes) -> tuple[int, int, str] | None:
    """Return the result of `_arguments_in`, in a tenth of the time; None if it might differ."""
    if len(raw) > _SMALL or b"\\" in raw or raw.count(_ARGUMENTS) != 1:
        return None
    text = raw.decode("latin-1")  # positions are those in the bytes
    try:
        match _DECODER.decode(text):
            case {"params": {"name": str(tool), "arguments": dict()}} if found := _MEMBER.search(raw):
                _, end = _DECODER.raw_decode(text, found.end())
                return found.end(), end, tool.encode("latin-1").decode("utf-8", "replace")
    except (ValueError, RecursionError):
        pass
    return None


def _arguments_in(raw: bytes) -> tuple[int, int, str]:
    """Return the range of the arguments, and the tool; for a batch or cut message, from the first on."""
    tool = ""
    try:
        at, stop = outline(raw).members["params"]
        members = outline(raw[at : stop if stop >= 0 else len(raw)]).members
        if "name" in members:
            begin, end = members["name"]
            tool = str(json.loads(raw[at + begin : at + end])) if end >= 0 else ""
        begin, end = members["arguments"]
    except (ValueError, KeyError):
        found = _TOOL.search(raw)
        return raw.index(_ARGUMENTS), len(raw), _text(found[1]) if found else tool
    whole = end - begin > 1 and raw[at + end - 1 : at + end] == b"}"
    return at + begin, at + end if whole else len(raw), tool


def _written(raw: bytes, known: SecretArguments) -> Iterator[Place]:
    """Yield the secret values in arguments that are JSON within a string, as models write them."""
    for found in _WRITTEN.finditer(raw):
        start, end = found.end(), _end(raw, found.end())
        before = list(_TOOL.finditer(raw, max(0, found.start() - _NEAR), found.start()))
        named = before[-1] if before else _TOOL.search(raw, end, end + _NEAR)
        find = partial(_arguments, known.of_model_name(_text(named[1]) if named else ""))
        yield from within(raw, start, end, find)


def _arguments(secret: SecretNames, text: bytes) -> Iterator[SecretSpan]:
    return named_values(text, 0, len(text), secret)


def _in_model_text(raw: bytes, known: SecretArguments, *, all_of_it: bool = False) -> Iterator[Place]:
    """Yield the secret values in calls that a model without function calling wrote as text."""
    role = b"assistant" if all_of_it else b""
    for found in _SAID_OR_ROLE.finditer(raw):
        if found[1] is not None:
            role = b"assistant" if all_of_it else found[1]
        elif role == b"assistant":
            start = found.end()
            yield from within(raw, start, _end(raw, start), lambda text: in_prose(text, known))


def _end(raw: bytes, start: int) -> int:
    try:
        end = value_end(raw, start)
    except ValueError:
        return start
    return len(raw) if end < 0 else end


def _text(quoted: Any) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return ""
