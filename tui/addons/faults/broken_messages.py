"""Messages as a broken server would send them. Pure: the same message, rule and match give the same bytes."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tui.addons.faults.rules import Rule
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.reader import json_mapping, json_value
from tui.core.text import object_in

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""The methods that list something: the member of the result, and the name of an item."""

_WRONG: Mapping[str, Any] = {"string": 0, "object": [], "array": {}}
"""A value that is not of a type of JSON Schema; a text is none of the others."""


def changed(raw: bytes, rule: Rule, match: int, schema: Mapping[str, Any] | None) -> bytes:
    """Return what a fault that changes a message makes of it."""
    match rule.fault:
        case "cut":
            return raw[: rule.amount]
        case "garbage":
            return garbage(len(raw), rule, match)
        case "big":
            return bigger(raw, rule.amount)
        case "invalid-result":
            return invalid_result(raw, schema)
    return raw


def garbage(length: int, rule: Rule, match: int) -> bytes:
    """Return bytes that are no message and have no line end."""
    noise = Random(rule.drawn(match, "garbage")).randbytes(max(1, min(length, 4096)))
    return b"\xff" + noise.replace(b"\n", b"\x00").replace(b"\r", b"\x00")[1:]


def stray_output(rule: Rule, match: int) -> bytes:
    """Return a line as a server prints it by mistake."""
    return f"DEBUG:server:handled request {match} in {rule.drawn(match, 'ms') % 900} ms".encode()


def error_reply(raw: bytes, code: int) -> bytes:
    """Return the error that answers a request."""
    error = {"code": code, "message": "Fault injected by mcptui"}
    return write_line({"jsonrpc": "2.0", "id": json_mapping(raw).get("id"), "error": error})


def without(raw: bytes, method: str, gone: frozenset[str]) -> bytes:
    """Return the response to a list without the items of these names."""
    message = dict(json_mapping(raw))
    member, name = LISTS[method]
    result = dict(object_in(message, "result"))
    result[member] = [one for one in result[member] if _name(one, name) not in gone]
    return write_line({**message, "result": result})


def names_in(raw: bytes, method: str) -> list[str]:
    """Return the names in the response to a list."""
    member, name = LISTS.get(method, ("", ""))
    items = object_in(json_mapping(raw), "result").get(member)
    found = [_name(one, name) for one in items] if isinstance(items, list) else []
    return [one for one in found if one]


def schemas_in(raw: bytes) -> dict[str, Mapping[str, Any]]:
    """Return the output schemas in the response to `tools/list`, by tool."""
    tools = object_in(json_mapping(raw), "result").get("tools")
    return {
        name: tool["outputSchema"]
        for tool in (tools if isinstance(tools, list) else ())
        if (name := _name(tool, "name")) and isinstance(tool.get("outputSchema"), dict)
    }


def bigger(raw: bytes, octets: int) -> bytes:
    """Return a response that has about so many bytes: a longer text, or something unknown in `_meta`."""
    message = dict(json_mapping(raw))
    missing = octets - len(raw)
    if missing <= 0 or not isinstance(result := message.get("result"), dict):
        return raw
    result = dict(result)
    content = result.get("content")
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(content, list) and isinstance(first, dict) and isinstance(first.get("text"), str):
        result["content"] = [{**first, "text": first["text"] + " " + "x" * (missing - 1)}, *content[1:]]
    else:
        result["_meta"] = {**object_in(result, "_meta"), "mcptui/big": "x" * missing}
    return write_line({**message, "result": result})


def invalid_result(raw: bytes, schema: Mapping[str, Any] | None) -> bytes:
    """Return a response whose result violates the output schema of its tool, or else that of its method."""
    message = dict(json_mapping(raw))
    if not isinstance(message.get("result"), dict):
        return raw
    result = dict(message["result"])
    structured = result.get("structuredContent")
    if schema is not None and isinstance(structured, dict):
        result["structuredContent"] = _violating(structured, schema)
    else:
        # Every result of MCP but an empty one has a list or an object that is required.
        member = next((key for key, value in result.items() if isinstance(value, list)), None)
        member = member or next((key for key, value in result.items() if isinstance(value, dict)), "_meta")
        result[member] = "not valid"
    return write_line({**message, "result": result})


def _violating(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    properties = object_in(schema, "properties")
    for name in value:
        known = properties.get(name)
        if isinstance(known, dict) and isinstance(known.get("type"), str):
            return {**value, name: _WRONG.get(known["type"], "not valid")}
    required = [name for name in schema.get("required", ()) if name in value]
    return {name: one for name, one in value.items() if name != required[0]} if required else []


def _name(item: Any, member: str) -> str:
    name = item.get(member) if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""


def shown(raw: bytes, most: int = 64 * 1024) -> Any:
    """Return a message for an event: as JSON, or the beginning of its text."""
    text = raw[:most].decode("utf-8", "replace")
    return text if len(raw) > most or (value := json_value(text)) is None else value
