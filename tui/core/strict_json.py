"""JSON as the standard has it, without NaN and Infinity, and without numbers that become infinite. Pure.

Python reads `1e999` as infinity, which no JSON can hold: what was a number would be sent as null.
"""

import json
import math
from typing import Any

MAX_SHOWN = 20


def loads(text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of a JSON text.

    Args:
        text: the whole text.
        strict: whether control characters in strings are refused, as JSON wants it.

    Raises:
        ValueError: it is not JSON, or has a number that is out of range.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, strict=strict, parse_constant=_refuse, parse_float=_finite)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        shown = digits if len(digits) <= MAX_SHOWN else f"{digits[:MAX_SHOWN]}…"
        raise ValueError(f"{shown} is out of range")
    return number
