"""Writes the tables of docs/configuration.md from the docstrings of the schema.

`python -m tests.unit.settings.manual_tables` writes them; a test keeps both in sync.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w

from tui.settings.manual import configuration_schema

MANUAL = Path(__file__).parents[3] / "docs" / "configuration.md"

SECTIONS = (
    ("Top level", "", "Settings"),
    ("Models", "[models.NAME]", "ModelSettings"),
    ("Servers", "[servers.NAME]", "ServerSettings"),
    ("Sign-in to one server", "[servers.NAME.oauth]", "ServerOAuthSettings"),
    ("Limits", "[limits]", "LimitSettings"),
    ("Approvals", "[approvals]", "ApprovalSettings"),
    ("Traffic", "[traffic]", "TrafficSettings"),
    ("Sign-in", "[oauth]", "OAuthSettings"),
    ("Identity providers", "[identity_providers.NAME]", "IdentityProviderSettings"),
    ("Registry", "[registry]", "RegistrySettings"),
    ("Events", "[events]", "EventsSettings"),
    ("Rules for events", "[[events.rules]]", "EventRuleSettings"),
    ("Telemetry", "[telemetry]", "TelemetrySettings"),
    ("Servers that stay up", "[up]", "UpSettings"),
    ("Theme and keys", "[ui]", "UiSettings"),
)
"""Generated sections of the manual: title, table of the configuration, class of the schema."""

_BOUND_WORDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}


def with_sections(manual: str) -> str:
    """Return the text of docs/configuration.md with its generated sections."""
    found = configuration_schema()
    for title, header, name in SECTIONS:
        before, heading, after = manual.partition(f"\n## {title}\n\n")
        section = "\n".join(_section(header, found["$defs"].get(name, found)))
        manual = f"{before}{heading}{section}\n\n{after[after.index('## ') :]}"
    return manual


def _section(header: str, section: dict[str, Any]) -> Iterator[str]:
    if header:
        yield from (f"`{header}`", "", section["description"], "")
    yield from ("| key | type | default | description |", "|---|---|---|---|")
    for name, field in section["properties"].items():
        is_table = "$ref" in str(field) or name == "snippets"
        if not is_table:
            default = "required" if name in section.get("required", ()) else _default(field)
            cells = (f"`{name}`", _kind(field), default, field["description"])
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _kind(field: dict[str, Any]) -> str:
    """Return the type of a field and its bounds in words."""
    choices = field.get("anyOf", [field])
    field = next((one for one in choices if one.get("type") == "array"), choices[0])
    field = field.get("anyOf", [field])[0]
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = {"array": "list of strings", "object": "table"}.get(field["type"], field["type"])
    if isinstance(members := field.get("additionalProperties"), dict):
        of = "booleans" if members.get("type") == "boolean" else "strings"
        kind = f"table of {of}" if members else kind
    return ", ".join(
        [kind, *(f"{words} {field[name]}" for name, words in _BOUND_WORDS.items() if name in field)]
    )


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if default in ([], {}):
        return "empty"
    return "not set" if default is None else f"`{tomli_w.dumps({'k': default})[4:].strip()}`"


if __name__ == "__main__":
    MANUAL.write_text(with_sections(MANUAL.read_text(encoding="utf-8")), encoding="utf-8")
