"""Makes calls from what a parser has read: resolved, repaired, or with the problem for the model. Pure."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tui.core.conversation.conversation import CallRequest
from tui.core.errors import reason_of
from tui.core.matching import folded_name
from tui.core.ports import ToolSpec
from tui.core.schemas.schemas import arms_of, kinds_of, merged
from tui.core.text import list_in, mapping, object_in
from tui.core.turn.model_step import parse_arguments
from tui.core.turn.prepared_calls import EXAMPLE
from tui.model.dialects.argument_repair import (
    Mended,
    UnreadableJson,
    bracket_end,
    fitted,
    keywords,
    mend,
    span,
    try_mend,
)
from tui.model.openai_api.call_slots import fresh_id, sendable

NAME = r"[\w.\-/]{1,128}"
_PLAIN = re.compile(NAME)
_PREFIX = re.compile(r"^(?:functions|default_api|tools)\.")

_NOISE = frozenset("mcp function functions tool tools default api assistant call server client".split())
"""Words that models write before the name of a tool."""

_MAX_BEFORE = 4
_LONGEST = 256
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: `getWeather` and `get_weather` have the same."""
    return [word.casefold() for word in _WORD.findall(name)]


class OfferedTools:
    """The offered tools, found by any spelling of their names."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.tools = tuple(tools)
        self._exact: dict[str, ToolSpec] = {tool.name: tool for tool in tools}

    @cached_property
    def _spellings(self) -> dict[str, list[ToolSpec]]:
        """The tools by their names, folded and as words."""
        found: dict[str, list[ToolSpec]] = {}
        for tool in self.tools:
            pair = f"{tool.server} {tool.tool}"
            marks = ("/", ".", "__", ":") if tool.server else ()
            spelled = (f"{tool.server}{mark}{tool.tool}" for mark in marks)
            folded = map(folded_name, (tool.name, tool.tool or tool.name, *spelled))
            worded = (tool.name, pair, f"{tool.server} {pair}", tool.tool)
            for name in filter(None, {*folded, *(" ".join(_words(name)) for name in worded)}):
                found.setdefault(name, []).append(tool)
        return found

    def find(self, name: str, server: str = "") -> ToolSpec | None:
        """Return the only match; never guess between two.

        Models write names as other hosts do: `mcp__fx__get_weather`, `fx.getWeather`. So whatever is between
        its words counts as the same, and words before the name do not count.
        """
        name, server = name.strip().strip("`\"'"), server.strip().strip("`\"'")
        if server:
            return self._found(f"{server}__{name}") or self._exact.get(name)
        for spelled in (name, _PREFIX.sub("", name)):
            if (found := self._found(spelled)) is not None:
                return found
        words = _words(name[:_LONGEST])
        for before in range(min(_MAX_BEFORE, len(words))):
            if same := self._spellings.get(" ".join(words[before:])):
                return same[0] if len(same) == 1 else None
            if words[before] not in _NOISE:
                return None
        return None

    def _found(self, name: str) -> ToolSpec | None:
        if name in self._exact:
            return self._exact[name]
        same = self._spellings.get(folded_name(name), ())
        return same[0] if len(same) == 1 else None

    def named(self, name: str) -> ToolSpec | None:
        return self._exact.get(name)


def apart(tool: ToolSpec) -> tuple[str, str]:
    """Return server and tool for the system text: only the qualified name if their own names are unusual.

    The server chooses the tool's own name, which would get into the system text.
    """
    if _PLAIN.fullmatch(tool.server) and _PLAIN.fullmatch(tool.tool):
        return tool.server, tool.tool
    return "", tool.name


UNNAMED = "unnamed_tool"
"""The name of a call without one."""

MAX_NAME = 64
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_-]")
"""Characters that providers reject in the name of a native call; a history may be sent that way later."""

SERVER_KEYS = ("server_name", "server")
TOOL_KEYS = ("tool_name", "tool", "name", "function", "action", "function_name", "recipient_name")
ARGUMENT_KEYS = ("arguments", "parameters", "tool_params", "params", "args", "input", "action_input")
NAMED = re.compile(r"""["'](?:tool_name|tool|name)["']\s*:\s*["']([^"'\\]{1,200})["']""")
"""Finds the name of the tool in a call that is not valid JSON."""

_SAMPLES = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}


@dataclass(frozen=True, slots=True)
class Named:
    """A call described by one JSON object; `told`: the object has a key for arguments."""

    server: str
    tool: str
    arguments: Any
    told: bool


def named_in(value: Any) -> Named | None:
    """Return the call that a JSON object describes, under any of the known keys, or None."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return named_in({**inner, "id": value.get("id")})
    tool = next((value[key] for key in TOOL_KEYS if isinstance(value.get(key), str)), "")
    server = next((value[key] for key in SERVER_KEYS if isinstance(value.get(key), str)), "")
    key = next((key for key in ARGUMENT_KEYS if key in value), "")
    return Named(server, tool.strip(), value.get(key), bool(key)) if tool.strip() else None


def sample(tool: ToolSpec) -> dict[str, Any]:
    """Return the minimal arguments of a tool with sample values, for an example."""
    properties = object_in(tool.schema, "properties")
    names = [name for name in list_in(tool.schema, "required") if name in properties]
    return {name: _sample_value(properties[name]) for name in (names or list(properties)[:1])}


def _sample_value(schema: Any) -> Any:
    whole = merged(mapping(schema))
    for key in ("default", "const", "enum", "examples"):
        if key in ("default", "const") and key in whole:
            return whole[key]
        if isinstance(choices := whole.get(key), list) and choices:
            return choices[0]
    for arm in arms_of(whole):
        if kinds_of(arm) != ("null",):
            return _sample_value(arm)
    return _SAMPLES.get("".join(kinds_of(whole)), "…")


class CallMaker:
    """Makes the calls of one reply.

    `write` returns a call of a tool with arguments as JSON text in the dialect, for examples; `used` are ids
    already used in the conversation.
    """

    def __init__(
        self,
        offered: OfferedTools,
        write: Callable[[ToolSpec, str], str] | None = None,
        used: Collection[str] = (),
    ) -> None:
        self.offered = offered
        self._write = write
        self._used = set(used)

    def call(self, tool: str, arguments: str, *, server: str = "", recovered: bool = False) -> CallRequest:
        """Return the call of a tool with arguments as JSON text, empty for none; the model closed the call.

        `recovered`: it was found where none was expected.
        """
        arguments = arguments.strip()
        try:
            mended = mend(arguments) if arguments else Mended({})
            return self.of_value(tool, mended.value, server=server, recovered=recovered or mended.guessed)
        except UnreadableJson as error:
            return self.broken(f"the arguments are not valid JSON ({error})", tool, server, arguments)

    def of_value(
        self, tool: str, value: Any, *, server: str = "", recovered: bool = False, identity: str = ""
    ) -> CallRequest:
        if isinstance(value, str) and value.strip():  # JSON in a JSON string
            try:
                value = mend(value).value
            except UnreadableJson as error:
                return self.broken(f"the arguments are not valid JSON ({error})", tool, server, value)
        if value is None or value == "" or value == []:
            value = {}
        if not isinstance(value, dict):
            kind = "list" if isinstance(value, list) else "single value"
            return self.broken(f"the arguments must be one JSON object, not a {kind}", tool, server)
        try:
            text = sendable(json.dumps(value, ensure_ascii=False, allow_nan=False))
        except (ValueError, TypeError, RecursionError) as error:
            return self.broken(f"the arguments are not valid JSON ({reason_of(error)})", tool, server)
        return CallRequest(self._id(identity, tool), self._name(tool, server), text, recovered=recovered)

    def lost(self, tool: str, server: str = "", arguments: str = "") -> CallRequest:
        """Return a call whose end is missing, which is answered but never run."""
        return CallRequest(self._id("", tool), self._name(tool, server), arguments, truncated=True)

    def broken(self, problem: str, tool: str = "", server: str = "", arguments: str = "") -> CallRequest:
        """Return a call that cannot be parsed; the model gets the reason, with a correct example."""
        found = self.offered.find(tool, server) or next(iter(self.offered.tools), None)
        if found is not None and self._write is not None:
            least = json.dumps(sample(found), ensure_ascii=False)
            problem = f"{problem}.{EXAMPLE}{self._write(found, least)}"
        name = self._name(tool, server)
        return CallRequest(self._id("", tool), name, arguments or "{}", problem=problem)

    def _name(self, tool: str, server: str) -> str:
        if (found := self.offered.find(tool, server)) is not None:
            return found.name
        wanted = f"{server}__{tool}" if server and tool else tool
        return _NOT_ALLOWED.sub("_", wanted)[:MAX_NAME] or UNNAMED

    def _id(self, identity: str, tool: str) -> str:
        if not identity or identity in self._used:
            identity = fresh_id(f"{len(self._used)}\0{tool}", self._used)
        self._used.add(identity)
        return identity


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
    if (whole := try_mend(text)) is not None:
        return whole
    begin = text.find("{")
    if begin > 0 and _BEFORE.fullmatch(text[:begin]):
        text = text[begin:]
    if text.lstrip().startswith("{") and (end := span(text, text.find("{"))) >= 0:
        if "{" not in text[end:]:
            head = try_mend(text[:end])
            return Mended(None) if head is None else Mended(head.value, guessed=True)
    return Mended(keywords(text) if _KEYWORDS.match(text) else None, guessed=True)


def _unwrapped(mended: Mended, tool: ToolSpec) -> Mended:
    """Return the arguments in a whole call, or in a single key that the tool does not have."""
    value, properties = mended.value, object_in(tool.schema, "properties")
    if not isinstance(value, dict) or not properties or value.keys() & properties.keys():
        return mended
    named = named_in({"name": tool.name, **value})
    if named is None or not named.told or not value.keys() <= _CALL_KEYS:
        return mended
    inner = named.arguments
    if isinstance(inner, str):
        if (read := try_mend(inner)) is None:
            return mended
        inner = read.value
    meant = isinstance(inner, dict) and inner and inner.keys() <= properties.keys()
    return Mended(inner, guessed=True) if meant else mended


def calls_of_generation(text: str, tools: Sequence[ToolSpec]) -> tuple[CallRequest, ...]:
    """Return the calls in a text that an endpoint failed to parse as calls; none if one of them is unclear.

    More forms count than in the text of a reply, because this text cannot be prose.
    """
    maker = CallMaker(OfferedTools(tools))
    bare = _CLOSING_TAGS.sub("", text)
    opened = _TAGS.match(bare)
    bare = bare[opened.end() :] if opened else bare
    if (call := _program_call(bare, maker)) is not None:
        return (call,)
    if (whole := _WITH_ARGUMENTS.fullmatch(bare)) and (tool := maker.offered.find(whole[1])) is not None:
        call = maker.call(tool.name, whole[2], recovered=True)
        return () if call.problem else (call,)
    if (read := try_mend(bare)) is None:
        return ()
    found: list[CallRequest] = []
    for item in _entries(read.value):
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
