"""The requests of a suite in MCP: their methods and params, and the lists. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tui.addons.tests.suite.case import Request, RequestKind


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list: its method, the `member` of its result that has the items, and the `key` that names an item."""

    method: str
    member: str
    key: str


LISTS: Mapping[str, ListOf] = {
    "tools": ListOf("tools/list", "tools", "name"),
    "resources": ListOf("resources/list", "resources", "uri"),
    "templates": ListOf("resources/templates/list", "resourceTemplates", "uriTemplate"),
    "prompts": ListOf("prompts/list", "prompts", "name"),
}
"""The lists, by their names in a test file."""

METHODS: Mapping[str, RequestKind] = {
    "tools/call": RequestKind.TOOL,
    "resources/read": RequestKind.READ,
    "prompts/get": RequestKind.PROMPT,
    **dict.fromkeys([one.method for one in LISTS.values()], RequestKind.LIST),
}
"""The requests that a case can have, by method."""


def as_sent(request: Request) -> tuple[str, Mapping[str, Any]]:
    """Return method and params of a request, as a host sends them: a tool call asks for progress."""
    name, arguments = request.name, dict(request.arguments)
    match request.kind:
        case RequestKind.TOOL:
            return "tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": 0}}
        case RequestKind.READ:
            return "resources/read", {"uri": name}
        case RequestKind.PROMPT:
            return "prompts/get", {"name": name, **({"arguments": arguments} if arguments else {})}
        case RequestKind.LIST:
            return LISTS[name].method, {}
