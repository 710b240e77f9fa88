"""Translates between the two eras of MCP, so that any recording can answer clients of both. Pure.

Up to 2025-11-25 a session begins with `initialize`, and a server may send requests in the middle of a call.
From 2026-07-28 on each request names its revision, `server/discover` is optional, each result has a
`resultType`, and a server asks for input in a result (`input_required`) that leads to another round.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from tui.core.jsonrpc.protocol import (
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    MODERN,
    REVISIONS,
    SERVER_INFO_KEY,
    SUBSCRIPTION_KEY,
    is_modern,
)
from tui.core.jsonrpc.skimmer import outline

INPUT_REQUIRED = "input_required"
SUBSCRIPTION_PATH = ("params", "_meta", SUBSCRIPTION_KEY)
"""The key under which a notification names its request."""

_LEGACY = tuple(revision for revision in reversed(REVISIONS) if not is_modern(revision))
KNOWN = (MODERN, *_LEGACY)
"""The revisions that a mock answers, the newest first."""

_CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
_CAPABILITIES = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "completion": "completions",
}
"""The capability that a method needs, by the part of its name before the slash."""


_OF_CLIENTS = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""The capability that a client needs for a request of the server."""


def handshake(method: str, requested: Any, recorded: Any, methods: Collection[str]) -> dict[str, Any]:
    """Return a result of `initialize` or `server/discover`, from that of the other one.

    `recorded` is that result. Without one, capabilities are inferred from the recorded `methods`. A
    `requested` revision is answered with itself if it has a handshake.
    """
    recorded = recorded if isinstance(recorded, Mapping) else {}
    meta = recorded.get("_meta")
    server = recorded.get("serverInfo") or (meta.get(SERVER_INFO_KEY) if isinstance(meta, Mapping) else None)
    server = server if isinstance(server, Mapping) else {"name": "mock", "version": "0"}
    capabilities = recorded.get("capabilities")
    if not isinstance(capabilities, Mapping):
        areas = {known.partition("/")[0] for known in methods}
        capabilities = {name: {} for area, name in _CAPABILITIES.items() if area in areas}
    said = recorded.get("instructions")
    instructions = {"instructions": said} if isinstance(said, str) and said else {}
    if method == "initialize":
        version = legacy_revision(requested) or _LEGACY[0]
        found = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}
        return found | instructions
    capabilities = {key: value for key, value in capabilities.items() if key != "tasks"}
    found = {"resultType": "complete", "supportedVersions": [*KNOWN], "capabilities": capabilities}
    return found | instructions | {"ttlMs": 0, "cacheScope": "private", "_meta": {SERVER_INFO_KEY: server}}


def parsed(raw: bytes) -> Any:
    """Return the value of a message as JSON, None if it is not JSON."""
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def object_in(raw: bytes) -> dict[str, Any]:
    """Return a message as a JSON object, an empty one if it is none."""
    found = parsed(raw)
    return found if isinstance(found, dict) else {}


def legacy_revision(version: Any) -> str:
    """Return a revision that has a handshake, or ""."""
    return version if version in _LEGACY else ""


def missing_capability(method: str, meta: Any, begun: Any) -> str:
    """Return the capability that a client lacks for a request of the server, or "".

    `meta` is from its request, `begun` are the params of its `initialize`. A client that declares nothing is
    not checked.
    """
    needed = _OF_CLIENTS.get(method, "")
    declared = meta.get(CAPABILITIES_KEY) if isinstance(meta, Mapping) else None
    if declared is None and isinstance(begun, Mapping):
        declared = begun.get("capabilities")
    return "" if not isinstance(declared, Mapping) or needed in declared else needed


def acknowledgement(ident: str, wanted: Any) -> bytes:
    """Return the notification that a `subscriptions/listen` with this id is accepted."""
    params = {"_meta": {SUBSCRIPTION_KEY: json.loads(ident)}, "notifications": wanted or {}}
    method = "notifications/subscriptions/acknowledged"
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def is_sent_unasked(method: str, meta: Any) -> bool:
    """Return whether a modern client gets this notification while its request with `meta` is answered."""
    if method == "notifications/message":
        return isinstance(meta, Mapping) and LOG_LEVEL_KEY in meta
    return method == "notifications/progress"


def modern_answer(raw: bytes, method: str) -> bytes:
    """Return a legacy response with the members of a modern result, every other byte unchanged."""
    try:
        start, _ = outline(raw).members["result"]
        there = outline(raw, start).members
    except (ValueError, KeyError):
        return raw
    missing: dict[str, Any] = {"resultType": "complete"}
    if method in _CACHEABLE:
        missing |= {"ttlMs": 0, "cacheScope": "private"}
    added = json.dumps({key: value for key, value in missing.items() if key not in there})[1:-1]
    comma = ", " if there and added else ""
    return raw[: start + 1] + added.encode() + comma.encode() + raw[start + 1 :]


def input_required(ident: str, request: bytes, state: str) -> bytes:
    """Return a modern result that asks for what a legacy server asked in a request."""
    inner = {key: value for key, value in object_in(request).items() if key in ("method", "params")}
    result = {"resultType": INPUT_REQUIRED, "inputRequests": {"1": inner}, "requestState": state}
    return f'{{"jsonrpc":"2.0","id":{ident},"result":{json.dumps(result)}}}'.encode()


def wanted_input(raw: bytes) -> list[Mapping[str, Any]] | None:
    """Return the requests in a result that asks for input; None for any other response."""
    if INPUT_REQUIRED.encode() not in raw:
        return None
    result = object_in(raw).get("result")
    if not isinstance(result, Mapping) or result.get("resultType") != INPUT_REQUIRED:
        return None
    requests = result.get("inputRequests")
    values = requests.values() if isinstance(requests, Mapping) else ()
    return [one for one in values if isinstance(one, Mapping)]
