"""Describes the configuration from the docstrings of the schema: a JSON Schema, and docs/configuration.md.

`python -m tui.settings.manual docs/configuration.md` writes its tables; a test keeps both in sync.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tui.settings import schema

SECTIONS = (
    ("Top level", "", "Settings"),
    ("Models", "[models.NAME]", "ModelSettings"),
    ("Servers", "[servers.NAME]", "ServerSettings"),
    ("Sign-in to one server", "[servers.NAME.oauth]", "ServerOAuthSettings"),
    ("Limits", "[limits]", "LimitSettings"),
    ("Approvals", "[approvals]", "ApprovalSettings"),
    ("Traffic", "[traffic]", "TrafficSettings"),
    ("Sign-in", "[oauth]", "OAuthSettings"),
    ("Registry", "[registry]", "RegistrySettings"),
    ("Theme and keys", "[ui]", "UiSettings"),
)
"""Generated sections of the manual: title, table of the configuration, class of the schema."""

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
_BOUND_WORDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of config.toml, for validation and completion in editors."""
    found = schema.Settings.model_json_schema()
    docs = field_docs()
    for title, section in [("Settings", found), *found["$defs"].items()]:
        section["properties"] = {
            name: _described(field, docs[title][name]) for name, field in section["properties"].items()
        }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": "mcptui"}


def _described(field: dict[str, Any], doc: str) -> dict[str, Any]:
    """Return the schema of a field with its docstring, without null, which TOML does not have."""
    choices = [choice for choice in field.pop("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        field = choices[0] | field
    elif choices:
        field["anyOf"] = [_for_toml(choice) for choice in choices]
    if field.get("default", 0) is None or "$ref" in field:
        field.pop("default", None)
    field.pop("title", None)
    return {"description": doc, **_for_toml(field)}


def _for_toml(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value, with bounds by their JSON Schema names.

    A value that is not a string may be written as a string with an environment variable.
    """
    field = {_BOUNDS.get(name, name): value for name, value in field.items()}
    if field.get("type") in ("integer", "number", "boolean"):
        kept = {name: field.pop(name) for name in ("default",) if name in field}
        return {**kept, "anyOf": [field, {"type": "string", "pattern": r"\$\{"}]}
    return field


def field_docs() -> dict[str, dict[str, str]]:
    """Return the docstring of each field of each class of the schema."""
    docs: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(schema)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        fields = docs.setdefault(node.name, {})
        for before, after in zip(node.body, node.body[1:], strict=False):
            match before, after:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    fields[name] = inspect.cleandoc(text)
    return docs


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
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind = {"array": "list of strings", "object": "table"}.get(field["type"], field["type"])
    if isinstance(members := field.get("additionalProperties"), dict):
        kind = "table of strings" if members else kind
    return ", ".join(
        [kind, *(f"{words} {field[name]}" for name, words in _BOUND_WORDS.items() if name in field)]
    )


def _default(field: dict[str, Any]) -> str:
    import tomli_w

    default = field.get("default")
    if default in ([], {}):
        return "empty"
    return "not set" if default is None else f"`{tomli_w.dumps({'k': default})[4:].strip()}`"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_sections(path.read_text(encoding="utf-8")), encoding="utf-8")
