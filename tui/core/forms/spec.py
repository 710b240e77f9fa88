"""The words of forms: what kind of field a schema asks for, and what state a field is in. Pure.

All texts are raw, as the server wrote them: whoever shows them cleans them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

MAX_DEPTH = 8
"""Levels of nesting with fields of their own; what lies deeper is one field of raw JSON."""
MAX_FIELDS = 400
"""Fields of one form; what is more is raw JSON."""
MAX_CHOICES = 500
MAX_ARMS = 32

Path = tuple[str | int, ...]
"""Where a field is: names of properties and numbers of items; () is the whole of the arguments."""


class Missing:
    """There is no value, which is not the value null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class FieldKind(StrEnum):
    """What a field is edited as."""

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


class FieldState(StrEnum):
    """What a field holds.

    ABSENT: it is left out of the arguments, which is not the same as an empty text.
    NULL: null.
    SET: a value of its kind; for an object, a map or an array: it is there, maybe empty.
    RAW: JSON text in place of its kind, because a person wanted so or a value did not fit.
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
    """The limits on a value; None where there is none.

    Attributes:
        minimum, maximum: of a number.
        above, below: exclusive limits of a number.
        step: what a number is a multiple of.
        shortest, longest: characters of a text, items of an array or entries of an object.
        unique: no two items of an array are equal.
    """

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    step: int | float | None = None
    shortest: int | None = None
    longest: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What a schema says of one field.

    Attributes:
        kind: what it is edited as; under a union, what the first arm is.
        title, description: the schema's, or "".
        nullable: null is a value of it.
        choices: of a CHOICE, and the one of a CONST.
        arms: the alternatives of a union, each a spec of its own; empty if it is none.
        label: what to call it among the arms of a union.
        bounds: limits on the value.
        pattern: regular expression of a text, or "".
        format: "date", "uri", "email" and so on, or "".
        default: what the server takes when it is absent, or MISSING.
        examples: values that the schema gives.
        secret: its format or `writeOnly` says that it is not to be seen.
        open: entries may be added under names of one's own.
        note: why it is raw JSON though the schema says more, or what of it is not shown; or "".
        source: the schema itself, references resolved at its top.
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
    note: str = ""
    source: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class FormField:
    """One row of a form as it is now.

    Attributes:
        path: where it is; what every method of `Form` takes.
        name: its last part as text: name of the property, number of the item from 0, or the entry's name.
        spec: what the schema says of it; of a union, of the arm that is chosen.
        kind: what it is edited as now; JSON while its state is RAW.
        state: what it holds.
        text: what stands in it, right or wrong; JSON text if raw, "" for objects, maps and arrays.
        choice: which of `spec.choices` it is, or None.
        arms: labels of the alternatives of a union, or ().
        arm: which of them it is.
        required: it must not be absent.
        nullable: it may be null.
        extra: the person added it under a name of their own, or as an item: it can be removed.
        children: how many fields it has beneath it now.
        problem: what is wrong with it, one sentence without a full stop, or "".
    """

    path: Path
    name: str
    spec: FieldSpec
    kind: FieldKind
    state: FieldState
    text: str = ""
    choice: int | None = None
    arms: tuple[str, ...] = ()
    arm: int = 0
    required: bool = False
    nullable: bool = False
    extra: bool = False
    children: int = 0
    problem: str = ""

    @property
    def depth(self) -> int:
        """Return how deep it is nested; a property of the arguments themselves is at 1."""
        return len(self.path)
