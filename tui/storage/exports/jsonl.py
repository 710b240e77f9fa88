"""Writes entries as JSON lines, and reads them. docs/recording-format.md documents the format.

ASCII only, so that no escape sequence, lone surrogate or narrow locale can break a line. A body in UTF-8 is
written as text (`body`), any other as Base64 (`body_base64`). Both restore the same bytes.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from enum import IntEnum
from typing import Any, TypeVar, cast

from tui.core.errors import StorageError, reason_of
from tui.core.jsonrpc.reader import nests_deeper
from tui.core.traffic import FIRST_NS, Cause, Direction, Entry, EntryNote, Kind, Outcome, Redaction
from tui.core.units import rfc3339

MOST_LEVELS = 100
"""Maximum nesting depth of the detail of an entry."""

MAX_NOTE = 10_000
"""Maximum characters of a note that are read."""

_E = TypeVar("_E", bound=IntEnum)

_WORDS: Mapping[type[IntEnum], Mapping[str, IntEnum]] = {
    choices: {one.name.lower(): one for one in choices} for choices in (Direction, Kind, Outcome)
}

FORMAT = 1
"""Increased when an older version would misread a line."""


NoteOf = Callable[[int], EntryNote]
"""Returns the user's mark and note on the entry with a seq."""


def no_note(seq: int) -> EntryNote:
    """Return the note of an entry without one."""
    return EntryNote()


def jsonl(entries: Iterable[Entry], note_of: NoteOf = no_note) -> Iterator[str]:
    """Yield the lines of an export: a header, then one entry per line, with its body."""
    yield json.dumps({"mcptrace": FORMAT}) + "\n"
    for entry in entries:
        found = entry_object(entry) | note_members(note_of(entry.seq))
        yield json.dumps(found, separators=(",", ":")) + "\n"


def note_members(note: EntryNote) -> dict[str, Any]:
    """Return a mark and a note as members of the object of their entry."""
    return {name: value for name, value in (("marked", note.marked), ("note", note.text)) if value}


def entry_object(entry: Entry) -> dict[str, Any]:
    """Return an entry as a JSON object without empty members."""
    found: dict[str, Any] = {
        "seq": entry.seq,
        "time": rfc3339(entry.wall_ns),
        "wall_ns": entry.wall_ns,
        "mono_ns": entry.mono_ns,
        "source": entry.source,
        "direction": entry.direction.name.lower(),
        "kind": entry.kind.name.lower(),
        "size": entry.size,
    }
    optional = {
        "method": entry.method,
        "tool": entry.tool,
        "id": entry.ident,
        "pair": entry.pair,
        "root": entry.root,
        "outcome": entry.outcome.name.lower() if entry.outcome else "",
        "sha256": entry.sha256,
        "detail": dict(entry.detail),
        "redactions": entry.redactions,
    }
    found |= {key: value for key, value in optional.items() if value}
    if entry.cause is not None:
        found["cause"] = {"turn": entry.cause.turn, "step": entry.cause.step, "call": entry.cause.call}
    try:
        found["body"] = entry.body.decode("utf-8")
    except UnicodeDecodeError:
        found["body_base64"] = base64.b64encode(entry.body).decode("ascii")
    return found


def read_jsonl(
    lines: Iterable[bytes], where: str, notes: MutableMapping[int, EntryNote] | None = None
) -> Iterator[Entry]:
    """Yield the entries of an export, renumbered from 1 without gaps; add their `notes` by the new number.

    Raises:
        StorageError: a line is invalid. The message has its number and `where`.
    """
    numbers: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("not a JSON object")
            if number == 1 and "mcptrace" in found:
                if (version := _whole(found, "mcptrace")) > FORMAT:
                    raise StorageError(
                        "the file was written by a newer mcptui "
                        f"(format {version}, supported up to {FORMAT})",
                        where=where,
                        next_step="Update mcptui and open it again.",
                    )
                continue
            entry = _entry(found)
            if entry.seq in numbers:
                raise ValueError(f'"seq" {entry.seq} is used twice')
            note = EntryNote(found.get("marked") is True, _text(found, "note", "")[:MAX_NOTE])
        except (ValueError, RecursionError) as error:
            reason = reason_of(error).replace(" at line 1, column", " at column")
            raise StorageError(
                f"line {number} is not a recording entry ({reason})"[:300],
                where=where,
                next_step="See docs/recording-format.md for the format.",
            ) from error
        if notes is not None and (note.marked or note.text):
            notes[len(numbers) + 1] = note
        yield renumbered(entry, numbers)


def _entry(found: Mapping[str, Any]) -> Entry:
    detail = found.get("detail", {})
    if not isinstance(detail, dict):
        raise ValueError('"detail" is not an object')
    if nests_deeper(detail, MOST_LEVELS):
        raise ValueError('"detail" is nested too deeply')
    entry = Entry(
        seq=_whole(found, "seq", least=1),
        mono_ns=_whole(found, "mono_ns"),
        wall_ns=_whole(found, "wall_ns", least=FIRST_NS),
        source=_text(found, "source"),
        direction=_choice(found, "direction", Direction),
        kind=_choice(found, "kind", Kind),
        method=_text(found, "method", ""),
        tool=_text(found, "tool", ""),
        ident=_text(found, "id", ""),
        size=_whole(found, "size"),
        pair=_whole(found, "pair", 0),
        root=_whole(found, "root", 0),
        outcome=_choice(found, "outcome", Outcome, "none"),
        cause=_cause(found.get("cause")),
        sha256=_text(found, "sha256", ""),
        redactions=_redactions(found.get("redactions", [])),
        detail=detail,
        body=_body(found),
    )
    if "batch" in detail and entry.in_batch is None:
        raise ValueError('"detail" has an invalid "batch" or "at"')
    return entry


def _body(found: Mapping[str, Any]) -> bytes:
    if "body_base64" not in found:
        try:
            return _text(found, "body", "").encode()
        except UnicodeEncodeError as error:
            raise ValueError('"body" contains a lone surrogate') from error
    encoded = _text(found, "body_base64")
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise ValueError('"body_base64" is not Base64') from error


def _cause(found: Any) -> Cause | None:
    if not found:
        return None
    if not isinstance(found, dict):
        raise ValueError('"cause" is not an object')
    most = (1 << 32) - 1
    return Cause(_whole(found, "turn", most=most), _whole(found, "step", most=most), _text(found, "call"))


def _redactions(found: Any) -> tuple[Redaction, ...]:
    spans: list[Redaction] = []
    for span in found if isinstance(found, list) else [found]:
        match span:
            case [int(start), int(end), str(name)] if start >= 0 <= end:
                spans.append(Redaction(start, end, name))
            case _:
                raise ValueError('"redactions" is not an array of [start, end, name]')
    return tuple(spans)


def _whole(
    found: Mapping[str, Any], name: str, default: Any = None, *, least: int = 0, most: int = (1 << 63) - 1
) -> int:
    value = found.get(name, default)
    if type(value) is not int or not least <= value <= most:
        what = f"not an integer from {least} to {most}" if name in found else "missing"
        raise ValueError(f'"{name}" is {what}')
    return value


def _text(found: Mapping[str, Any], name: str, default: Any = None) -> str:
    value = found.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f'"{name}" is {"not a string" if name in found else "missing"}')
    return value


def _choice(found: Mapping[str, Any], name: str, choices: type[_E], default: Any = None) -> _E:
    text, known = _text(found, name, default), _WORDS[choices]
    if text not in known:
        raise ValueError(f'"{name}" is not one of {", ".join(known)}')
    return cast(_E, known[text])


def renumbered(entry: Entry, numbers: dict[int, int]) -> Entry:
    """Return a selected entry with a gapless number. `numbers` maps old numbers to new ones."""
    seq = numbers[entry.seq] = len(numbers) + 1
    detail = entry.detail
    if (place := entry.in_batch) is not None:
        detail = {**detail, "batch": numbers.get(place[0], 0)}
    return entry._replace(
        seq=seq, pair=numbers.get(entry.pair, 0), root=numbers.get(entry.root, 0), detail=detail
    )
