"""Parses JSON with Python's own parser everywhere, so that the user sees exactly what is used. Pure.

The callers differ in what they accept, so there is one function for each: `read_json` for what a server sends
(bounded, never blocks other threads), `loads` for other JSON texts, `scan` for the recorder (the plain
parser, because a message must be recorded even if the host rejects it), and `DuplicateKeyReader` for the
linter. All of them reject NaN and Infinity, which Python would accept. `json_value`, `json_within`,
`json_mapping` and `indented` accept them, and never raise: they are for texts that may be anything.

`read_damaged_listing` reads answers in which a part cannot be read, and loses only that part: an entry of a
listing (one tool, one resource), or a member of a listing or of a handshake. A part cannot be read if it is
nested too deeply, has a number out of range, or is not JSON inside its brackets.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from tui.core.jsonrpc.skimmer import after_space, items, outline
from tui.core.library_imports import collector_paused
from tui.core.text import mapping, object_in, truncated
from tui.core.units import LARGEST, place_in

MAX_DEPTH = 256
"""Accepted levels of nesting, so that code after the reader may recurse without counting."""

MAX_PARTS = 250_000
"""Objects and lists in one large value: 16 MiB can hold five million, which are 400 MB of memory."""

FEW_LISTS = 20_000
"""Lists that the C parser may read in a row without letting another thread run; takes some milliseconds."""

REFERENCES = ("$ref", "$dynamicRef")
MAX_ANCHORS = 100
"""Maximum definitions to search for an anchor: a schema may have thousands of references."""

MAX_FOUND = 8
MAX_SHOWN = 20

# Matches pairs and other escapes too, so that group 1 is always an unpaired surrogate.
_ESCAPES = r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
_TEXT_ESCAPES = re.compile(_ESCAPES, re.DOTALL)
_RAW_ESCAPES = re.compile(_ESCAPES.encode(), re.DOTALL)


class NotJson(ValueError):
    """A text contains something that is not JSON (NaN, Infinity) or cannot be stored; `part` names it."""

    def __init__(self, part: str, message: str = "") -> None:
        super().__init__(message or part)
        self.part = part


def _refuse(word: str) -> Any:
    raise NotJson(word, f"{word} is not a JSON value")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):  # 1e999 is JSON, but cannot be written again
        raise NotJson("a number out of range", f"{truncated(digits, MAX_SHOWN)} is out of range")
    return value


_STRICT: dict[str, Any] = {"parse_constant": _refuse, "parse_float": _finite}
_DECODER = json.JSONDecoder(**_STRICT)
_LENIENT_DECODER = json.JSONDecoder(strict=False, **_STRICT)

scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(parse_constant=_refuse).scan_once  # type: ignore[attr-defined]
"""Read the value that begins at an index; return it and the index after it.

Raises StopIteration or JSONDecodeError where there is no JSON, NotJson, RecursionError, and ValueError for
an integer with thousands of digits. A number like 1e999 becomes infinite.
"""


def loads(text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of a JSON text; `strict` refuses control characters in strings, as JSON does.

    Raises:
        ValueError: it is not JSON, or has a number that is out of range.
        RecursionError: it is nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    elif text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM", text, 0)
    # `json.loads` would make a decoder for each text.
    return (_DECODER if strict else _LENIENT_DECODER).decode(text)


def json_value(text: str | bytes | bytearray, default: Any = None, *, strict: bool = True) -> Any:
    """Return the value of a text, or `default` if it is not JSON, nests too deeply or is not even a text."""
    try:
        return json.loads(text) if strict else json.loads(text, strict=False)
    except (ValueError, TypeError, RecursionError):
        return default


def json_within(text: str, most: int = LARGEST) -> Any:
    """Return the object or the list that a text of at most `most` characters is in JSON, else None."""
    return json_value(text) if len(text) <= most and text.lstrip()[:1] in ("{", "[") else None


def json_mapping(text: str | bytes | bytearray) -> Mapping[str, Any]:
    """Return the object of a JSON text, or an empty one for anything else."""
    return mapping(json_value(text))


def json_text(value: Any) -> str:
    """Return a value as JSON in one line, or a note in its place if it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return "[omitted: nested too deeply]"


def indented(text: str | bytes) -> str:
    """Return a text, indented if it is JSON."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text if isinstance(text, str) else text.decode("utf-8", "replace")


def read_json(raw: bytes, *, patient: bool = False) -> Any:
    """Return the value of a text from a server; invalid UTF-8 and lone surrogates become U+FFFD.

    `patient` lets other threads run while reading, and counts the parts; several times slower.

    Raises:
        ValueError: it is not JSON; a NotJson names the rejected part.
        RecursionError: it is nested too deeply.
    """
    text = _text_of(raw)
    try:
        if patient:
            # The collector would visit a growing number of parts again and again, while all other threads
            # wait (measured: 0.2 s for a schema of 3 MiB), and JSON has no cycles.
            with collector_paused():
                value = _read_patiently(text)
        else:
            value = _DECODER.decode(text)
    except ValueError as error:
        if type(error) is ValueError:  # raised by `int`
            raise NotJson("an integer with thousands of digits") from error
        raise
    if raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH + 1):
        raise RecursionError
    return value


def objects_within(raw: bytes, opening: re.Pattern[str]) -> list[Any]:
    """Return the JSON objects that begin like `opening` anywhere in a text, at most `MAX_FOUND`."""
    text = _text_of(raw)
    found: list[Any] = []
    start = opening.search(text)
    for _ in range(MAX_FOUND):
        if start is None:
            break
        try:
            value, end = _DECODER.raw_decode(text, start.start())
            if nests_deeper(value, MAX_DEPTH + 1):
                raise RecursionError
            found.append(value)
        except (ValueError, RecursionError):
            end = start.end()
        start = opening.search(text, end)
    return found


class DuplicateKeyReader:
    """Reads JSON and notes the first key that an object has twice. Used by one thread."""

    def __init__(self) -> None:
        self.duplicate: str | None = None
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_constant=_refuse)

    def read(self, text: str) -> Any:
        """Return the value of a text; raise as `loads` does, NotJson for NaN or Infinity."""
        self.duplicate = None
        return self._decoder.decode(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs) and self.duplicate is None:
            seen: set[str] = set()
            self.duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return made


def lone_surrogate(raw: bytes) -> str:
    """Return the first escape of an unpaired surrogate in a text, or ""."""
    for found in _RAW_ESCAPES.finditer(raw):
        if half := found[1]:
            return f"\\{half.decode()}"
    return ""


def reference(schema: Mapping[str, Any]) -> str:
    """Return the reference in a schema, "" for none."""
    found = schema.get("$ref", schema.get("$dynamicRef"))
    return found if isinstance(found, str) else ""


def local_target(root: Any, ref: str) -> Any:
    """Return the target of a local reference; None for any other, because nothing is ever fetched.

    A reference is a pointer (`#/$defs/a`), or the anchor of the root or of a definition (`#a`).
    """
    if not ref.startswith("#"):
        return None
    fragment = unquote(ref[1:])
    if fragment and not fragment.startswith("/"):
        defined = (object_in(mapping(root), holder).values() for holder in ("$defs", "definitions"))
        for one in chain((root,), *(islice(schemas, MAX_ANCHORS) for schemas in defined)):
            if isinstance(one, dict) and fragment in (one.get("$anchor"), one.get("$dynamicAnchor")):
                return one
        return None
    node = root
    for part in fragment.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(part)
        elif isinstance(node, list) and (place := place_in(part, len(node))) is not None:
            node = node[place]
        else:
            return None
    return node


def nests_deeper(value: Any, levels: int) -> bool:
    """Return whether objects and lists are nested more than `levels` deep."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _text_of(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    if "\\ud" in text or "\\uD" in text:
        # `sub` would keep a piece for each escape: 100 MB for a million emoji (measured).
        pieces, start = list[str](), 0
        for found in _TEXT_ESCAPES.finditer(text):
            if found[1]:
                pieces += (text[start : found.start()], "\ufffd")
                start = found.end()
        return "".join((*pieces, text[start:])) if pieces else text
    return text


def _read_patiently(text: str) -> Any:
    left = MAX_PARTS

    def counted(value: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise NotJson(f"more than {MAX_PARTS:,} objects and lists")
        return value

    def whole(digits: str) -> int:
        return int(digits)

    # The parser in C holds the interpreter's lock to the end; a call of Python code per value releases it.
    decoder = json.JSONDecoder(**_STRICT, object_hook=counted, parse_int=whole)
    if text.count("[") > FEW_LISTS:
        # The parser in C calls nothing for a list (measured: five million of them held the lock for 1.6 s).
        read_list: Callable[..., Any] = json.decoder.JSONArray  # type: ignore[attr-defined]
        decoder.parse_array = lambda *args: counted(read_list(*args))  # type: ignore[attr-defined]
        decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    return decoder.decode(text)


MAX_LISTED = 10_001
"""One more than are offered, so that the surplus is noticed."""

_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
_HANDSHAKES = ("capabilities", "supportedVersions")
_CANDIDATE = re.compile(rb'"(?:%s)"' % "|".join((*_LISTS, *_HANDSHAKES)).encode())
_LOOKED_AT = 64 * 1024


class Unreadable(dict[str, Any]):
    """The readable part of an entry or a member, which may be empty, and `why` the rest is missing."""

    def __init__(self, why: str, readable: dict[str, Any] | None = None) -> None:
        super().__init__(readable or {})
        self.why = why


def may_be_damaged_listing(raw: bytes) -> bool:
    """Whether a rejected line may be a listing or a handshake; cheap for anything else."""
    return b'"result"' in raw and _CANDIDATE.search(raw, 0, _LOOKED_AT) is not None


def read_damaged_listing(raw: bytes) -> dict[str, Any] | None:
    """Return the listing or handshake that `read_json` rejects, None if it is neither.

    An entry that cannot be read is `Unreadable`, with its readable members. It lets other threads run: 10,000
    damaged entries take 0.15 s.
    """
    if not may_be_damaged_listing(raw) or raw.count(b"{") + raw.count(b"[") > MAX_PARTS:
        return None
    try:
        places = _members(raw, after_space(raw, 0), len(raw.rstrip(b" \t\r\n")))
        found = _members(raw, *places.pop("result"))
        if found.keys().isdisjoint((*_LISTS, *_HANDSHAKES)):
            return None
        result = {
            key: _entries(raw, *place)
            if key in _LISTS and raw[place[0] : place[0] + 1] == b"["
            else _entry(raw, *place)
            for key, place in found.items()
        }
        return {key: _read(raw, *place) for key, place in places.items()} | {"result": result}
    except (KeyError, ValueError, RecursionError):
        return None


def _read(raw: bytes, start: int, end: int) -> Any:
    return read_json(raw[start:end], patient=True)


def _members(raw: bytes, start: int, end: int) -> dict[str, tuple[int, int]]:
    found = outline(raw, start)
    if found.end != end:
        raise ValueError("cut off")
    return found.members


def _entries(raw: bytes, start: int, end: int) -> list[Any]:
    places = list(items(raw, start, MAX_LISTED))
    after = after_space(raw, places[-1][1] if places else start + 1)
    if len(places) < MAX_LISTED and after != end - 1:
        raise ValueError("no comma")
    return [_entry(raw, *place) for place in places]


def _entry(raw: bytes, start: int, end: int) -> Any:
    whole = _member(raw, start, end)
    if not isinstance(whole, Unreadable) or raw[start : start + 1] != b"{":
        return whole
    try:
        places = _members(raw, start, end)
    except ValueError:
        return whole
    read = {key: _member(raw, *place) for key, place in places.items()}
    return Unreadable(
        next(
            (f"its {key} {value.why}" for key, value in read.items() if isinstance(value, Unreadable)),
            whole.why,
        ),
        {key: value for key, value in read.items() if not isinstance(value, Unreadable)},
    )


def _member(raw: bytes, start: int, end: int) -> Any:
    try:
        return _read(raw, start, end)
    except RecursionError:
        return Unreadable(f"nests deeper than {MAX_DEPTH} levels")
    except NotJson as problem:
        return Unreadable(f"has {problem.part}")
    except ValueError:
        return Unreadable("is not JSON")
