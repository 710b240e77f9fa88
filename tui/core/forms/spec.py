"""The terms of forms: the kind of field that a schema asks for, and the state of a field. Pure.

All texts are raw, as the server wrote them; clean them before showing them. Types in words are clean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tui.core import units
from tui.core.language.translate import N_, _, n_
from tui.core.text import clean_line, compact

MAX_DEPTH = 8
"""Levels of nesting with their own fields; deeper levels are one field of raw JSON."""
MAX_FIELDS = 400
"""Maximum fields of one form; the rest is raw JSON."""
MAX_CHOICES = 500

Path = tuple[str | int, ...]
"""Names of properties and indexes of items; () is the root."""


MISSING: Any = object()
"""No value, which is not the value null."""


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


_SIZES = {
    FieldKind.TEXT: ("minLength", "maxLength"),
    FieldKind.ARRAY: ("minItems", "maxItems"),
    FieldKind.OBJECT: ("minProperties", "maxProperties"),
    FieldKind.MAP: ("minProperties", "maxProperties"),
}
"""The keywords that limit the characters of a text, the items of an array, or the entries of an object."""

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
    pattern: str = ""
    format: str = ""
    default: Any = MISSING
    examples: tuple[Any, ...] = ()
    secret: bool = False
    open: bool = False
    forbidden: bool = False
    note: str = ""
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def limit(self, keyword: str) -> int | float | None:
        """Return the number that the schema gives for a keyword such as `minimum`, or None."""
        return units.number_limit(self.source.get(keyword))

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        """The least and the greatest size of a value, None where the schema sets none."""
        least, most = (units.whole(self.source.get(word)) for word in _SIZES.get(self.kind, ("", "")))
        return least, most

    @property
    def asks_entries(self) -> bool:
        """Whether the schema describes entries besides its properties, and does not only not forbid them."""
        others = self.source.get("additionalProperties", False)
        return (others is not False and others is not None) or bool(self.source.get("patternProperties"))


@dataclass(slots=True, eq=False)
class FormField:
    """One field of a form and its content.

    Attributes:
        whole: the spec of the field, unions included.
        path: identifies the field in every method of `Form`.
        extra: the user added it, as an entry or item: it can be removed.
        arm: the index of the chosen arm of a union.
        text: its text, valid or not; JSON text if raw, "" for objects, maps and arrays.
        value: the value of `text`; unused for objects, maps and arrays.
        misread: the problem of `text`, or "".
        problem: what to show of its problems, one sentence without a full stop, or ""; `Form` sets it.
        children: fields by name or index, if it is an object, map or array that is SET.
        other_arms: contents of the arms that were chosen before.
    """

    whole: FieldSpec
    path: Path = ()
    required: bool = False
    extra: bool = False
    state: FieldState = FieldState.ABSENT
    arm: int = 0
    text: str = ""
    value: Any = None
    misread: str = ""
    problem: str = ""
    children: dict[str | int, "FormField"] = field(default_factory=dict)
    other_arms: dict[int, "FormField"] = field(default_factory=dict)

    @property
    def spec(self) -> FieldSpec:
        """The current spec: for a union, that of the chosen arm."""
        return self.whole.arms[self.arm] if self.whole.arms else self.whole

    @property
    def kind(self) -> FieldKind:
        """How it is edited now; JSON while its state is RAW, and where it is nested too deeply."""
        if self.is_raw or (len(self.path) >= MAX_DEPTH and self.spec.kind in HOLDERS):
            return FieldKind.JSON
        return self.spec.kind

    @property
    def name(self) -> str:
        """The last part of the path as text: a property, the number of an item from 0, or an entry."""
        return str(self.path[-1]) if self.path else ""

    @property
    def depth(self) -> int:
        return len(self.path)

    @property
    def arms(self) -> Sequence[str]:
        """The labels of the alternatives of a union, or ()."""
        return tuple(arm.label for arm in self.whole.arms)

    @property
    def nullable(self) -> bool:
        return self.whole.nullable

    @property
    def is_raw(self) -> bool:
        return self.state is FieldState.RAW

    @property
    def is_blank(self) -> bool:
        if self.state is FieldState.SET and self.kind in HOLDERS:
            return all(child.is_blank for child in self.children.values())
        return self.state is FieldState.ABSENT

    @property
    def is_full(self) -> bool:
        """Whether the schema allows no more items in a list or entries in a map."""
        longest = self.spec.sizes[1] if self.kind in (FieldKind.ARRAY, FieldKind.MAP) else None
        return longest is not None and len(self.children) >= longest

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

    def put_aside(self) -> None:
        """Keep the content of the chosen arm, or of a field that is no union, for `take_arm`."""
        if self.state is not FieldState.NULL:
            self.other_arms[self.arm] = replace(self, other_arms={})

    def take_arm(self, arm: int) -> None:
        """Switch to an arm, or back from null, with its earlier content; keep that of the previous one."""
        self.put_aside()
        taken = self.other_arms.pop(arm, FormField(self.whole))
        self.arm, self.state, self.text = arm, taken.state, taken.text
        self.value, self.misread, self.children = taken.value, taken.misread, taken.children
        self.move(self.path)

    def move(self, path: Path) -> None:
        self.path = path
        for name, child in self.children.items():
            child.move((*path, name))

    def clear(self) -> None:
        self.state = FieldState.ABSENT
        self.text, self.value, self.misread = "", None, ""
        self.children = {}

    def fields(self) -> Iterator["FormField"]:
        yield self
        for child in self.children.values():
            yield from child.fields()


def label_of(value: Any) -> str:
    """Return a value of a schema as the text that the user selects it by."""
    return value if isinstance(value, str) else compact(value, 80)


def brief(value: Any) -> str:
    """Return a value of a schema, shortened and cleaned."""
    return clean_line(label_of(value), 40) or '""'


_PLAIN = {
    FieldKind.TEXT: N_("text"),
    FieldKind.INTEGER: N_("integer"),
    FieldKind.NUMBER: N_("number"),
    FieldKind.MAP: N_("object"),
}
"""The words of kinds that are their type in a schema."""


def type_words(field: FormField) -> str:
    """Return the type of a field: "integer 1…7", "one of 4", "list, at most 3 items"."""
    spec, kind = field.spec, field.kind
    named = {
        FieldKind.CHOICE: _("one of {n}", n=len(spec.choices)),
        FieldKind.CONST: _("fixed"),
        FieldKind.BOOLEAN: _("boolean"),
        FieldKind.ARRAY: _("list"),
        FieldKind.JSON: "JSON",
    }
    words = named.get(kind) or clean_line(spec.format, 20) or _(_PLAIN.get(kind, kind))
    bounds = bound_words(spec, is_number=kind in (FieldKind.INTEGER, FieldKind.NUMBER))
    if bounds and kind in (FieldKind.TEXT, FieldKind.ARRAY):
        shortest, longest = spec.sizes
        n = (shortest if longest is None else longest) or 0
        if kind is FieldKind.TEXT:
            bounds = n_("{bounds} character", "{bounds} characters", n, bounds=bounds)
        else:
            bounds = n_("{bounds} item", "{bounds} items", n, bounds=bounds)
    joint = " " if kind in (FieldKind.INTEGER, FieldKind.NUMBER) or not bounds else _(", ")
    whole = f"{words}{joint}{bounds}".rstrip()
    whole = _("{type} or null", type=whole) if field.nullable else whole
    return _("{type}, pattern", type=whole) if kind is FieldKind.TEXT and spec.pattern else whole


def bound_words(spec: FieldSpec, *, is_number: bool) -> str:
    """Return the limits of a number or of a size, as short as possible."""
    low: float | None
    high: float | None
    if is_number:
        low, high = spec.limit("minimum"), spec.limit("maximum")
        low_sign, high_sign = "≥ ", "≤ "
        if low is None and (above := spec.limit("exclusiveMinimum")) is not None:
            low, low_sign = above, "> "
        if high is None and (below := spec.limit("exclusiveMaximum")) is not None:
            high, high_sign = below, "< "
    else:
        low, high = spec.sizes
        low = low or None
        low_sign, high_sign = "", ""
    if low is not None and high is not None and low_sign != "> " and high_sign != "< ":
        return units.amount(low) if low == high else f"{units.amount(low)}…{units.amount(high)}"
    words = []
    if low is not None:
        least = units.amount(low)
        words.append(f"{low_sign}{least}" if low_sign else _("at least {n}", n=least))
    if high is not None:
        most = units.amount(high)
        words.append(f"{high_sign}{most}" if high_sign else _("at most {n}", n=most))
    return _(", ").join(words)
