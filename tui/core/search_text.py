"""The text that a search compares: a body as the user reads it. Pure; see `text.fold` for comparing.

In JSON, escapes are decoded, so that a string is found however it is written. Braces, quotes and keys stay,
so `"id":7` is found too. A text that only starts like JSON, such as a line of a log, is searched both
unchanged and decoded.
"""

import json
import re
from collections.abc import Sequence

_JSON_START = re.compile(r'\ufeff?\s*[{\["]')
_STREAM_START = re.compile(r"\ufeff?\s*(?:data|event|id)?:")
_MESSAGE_START = re.compile(r"\ufeff?\s*(?:\[\s*)?\{")
"""The start of an object or of an array of objects, as in every message of MCP or of a model API."""

_DATA = re.compile(r"^data:(.*)$", re.MULTILINE)
_CUT_ESCAPE = 12
"""An error this close to the end of a piece of JSON may be due to the cut."""

_HEAD = 65536
_STRING_REST = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*', re.DOTALL)
ESCAPE = re.compile(
    r'\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(["\\/bfnrt]))'
)
"""An escape of JSON: a surrogate pair, a code unit, or a single character."""

_SINGLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def readings(body: bytes) -> Sequence[str]:
    """Return the texts of a body that are searched, as `text_readings` does."""
    return text_readings(body.decode("utf-8", "replace"))


def text_readings(text: str) -> Sequence[str]:
    """Return the texts to search: decoded if it is JSON; unchanged and decoded if in doubt."""
    if "\\" not in text or not holds_json(text):
        return (text,)
    decoded = readable_text(text)
    if decoded == text:
        return (text,)
    return (decoded,) if _is_message(text) else (text, decoded)


def readable_text(text: str) -> str:
    """Return a text with the escapes in its JSON strings decoded.

    A string that contains JSON itself is decoded as well, as the tree shows it. A text that does not start
    like JSON is unchanged. Escapes that are incomplete or not JSON are kept.
    """
    return _decoded(text) if "\\" in text and holds_json(text) else text


def holds_json(text: str) -> bool:
    """Return whether a text starts like JSON, or like a stream of events that carry JSON."""
    if _JSON_START.match(text):
        return True
    return _STREAM_START.match(text) is not None and "data:" in text[:_HEAD]


def begins_message(head: str) -> bool:
    """Return whether a text that `holds_json` starts a message, and not a line of a log."""
    if not _JSON_START.match(head):
        return True
    if not _MESSAGE_START.match(head):
        return False
    text = head.lstrip("\ufeff \t\r\n")
    try:
        return not text[_JSON.raw_decode(text)[1] :].strip()
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string") or error.pos >= len(text) - _CUT_ESCAPE
    except (ValueError, RecursionError):
        return False


def unescaped(text: str) -> str:
    """Return a piece of JSON with all escapes decoded, inside and outside of strings."""
    return ESCAPE.sub(escaped_char, text) if "\\" in text else text


def escaped_char(escape: re.Match[str]) -> str:
    """Return the character that a match of `ESCAPE` encodes; half of a surrogate pair is kept."""
    high, low, unit, single = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return chr(int(unit, 16)) if unit else _SINGLE[single]


def end_of_escapes(written: str) -> int:
    """Return where a piece of JSON can be cut without splitting an escape or a surrogate pair."""
    end = len(written)
    for _ in range(2):
        slash = written.rfind("\\", max(0, end - 6), end)
        if slash < 0:
            return end
        backslashes = slash + 1 - len(written[: slash + 1].rstrip("\\"))
        if backslashes % 2 == 0:
            return end
        escape = written[slash:end]
        is_whole = len(escape) == 6 if escape.startswith("\\u") else len(escape) > 1
        if is_whole and not _HIGH.match(escape):
            return end
        end = slash
    return end


_HIGH = re.compile(r"\\u[dD][89abAB]")


def _decoded(text: str) -> str:
    parts: list[str] = []
    at = 0
    while (slash := text.find("\\", at)) >= 0:
        if text.count('"', at, slash) % 2 == 0:  # not inside of a string
            parts.append(text[at : slash + 1])
            at = slash + 1
            continue
        opening = text.rfind('"', at, slash)
        try:
            said, end = _scan(text, opening)
        except (ValueError, StopIteration):  # cut off, or with an escape that JSON does not have
            rest = _STRING_REST.match(text, slash)
            end = rest.end() + 1 if rest else len(text)
            said = unescaped(text[opening + 1 : end - 1])
        if "\\" in said and _is_json(said):
            said = _decoded(said)
        parts += text[at : opening + 1], said, text[end - 1 : end]
        at = end
    parts.append(text[at:])
    return "".join(parts)


_JSON = json.JSONDecoder(strict=False)
_scan = _JSON.scan_once  # type: ignore[attr-defined]


def _is_message(text: str) -> bool:
    """Return whether a text is JSON of MCP or a model API: not a lone string, nor an array of strings."""
    if _MESSAGE_START.match(text):
        return _is_json(text)
    data = _DATA.findall(text)
    return bool(data) and all("\\" not in line or _is_json(line) for line in data)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
