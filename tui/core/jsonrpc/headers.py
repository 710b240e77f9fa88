"""The HTTP headers of a request that repeat parts of it for gateways; the transport adds the version.

MCP 2026-07-28, basic/transports/streamable-http: "Standard request headers", "Custom headers from tool
parameters" (`x-mcp-header` in a tool's schema) and "Value encoding". The tests compare these rules with those
of the SDK.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.core.jsonrpc.protocol import VERSION_HEADER, is_modern
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import message
from tui.core.text import clean_line, object_in, text_in

METHOD = "mcp-method"
NAME = "mcp-name"
_ANNOTATION = "x-mcp-header"
_PARAMETER = "Mcp-Param-"

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_TASK_METHODS = "tasks/"

_TYPES = ("string", "integer", "boolean")
"""Types of a property that may be repeated: numbers are written differently by every language."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PLAIN = re.compile(r"[\x20-\x7E]*")
_ENCODED = re.compile(r"=\?base64\?.*\?=")

_ONE = frozenset(
    (
        *("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames"),
        *("unevaluatedProperties", "not", "if", "then", "else", "contentSchema"),
    )
)
_SEVERAL = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED = frozenset(("patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords that have schemas: one, a list, or by name. Properties are no keyword of this kind."""

HeaderMap = Mapping[tuple[str, ...], str]
"""The last part of a header's name, by the path of the property that the header repeats."""


def header_map(schema: Any) -> HeaderMap | str:
    """Return the headers that a schema asks for, or what is wrong with them; such a tool must not be used."""
    found: dict[tuple[str, ...], str] = {}
    for path, part in _parts(schema):
        if _ANNOTATION not in part:
            continue
        if not path:
            return _invalid(message("{name} stands where no chain of properties leads", name=_ANNOTATION))
        token, kind = part[_ANNOTATION], part.get("type")
        where = ".".join(path)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return _invalid(message("that of {name} is not a token", name=where))
        if kind not in _TYPES:
            return _invalid(message("{name} is not of type integer, string or boolean", name=where))
        if token.lower() in map(str.lower, found.values()):
            return _invalid(message("two properties have {name}", name=token))
        found[path] = token
    return found


def _invalid(why: str) -> str:
    return message("its headers are invalid: {problem}", problem=clean_line(why, 160))


def _parts(root: Any) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Yield every schema within a schema, with the names of the properties that lead there, or None.

    References are not followed, so that this ends.
    """
    waiting: list[tuple[tuple[str, ...] | None, Any]] = [((), root)]
    while waiting:
        path, part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield path, part
        for key, value in part.items():
            if key == "properties" and isinstance(value, dict):
                waiting += [(None if path is None else (*path, name), one) for name, one in value.items()]
            elif key in _ONE:
                waiting.append((None, value))
            elif key in _SEVERAL and isinstance(value, list):
                waiting += [(None, one) for one in value]
            elif key in _NAMED and isinstance(value, dict):
                waiting += [(None, one) for one in value.values()]


def parameter_headers(wanted: HeaderMap, arguments: Any) -> dict[str, str]:
    """Return the headers that repeat arguments of a call.

    Raises:
        UnicodeError: an argument has a lone surrogate.
    """
    headers = {}
    for path, token in wanted.items():
        value = arguments
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if (text := _written(value)) is not None:
            headers[f"{_PARAMETER}{token}"] = encoded(text)
    return headers


def _written(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, str | int | float) else None
    except ValueError:  # an integer of thousands of digits
        return None


def encoded(text: str) -> str:
    """Return a text as the value of a header: as it is, or in base64 if it would not arrive unchanged."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode('ascii')}?="


def message_headers(message: Mapping[str, Any], version: str, wanted: HeaderMap | None) -> dict[str, str]:
    """Return the headers of a request or notification; `wanted` are those of the tool that it calls.

    Raises:
        UnicodeError: an argument or a name has a lone surrogate.
    """
    method, params = message["method"], message.get("params", {})
    headers = parameter_headers(wanted, params.get("arguments")) if wanted else {}
    is_of_task = method.startswith(_TASK_METHODS)
    if is_modern(version):
        headers[METHOD] = method
    if is_modern(version) or is_of_task:
        name = params.get("taskId" if is_of_task else _NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers[NAME] = encoded(name)
    return headers


def repeats_message(name: bytes) -> bool:
    """Whether a header repeats a part of the message."""
    lower = name.lower().decode("latin-1")
    return lower in (METHOD, NAME) or lower.startswith(_PARAMETER.lower())


RawHeaders = Sequence[tuple[bytes, bytes]]


class MovingHeaders:
    """Keeps the headers of requests as their messages are, when those are changed on their way.

    The headers that a tool asks for are known once the list with it has passed.
    """

    def __init__(self) -> None:
        self._wanted: dict[str, HeaderMap] = {}

    def learn(self, raw: bytes) -> None:
        """Remember the headers that tools ask for, if a message lists tools."""
        if _ANNOTATION.encode() not in raw and not self._wanted:
            return
        tools = object_in(json_mapping(raw), "result").get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                found = header_map(tool.get("inputSchema"))
                self._wanted[name] = {} if isinstance(found, str) else found

    def moved(self, headers: RawHeaders, was: bytes, sent: bytes) -> RawHeaders:
        """Return the headers of a message that `was` another one; of what is no message, as they are."""
        version = next((value for name, value in headers if name.lower() == VERSION_HEADER.encode()), b"")
        before, after = (self._of(raw, version.decode("latin-1")) for raw in (was, sent))
        if not before or not after:
            return headers
        stale = {name.lower().encode() for name, _ in before.items() ^ after.items()}
        kept = [(name, value) for name, value in headers if name.lower() not in stale]
        added = sorted(after.items() - before.items())
        return [*kept, *((name.encode(), value.encode()) for name, value in added)]

    def _of(self, raw: bytes, version: str) -> dict[str, str]:
        message = json_mapping(raw)
        if not (method := text_in(message, "method")):
            return {}
        params = object_in(message, "params")
        is_call = is_modern(version) and method == "tools/call"
        wanted = self._wanted.get(text_in(params, "name")) if is_call else None
        try:
            return message_headers({"method": method, "params": params}, version, wanted)
        except UnicodeError:
            return {}
