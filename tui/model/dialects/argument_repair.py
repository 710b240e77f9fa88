"""Reads the JSON that models write, as arguments and as answers: broken JSON, values of the wrong type. Pure.

JSON is repaired if it is broken but complete. Truncated JSON is never repaired, because any end would be
invented. Arguments written as plain text, or in the syntax of a program, are converted to the types in the
tool's schema.
"""

import ast
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import loads
from tui.core.schemas.schemas import arms_of, entry_schema, has_kind, kinds_of, merged, strings, value_kind
from tui.core.text import list_in, object_in
from tui.model.openai_api.call_slots import JSON_TOKEN, is_cut, without_fence

MAX_MENDED = 64 * 1024
"""Maximum characters to repair: it takes quadratic time (measured: 10 s for 400 KB)."""

_CDATA = re.compile(r"\s*<!\[CDATA\[(.*?)(?:\]\]>)?\s*", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|(?P<open>\\?\Z))', re.DOTALL)
"""A string, or the rest of a text that ends within one: no other begins there, so it is read once."""

_FENCED = re.compile(r"(?:```|~~~)\w*[ \t]*\r?\n(.*?)(?:```|~~~)", re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
MAX_ANSWERS = 8
"""Maximum values in the text of an answer."""

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
    except (ValueError, RecursionError) as error:
        raise UnreadableJson(reason_of(error)) from None


def mend(text: str, *, guess: bool = True) -> Mended:
    """Return the value of `text`: parsed as it is, else without a fence or CDATA, else repaired.

    With `guess`, missing quotes and brackets may be added. UnreadableJson says what is wrong with the
    unchanged text.
    """
    bare = text
    for _ in range(2):  # a fence and CDATA, whichever is the outer one
        bare = without_fence(found[1] if (found := _CDATA.fullmatch(bare)) else bare)
    bare = bare.lstrip("\ufeff")
    try:
        return Mended(read_json(bare))
    except UnreadableJson as error:
        problem = error
    if _NOT_JSON.search(_STRING.sub(lambda found: "" if found["open"] is None else found.group(), bare)):
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


def answers_in(text: str) -> list[Any]:
    """Return the JSON values that an answer may mean, also in a code fence or between sentences.

    Values that took no guess come first, then long ones. Nothing is read from truncated JSON.
    """
    fenced = _FENCED.search(text)
    for whole in (text, fenced[1] if fenced else ""):
        if (read := try_mend(whole, guess=False)) is not None:
            return [read.value]
    pieces: list[str] = []
    end = 0
    while (opening := _BRACKET.search(text, end)) and (end := span(text, opening.start())) > 0:
        pieces.append(text[opening.start() : end])
    found = filter(None, map(try_mend, sorted(pieces, key=len, reverse=True)[:MAX_ANSWERS]))
    return [mended.value for mended in sorted(found, key=attrgetter("guessed"))]


def try_mend(text: str, *, guess: bool = True) -> Mended | None:
    """Return what `mend` does, or None if `text` is unreadable."""
    try:
        return mend(text, guess=guess)
    except UnreadableJson:
        return None


def _backslashed(text: str) -> str:
    r"""Return JSON text in which a string like "C:\Users\new" has its backslashes doubled.

    A string with an escape that JSON does not have was written without escaping, so all of its backslashes
    are literal.
    """

    def mended(found: re.Match[str]) -> str:
        if found["open"] is not None:
            return found.group()
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


_PROGRAM_TOKEN = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|["'()\[\]{}]""", re.DOTALL)
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


def sole_property(schema: Mapping[str, Any]) -> str:
    """Return the one property that plain text can be meant for, or "".

    It is the only required property, else the only property.
    """
    properties = object_in(schema, "properties")
    names = [name for name in list_in(schema, "required") if name in properties] or list(properties)
    return str(names[0]) if len(names) == 1 else ""


def typed(text: str, schema: Any) -> Any:
    """Return the value of `text` for `schema`.

    A value that may be a string stays one. Without a known type, it becomes a number, boolean, null, object
    or array if it parses as one, else a string.
    """
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(choices, list) and text in choices:
        return text
    types = kinds_of(schema)
    bare = text.strip()
    if "string" in types and not ("null" in types and bare in ("null", "None")):
        return text
    value = _read(bare)
    if isinstance(value, str):
        return text
    if isinstance(value, float) and value.is_integer() and "integer" in types and "number" not in types:
        value = int(value)
    fits = any(has_kind(value, name) for name in types)
    return value if fits or not types else text


def typed_all(values: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments given as plain text, converted by the schema."""
    properties = object_in(schema, "properties")
    return {name: typed(text, properties.get(name)) for name, text in values.items()}


MAX_DEPTH = 8
"""Levels of arguments that are converted."""


def fitted(value: Any, schema: Any, depth: int = 0) -> Any:
    """Return arguments with each text converted for which the schema has another type (`"2"` becomes 2).

    A null that the schema does not allow counts as omitted if the property is optional.
    """
    if depth > MAX_DEPTH or not isinstance(schema, Mapping):
        return value
    types = kinds_of(schema)
    if isinstance(value, str) and types and "string" not in types:
        read = typed(value, schema)
        return read if isinstance(read, str) else fitted(read, schema, depth + 1)
    if not isinstance(value, list | dict):
        return value
    whole = _own_arm(value, schema)
    if isinstance(value, list):
        return [fitted(item, entry_schema(whole, at), depth + 1) for at, item in enumerate(value)]
    optional = object_in(whole, "properties").keys() - strings(whole.get("required"))
    schemas = {name: entry_schema(whole, name) for name in value}
    return {
        name: fitted(item, schemas[name], depth + 1)
        for name, item in value.items()
        if item is not None or name not in optional or "null" in (kinds_of(schemas[name]) or ("null",))
    }


def _own_arm(value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the only alternative for values of this kind, else the schema without regard to alternatives."""
    kind = value_kind(value)
    arms = [arm for arm in arms_of(schema) if kind in (kinds_of(arm) or (kind,))]
    return _own_arm(value, arms[0]) if len(arms) == 1 else merged(schema)


def _read(text: str) -> Any:
    """Return the JSON or Python value of `text`, or `text` itself."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return mend(text).value if text[:1] in ("{", "[") else read_json(text)
    except UnreadableJson:
        return text


class _JsonWords(ast.NodeTransformer):
    """Reads `true`, `false` and `null` as Python's words."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_WORDS[node.id]) if node.id in _WORDS else node


def keywords(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call in program syntax (`city="Oslo", days=2`), or None if it is not one.

    Unnamed values have the keys "0", "1", ….
    """
    if len(text) > 16_384:
        return None
    try:
        call = _JsonWords().visit(ast.parse(f"_({text})", mode="eval").body)
        if not isinstance(call, ast.Call):
            return None
        found = {str(place): ast.literal_eval(value) for place, value in enumerate(call.args)}
        found |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found


def span(text: str, start: int, tokens: re.Pattern[str] = JSON_TOKEN) -> int:
    """Return the end of the JSON object or array that begins at `start`, or -1.

    Brackets in strings do not count, and a string ends only at a quote that is not escaped.
    """
    depth = 0
    for found in tokens.finditer(text, start):
        token = found.group()
        if token in ('"', "'"):  # a string without an end
            return -1
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth <= 0:
                return found.end()
    return -1


def bracket_end(text: str, start: int) -> int:
    """Return the end of the brackets of a program that begin at `start`, or -1."""
    return span(text, start, _PROGRAM_TOKEN)
