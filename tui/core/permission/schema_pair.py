"""Two schemas that are compared, with the places of their keywords, and what a change of them is. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tui.core.comparison.values import Path
from tui.core.permission.change_effects import ABSENT, ChangeEffect
from tui.core.permission.schema_limits import LIMITS
from tui.core.schemas.alternatives import Node, as_json, is_list_of_schemas, kinds_in
from tui.core.schemas.schemas import ARM_WORDS, strings

SHAPE = ("type", "nullable", *ARM_WORDS, "allOf", "enum", "const", "$ref", "$dynamicRef")
"""Keywords that spell the types and values of a schema; one may replace the other."""

OPAQUE = (
    ("not",),
    ("if", "then", "else"),
    ("contains", "minContains", "maxContains"),
    ("dependentRequired",),
    ("dependentSchemas",),
    ("dependencies",),
    ("unevaluatedItems",),
    ("contentSchema",),
    ("allOf",),
    ("$ref",),
    ("$dynamicRef",),
    ("$recursiveRef",),
)
"""Keywords that are only compared for equality, in groups that belong together."""

OPEN = ("additionalProperties", "unevaluatedProperties")

KEYWORDS = frozenset(
    {*SHAPE, *LIMITS, *OPEN, *(key for group in OPAQUE for key in group)}
    | {
        "properties",
        "required",
        "patternProperties",
        "propertyNames",
        "items",
        "prefixItems",
        "additionalItems",
    }
)
"""The keywords that constrain something, all of which are compared."""


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change of what a schema accepts, or of its texts.

    Attributes:
        steps: the path of the keyword, or of the schema if several are involved.
        places: the paths at which the schemas differ because of it.
        before, after: the values there, or `ABSENT`.
    """

    steps: Path
    places: tuple[Path, ...]
    effect: ChangeEffect
    why: str
    before: Any = ABSENT
    after: Any = ABSENT


def has_same_words(one: Any, other: Any) -> bool:
    """Return whether two texts have the same words; white space and punctuation after words do not count."""
    return isinstance(one, str) and isinstance(other, str) and words_of(one) == words_of(other)


def words_of(text: str) -> list[str]:
    """Return the words of a text without the punctuation after them."""
    return [word.rstrip(".,;:!?") or word for word in text.split()]


@dataclass(frozen=True, slots=True)
class SchemaPair:
    """Two schemas that are compared; `at` is the path by which their changes are reported."""

    was: Node
    now: Node
    at: Path
    level: int = 0

    @property
    def nodes(self) -> tuple[Node, Node]:
        return self.was, self.now

    def value(self, key: str) -> tuple[Any, Any]:
        return self.was.schema.get(key, ABSENT), self.now.schema.get(key, ABSENT)

    def has(self, key: str) -> bool:
        return key in self.was.schema or key in self.now.schema

    def place(self, key: str) -> Path:
        """Return the path of a keyword: where it is written in both, otherwise below `at`."""
        written = {node.place(key) for node in self.nodes if key in node.schema}
        is_one = len(written) == 1 and self.was.at == self.now.at
        return written.pop() if is_one else (*self.at, key)

    def shape_places(self) -> tuple[Path, ...]:
        """Return the paths of the keywords that spell types and values."""
        return tuple(dict.fromkeys(path for key in SHAPE for path in ((*self.at, key), self.place(key))))


def unsound_keys(pair: SchemaPair) -> Iterator[str]:
    """Yield the keywords whose values are not what they must be, and differ."""
    for key in dict.fromkeys((*pair.was.schema, *pair.now.schema)):
        was, now = pair.value(key)
        sound = all(value is ABSENT or _is_sound(key, value) for value in (was, now))
        if not sound and (ABSENT in (was, now) or as_json(was) != as_json(now)):
            yield key


def _is_sound(key: str, value: Any) -> bool:
    match key:
        case "type":
            named = [value] if isinstance(value, str) else value
            return isinstance(named, list) and bool(named) and len(kinds_in(value)) == len(named)
        case "required":
            return isinstance(value, list) and len(strings(value)) == len(value)
        case "enum":
            return isinstance(value, list)
        case "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions":
            return isinstance(value, Mapping)
        case "anyOf" | "oneOf" | "allOf":
            return is_list_of_schemas(value)
        case "items":
            return isinstance(value, Mapping | bool) or is_list_of_schemas(value) or value == []
        case "additionalProperties" | "propertyNames" | "not" | "if" | "then" | "else" | "contains":
            return isinstance(value, Mapping | bool)
    return True
