"""What providers of models make of a tool that a host sends unchanged. Pure.

mcptui converts schemas before it sends them (`schemas`, `schema_forms`). Most hosts do not, or do less, and
their users see a rejected request, or a tool that is missing. Each rule names its source; all were read in
November 2026. Schemas are hostile: only their first `MAX_NODES` parts are read.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tui.core.jsonrpc.reader import local_target
from tui.core.language.translate import message
from tui.core.schemas.schemas import (
    ARM_WORDS,
    DATA,
    MAX_DEPTH,
    MAX_NODES,
    NAME_MAPS,
    Schema,
    is_array,
    strings,
)
from tui.core.text import clean_line, mapping, quoted_name


class Provider(StrEnum):
    """Who runs models; `OPENAI_STRICT` is OpenAI with `strict: true`, which a host may choose."""

    OPENAI = "OpenAI"
    OPENAI_STRICT = "OpenAI strict"
    ANTHROPIC = "Anthropic"
    GEMINI = "Google"
    MOONSHOT = "Moonshot"


_O, _S, _A = Provider.OPENAI, Provider.OPENAI_STRICT, Provider.ANTHROPIC
_G, _M = Provider.GEMINI, Provider.MOONSHOT


@dataclass(slots=True)
class _Node:
    """A schema with the names of the properties that lead to it, and the objects around it."""

    schema: Schema
    path: tuple[str, ...] = ()
    objects: int = 1

    @property
    def at(self) -> str:
        shown = self.path if len(self.path) <= MAX_SHOWN else ("…", *self.path[-MAX_SHOWN:])
        return f" ({clean_line('.'.join(shown), 80)})" if shown else ""


MAX_SHOWN = 6
"""Maximum names of a path in a sentence."""


_Parts = Sequence[_Node]
"""The parts of one schema, the root first."""


def _parts(schema: Schema) -> _Parts:
    found, level = list[_Node](), [_Node(schema)]
    for _ in range(MAX_DEPTH):
        found += level[: MAX_NODES - len(found)]
        level = [inner for node in level for inner in _inner(node)][:MAX_NODES]
    return found


def _first(parts: _Parts, is_problem: Callable[[_Node], object]) -> _Node | None:
    return next((node for node in parts if is_problem(node)), None)


def _inner(node: _Node) -> Iterator[_Node]:
    for key, value in node.schema.items():
        if key in NAME_MAPS:
            is_deeper = key == "properties"
            for name, one in mapping(value).items():
                if isinstance(one, Mapping):
                    path = (*node.path, str(name)) if is_deeper else node.path
                    yield _Node(one, path[-MAX_SHOWN - 1 :], node.objects + _is_object(one))
        elif key not in DATA:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Mapping):
                    yield _Node(one, node.path, node.objects + _is_object(one))


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return kind == "object" or "properties" in schema or (isinstance(kind, list) and "object" in kind)


def _root_type(parts: _Parts) -> str:
    is_object = parts[0].schema.get("type") == "object"
    return "" if is_object else message('inputSchema is not `type: "object"` at its root')


def _combined_root(parts: _Parts) -> str:
    found = [word for word in (*ARM_WORDS, "allOf", "not", "enum") if word in parts[0].schema]
    return message("{words} at the root of the inputSchema", words=", ".join(found)) if found else ""


def _no_items(parts: _Parts) -> str:
    node = _first(parts, lambda node: is_array(node.schema) and "items" not in node.schema)
    return message("an array without `items`") if node else ""


def _lost_reference(parts: _Parts) -> str:
    for node in parts:
        ref = node.schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#/") and local_target(parts[0].schema, ref) is None:
            return message("$ref to nothing: {ref}", ref=clean_line(ref, 80))
    return ""


_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def _odd_key(parts: _Parts) -> str:
    for node in parts:
        for name in mapping(node.schema.get("properties")):
            if not _KEY.fullmatch(str(name)):
                return message("property name {name}{place}", name=quoted_name(str(name), 40), place=node.at)
    return ""


def _unclosed_object(parts: _Parts) -> str:
    def is_unclosed(node: _Node) -> bool:
        return _is_object(node.schema) and "additionalProperties" not in node.schema

    node = _first(parts, is_unclosed)
    return message("additionalProperties is not false{place}", place=node.at) if node else ""


def _free_object(parts: _Parts) -> str:
    def is_free(node: _Node) -> bool:
        if not _is_object(node.schema):
            return False
        is_empty = not node.schema.get("properties") and bool(node.path) and "anyOf" not in node.schema
        return node.schema.get("additionalProperties", False) is not False or is_empty

    node = _first(parts, is_free)
    return message("an object with any properties{place}", place=node.at) if node else ""


def _optional(parts: _Parts) -> str:
    for node in parts:
        required = set(strings(node.schema.get("required")))
        if name := next(
            (name for name in mapping(node.schema.get("properties")) if name not in required), ""
        ):
            return message("optional property{place}", place=_Node({}, (*node.path, str(name))).at)
    return ""


def _keywords(words: frozenset[str]) -> Callable[[_Parts], str]:
    def find(parts: _Parts) -> str:
        found = {key: node.at for node in reversed(parts) for key in node.schema if key in words}
        said = ""
        for key in sorted(found)[:3]:
            one = message("keyword {name}{place}", name=key, place=found[key])
            said = message("{first}; {others}", first=said, others=one) if said else one
        return said

    return find


_KEYWORDS_STRICT = frozenset({"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"})
_KEYWORDS_GOOGLE = frozenset(
    "allOf not if then else const patternProperties propertyNames dependentRequired dependentSchemas"
    " multipleOf exclusiveMinimum exclusiveMaximum uniqueItems contains minContains maxContains"
    " unevaluatedItems unevaluatedProperties additionalItems $dynamicRef".split()
)
"""Keywords with a meaning that are in neither of its two subsets; annotations are ignored everywhere."""

_FORMATS_STRICT = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())


def _format(parts: _Parts) -> str:
    def is_other(node: _Node) -> bool:
        found = node.schema.get("format")
        return isinstance(found, str) and found not in _FORMATS_STRICT

    node = _first(parts, is_other)
    if node is None:
        return ""
    return message("format {name}{place}", name=clean_line(node.schema["format"], 40), place=node.at)


_TYPED = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "enum", "const"})


def _untyped(parts: _Parts) -> str:
    node = _first(
        parts, lambda node: node.path and _TYPED.isdisjoint(node.schema) and "$defs" not in node.schema
    )
    return message("no type{place}", place=node.at) if node else ""


def _beside_reference(parts: _Parts) -> str:
    def is_beside(node: _Node) -> bool:
        return "$ref" in node.schema and any(not str(key).startswith("$") for key in node.schema)

    node = _first(parts, is_beside)
    return message("keywords next to $ref{place}", place=node.at) if node else ""


MAX_LEVELS, MAX_PROPERTIES, MAX_VALUES = 10, 5_000, 1_000


def _too_large(parts: _Parts) -> str:
    if max(node.objects for node in parts) > MAX_LEVELS:
        return message("objects nested deeper than {limit} levels", limit=MAX_LEVELS)
    if sum(len(mapping(node.schema.get("properties"))) for node in parts) > MAX_PROPERTIES:
        return message("more than {limit:,} properties", limit=MAX_PROPERTIES)
    lists = (node.schema.get("enum") for node in parts)
    if sum(len(values) for values in lists if isinstance(values, list)) > MAX_VALUES:
        return message("more than {limit:,} enum values", limit=MAX_VALUES)
    return ""


class Effect(StrEnum):
    """What becomes of a tool: the request fails, a keyword has no effect, or hosts rewrite the schema.

    Hosts that use strict mode close objects, require all properties and replace `oneOf`
    (openai-agents-python: `ensure_strict_json_schema`); what they cannot rewrite is rejected.
    """

    REJECTED = "rejected"
    IGNORED = "ignored"
    REWRITTEN = "rewritten"


class Rule(NamedTuple):
    """What these providers do not accept, with its source."""

    providers: tuple[Provider, ...]
    find: Callable[[_Parts], str]
    source: str
    effect: Effect = Effect.REJECTED


_STRICT_PAGE = "OpenAI: Structured Outputs, Supported schemas (state of 2026-02)"
_GOOGLE_PAGE = "Gemini API: Schema, and the JSON Schema subset of responseJsonSchema (2026-11)"
_REWRITER = "openai-agents-python: ensure_strict_json_schema"

RULES: Sequence[Rule] = (
    Rule((_O, _S, _A, _G, _M), _root_type, "MCP server/tools; all APIs describe an object of parameters"),
    Rule((_O, _S, _A), _combined_root, "anthropics/claude-code#45106; refusals of OpenAI's API"),
    Rule((_O, _S, _G), _no_items, "sigoden/aichat#1049, meilisearch/meilisearch-mcp#27, cline/cline#7339"),
    Rule((_G, _M), _lost_reference, "google-gemini/gemini-cli#13326, CommandCodeAI/command-code#566"),
    Rule((_A,), _odd_key, "refusal of Anthropic's API: property keys should match ^[a-zA-Z0-9_.-]{1,64}$"),
    Rule((_S,), _free_object, f"{_STRICT_PAGE}; {_REWRITER}"),
    Rule((_S,), _keywords(_KEYWORDS_STRICT), _STRICT_PAGE),
    Rule((_S,), _format, _STRICT_PAGE),
    Rule((_S,), _untyped, _STRICT_PAGE),
    Rule((_S,), _too_large, _STRICT_PAGE),
    Rule((_S,), _unclosed_object, _REWRITER, Effect.REWRITTEN),
    Rule((_S,), _optional, _REWRITER, Effect.REWRITTEN),
    Rule((_S,), _keywords(frozenset({"oneOf"})), _REWRITER, Effect.REWRITTEN),
    Rule((_G,), _untyped, "arben-adm/mcp-sequential-thinking#12 (missing types)", Effect.IGNORED),
    Rule((_G,), _keywords(_KEYWORDS_GOOGLE), _GOOGLE_PAGE, Effect.IGNORED),
    Rule((_G,), _beside_reference, _GOOGLE_PAGE, Effect.IGNORED),
)

_NAMES: Mapping[Provider, re.Pattern[str]] = {
    **dict.fromkeys((_O, _S), re.compile(r"[A-Za-z0-9_-]{1,64}")),
    _A: re.compile(r"[A-Za-z0-9_-]{1,128}"),
    _G: re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}"),
    _M: re.compile(r"[A-Za-z_].*", re.DOTALL),
}
"""The names of tools that each accepts. Sources: the API references of OpenAI (2026-11), Vertex AI
(FunctionDeclaration.name, 2026-09) and Anthropic, whose refusal quotes the pattern; cline/cline#7339."""


def problems(
    schema: Any, provider: Provider, effects: Collection[Effect] = (Effect.REJECTED,)
) -> Sequence[str]:
    """Return what a provider does not accept in an inputSchema, each as a clause without a full stop."""
    return _problems(_parts(mapping(schema)), provider, effects)


def _problems(parts: _Parts, provider: Provider, effects: Collection[Effect]) -> list[str]:
    rules = (rule for rule in RULES if provider in rule.providers and rule.effect in effects)
    return [found for rule in rules if (found := rule.find(parts))]


def name_problem(name: str, provider: Provider) -> str:
    """Return what a provider does not accept in the name of a tool, or ""."""
    accepted = _NAMES[provider].fullmatch(name)
    return "" if accepted else message("name has characters, or a length, that they reject")


def rejections(
    name: str, schema: Any, asked: Sequence[Provider], effects: Collection[Effect] = (Effect.REJECTED,)
) -> Mapping[str, Sequence[Provider]]:
    """Return what these providers do not accept in a tool, with those that do not, as in `problems`."""
    parts, found = _parts(mapping(schema)), dict[str, list[Provider]]()
    for provider in asked:
        for why in filter(None, (name_problem(name, provider), *_problems(parts, provider, effects))):
            found.setdefault(why, []).append(provider)
    return found
