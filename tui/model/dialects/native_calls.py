"""Native calls: repaired, converted by the schema, or found in text that an endpoint cannot parse. Pure."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ToolSpec
from tui.core.turn.model_step import parse_arguments
from tui.model.dialects.argument_repair import (
    Mended,
    UnreadableJson,
    bracket_end,
    fitted,
    keywords,
    mend,
    properties_of,
    span,
)
from tui.model.dialects.call_maker import (
    ARGUMENT_KEYS,
    SERVER_KEYS,
    TOOL_KEYS,
    CallMaker,
    OfferedTools,
    named_in,
)
from tui.model.dialects.leaked_forms import NAME
from tui.model.openai_api.call_slots import fresh_id

_TAGS = re.compile(r"\s*(?:<[^<>{}\[\]\"']{1,60}>\s*){0,4}(?:functools(?=\[))?")
_CLOSING_TAGS = re.compile(r"(?:\s*</?[^<>{}\[\]\"']{1,60}>){1,4}\s*\Z")
_PROGRAM = re.compile(rf"\s*(?:```\w*\s*)?\[?\s*(?:print\()?(?:default_api\.|functions\.)?({NAME})(?=\()")
_WITH_ARGUMENTS = re.compile(rf"\s*({NAME}?)\s*[=(:>]{{0,2}}\s*(\{{.*\}})\s*\)?\s*", re.DOTALL)
_AROUND_NAME = re.compile(r"^[\s`\"']*(?:functions\.|default_api\.|tools\.)?|(?:\(\)|:\d{1,6})?[\s`\"';]*$")
_BEFORE = re.compile(r"\s*(?:json|JSON|arguments|parameters)?\s*[=:]?\s*")
_KEYWORDS = re.compile(r"\s*[A-Za-z_]\w{0,63}\s*=[^=]")
_CALL_KEYS = frozenset((*TOOL_KEYS, *ARGUMENT_KEYS, *SERVER_KEYS, "type", "id"))
_BEHIND = re.compile(r"[\s\])`;]*\Z")


def repaired(calls: Sequence[CallRequest], tools: Sequence[ToolSpec]) -> tuple[CallRequest, ...]:
    """Return calls with readable arguments, each value of the type that the tool's schema requires."""
    offered = OfferedTools(tools)
    used = {call.id for call in calls}
    named = (_named(one, offered) for call in calls for one in _apart(call, offered, used))
    return tuple(_repaired(call, offered.find(call.name)) for call in named)


def _apart(call: CallRequest, offered: OfferedTools, used: set[str]) -> Sequence[CallRequest]:
    """Return the calls that one of no tool only wraps: `multi_tool_use.parallel` of OpenAI's models."""
    if call.truncated or call.problem or offered.find(call.name) is not None:
        return (call,)
    try:
        wrapped = parse_arguments(call.arguments).get("tool_uses")
    except ValueError:
        return (call,)
    found: list[CallRequest] = []
    for use in wrapped if isinstance(wrapped, list) else ():
        named = named_in(use)
        tool = offered.find(named.tool) if named else None
        if named is None or tool is None or not isinstance(named.arguments, dict):
            return (call,)
        identity = fresh_id(f"{call.id}\0{len(found)}", used) if found else call.id
        used.add(identity)
        text = json.dumps(named.arguments, ensure_ascii=False)
        found.append(replace(call, id=identity, name=tool.name, arguments=text, recovered=True))
    return found or (call,)


def _named(call: CallRequest, offered: OfferedTools) -> CallRequest:
    """Return a call under the name of its tool, even if the model wrote something around the name."""
    if offered.named(call.name) is not None or call.problem:
        return call
    if (whole := _WITH_ARGUMENTS.fullmatch(call.name)) and call.arguments in ("", "{}"):
        if (tool := offered.find(whole[1])) is not None and not call.truncated:
            return replace(call, name=tool.name, arguments=whole[2], recovered=True)
        return call
    bare = _AROUND_NAME.sub("", call.name)
    tool = offered.find(bare)
    return call if tool is None else replace(call, name=tool.name)


def _repaired(call: CallRequest, tool: ToolSpec | None) -> CallRequest:
    if tool is None or call.truncated or call.problem:
        return call
    try:
        arguments: Any = parse_arguments(call.arguments)
        mended = Mended(arguments)
    except ValueError:
        arguments = None
        mended = _read(call.arguments)
    mended = _unwrapped(mended, tool)
    if not isinstance(mended.value, dict):
        return call
    fit = fitted(mended.value, tool.schema)
    if fit == arguments:
        return call
    try:
        text = json.dumps(fit, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return call
    return replace(call, arguments=text, recovered=call.recovered or mended.guessed)


def _read(text: str) -> Mended:
    """Return the object in a text that is not JSON: broken JSON, JSON among other words, or Python."""
    try:
        return mend(text)
    except UnreadableJson:
        pass
    begin = text.find("{")
    if begin > 0 and _BEFORE.fullmatch(text[:begin]):
        text = text[begin:]
    if text.lstrip().startswith("{") and (end := span(text, text.find("{"))) >= 0:
        if "{" not in text[end:]:
            try:
                return Mended(mend(text[:end]).value, guessed=True)
            except UnreadableJson:
                return Mended(None)
    return Mended(keywords(text) if _KEYWORDS.match(text) else None, guessed=True)


def _unwrapped(mended: Mended, tool: ToolSpec) -> Mended:
    """Return the arguments in a whole call, or in a single key that the tool does not have."""
    value, properties = mended.value, properties_of(tool.schema)
    if not isinstance(value, dict) or not properties or value.keys() & properties.keys():
        return mended
    named = named_in({"name": tool.name, **value})
    if named is None or not named.told or not value.keys() <= _CALL_KEYS:
        return mended
    inner = named.arguments
    if isinstance(inner, str):
        try:
            inner = mend(inner).value
        except UnreadableJson:
            return mended
    meant = isinstance(inner, dict) and inner and inner.keys() <= properties.keys()
    return Mended(inner, guessed=True) if meant else mended


def calls_of_generation(
    text: str, tools: Sequence[ToolSpec], used: Collection[str] = ()
) -> tuple[CallRequest, ...]:
    """Return the calls in a text that an endpoint failed to parse as calls; none if one of them is unclear.

    More forms count than in the text of a reply, because this text cannot be prose.
    """
    maker = CallMaker(OfferedTools(tools), used=used)
    bare = _CLOSING_TAGS.sub("", text)
    opened = _TAGS.match(bare)
    bare = bare[opened.end() :] if opened else bare
    if (call := _program_call(bare, maker)) is not None:
        return (call,)
    if (whole := _WITH_ARGUMENTS.fullmatch(bare)) and (tool := maker.offered.find(whole[1])) is not None:
        call = maker.call(tool.name, whole[2], recovered=True)
        return () if call.problem or call.truncated else (call,)
    try:
        value = mend(bare).value
    except UnreadableJson:
        return ()
    found: list[CallRequest] = []
    for item in _entries(value):
        named = named_in(item)
        tool = maker.offered.find(named.tool, named.server) if named else None
        if named is None or tool is None:
            return ()
        arguments = item.get("parameters", named.arguments) if not named.told else named.arguments
        found.append(maker.of_value(tool.name, arguments, recovered=True))
    return () if any(call.problem for call in found) else tuple(found)


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of calls in a value: one, a list, or under `tool_calls`."""
    if isinstance(value, list):
        for item in value:
            yield from _entries(item)
    elif isinstance(value, Mapping):
        inner = value.get("tool_calls") or value.get("function_call")
        if isinstance(inner, list | Mapping):
            yield from _entries(inner)
        else:
            yield value


def _program_call(text: str, maker: CallMaker) -> CallRequest | None:
    """Return the call in `name(key=value)`, or None."""
    opener = _PROGRAM.match(text)
    tool = maker.offered.find(opener[1]) if opener else None
    end = bracket_end(text, opener.end()) if opener else -1
    if opener is None or tool is None or end < 0 or not _BEHIND.match(text, end):
        return None
    values = keywords(text[opener.end() + 1 : end - 1])
    if values is None or any(name.isdecimal() for name in values):
        return None
    return maker.of_value(tool.name, values, recovered=True)
