"""Values as a suite writes them: texts readable in a diff, results as JSON, tables in one line. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.tests.suite.json_path import leaves_of

LINE = 100
"""Maximum characters of a value in one line."""

MAX_DEPTH = 50
"""Deeper values are written in one line."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def key_text(name: str) -> str:
    """Return a key."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def text_literal(text: str, *, multi_line: bool = True) -> str:
    """Return a text as a TOML string: literal in several lines if it has some, and quoted otherwise.

    What a reader would not see is escaped: control characters, unusual spaces, blanks at the end of a line.
    """
    if multi_line and "\n" in text.strip("\n"):
        if text.replace("\n", "").isprintable() and "'''" not in text and not text.endswith("'"):
            if not re.search(r"[ \t](?:\n|\Z)", text):
                return f"'''\n{text}'''"
        return f'"""\n{_escaped_lines(text)}"""'
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return _quoted(text)


def json_literal(value: Any, *, multi_line: bool = True) -> str:
    """Return a JSON value as JSON in a TOML string."""
    return json_string(json_of(value, LINE if multi_line else 0), multi_line=multi_line)


def json_string(text: str, *, multi_line: bool = True) -> str:
    """Return JSON as a TOML string, literal if possible."""
    if not text.replace("\n", "").isprintable() or "'''" in text or "'" in (text[:1], text[-1:]):
        return text_literal(text, multi_line=multi_line)
    if multi_line:
        return f"'''\n{text}\n'''" if "\n" in text else f"'''{text}'''"
    return f"'{text}'" if "'" not in text else f"'''{text}'''"


def json_of(value: Any, width: int = LINE, indent: str = "") -> str:
    """Return JSON with blanks inside of braces; values wider than `width` have a line for each member.

    With a width of 0, it is one line. `indent` is that of the line where it begins.
    """
    if not isinstance(value, dict | list) or not value:
        return _json_scalar(value)
    inner = f"{indent}  "
    flat = _flat(value)
    if not width or len(indent) + len(flat) <= width or len(inner) > 2 * MAX_DEPTH:
        return flat
    lines = (
        [f"{_json_scalar(str(name))}: {json_of(member, width, inner)}" for name, member in value.items()]
        if isinstance(value, dict)
        else [json_of(item, width, inner) for item in value]
    )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{inner}".join(lines)
    return f"{opening}\n{inner}{body}\n{indent}{closing}"


def _flat(value: Any) -> str:
    if isinstance(value, dict) and value:
        return "{ " + ", ".join(f"{_json_scalar(str(k))}: {_flat(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list) and value:
        return "[" + ", ".join(map(_flat, value)) + "]"
    return _json_scalar(value)


def _json_scalar(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if text.isprintable() else "".join(_json_char(char) for char in text)


def _json_char(char: str) -> str:
    return char if char.isprintable() else json.dumps(char)[1:-1]


def is_toml(value: Any) -> bool:
    """Return whether TOML has a JSON value: there is no null."""
    return None not in leaves_of(value)


def inline(value: Any) -> str:
    """Return a value in one line. Raises `ValueError` for null."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return text_literal(value, multi_line=False)
        case int():
            return str(value)
        case float():
            return json.dumps(value, allow_nan=False)
        case Mapping():
            members = ", ".join(f"{key_text(str(name))} = {inline(member)}" for name, member in value.items())
            return f"{{ {members} }}" if members else "{}"
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case _:
            raise ValueError("TOML has no null")


def listed(items: Sequence[str], width: int) -> str:
    """Return a list of values, one a line if it is wider than `width`."""
    flat = f"[{', '.join(items)}]"
    if len(flat) <= width and "\n" not in flat:
        return flat
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def _quoted(text: str) -> str:
    return '"' + "".join(_SHORT.get(char) or _char(char) for char in text) + '"'


def _char(char: str) -> str:
    """Return a character as a basic string has it; U+FFFD for half of a surrogate pair, which is none."""
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"


def _escaped_lines(text: str) -> str:
    """Return the lines of a string in three double quotes, of which the third in a row would end it."""
    body = text.rstrip('"')
    made = "".join(char if char in '\n"' else _SHORT.get(char) or _char(char) for char in body)
    made = made.replace('"""', '""\\"') + '\\"' * (len(text) - len(body))
    return re.sub(r" (?=\n|\Z)", r"\\u0020", made)
