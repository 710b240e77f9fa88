"""Parses JSON that models write, and repairs what is broken but complete. Pure.

Truncated JSON is never repaired, because any end would be invented.
"""

import ast
import html
import json
import re
from dataclasses import dataclass
from typing import Any

from tui.core.jsonrpc.reader import loads
from tui.model.openai_api.call_slots import is_cut

MAX_MENDED = 64 * 1024
"""Maximum characters to repair: it takes quadratic time (measured: 10 s for 400 KB)."""

_FENCE = re.compile(r"\s*(?:```|~~~)[\w+-]*[ \t]*\r?\n?(.*?)\s*(?:```|~~~)?\s*", re.DOTALL)
_CDATA = re.compile(r"\s*<!\[CDATA\[(.*?)(?:\]\]>)?\s*", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_JSON = re.compile(r"[:\[,]\s*-?(?:NaN|Infinity|nan|inf)\s*[,}\]]")
_OPENING = re.compile(r"""[\[{,:]\s*(["'])""")
_CLOSING = {mark: re.compile(rf"(?<!\\){mark}(?=\s*[,:}}\]])") for mark in "\"'"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_HEX = re.compile(r"[0-9a-fA-F]{4}")


class UnreadableJson(ValueError):
    """The text is not a JSON value, and cannot be repaired."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A value, and whether finding it took a guess."""

    value: Any
    guessed: bool = False


def read_json(text: str) -> Any:
    """Return the JSON value of `text`; raw line breaks and tabs in strings are allowed.

    Raises UnreadableJson for anything else, also for NaN, Infinity and huge numbers.
    """
    try:
        return loads(text, strict=False)
    except json.JSONDecodeError as error:
        raise UnreadableJson(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise UnreadableJson("nested too deeply") from None
    except ValueError as error:
        raise UnreadableJson(str(error)) from None


def mend(text: str, *, guess: bool = True) -> Mended:
    """Return the value of `text`: parsed as it is, else without a fence or CDATA, else repaired.

    With `guess`, missing quotes and brackets may be added. UnreadableJson says what is wrong with the
    unchanged text.
    """
    bare = _unwrapped(text)
    try:
        return Mended(read_json(bare))
    except UnreadableJson as error:
        problem = error
    if _NOT_JSON.search(_STRING.sub("", bare)):
        raise UnreadableJson("NaN and Infinity are not valid JSON. Use null or a string")
    if len(bare) > MAX_MENDED or is_cut(bare):
        raise problem
    for other in (_backslashed(bare), html.unescape(bare) if "&quot;" in bare else bare):
        if other != bare:
            try:
                return Mended(read_json(other), guessed=True)
            except UnreadableJson:
                continue
    if (value := _as_python(bare)) is not None:
        return Mended(value, guessed=True)
    if guess and not _ends_in_string(bare) and (value := _repaired(bare)) is not None:
        return Mended(value, guessed=True)
    raise problem


def readable(text: str) -> bool:
    """Whether `text` is a value, unchanged or repaired without a guess."""
    try:
        mend(text, guess=False)
    except UnreadableJson:
        return False
    return True


def _unwrapped(text: str) -> str:
    for wrapper in (_CDATA, _FENCE, _CDATA):
        if (found := wrapper.fullmatch(text)) is not None:
            text = found[1]
    return text.strip().lstrip("\ufeff")


def _backslashed(text: str) -> str:
    r"""Return JSON text in which a string like "C:\Users\new" has its backslashes doubled.

    A string with an escape that JSON does not have was written without escaping, so all of its backslashes
    are literal.
    """

    def mended(found: re.Match[str]) -> str:
        string = found.group().replace("\\'", "'")
        kinds = [(one.group(1), string[one.end() : one.end() + 4]) for one in _ESCAPE.finditer(string)]
        if all(kind in '"\\/bfnrt' or (kind == "u" and _HEX.fullmatch(code)) for kind, code in kinds):
            return string
        return _ESCAPE.sub(lambda one: one.group() if one[1] in '"\\' else "\\\\" + one[1], string)

    return _STRING.sub(mended, text)


def _as_python(text: str) -> Any:
    """Return the dict or list that `text` is in Python syntax (single quotes, True, None), or None."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = ast.literal_eval(text)
        json.dumps(value, allow_nan=False)
        return json.loads(json.dumps(value)) if isinstance(value, (dict, list)) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _ends_in_string(text: str) -> bool:
    """Whether a string has no end: the text was truncated, and its apparent end is inside of the string.

    An opening quote is at a position where a value may begin, a closing one where a value may end.
    """
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        if (closing := _CLOSING[opening[1]].search(text, opening.end())) is None:
            return True
        at = closing.end()
    return False


def _repaired(text: str) -> Any:
    """Return the object that a tolerant parser reads from `text`, or None."""
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return None
    import json_repair  # takes 150 ms, and is rarely needed

    try:
        value = json_repair.loads(text, skip_json_loads=True)
        json.dumps(value, allow_nan=False)
    except Exception:
        # It may raise anything on odd text (seen: AssertionError): then the text is broken.
        return None
    return value if isinstance(value, (dict, list)) and value else None
