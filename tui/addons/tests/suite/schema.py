"""The JSON Schema of `*.mcp.toml` files, for validation and completion in editors, and to print it."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from tui.addons.tests.suite.case_text import SCHEMA_FILE
from tui.addons.tests.suite.keys import DEFAULTS, FORM_ANSWERS, REQUESTS, SECTIONS, Key, Kind

_TEXT = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}
_FORM = {"anyOf": [{"type": "object"}, {"enum": list(FORM_ANSWERS)}]}
_REPLY = {"anyOf": [_TEXT, {"const": False}]}
_FIXED: Mapping[Kind, dict[str, Any]] = {
    Kind.TRUTH: {"type": "boolean"},
    Kind.DURATION: {"type": "string", "pattern": r"^\s*\d{1,9}(\.\d{1,6})?\s?(ms|s|m)\s*$"},
    Kind.ARGUMENTS: {"type": ["object", "string"]},
    Kind.TEXT_TABLE: {"type": "object", "additionalProperties": _TEXT},
    Kind.RESULT: {},
    Kind.FORMS: {"anyOf": [*_FORM["anyOf"], {"type": "array", "items": _FORM}]},
    Kind.REPLIES: {"anyOf": [*_REPLY["anyOf"], {"type": "array", "items": _REPLY}]},
}
"""The kinds whose schema depends on nothing else."""


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a suite."""
    sections = {name: _section(name) for name in SECTIONS if name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_FILE,
        "title": "mcptui test",
        "description": "Kept calls of an MCP server, run by mcptui test.",
        **_section(""),
        "$defs": sections,
    }


def print_schema(_: argparse.Namespace) -> int:
    """Print the schema: `mcptui test --schema`."""
    print(schema_text(), end="")
    return 0


def schema_text() -> str:
    """Return the schema as it is printed, and kept in docs/mcp-toml.schema.json."""
    return json.dumps(suite_schema(), ensure_ascii=False, indent=2) + "\n"


def _section(name: str) -> dict[str, Any]:
    keys = SECTIONS[name]
    defaults = DEFAULTS.get(name, {})
    made: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {key: _described(value, defaults.get(key)) for key, value in keys.items()},
    }
    if required := [key for key, value in keys.items() if value.required]:
        made["required"] = required
    if name in ("call", "then"):
        made["oneOf"] = [{"required": [key]} for key in REQUESTS]
    if name == "server":
        made["oneOf"] = [{"required": ["command"]}, {"required": ["url"]}]
    return made


def _described(key: Key, default: Any) -> dict[str, Any]:
    made = {"description": key.description, **_value(key)}
    return made if default is None else {**made, "default": default}


def _value(key: Key) -> dict[str, Any]:
    """Return the schema of what a key takes."""
    if key.kind in _FIXED:
        return _FIXED[key.kind]
    one: dict[str, Any] = {"enum": list(key.choices)} if key.choices else _TEXT
    several = {"type": "array", "items": one}
    section = {"$ref": f"#/$defs/{key.section}"}
    number = {
        name: int(bound) if bound == int(bound) else bound
        for name, bound in (("minimum", key.least), ("maximum", key.most))
        if bound is not None
    }
    match key.kind:
        case Kind.TEXT:
            return one if key.choices or key.may_be_empty else _FILLED
        case Kind.TEXTS:
            return several
        case Kind.ONE_OR_MORE:
            return {"anyOf": [one, several]}
        case Kind.WHOLE | Kind.SIZE:
            whole = {"type": "integer", **number}
            return whole if key.kind is Kind.WHOLE else {"anyOf": [whole, _TEXT]}
        case Kind.NUMBER:
            return {"type": "number", **number}
        case Kind.SERVER:
            return {"anyOf": [_FILLED, section]}
        case Kind.ANSWERS | Kind.TABLE:
            return section
        case _:
            return {"type": "array", "items": section}
