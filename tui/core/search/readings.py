"""The text that a search compares: a body as the user reads it, and where it occurs. Pure; see `text.fold`.

In JSON, escapes are decoded, so that a string is found however it is written. Braces, quotes and keys stay,
so `"id":7` is found too. A text that only starts like JSON, such as a line of a log, is searched both
unchanged and decoded.
"""

import json
import re
from collections.abc import Iterator, Sequence
from threading import Event

from tui.core.jsonrpc.framing import STREAM_HEAD, is_event_stream
from tui.core.jsonrpc.reader import json_within
from tui.core.matching import spans
from tui.core.text import fold

_JSON_START = re.compile(r'\ufeff?\s*[{\["]')
_MESSAGE_START = re.compile(r"\ufeff?\s*(?:\[\s*)?\{")
"""The start of an object or of an array of objects, as in every message of MCP or of a model API."""

_DATA = re.compile(r"^data:(.*)$", re.MULTILINE)
_CUT_ESCAPE = 12
"""An error this close to the end of a piece of JSON may be due to the cut."""

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
    return bool(_JSON_START.match(text)) or is_event_stream(text[:STREAM_HEAD].encode("utf-8", "replace"))


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
        if "\\" in said and json_within(said) is not None:
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
        return json_within(text) is not None
    data = _DATA.findall(text)
    return bool(data) and all("\\" not in line or json_within(line) is not None for line in data)


STEP = 16 * 1024
"""Bytes to search at once."""

MOST_PLACES = 10_000
"""Maximum matches; more are not worth stepping through."""

_BYTES_PER_CHARACTER = 64
"""A folded character may be several characters, each of them an escape in a string within a string."""


def places(data: bytes, text: str, stop: Event | None = None) -> list[int]:
    """Return the offsets where `text` occurs, compared as in a filter; in JSON, also with escapes resolved.

    Setting `stop` from another thread ends the search early.
    """
    folded = fold(text)
    has_escapes = holds_json(data[:STEP].decode("utf-8", "replace"))
    found: set[int] = set()
    start = 0
    while folded and start < len(data) and len(found) < MOST_PLACES:
        if stop is not None and stop.is_set():
            break
        end = _cut(data, start + STEP)
        reach = _cut(data, end + _BYTES_PER_CHARACTER * (len(folded) + 1))
        found.update(
            start + place for place in _places(data[start:reach], folded, has_escapes) if start + place < end
        )
        start = end
    return sorted(found)[:MOST_PLACES]


def _cut(data: bytes, at: int) -> int:
    """Return the last offset up to `at` that is not inside a character or an escape."""
    if at >= len(data):
        return len(data)
    for _ in range(3):  # a character has at most three bytes after the first
        at -= data[at] & 0xC0 == 0x80
    start = max(0, at - STEP // 2)
    return start + end_of_escapes(data[start:at].decode("latin-1"))


def _places(piece: bytes, folded: str, has_escapes: bool) -> Iterator[int]:
    if piece.isascii() and not (has_escapes and b"\\" in piece):
        raw, lowered = folded.encode("utf-8", "surrogatepass"), piece.lower()
        at = lowered.find(raw)
        while at >= 0:
            yield at
            at = lowered.find(raw, at + len(raw))
        return
    text = piece.decode("utf-8", "surrogateescape")
    offsets: Sequence[int] = range(len(text)) if text.isascii() else ()
    for _ in range(3 if has_escapes else 1):
        if folded in fold(text):
            offsets = offsets or _byte_offsets(text)
            yield from (offsets[start] for start, _ in spans(text, folded))
        if "\\" not in text:
            return
        text, offsets = _with_offsets(text, offsets or _byte_offsets(text))


def _byte_offsets(text: str) -> list[int]:
    found, at = [], 0
    for char in text:
        found.append(at)
        at += len(char.encode("utf-8", "surrogateescape"))
    return found


def _with_offsets(text: str, offsets: Sequence[int]) -> tuple[str, list[int]]:
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for escape in ESCAPE.finditer(text):
        start, char = escape.start(), escaped_char(escape)
        parts += text[at:start], char
        kept += *offsets[at:start], *[offsets[start]] * len(char)
        at = escape.end()
    return "".join((*parts, text[at:])), [*kept, *offsets[at:]]
