"""How the demo model finds a tool's arguments in a sentence, guided by the tool's schema. Pure."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.reader import loads
from tui.core.ports import ToolSpec
from tui.model.demo.demo_phrases import EDGE, MAX_TEXT, Sentence, find_list, find_string, read
from tui.model.demo.demo_words import words

MAX_PROPERTIES = 64

_SPANS = ("duration", "seconds", "timeout")


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments found in a sentence.

    Attributes:
        values: by property name.
        missing: required properties that were not found, in the schema's order.
        required: required properties that were found.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


def fill(tool: ToolSpec, text: str, taken: Collection[str] = ()) -> Filled:
    """Find the arguments of `tool` in `text`.

    Args:
        tool: the tool; its schema may be anything.
        text: what the person said.
        taken: words that name the tool and are therefore not values.
    """
    properties, required = _schema(tool)
    text = text[:MAX_TEXT].strip()
    values = _inline_json(text, properties)
    if not values:
        source = read(text, tool, taken)
        values = _named(text, properties)
        source.quoted = [quoted for quoted in source.quoted if quoted not in values.values()]
        ordered = [name for name in properties if name in required]
        ordered += [name for name in properties if name not in required]
        for name in ordered:
            if name in values:
                continue
            value = _value(name, properties[name], source, name in required, len(required))
            if value is not None:
                values[name] = value
    missing = tuple(name for name in properties if name in required and name not in values)
    unknown = tuple(name for name in required if name not in properties and name not in values)
    given = tuple(name for name in properties if name in required and name in values)
    return Filled(values, missing + unknown, given)


def _schema(tool: ToolSpec) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    properties = tool.schema.get("properties")
    required = tool.schema.get("required")
    known: dict[str, Mapping[str, Any]] = {}
    if isinstance(properties, Mapping):
        for name, schema in list(properties.items())[:MAX_PROPERTIES]:
            known[str(name)] = schema if isinstance(schema, Mapping) else {}
    names = required if isinstance(required, list | tuple) else ()
    return known, tuple(name for name in names if isinstance(name, str))[:MAX_PROPERTIES]


def _inline_json(text: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object in `text` if its keys are the tool's."""
    start = text.find("{")
    if start < 0:
        return {}
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
        value = loads(text[start:end])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and value and set(value) <= set(properties) else {}


def _named(text: str, properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the sentence gives by name: `city=Oslo`, `days: 3`, `id is x`."""
    values: dict[str, Any] = {}
    for name, schema in properties.items():
        label = re.escape(name).replace("_", "[_ ]")
        found = re.search(
            rf"(?<![\w]){label}\s*(?:=|[:：](?!//)|\s+(?:is|of)\s)\s*(\"[^\"]*\"|'[^']*'|[^\s,;，；]+)",
            text,
            re.IGNORECASE,
        )
        bare = found or re.search(rf"(?<!\w){label}\s+(\"[^\"]*\"|[\w-]*\d[\w-]*)", text, re.IGNORECASE)
        if bare is None:
            continue
        raw = bare[1].strip(EDGE)
        value = _coerce(raw, schema)
        if value is not None and (raw or found):
            values[name] = value
    return values


def _coerce(raw: str, schema: Mapping[str, Any]) -> Any:
    """Return `raw` as the schema's type, or None if it cannot be that."""
    kind = _type(schema)
    enum = schema.get("enum")
    if isinstance(enum, list):
        return next((item for item in enum if str(item).casefold() == raw.casefold()), None)
    match kind:
        case "integer" | "number":
            if not re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", raw):
                return None
            number = float(raw)
            return int(number) if number.is_integer() else (number if kind == "number" else None)
        case "boolean":
            return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(
                raw.casefold()
            )
        case "array":
            return [item.strip() for item in raw.split(",") if item.strip()] or None
        case "object" | "null":
            return None
        case _:
            return raw or None


def _type(schema: Mapping[str, Any]) -> str:
    """Return the first type that the schema names besides null; "string" if it names none."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return kinds
    if isinstance(kinds, list):
        return next((str(kind) for kind in kinds if kind != "null"), "string")
    options = schema.get("anyOf") or schema.get("oneOf")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, Mapping) and option.get("type") != "null":
            return _type(option)
    return "string"


def _value(name: str, schema: Mapping[str, Any], source: Sentence, required: bool, count: int) -> Any:
    """Return a value for one property, or None. Optional ones need explicit words."""
    if isinstance(enum := schema.get("enum"), list):
        said = set(re.findall(r"\w+", source.text.casefold()))
        return next((item for item in enum if isinstance(item, str) and item.casefold() in said), None)
    match _type(schema):
        case "integer" | "number":
            return _number(name, schema, source, required)
        case "boolean":
            return _boolean(name, source.text)
        case "array":
            items = schema.get("items")
            texts = isinstance(items, Mapping) and items.get("type") == "string"
            return find_list(source) if required and texts else None
        case "string":
            return find_string(name, source, required, sole=count == 1)
        case _:
            return None


def _number(name: str, schema: Mapping[str, Any], source: Sentence, required: bool) -> Any:
    if not source.numbers:
        return None
    spoken = words(source.text)
    near = any(word in spoken for word in words(name)) or (name in _SPANS and "second" in spoken)
    only = len(source.numbers) == 1 and len(source.tool.schema["properties"]) == 1
    if not (required or near or only):
        return None
    value = _coerce(source.numbers[0], schema)
    if value is not None:
        source.numbers.pop(0)
    return value


def _boolean(name: str, text: str) -> bool | None:
    label = r"[\s_-]*".join(map(re.escape, name.split("_")))
    if re.search(rf"\b(?:without|no|not)\s+{label}\b", text, re.IGNORECASE):
        return False
    return True if re.search(rf"\bwith\s+{label}\b", text, re.IGNORECASE) else None
