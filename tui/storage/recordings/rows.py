"""Converts entries to rows of a recording and back, without I/O. `is_sound` checks rows from a file."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tui.core.traffic import DETAIL_LOST, FIRST_NS, Cause, Direction, Entry, Kind, Outcome, Redaction

# Indexed by number: several times faster than calling an enum.
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
        # `str` for other types: a bug in a tap must not lose the entry.
        json.dumps(dict(entry.detail), default=str, separators=(",", ":")) if entry.detail else "",
        json.dumps([[part.start, part.end, part.name] for part in entry.redactions])
        if entry.redactions
        else "",
    )


def entry_of(row: Sequence[Any], redactions: str = "", body: bytes = b"") -> Entry:
    """Return the entry of a row that starts with the columns `seq` to `detail` and that `is_sound`.

    The other columns may have any value. An invalid detail is replaced by `DETAIL_LOST`.
    """
    turn = row[13]
    kind = _KINDS[row[5]]
    assert kind is not None
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
        row[16] if isinstance(row[16], str) else "",
        _redactions(redactions) if redactions else (),
        _detail(row[17]) if row[17] != "" else {},
        body,
    )


def is_sound(row: Sequence[Any]) -> bool:
    """Return whether the columns of a row from `seq` to `call` are valid; other values are damage."""
    (
        _, mono, wall, source, direction, kind, method, tool, ident, size, pair, root, outcome,
        turn, step, call,
    ) = row[:16]  # fmt: skip
    return (
        type(mono) is type(wall) is type(direction) is type(kind) is int
        and type(size) is type(pair) is type(root) is type(outcome) is int
        and type(source) is type(method) is type(tool) is type(ident) is str
        and mono >= 0
        and wall >= FIRST_NS
        and size >= 0 <= pair
        and root >= 0 <= direction < len(_DIRECTIONS)
        and 0 < kind < len(_KINDS)
        and 0 <= outcome < len(_OUTCOMES)
        and (
            turn is step is call is None
            or (type(turn) is type(step) is int and 0 <= turn < 1 << 32 > step >= 0 and type(call) is str)
        )
    )


def are_sound(rows: Sequence[Row], after: int) -> bool:
    """Return whether rows are valid, and their seqs increase from a seq after `after` on."""
    if not all(map(is_sound, rows)) or not all(type(row[0]) is int for row in rows):
        return False
    seqs = [after, *(row[0] for row in rows)]
    return seqs[-1] - after == len(rows) or all(seq < next_seq for seq, next_seq in pairwise(seqs))


def is_zeroed(row: Row) -> bool:
    """Return whether the columns of a row may be the zeros of a page that a truncated file lacks."""
    return not row[2] or "\0" in row[3]


def _detail(text: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {DETAIL_LOST: True}


def _redactions(text: Any) -> tuple[Redaction, ...]:
    try:
        marks = [Redaction(*part) for part in json.loads(text)]
    except (TypeError, ValueError, RecursionError):
        return ()
    return tuple(
        mark
        for mark in marks
        if type(mark.start) is type(mark.end) is int and type(mark.name) is str and mark.start >= 0
    )


def storable(value: Any) -> Any:
    """Return a value that SQLite can store: a lone surrogate becomes its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
