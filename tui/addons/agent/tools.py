"""The tools of `mcptui agent`: what a tool is, and the table of all of them.

An agent pays for every character, and most of them are from servers that it should not obey. So an answer has
parts of our own, and foreign parts with their origin (`answer`), and is bounded as a whole.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tui.core.addons import load
from tui.core.errors import UsageError
from tui.core.text import quoted_name

if TYPE_CHECKING:
    from tui.addons.agent.answer import Answer
    from tui.addons.agent.context import AgentContext

T = TypeVar("T")
Run = Callable[["AgentContext", Mapping[str, Any]], Awaitable["Answer"]]

TABLES = tuple(
    f"tui.addons.agent.{module}:TOOLS" for module in ("reading", "judging", "timing", "running", "acting")
)
"""Where the tools are, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that the agent can call.

    `schema` is that of its arguments, checked before `run`, which may raise McptuiError. `changes`: whether
    it does more than read.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Run
    changes: bool = False

    @property
    def definition(self) -> dict[str, Any]:
        hints = {"readOnlyHint": not self.changes, "openWorldHint": self.changes}
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": dict(self.schema),
            "annotations": hints,
        }


def arguments(required: Sequence[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of arguments; no others are accepted, so that a misspelled one is noticed."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def text(description: str) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def number(description: str, least: int = 0, most: int = 1_000_000_000) -> dict[str, Any]:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}


def paged(most: int, what: str = "rows") -> dict[str, Any]:
    """Return the arguments of a list of which `most` are shown at a time, for `page`."""
    limit = number(f"{what} (default: {most})", 1, 60)
    return {"limit": limit, "cursor": number("where to go on")}


def page(items: Sequence[T], given: Mapping[str, Any], most: int) -> tuple[Sequence[T], Mapping[str, Any]]:
    """Return the part of a list that the arguments want, and the arguments for the next one."""
    start = given.get("cursor", 0)
    end = start + given.get("limit", most)
    return items[start:end], {**given, "cursor": end} if end < len(items) else {}


MOST_TEXT = 4_000
"""Maximum characters of an argument that is a text."""

_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}


def checked(given: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that fit a schema of `arguments`; a number may be a text of digits.

    Raises UsageError that names the wrong one.
    """
    known: Mapping[str, Mapping[str, Any]] = schema["properties"]
    if unknown := sorted(given.keys() - known.keys()):
        what = f"no argument {quoted_name(unknown[0])}"
        raise UsageError(what, next_step=f"Arguments: {', '.join(known) or 'none'}.")
    if lacking := [name for name in schema.get("required", ()) if given.get(name) is None]:
        raise UsageError(f"{lacking[0]} is required: {known[lacking[0]]['description']}")
    found: dict[str, Any] = {}
    for name, value in given.items():
        rule = known[name]
        if value is None:
            continue
        if rule["type"] == "integer" and isinstance(value, str) and value.isdecimal() and len(value) < 16:
            value = int(value)
        is_bool = isinstance(value, bool) and rule["type"] != "boolean"
        if is_bool or not isinstance(value, _TYPES[rule["type"]]):
            raise UsageError(f"{name} is not a JSON {rule['type']}")
        if rule["type"] == "integer" and not rule["minimum"] <= value <= rule["maximum"]:
            raise UsageError(f"{name} is not from {rule['minimum']} to {rule['maximum']}")
        if isinstance(value, str) and len(value) > MOST_TEXT:
            raise UsageError(f"{name} is longer than {MOST_TEXT} characters")
        found[name] = value
    return found


def all_tools() -> dict[str, AgentTool]:
    """Return all tools by name."""
    return {tool.name: tool for table in TABLES for tool in load(table)}
