"""Describes the configuration as a JSON Schema, from the docstrings of the schema."""

import ast
import inspect
from typing import Any

from tui.settings import schema

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}


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
                case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                    fields[name] = inspect.cleandoc(text)
    return docs
