"""The terms of forms: the kind of field that a schema asks for, and the state of a field. Pure.

All texts are raw, as the server wrote them; clean them before showing them. Types in words are clean.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from tui.core import units
from tui.core.text import clean_line

MAX_DEPTH = 8
"""Levels of nesting with their own fields; deeper levels are one field of raw JSON."""
MAX_FIELDS = 400
"""Maximum fields of one form; the rest is raw JSON."""
MAX_CHOICES = 500
MAX_ARMS = 32

Path = tuple[str | int, ...]
"""Names of properties and indexes of items; () is the root."""


class Missing:
    """No value, which is not the value null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class FieldKind(StrEnum):
    """How a field is edited."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CONST = "const"
    OBJECT = "object"
    MAP = "map"
    ARRAY = "array"
    JSON = "json"


HOLDERS = frozenset({FieldKind.OBJECT, FieldKind.MAP, FieldKind.ARRAY})
PICKED = frozenset({FieldKind.CHOICE, FieldKind.CONST, FieldKind.BOOLEAN})
"""Kinds of fields that are selected, not typed."""

BOOLEANS = ("true", "false")


class FieldState(StrEnum):
    """The kind of content of a field.

    ABSENT: it is not in the arguments, which is not the same as an empty text. SET: a value of its kind; an
    object, map or array may be empty. RAW: JSON text, because the user chose it or the value did not fit.
    """

    ABSENT = "absent"
    NULL = "null"
    SET = "set"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """One of the values that a field may have."""

    value: Any
    label: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """The constraints on a value; None where nothing is set.

    `above` and `below` are exclusive, a number must be a multiple of `step`, `shortest` and `longest` limit
    characters of a text, items of an array or entries of an object; its items are `unique`.
    """

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    step: int | float | None = None
    shortest: int | None = None
    longest: int | None = None
    unique: bool = False


MAX_TITLE, MAX_DESCRIPTION = 120, 600
"""Maximum characters that a form shows of the title and the description of a field."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A schema's rules for one field; "" where it has none.

    Attributes:
        kind: how it is edited; for a union, the kind of the first arm.
        choices: the values of a CHOICE, or the single value of a CONST.
        arms: the alternatives of a union, each with its own spec; empty otherwise.
        label: its name among the arms of a union.
        default: the value that the server uses if it is absent, or MISSING.
        secret: its format or `writeOnly` says that it must not be shown.
        open: entries with any name may be added.
        forbidden: the schema allows no value here.
        note: why it is raw JSON although the schema says more, or what is not shown; or "".
        source: the schema itself, with references resolved at its top level.
    """

    kind: FieldKind
    title: str = ""
    description: str = ""
    nullable: bool = False
    choices: tuple[FieldChoice, ...] = ()
    arms: tuple["FieldSpec", ...] = ()
    label: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    pattern: str = ""
    format: str = ""
    default: Any = MISSING
    examples: tuple[Any, ...] = ()
    secret: bool = False
    open: bool = False
    forbidden: bool = False
    note: str = ""
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def asks_entries(self) -> bool:
        """Whether the schema describes entries besides its properties, and does not only not forbid them."""
        others = self.source.get("additionalProperties", False)
        return (others is not False and others is not None) or bool(self.source.get("patternProperties"))


@dataclass(frozen=True, slots=True)
class FormField:
    """One row of a form as it is now.

    Attributes:
        path: identifies the field in every method of `Form`.
        name: last part of the path as text: a property, the number of an item from 0, or an entry.
        spec: its spec; for a union, that of the chosen arm.
        kind: how it is edited now; JSON while its state is RAW.
        text: its text, valid or not; JSON text if raw, "" for objects, maps and arrays.
        arms: labels of the alternatives of a union, or (); `arm` is the index of the chosen one.
        extra: the user added it, as an entry or item: it can be removed.
        children: number of fields below it.
        problem: one sentence without a full stop, or "".
    """

    path: Path
    name: str
    spec: FieldSpec
    kind: FieldKind
    state: FieldState
    text: str = ""
    arms: tuple[str, ...] = ()
    arm: int = 0
    required: bool = False
    nullable: bool = False
    extra: bool = False
    children: int = 0
    problem: str = ""

    @property
    def depth(self) -> int:
        return len(self.path)

    @property
    def is_full(self) -> bool:
        """Whether the schema allows no more items in a list or entries in a map."""
        counts = self.kind in (FieldKind.ARRAY, FieldKind.MAP)
        return counts and self.spec.bounds.longest is not None and self.children >= self.spec.bounds.longest

    @property
    def is_typed(self) -> bool:
        """Whether the user types into it, rather than selects."""
        return self.kind not in HOLDERS and self.kind not in PICKED

    @property
    def takes_more(self) -> bool:
        """Whether the key that adds has a use here: a list, a map, or an object that has none yet.

        That an object does not forbid other entries is no use: Pydantic's objects do not, and ignore them.
        """
        if self.kind is FieldKind.OBJECT:
            return self.state is not FieldState.SET or self.spec.asks_entries
        return self.kind is FieldKind.ARRAY or (self.kind is FieldKind.MAP and self.spec.open)

    @property
    def labels(self) -> Sequence[str]:
        """The labels of a value that is selected: a boolean, a choice, or the variant of a heading."""
        if self.kind is FieldKind.BOOLEAN:
            return BOOLEANS
        return self.arms if self.kind in HOLDERS else [one.label for one in self.spec.choices]


def brief(value: Any) -> str:
    """Return a value of a schema, shortened and cleaned."""
    if isinstance(value, str):
        return clean_line(value, 40) or '""'
    try:
        return clean_line(json.dumps(value, ensure_ascii=False), 40)
    except (ValueError, TypeError, RecursionError):
        return "an unsupported value"


def type_words(field: FormField) -> str:
    """Return the type of a field: "integer 1…7", "one of 4", "list, at most 3 items"."""
    spec, kind = field.spec, field.kind
    match kind:
        case FieldKind.CHOICE:
            words = f"one of {len(spec.choices)}"
        case FieldKind.CONST:
            words = "fixed"
        case FieldKind.BOOLEAN:
            words = "boolean"
        case FieldKind.ARRAY:
            words = "list"
        case FieldKind.OBJECT | FieldKind.MAP:
            words = clean_line(spec.format, 20) or "object"
        case FieldKind.JSON:
            words = "JSON"
        case _:
            words = clean_line(spec.format, 20) if spec.format else str(kind)
    bounds = bound_words(spec.bounds, is_number=kind in (FieldKind.INTEGER, FieldKind.NUMBER))
    if bounds and kind in (FieldKind.TEXT, FieldKind.ARRAY):
        one = spec.bounds.longest == 1 or (spec.bounds.longest is None and spec.bounds.shortest == 1)
        bounds += (" character" if kind is FieldKind.TEXT else " item") + ("" if one else "s")
    nullable = " or null" if field.nullable else ""
    joint = " " if kind in (FieldKind.INTEGER, FieldKind.NUMBER) or not bounds else ", "
    pattern = ", pattern" if kind is FieldKind.TEXT and spec.pattern else ""
    return f"{words}{joint}{bounds}".rstrip() + nullable + pattern


def bound_words(bounds: Bounds, *, is_number: bool) -> str:
    """Return bounds as short as possible."""
    if is_number:
        low, high = bounds.minimum, bounds.maximum
        low_sign, high_sign = "≥ ", "≤ "
        if low is None and bounds.above is not None:
            low, low_sign = bounds.above, "> "
        if high is None and bounds.below is not None:
            high, high_sign = bounds.below, "< "
    else:
        low, high = bounds.shortest or None, bounds.longest
        low_sign, high_sign = "at least ", "at most "
    if low is not None and high is not None and low_sign != "> " and high_sign != "< ":
        return units.amount(low) if low == high else f"{units.amount(low)}…{units.amount(high)}"
    words = [f"{low_sign}{units.amount(low)}"] if low is not None else []
    words += [f"{high_sign}{units.amount(high)}"] if high is not None else []
    return ", ".join(words)
