"""Arguments at the edges of a schema: the values that tools break on, one at a time, simplest first. Pure.

They need not be valid. A validator decides afterwards, because a schema has more ways to forbid a value than
can be followed here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from tui.core.schemas.schemas import (
    SchemaRefused,
    arms_of,
    by_position,
    listed,
    merged,
    model_schema,
    own_kind,
    strings,
)
from tui.core.text import object_in
from tui.core.units import number_limit, whole

LENGTHS = (
    *(1, 2, 3, 10, 32, 64, 100, 128, 255, 256, 500, 512, 1_000, 1_024, 2_000, 4_096, 5_000, 8_192),
    *(10_000, 16_384, 20_000, 32_768, 50_000, 65_536, 100_000),
)
"""Lengths of texts."""

COUNTS = (1, 2, 3, 10, 32, 64, 100, 128, 256, 1_000, 1_024, 5_000, 10_000)
"""Lengths of arrays."""

DEPTHS = (1, 2, 3, 5, 10, 16, 20, 32, 50, 64, 100, 128)
"""Depths of nested arrays where a schema says nothing. Some SDKs never answer 200, whatever the tool."""

DEEP = (*DEPTHS, 200, 256, 300, 400, 500, 600, 800, 900)
"""Depths of nested arrays that a schema allows. Deeper ones are more than JSON libraries read."""

NUMBERS = (
    *(0, 1, 2, 3, 10, 100, 255, 256, 1_000, 1_024, 10_000, 65_535, 65_536, 100_000, 1_000_000),
    *(10_000_000, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 10**20),
)

FRACTIONS = (0.5, 0.1, 1e-9, 1e308, -0.5, -1e308)

TEXTS = (
    *("", " ", "\n", "\t", "\r\n", "a b", "A", "0", "-1", "1.5", "1e999", "null", "None", "true", "NaN"),
    *("é", "ß", "İ", "日本", "👍", "e\u0301", "\u200b", "\u202e", "\ufeff", "\uffff", "\x00", "a\x00b"),
    *("\x1b[31m", "\x7f", "'", '"', "\\", "`", "%", "%s", "%n", "{}", "{0}", "${a}", "$(id)", ";", "&"),
    *("<b>", "/", "..", "../..", "~", "-", "--help", "*", "?", "[", "(", "+", "#", "@", ",", "a,b", "="),
    *("' OR '1'='1", "http://", "https://a.b/", "file:///", "C:\\", "2024-02-30", "24:61", "[]", "[1]"),
)
"""Texts on which programs break: empty, of other scripts, with control characters, and with syntax."""

WRONG: Mapping[str, Sequence[Any]] = {
    "string": (5, None, [], {}),
    "integer": ("x", 1.5, None, []),
    "number": ("x", None, []),
    "boolean": ("x", None, []),
    "array": ("x", 5, None, {}),
    "object": ("x", 5, None, []),
    "null": ("x",),
}
"""Values of a wrong type that no library converts."""

UNKNOWN = "unknown_argument"
MOST_LISTED = 30
MOST_COMBINED = 100
MOST_DEPTH = 4
MOST_GROUPS = 2_000

Group = Sequence[Any]
"""Values of growing size: if one breaks a tool, larger ones only do so again."""


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of bounded size without references, with all arguments of its alternatives."""
    try:
        return model_schema(schema)
    except SchemaRefused:
        return dict(schema)


def argument_groups(schema: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[Group]:
    """Yield groups of arguments for a plain schema. Each differs from the valid `base` in one place.

    At last come combinations of arguments with few values.
    """
    yield [dict(base)]
    yield from islice(_object_groups(schema, base, 0), MOST_GROUPS)
    yield from _singles(_combined(schema, base))


def _combined(schema: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the combinations of arguments that have few values, listed ones and booleans."""
    few: dict[str, Sequence[Any]] = {}
    for name, inner in object_in(schema, "properties").items():
        node = merged(inner) if isinstance(inner, Mapping) else {}
        values = listed(node) or ([False, True] if own_kind(node) == "boolean" else [])
        if values:
            few[name] = values[:MOST_LISTED]
    if len(few) > 1:
        for chosen in islice(product(*few.values()), MOST_COMBINED):
            yield {**base, **dict(zip(few, chosen, strict=True))}


def simplest(schema: Any, depth: int = 0) -> Any:
    """Return a value for a plain schema, valid unless it has a pattern or unusual keywords."""
    node = merged(schema) if isinstance(schema, Mapping) else {}
    if values := listed(node):
        return values[0]
    if arms := arms_of(node):
        return simplest(arms[0], depth)
    low, high = limits_of(node)
    match own_kind(node):
        case "string":
            return "a" * max(1, min(_least(node, "minLength"), LENGTHS[-1]))
        case "integer" | "number":
            nearest = max(low if low is not None else 1, 1) if high is None or high >= 1 else high
            return int(nearest) if nearest == int(nearest) else nearest
        case "boolean":
            return False
        case "array":
            count = min(_least(node, "minItems"), COUNTS[-1]) if depth < MOST_DEPTH else 0
            return [simplest(_items(node), depth + 1)] * count
        case "object":
            members = object_in(node, "properties") if depth < MOST_DEPTH else {}
            needed = strings(node.get("required"))
            return {name: simplest(members.get(name), depth + 1) for name in needed if name in members}
        case "null":
            return None
    return "a"


def _groups(schema: Any, depth: int) -> Iterator[Group]:
    """Yield groups of values for one schema, and of values of wrong types."""
    node = merged(schema) if isinstance(schema, Mapping) else {}
    if values := listed(node):
        yield from _singles(values[:MOST_LISTED])
        yield ["no such value"]
        return
    if arms := arms_of(node):
        for arm in arms:
            yield from _groups(arm, depth)
        return
    kind = own_kind(node)
    match kind:
        case "string":
            yield from _text_groups(node)
        case "integer" | "number":
            yield from _number_groups(node, kind)
        case "boolean":
            yield from _singles([False, True])
        case "array":
            yield from _array_groups(node, depth)
        case "object":
            yield from _object_groups(node, simplest(node, depth), depth)
        case "":
            yield from _singles([None, True, 0, 1.5, "", "a", [], {}, {"a": {"b": []}}])
            yield [_nested(deep) for deep in DEEP]
            yield from _text_groups({})
    yield from _singles(WRONG.get(kind, ()))


def _text_groups(node: Mapping[str, Any]) -> Iterator[Group]:
    yield [""]
    edges = {length + more for length in _set_limits(node, "minLength", "maxLength") for more in (-1, 0, 1)}
    yield ["a" * length for length in sorted({*LENGTHS, *edges}) if 0 < length <= LENGTHS[-1] + 1]
    yield from _singles(TEXTS)


def _number_groups(node: Mapping[str, Any], kind: str) -> Iterator[Group]:
    yield [0]
    low, high = limits_of(node)
    for limit in (low, high):
        if limit is not None:
            at = int(limit) if limit == int(limit) else limit
            yield from _singles([at, at + 1, at - 1])
    yield list(NUMBERS)
    yield [-number for number in NUMBERS[1:]]
    if kind == "number":
        yield from _singles(FRACTIONS)


def _array_groups(node: Mapping[str, Any], depth: int) -> Iterator[Group]:
    yield [[]]
    if depth >= MOST_DEPTH:
        return
    items = _items(node)
    item = simplest(items, depth + 1)
    edges = {count + more for count in _set_limits(node, "minItems", "maxItems") for more in (-1, 0, 1)}
    counts = sorted({*COUNTS, *edges})
    yield [[item] * count for count in counts if 0 < count <= COUNTS[-1] + 1]
    for group in _groups(items, depth + 1):
        yield [[value] for value in group]


def _object_groups(node: Mapping[str, Any], base: Mapping[str, Any], depth: int) -> Iterator[Group]:
    members = object_in(node, "properties")
    for name in strings(node.get("required")):
        yield [{key: value for key, value in base.items() if key != name}]
    if depth < MOST_DEPTH:
        for name, inner in members.items():
            for group in _groups(inner, depth + 1):
                yield [{**base, name: value} for value in group]
    others = node.get("additionalProperties", True)
    if isinstance(others, Mapping) and others and depth < MOST_DEPTH:
        for group in _groups(others, depth + 1):
            yield [{**base, "a": value} for value in group]
    elif not members and others is not False:
        yield [{**base, "a": _nested(deep)} for deep in DEPTHS]
    yield [{**base, UNKNOWN: "a"}]


def _singles(values: Iterable[Any]) -> Iterator[Group]:
    return ([value] for value in values)


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _items(node: Mapping[str, Any]) -> Any:
    first, rest = by_position(node)
    return first[0] if first else rest


def _least(node: Mapping[str, Any], key: str) -> int:
    return whole(node.get(key)) or 0


def _set_limits(node: Mapping[str, Any], *keys: str) -> list[int]:
    return [found for key in keys if (found := whole(node.get(key))) is not None]


def limits_of(node: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the least and the largest number of a schema, None for none."""
    step = 1 if own_kind(node) == "integer" else 0
    lows = [number_limit(node.get("minimum")), number_limit(node.get("exclusiveMinimum"))]
    highs = [number_limit(node.get("maximum")), number_limit(node.get("exclusiveMaximum"))]
    low = max((at + step * (number == 1) for number, at in enumerate(lows) if at is not None), default=None)
    high = min((at - step * (number == 1) for number, at in enumerate(highs) if at is not None), default=None)
    return low, high
