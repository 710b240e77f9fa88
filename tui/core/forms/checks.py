"""Converts typed text to a value and checks its field; the whole schema is validated before a call. Pure."""

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.errors import reason_of
from tui.core.forms.spec import FieldKind, FieldSpec
from tui.core.jsonrpc.reader import loads
from tui.core.language.translate import N_, as_message, message, n_message
from tui.core.search.regex import found_in

MAX_JSON = 1024 * 1024
"""Maximum characters of raw JSON that are parsed; a longer text belongs in a file."""

_INTEGER = re.compile(r"[-+]?\d{1,4000}")
_NUMBER = re.compile(r"[-+]?(\d{1,4000}(\.\d{0,4000})?|\.\d{1,4000})([eE][-+]?\d{1,9})?")
_BOOLEANS = {"true": True, "false": False}


def parse_json(text: str, most: int = MAX_JSON) -> tuple[Any, str]:
    """Return the value of a JSON text and its problem, or ""; NaN and Infinity are not JSON."""
    if len(text) > most:
        return None, message("is longer than {n} characters", n=f"{most:,}")
    try:
        return loads(text), ""
    except RecursionError:
        return None, message("is nested too deeply")
    except ValueError as error:
        return None, message("is not JSON: {why}", why=reason_of(error))


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON text; `parse_json` returns the same value."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent)
    except (ValueError, TypeError, RecursionError):
        return "null"


def read_text(spec: FieldSpec, text: str) -> tuple[Any, str]:
    """Return the value of `text` in a field of `spec`, and its problem, or "".

    A text that is not a value of the field's kind is returned unchanged, so that nothing typed is lost and an
    invalid value can be sent to a server on purpose.
    """
    match spec.kind:
        case FieldKind.TEXT:
            return text, text_problem(spec, text)
        case FieldKind.INTEGER | FieldKind.NUMBER:
            return _read_number(spec, text.strip())
        case FieldKind.BOOLEAN:
            value = _BOOLEANS.get(text.strip().lower())
            return (text, message("is not true or false")) if value is None else (value, "")
        case FieldKind.CHOICE | FieldKind.CONST:
            found = [one for one in spec.choices if one.label == text] or [
                one
                for one in spec.choices
                if text == (one.value if isinstance(one.value, str) else json_text(one.value))
            ]
            return (found[0].value, "") if found else (text, message("is not an allowed value"))
        case _:
            value, problem = parse_json(text)
            return (text, problem) if problem else (value, "")


def shown_text(spec: FieldSpec, value: Any) -> str | None:
    """Return the text of a field of `spec` for `value`; None if it is not a value for such a field.

    `read_text` returns the same value for it.
    """
    if spec.kind is FieldKind.TEXT:
        return value if isinstance(value, str) else None
    if spec.kind is FieldKind.BOOLEAN:
        return str(value).lower() if isinstance(value, bool) else None
    if spec.kind in (FieldKind.CHOICE, FieldKind.CONST):
        return next((choice.label for choice in spec.choices if same(choice.value, value)), None)
    if spec.kind is FieldKind.JSON:
        return json_text(value, indent=2 if isinstance(value, dict | list) else None)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if spec.kind in (FieldKind.INTEGER, FieldKind.NUMBER) and is_number:
        whole = isinstance(value, int) or value.is_integer()
        return repr(value) if whole or spec.kind is FieldKind.NUMBER else None
    return None


def text_problem(spec: FieldSpec, text: str) -> str:
    """Return the problem of a text, or ""."""
    if problem := _length_problem(spec, len(text)):
        return problem
    if spec.pattern and found_in(spec.pattern, text) is False:
        return message("does not match {pattern}", pattern=spec.pattern[:80])
    try:
        fits = spec.format not in _FORMATS or _FORMATS[spec.format](text)
    except ValueError:
        fits = None
    if not fits:
        if spec.format == "email":
            return message("is not an email")
        return message("is not a {format}", format=spec.format)
    if any("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else False:
        return message("contains an invalid character (a lone surrogate)")
    return ""


def size_problem(spec: FieldSpec, size: int) -> str:
    """Return the problem of the number of items or entries, or ""."""
    return _length_problem(spec, size)


def _length_problem(spec: FieldSpec, size: int) -> str:
    """Return the problem of a number of characters, items or entries, or ""."""
    shortest, longest = spec.sizes
    if shortest is not None and size < shortest:
        return message("needs at least {amount}", amount=_amount(spec, shortest))
    if longest is not None and size > longest:
        return message("may have at most {amount}", amount=_amount(spec, longest))
    return ""


def _amount(spec: FieldSpec, n: int) -> str:
    count = f"{n:,}"
    if spec.kind is FieldKind.TEXT:
        return n_message("{count} character", "{count} characters", n, count=count)
    if spec.kind is FieldKind.ARRAY:
        return n_message("{count} item", "{count} items", n, count=count)
    return n_message("{count} entry", "{count} entries", n, count=count)


def _read_number(spec: FieldSpec, text: str) -> tuple[Any, str]:
    number: int | float
    if _INTEGER.fullmatch(text):
        number = int(text)
    elif _NUMBER.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            return text, message("is too large")
    else:
        is_whole = spec.kind is FieldKind.INTEGER
        return text, message("is not an integer") if is_whole else message("is not a number")
    if spec.kind is FieldKind.INTEGER and isinstance(number, float) and not number.is_integer():
        return number, message("is not an integer")
    return number, _range_problem(spec, number)


_RANGES: Sequence[tuple[str, Callable[[float, float], bool], str]] = (
    ("minimum", operator.ge, N_("must be at least {limit}")),
    ("maximum", operator.le, N_("must be at most {limit}")),
    ("exclusiveMinimum", operator.gt, N_("must be more than {limit}")),
    ("exclusiveMaximum", operator.lt, N_("must be less than {limit}")),
)


def _range_problem(spec: FieldSpec, number: int | float) -> str:
    for keyword, fits, words in _RANGES:
        if (limit := spec.limit(keyword)) is not None and not fits(number, limit):
            return as_message(words, limit=limit)
    step = spec.limit("multipleOf")
    if isinstance(step, int) and step > 0 and isinstance(number, int) and number % step:
        return message("must be a multiple of {step}", step=step)
    return ""


_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}:[^\s]*")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_FORMATS: dict[str, Callable[[str], object]] = {
    "date": lambda text: len(text) == 10 and date.fromisoformat(text),
    "date-time": lambda text: len(text) > 10 and text[10] in "Tt " and datetime.fromisoformat(text.upper()),
    "time": lambda text: time.fromisoformat(text.upper()),
    "email": _EMAIL.fullmatch,
    "uri": _URI.fullmatch,
    "url": _URI.fullmatch,
    "uuid": _UUID.fullmatch,
}
"""Checks that return something true, or raise ValueError. Formats are hints: only certain faults count."""
