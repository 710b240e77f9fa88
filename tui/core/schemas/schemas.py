"""Reads tool schemas, and makes them as models accept them. Pure; the tool's own schema is never changed.

Providers reject a whole request because of one unusual schema, so schemas are bounded in depth and size
(nested `$ref` grows exponentially), local references are inlined, the root is a plain object, and annotations
that providers do not accept are removed. Texts of a schema contain nothing that only a model would read.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.language.translate import message
from tui.core.search.regex import found_in
from tui.core.text import list_in, object_in, visible

MAX_DEPTH = 32
MAX_NODES = 5_000
_DROPPED = frozenset({"$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "$dynamicAnchor"})
NAME_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords whose values are schemas by name: a property may be called `default` or `definitions`."""

ARM_WORDS = ("anyOf", "oneOf")
MAX_ARMS = 32
MAX_HOPS = 16
"""Maximum references and compositions followed for one field of a form."""
DATA = frozenset({"enum", "const", "default", "example", "examples"})
"""Keywords whose values are not schemas, so that names in them are not keywords."""

Schema = Mapping[str, Any]

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_KINDS = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
_IMPLIED = {
    "object": {"properties", "additionalProperties", "patternProperties", "propertyNames", "required"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
}
"""The keywords that imply the type of a schema that does not name one."""


class SchemaRefused(ValueError):
    """Why the schema is not sent to a model; the tool is quarantined."""


class SchemaTooLarge(SchemaRefused):
    """The schema has more nodes than a model should be sent."""


class _Copier:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def copy(self, node: Any, depth: int, open_refs: tuple[str, ...]) -> Any:
        self._count()
        if isinstance(node, list):
            return [self.copy(item, depth + 1, open_refs) for item in node] if depth < MAX_DEPTH else []
        if not isinstance(node, Mapping):
            return _without_invisible(node)
        if depth >= MAX_DEPTH:
            return {}
        if ref := reference(node):
            return self._inline(ref, node, depth, open_refs)
        copied = {}
        for key, value in node.items():
            if key in _DROPPED or not _is_sound(key, value):
                continue
            if key in NAME_MAPS:
                known = value if isinstance(value, Mapping) and depth + 1 < MAX_DEPTH else {}
                copied[_name(key)] = {
                    _name(name): self.copy(one, depth + 2, open_refs) for name, one in known.items()
                }
            elif key in DATA:
                copied[_name(key)] = self._data(value, depth + 1)
            else:
                copied[_name(key)] = self.copy(value, depth + 1, open_refs)
        if "items" not in copied and is_array(copied):
            copied["items"] = {}  # OpenAI rejects an array without
        return copied

    def _data(self, value: Any, depth: int) -> Any:
        self._count()
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            return {_name(key): self._data(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list) and depth < MAX_DEPTH:
            return [self._data(item, depth + 1) for item in value]
        return None if isinstance(value, Mapping | list) else _without_invisible(value)

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise SchemaTooLarge(
                message("more than {limit} nodes after expanding references", limit=MAX_NODES)
            )

    def _inline(self, ref: str, node: Mapping[str, Any], depth: int, open_refs: tuple[str, ...]) -> Any:
        beside = {key: value for key, value in node.items() if key not in REFERENCES}
        target = None if ref in open_refs else local_target(self._root, ref)
        if not isinstance(target, Mapping):
            return self.copy(beside, depth, open_refs)
        return self.copy(united(target, beside), depth + 1, (*open_refs, ref))


def is_array(schema: Schema) -> bool:
    """Return whether a schema allows an array by its `type`."""
    kind = schema.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind)


def _without_invisible(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value


def _name(key: Any) -> str:
    """Return a key, which must stay unchanged for the server; reject one that cleaning would change."""
    name = str(key)
    if visible(name) != name:
        raise SchemaRefused(message("invisible characters in the name of an argument or keyword"))
    return name


def _is_sound(key: str, value: Any) -> bool:
    """Return whether the value of a keyword is valid; an invalid one would fail the whole request."""
    match key:
        case "type":
            return isinstance(value, str) or (isinstance(value, list) and bool(strings(value)))
        case "required" | "enum":
            return isinstance(value, list) and (key == "required" or bool(value))
        case "description" | "title":
            return isinstance(value, str)
        case "anyOf" | "oneOf" | "allOf":
            return isinstance(value, list) and any(isinstance(item, Mapping) for item in value)
    return True


def subschemas(schema: Schema) -> Iterator[Any]:
    """Yield every object in a schema at a place where a schema is allowed; not its data."""
    for key, value in schema.items():
        if key in NAME_MAPS and isinstance(value, Mapping):
            yield from objects(list(value.values()))
        elif key not in DATA:
            yield from objects(value if isinstance(value, list) else [value])


def strings(value: Any) -> list[str]:
    """Return the strings in a list, or nothing for anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def united(inner: Schema, outer: Schema) -> dict[str, Any]:
    """Return one schema that requires what both require; where they differ, `outer` wins."""
    whole = {**inner, **outer}
    if isinstance(inner.get("properties"), Mapping) and isinstance(outer.get("properties"), Mapping):
        whole["properties"] = {**inner["properties"], **outer["properties"]}
    if isinstance(inner.get("required"), list) and isinstance(outer.get("required"), list):
        whole["required"] = [*inner["required"], *outer["required"]]
    if isinstance(inner.get("allOf"), list) and isinstance(outer.get("allOf"), list):
        whole["allOf"] = [*inner["allOf"][:MAX_HOPS], *outer["allOf"][:MAX_HOPS]]
    return whole


def merged(schema: Schema) -> dict[str, Any]:
    """Return a schema united with the parts of its `allOf`; their descriptions follow its own."""
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for part in map(merged, objects(schema.get("allOf"))):
        texts = strings([whole.get("description"), part.get("description")])
        whole = united(part, whole)
        if texts:
            whole["description"] = " ".join(dict.fromkeys(filter(None, texts)))
    return whole


def listed(schema: Schema) -> list[Any]:
    """Return the values that a schema lists, in `enum` or `const`."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        return values
    return [schema["const"]] if "const" in schema else []


def arms_of(schema: Schema) -> list[dict[str, Any]]:
    """Return the alternatives of a schema, each with what stands next to it.

    They are its combiners, its list of types, or values of several types. An arm keeps its own type, title
    and default.
    """
    whole = merged(schema)
    beside = {key: value for key, value in whole.items() if key not in ARM_WORDS}
    found = []
    for inner in map(merged, _bare_arms(whole)):
        own = {key: inner[key] for key in ("type", "title", "default") if key in inner}
        found.append(merged({**beside, "allOf": [inner]}) | own)
    return found


def _bare_arms(whole: Schema) -> list[dict[str, Any]]:
    for word in ARM_WORDS:
        # {"not": {}} is what zod's converter writes for undefined.
        if found := [arm for arm in objects(whole.get(word)) if arm.get("not") != {}]:
            return found
    kinds = whole.get("type")
    if isinstance(kinds, list):
        return [{"type": kind} for kind in dict.fromkeys(strings(kinds)) if kind in TYPES]
    grouped = () if kinds in TYPES else dict.fromkeys(map(value_kind, listed(whole)))
    return [{"type": kind} for kind in grouped] if len(grouped) > 1 else []


def kinds_of(schema: Any) -> tuple[str, ...]:
    """Return the types that a schema of bounded depth accepts, named or implied; none if it accepts any."""
    if not isinstance(schema, Mapping):
        return ()
    whole = merged(schema)
    if arms := arms_of(whole):
        kinds = [kinds_of(arm) for arm in arms]
        return tuple(dict.fromkeys(kind for arm in kinds for kind in arm)) if all(kinds) else ()
    kind = own_kind(whole)
    return (kind,) if kind else ()


def own_kind(schema: Schema) -> str:
    """Return the type of a schema without alternatives: named, of its values, or implied; else ""."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return kind
    if kinds := set(map(value_kind, listed(schema))):
        return kinds.pop() if len(kinds) == 1 else ""
    return next((kind for kind, words in _IMPLIED.items() if not words.isdisjoint(schema)), "")


def value_kind(value: Any) -> str:
    """Return the JSON type of a value."""
    return _KINDS.get(type(value), "object")


def has_kind(value: Any, kind: str) -> bool:
    """Return whether a value is of a type; an integer is a number too."""
    return value_kind(value) == kind or (kind == "number" and value_kind(value) == "integer")


def entry_schema(schema: Schema, name: str | int) -> Any:
    """Return the schema of an entry of an object or array; False if its name is not allowed.

    A pattern that RE2 does not support is taken to match, so that no entry is called wrong by mistake.
    """
    if isinstance(name, int):
        first, rest = by_position(schema)
        return first[name] if name < len(first) else rest
    if name in (named := object_in(schema, "properties")):
        return named[name]
    for pattern, inner in islice(object_in(schema, "patternProperties").items(), MAX_ARMS):
        if found_in(pattern, name) is not False:
            return inner
    return schema.get("additionalProperties", True)


def by_position(schema: Schema) -> tuple[Sequence[Any], Any]:
    """Return the schemas of the first items of an array, and that of the others.

    Before draft 2020-12, which most of zod's converters do not write, the first ones are a list in `items`.
    """
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    return list_in(schema, "prefixItems"), items


def _merged_root(schema: Schema) -> dict[str, Any]:
    """Return an object schema without combiners at the root, which OpenAI and Anthropic reject.

    Properties are merged; required is what all alternatives require.
    """
    whole = merged(schema)
    properties: dict[str, Any] = whole.get("properties", {})
    required = strings(whole.get("required"))
    for word in ARM_WORDS:
        branches = [merged(branch) for branch in objects(whole.get(word))]
        for branch in branches:
            properties = {**branch.get("properties", {}), **properties}
        if wanted := [set(strings(branch.get("required"))) for branch in branches]:
            required.extend(sorted(set.intersection(*wanted)))
    gone = (*ARM_WORDS, "not", "enum", "const", "if", "then", "else", "required")
    kept = {key: value for key, value in whole.items() if key not in gone}
    kept |= {"type": "object", "properties": properties}
    needed = [name for name in dict.fromkeys(required) if name in properties]
    return kept | ({"required": needed} if needed else {})


def model_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` as it is sent to a model, cut at `MAX_DEPTH`; SchemaRefused if it cannot be."""
    copied = _Copier(schema).copy(schema, 0, ())
    return _merged_root(copied if isinstance(copied, dict) else {})
