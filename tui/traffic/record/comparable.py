"""Entries as values that can be compared, and the calls that they belong to."""

from collections.abc import Sequence
from typing import Any

from tui.core import units
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.traffic import TrafficReader
from tui.core.units import exact
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import whole_entry

MOST_COMPARED = 8 * 1024 * 1024
"""Maximum bytes of a body to compare."""


class NotComparable(Exception):
    """Entries that cannot be compared; the text is one sentence."""


def call_of(entries: EntryColumns, seq: int) -> tuple[int, ...]:
    """Return the request and the response of an entry's call, () if it has none."""
    index = entries.index(seq)
    partner = entries.partner(index)
    if partner < 0 or not entries.is_answer(max(index, partner)):
        return ()
    return entries.seq(min(index, partner)), entries.seq(max(index, partner))


def comparable_call(reader: TrafficReader, pair: Sequence[int]) -> dict[str, Any]:
    """Return the request and the response of a call as one JSON value. Raises `NotComparable`."""
    values = (comparable_value(reader, seq) for seq in pair)
    return dict(zip(("request", "answer"), values, strict=True))


def comparable_value(reader: TrafficReader, seq: int) -> Any:
    """Return an entry as a JSON value, as its lines if it is not JSON. Raises `NotComparable`."""
    entry = whole_entry(reader, seq, MOST_COMPARED + 1)
    if entry is None:
        why = message("Entry {seq} was dropped at the size limit of the recording.", seq=exact(seq))
        raise NotComparable(why)
    if entry.sha256:
        raise NotComparable(message("Entry {seq} is truncated and cannot be compared.", seq=exact(seq)))
    if len(entry.body) > MOST_COMPARED:
        most = units.size(MOST_COMPARED)
        why = message("Entry {seq} is too large to compare (over {most}).", seq=exact(seq), most=most)
        raise NotComparable(why)
    if not entry.body:
        return dict(entry.detail)
    if (found := json_value(entry.body, entry.body)) is not entry.body:
        return found
    return [clean_line(line, 4_000) for line in entry.body.decode("utf-8", "replace").split("\n")]
