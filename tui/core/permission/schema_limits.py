"""Changed limits of a schema, such as `minimum`, `pattern` or `format`: whether fewer values fit. Pure."""

import math
from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from tui.core.language.translate import message
from tui.core.schemas.schemas import Schema


class Shift(Enum):
    """Which values a changed schema accepts, compared to before."""

    TIGHTER = "fewer"
    LOOSER = "more"
    OTHER = "others"


class LimitShift(NamedTuple):
    """A changed limit: its keyword, and what changed in a few words."""

    key: str
    shift: Shift
    why: str


_NUMBERS = ("integer", "number", "")
_SIZES = (
    ("string", "minLength", "maxLength", message("characters")),
    ("array", "minItems", "maxItems", message("items")),
    ("object", "minProperties", "maxProperties", message("members")),
)
_TEXTS = ("pattern", "format", "contentEncoding", "contentMediaType")
_WIDTHS = (("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64"), ("float", "double"))
"""Formats of numbers, the narrow ones first."""

LIMITS = frozenset(
    {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "uniqueItems", *_TEXTS}
    | {key for _, least, most, _ in _SIZES for key in (least, most)}
)

_Bound = tuple[Fraction, bool]
"""A limit, and whether the limit itself is out of range."""


def limit_shifts(kind: str, was: Schema, now: Schema) -> Iterator[LimitShift]:
    """Yield the limits that differ between two schemas of one type; "" is any type."""
    if kind in _NUMBERS:
        yield from _bound_shifts(kind, was, now)
        yield from _multiple_shifts(kind, was, now)
    for of, least, most, what in _SIZES:
        if kind in (of, ""):
            yield from _size_shifts(least, was, now, what, sign=1)
            yield from _size_shifts(most, was, now, what, sign=-1)
    if kind in ("array", "") and (was.get("uniqueItems") is True) != (now.get("uniqueItems") is True):
        is_tighter = now.get("uniqueItems") is True
        shift, why = (Shift.TIGHTER, message("now unique"))
        if not is_tighter:
            shift, why = Shift.LOOSER, message("may repeat items")
        yield LimitShift("uniqueItems", shift, why)
    if kind in ("string", *_NUMBERS):
        for key in _TEXTS if kind in ("string", "") else ("format",):
            yield from _text_shifts(key, was.get(key), now.get(key))


def _text_shifts(key: str, was: Any, now: Any) -> Iterator[LimitShift]:
    if was == now:
        return
    if was is None or now is None:
        shift = Shift.TIGHTER if was is None else Shift.LOOSER
        why = message("new {key}", key=key) if was is None else message("no {key}", key=key)
        yield LimitShift(key, shift, why)
        return
    family = next((widths for widths in _WIDTHS if was in widths and now in widths), ())
    shift = Shift.OTHER
    if family:
        shift = Shift.LOOSER if family.index(now) > family.index(was) else Shift.TIGHTER
    yield LimitShift(key, shift, message("different {key}", key=key))


def _size_shifts(key: str, was: Schema, now: Schema, what: str, *, sign: int) -> Iterator[LimitShift]:
    before, after = was.get(key), now.get(key)
    if before == after and type(before) is type(after):
        return
    if any(value is not None and fraction(value) is None for value in (before, after)):
        yield LimitShift(key, Shift.OTHER, message("different limit"))
        return
    least = Fraction(0) if sign > 0 else None
    old, new = fraction(before), fraction(after)
    old, new = least if old is None else old, least if new is None else new
    why = message("at most {n} {what}", n=after, what=what)
    if after is None:
        why = message("any number of {what}", what=what)
    elif sign > 0:
        why = message("at least {n} {what}", n=after, what=what)
    yield from _compared(key, _signed(old, sign), _signed(new, sign), why)


def _signed(limit: Fraction | None, sign: int) -> _Bound | None:
    return None if limit is None else (sign * limit, False)


def _compared(key: str, old: _Bound | None, new: _Bound | None, why: str) -> Iterator[LimitShift]:
    """Yield the shift of a lower bound; None is no bound."""
    if old == new:
        return
    is_tighter = old is None or (new is not None and new > old)
    yield LimitShift(key, Shift.TIGHTER if is_tighter else Shift.LOOSER, why)


def _bound_shifts(kind: str, was: Schema, now: Schema) -> Iterator[LimitShift]:
    for key, exclusive, sign in (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)):
        if all(was.get(one) == now.get(one) for one in (key, exclusive)):
            continue
        named = exclusive if was.get(key) == now.get(key) else key
        if not all(_is_sound(schema, key, exclusive) for schema in (was, now)):
            yield LimitShift(named, Shift.OTHER, message("different limit"))
            continue
        old, new = (_bound(schema, key, exclusive, sign, kind) for schema in (was, now))
        yield from _compared(named, old, new, _bound_words(key, new, sign))


def _bound_words(key: str, new: _Bound | None, sign: int) -> str:
    if new is None:
        return message("no {key}", key=key)
    n = _shown(sign * new[0])
    if new[1]:
        more = message("at least {n} exclusive", n=n)
        return more if sign > 0 else message("at most {n} exclusive", n=n)
    return message("at least {n}", n=n) if sign > 0 else message("at most {n}", n=n)


def _is_sound(schema: Schema, key: str, exclusive: str) -> bool:
    values = (schema.get(key), schema.get(exclusive))
    is_old_draft = isinstance(values[1], bool)
    checked = values[:1] if is_old_draft else values
    return all(value is None or fraction(value) is not None for value in checked)


def _bound(schema: Schema, key: str, exclusive: str, sign: int, kind: str) -> _Bound | None:
    """Return a bound as a lower one: the upper bounds of `sign` -1 are negative."""
    inner, outer = schema.get(key), schema.get(exclusive)
    if isinstance(outer, bool):  # draft 4: says how `minimum` is meant
        pairs = [(inner, outer)]
    else:
        pairs = [(inner, False), (outer, True)]
    found = [(sign * limit, without) for value, without in pairs if (limit := fraction(value)) is not None]
    if kind == "integer":
        found = [(Fraction(math.floor(at) + 1 if without else math.ceil(at)), False) for at, without in found]
    return max(found, default=None)


def _multiple_shifts(kind: str, was: Schema, now: Schema) -> Iterator[LimitShift]:
    before, after = was.get("multipleOf"), now.get("multipleOf")
    if before == after:
        return
    old, new = fraction(before), fraction(after)
    is_bad = any(
        value is not None and (found is None or found <= 0) for value, found in ((before, old), (after, new))
    )
    if is_bad:
        yield LimitShift("multipleOf", Shift.OTHER, message("different limit"))
        return
    if kind == "integer":
        old, new = old or Fraction(1), new or Fraction(1)
    if old == new:
        return
    why = message("no longer a multiple")
    if after is not None:
        why = message("a multiple of {n}", n=after)
    if old is None or (new is not None and (new / old).denominator == 1):
        yield LimitShift("multipleOf", Shift.TIGHTER, why)
    elif new is None or (old / new).denominator == 1:
        yield LimitShift("multipleOf", Shift.LOOSER, why)
    else:
        yield LimitShift("multipleOf", Shift.OTHER, why)


def fraction(value: Any) -> Fraction | None:
    """Return a JSON number exactly as it is written, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _shown(limit: Fraction) -> str:
    return str(limit.numerator) if limit.denominator == 1 else f"{float(limit):g}"
