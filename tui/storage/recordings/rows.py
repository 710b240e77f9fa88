"""Entries as rows of a recording and back. Values only. Hostile rows raise instead of becoming entries."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome, Redaction

# By number: an index is several times cheaper than calling an enum.
_DIRECTIONS = tuple(Direction)
_OUTCOMES = tuple(Outcome)
_KINDS: tuple[Kind | None, ...] = (None, *Kind)

Row = tuple[Any, ...]


def entry_values(entry: Entry) -> Row:
    """Return the values of an entry in the order of `database.ENTRY_COLUMNS`."""
    cause = entry.cause
    return (
        entry.seq,
        entry.mono_ns,
        entry.wall_ns,
        entry.source,
        entry.direction._value_,  # `value` is a property in Python, eight times as slow
        entry.kind._value_,
        entry.method,
        entry.tool,
        entry.ident,
        entry.size,
        entry.pair,
        entry.root,
        entry.outcome._value_,
        cause.turn if cause else None,
        cause.step if cause else None,
        cause.call if cause else None,
        entry.sha256,
        _detail_text(entry.detail) if entry.detail else "",
        json.dumps([[part.start, part.end, part.name] for part in entry.redactions])
        if entry.redactions
        else "",
    )


def entry_of(row: Sequence[Any], redactions: str = "", body: bytes = b"") -> Entry:
    """Return the entry of a row that begins with the columns `seq` to `detail`.

    Raises `ValueError`, `IndexError` or `TypeError` for what no writer could have stored.
    """
    turn = row[13]
    kind = _KINDS[row[5]]
    if kind is None:
        raise ValueError("kind 0")
    detail = json.loads(row[17]) if row[17] else {}
    if not isinstance(detail, dict):
        raise ValueError("a detail that is no object")
    return Entry(
        row[0],
        row[1],
        row[2],
        row[3],
        _DIRECTIONS[row[4]],
        kind,
        row[6],
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        _OUTCOMES[row[12]],
        None if turn is None else Cause(turn, row[14], row[15]),
        row[16],
        tuple(Redaction(*part) for part in json.loads(redactions)) if redactions else (),
        detail,
        body,
    )


def storable(value: Any) -> Any:
    """Return a value that SQLite can store: a lone surrogate becomes its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _detail_text(detail: Mapping[str, Any]) -> str:
    # `str` for what is not JSON: a mistake of a tap must not lose the entry.
    return json.dumps(dict(detail), default=str, separators=(",", ":"))
