"""Entries as JSON lines, and back. The format is documented in docs/trace-format.md.

ASCII only, so that no escape sequence, lone surrogate or narrow locale can break a line. A body that is
UTF-8 is a text (`body`), any other is Base64 (`body_base64`); both give back the same bytes.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tui.core.errors import StorageError
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome, Redaction

FORMAT = 1
"""Grows when a reader of an older version would misunderstand a line."""


def jsonl(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of an export, each with its newline: a header, then an entry each, with its body."""
    yield json.dumps({"mcptrace": FORMAT}) + "\n"
    for entry in entries:
        yield json.dumps(entry_object(entry), separators=(",", ":")) + "\n"


def entry_object(entry: Entry) -> dict[str, Any]:
    """Return an entry as a JSON object; what is empty is left out."""
    found: dict[str, Any] = {
        "seq": entry.seq,
        "time": time_text(entry.wall_ns),
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
        "redactions": [[part.start, part.end, part.name] for part in entry.redactions],
    }
    found |= {key: value for key, value in optional.items() if value}
    if entry.cause is not None:
        found["cause"] = {"turn": entry.cause.turn, "step": entry.cause.step, "call": entry.cause.call}
    return found | _body_members(entry.body)


def _body_members(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode("ascii")}


def time_text(wall_ns: int) -> str:
    """Return a moment as RFC 3339 in UTC, to the microsecond; "" for one that no calendar has."""
    try:
        return datetime.fromtimestamp(wall_ns / 1e9, UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def read_jsonl(lines: Iterable[bytes], where: str) -> Iterator[Entry]:
    """Yield the entries of an export, numbered anew from 1 without gaps.

    Args:
        lines: the lines of the file; an export of a selection has gaps in its numbers.
        where: whose lines they are, for errors.

    Raises:
        StorageError: a line is none of an export.
    """
    numbers: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            if number == 1 and "mcptrace" in found:
                _check_format(found["mcptrace"], where)
                continue
            entry = _entry(found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StorageError(
                f"line {number} is no entry of a recording ({type(error).__name__}: {error})"[:300],
                where=where,
                next_step="docs/trace-format.md says what such a file looks like.",
            ) from error
        yield renumbered(entry, numbers)


def _check_format(version: Any, where: str) -> None:
    if not isinstance(version, int) or version > FORMAT:
        raise StorageError(
            f"a newer mcptui wrote this file (format {version}, this one reads up to {FORMAT})",
            where=where,
            next_step="Update mcptui and open it again.",
        )


def _entry(found: Mapping[str, Any]) -> Entry:
    cause = found.get("cause")
    encoded = found.get("body_base64")
    body = base64.b64decode(encoded, validate=True) if encoded is not None else found.get("body", "").encode()
    return Entry(
        seq=_whole(found["seq"]),
        mono_ns=_whole(found["mono_ns"]),
        wall_ns=_whole(found["wall_ns"]),
        source=_text(found["source"]),
        direction=Direction[_text(found["direction"]).upper()],
        kind=Kind[_text(found["kind"]).upper()],
        method=_text(found.get("method", "")),
        tool=_text(found.get("tool", "")),
        ident=_text(found.get("id", "")),
        size=_whole(found["size"]),
        pair=_whole(found.get("pair", 0)),
        root=_whole(found.get("root", 0)),
        outcome=Outcome[_text(found.get("outcome", "none")).upper()],
        cause=Cause(_whole(cause["turn"]), _whole(cause["step"]), _text(cause["call"])) if cause else None,
        sha256=_text(found.get("sha256", "")),
        redactions=tuple(
            Redaction(_whole(start), _whole(end), _text(name))
            for start, end, name in found.get("redactions", ())
        ),
        detail=dict(found.get("detail", {})),
        body=body,
    )


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("not a number that can be stored")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def renumbered(entry: Entry, numbers: dict[int, int]) -> Entry:
    """Return an entry of a selection numbered without gaps; `numbers` is what came before, old to new."""
    seq = numbers[entry.seq] = len(numbers) + 1
    detail = entry.detail
    if "batch" in detail:
        detail = {**detail, "batch": numbers.get(detail["batch"], 0)}
    return replace(
        entry, seq=seq, pair=numbers.get(entry.pair, 0), root=numbers.get(entry.root, 0), detail=detail
    )
