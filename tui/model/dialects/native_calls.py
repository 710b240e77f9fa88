"""Native calls: repaired, converted by the schema, or found in what an endpoint failed to parse. Pure."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ToolSpec
from tui.core.turn.model_step import parse_arguments
from tui.model.dialects.call_maker import CallMaker, OfferedTools, named_in
from tui.model.dialects.mend import UnreadableJson, mend
from tui.model.dialects.stray_json_calls import NAME
from tui.model.dialects.typed import bracket_end, fitted, keywords

_TAGS = re.compile(r"\s*(?:<[^<>{}\[\]\"']{1,60}>\s*){0,4}(?:functools(?=\[))?")
_CLOSING_TAGS = re.compile(r"(?:\s*</?[^<>{}\[\]\"']{1,60}>){1,4}\s*\Z")
_PROGRAM = re.compile(rf"\s*(?:```\w*\s*)?\[?\s*(?:print\()?(?:default_api\.|functions\.)?({NAME})(?=\()")
_BEHIND = re.compile(r"[\s\])`;]*\Z")


def repaired(calls: Sequence[CallRequest], tools: Sequence[ToolSpec]) -> tuple[CallRequest, ...]:
    """Return calls with readable arguments, each value of the type that the tool's schema wants."""
    offered = OfferedTools(tools)
    return tuple(_repaired(call, offered.find(call.name)) for call in calls)


def _repaired(call: CallRequest, tool: ToolSpec | None) -> CallRequest:
    if tool is None or call.truncated or call.problem:
        return call
    guessed = read = False
    try:
        arguments = parse_arguments(call.arguments)
    except ValueError:
        try:
            mended = mend(call.arguments)
        except UnreadableJson:
            return call
        if not isinstance(mended.value, dict):
            return call
        arguments, guessed, read = mended.value, mended.guessed, True
    fit = fitted(arguments, tool.schema)
    if fit == arguments and not read:
        return call
    try:
        text = json.dumps(fit, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return call
    return replace(call, arguments=text, recovered=call.recovered or guessed)


def calls_of_generation(
    text: str, tools: Sequence[ToolSpec], used: Collection[str] = ()
) -> tuple[CallRequest, ...]:
    """Return the calls in what an endpoint took for calls and failed to parse; none if one of them is odd.

    More forms are read here than in the text of a reply, since nothing in it can be prose.
    """
    maker = CallMaker(OfferedTools(tools), used=used)
    bare = _CLOSING_TAGS.sub("", text)
    opened = _TAGS.match(bare)
    bare = bare[opened.end() :] if opened else bare
    if (call := _program_call(bare, maker)) is not None:
        return (call,)
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
