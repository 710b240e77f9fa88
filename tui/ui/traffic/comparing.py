"""Two entries, or two calls, compared: one is marked with a key, the same key on the other compares."""

import json
from typing import Any

from tui.core import units
from tui.core.text import clean_line
from tui.core.traffic import Entry, Kind, TrafficReader
from tui.ui.traffic.bars import exact
from tui.ui.traffic.deeds import Deeds
from tui.ui.traffic.loading import whole

MOST_COMPARED = 8 * 1024 * 1024
"""Bytes of a body that is compared."""

Pair = tuple[Any, Any]


class Unfit(Exception):
    """Entries that cannot be compared; its text is one sentence."""


class Comparing(Deeds):
    """The doing of the key that compares; the screen supplies what it acts on."""

    def action_traffic_compare(self) -> None:
        """Mark the entry to be compared; on another one, compare the two."""
        from tui.ui.traffic.comparison import ComparisonScreen

        seq, frames = self.list.selected, self.recording.frames
        if not seq:
            return
        if seq == self.compared or frames.index(self.compared) < 0:
            self.compared = 0 if seq == self.compared else seq
            return
        first, second = self.compared, seq
        one, other = self._call_of(first), self._call_of(second)
        are_calls = bool(one and other and one != other)

        async def values(calls: bool) -> Pair:
            if calls:
                return await self.reader.ask(lambda reader: (_call(reader, one), _call(reader, other)))
            return await self.reader.ask(lambda reader: (_value(reader, first), _value(reader, second)))

        names = f"entry {exact(first)}", f"entry {exact(second)}"
        asked = all(frames.kind[frames.index(seq)] == Kind.REQUEST for seq in (first, second))
        self.app.push_screen(ComparisonScreen(names, values, has_calls=are_calls, calls=are_calls and asked))

    def _call_of(self, seq: int) -> tuple[int, ...]:
        """Return the request and the answer that an entry is one of, nothing if it is neither."""
        frames = self.recording.frames
        index = frames.index(seq)
        partner = frames.partner(index)
        if partner < 0 or not frames.is_answer(max(index, partner)):
            return ()
        return frames.seq(min(index, partner)), frames.seq(max(index, partner))


def _call(reader: TrafficReader, seqs: tuple[int, ...]) -> dict[str, Any]:
    return {name: _value(reader, seq) for name, seq in zip(("request", "answer"), seqs, strict=True)}


def _value(reader: TrafficReader, seq: int) -> Any:
    """Return what an entry says as a JSON value, as its lines if it is none.

    Raises:
        Unfit: it cannot be compared.
    """
    entry = whole(reader, seq, MOST_COMPARED + 1)
    if entry is None:
        raise Unfit(f"Entry {exact(seq)} was dropped: the recording has reached its limit.")
    if entry.sha256:
        raise Unfit(f"Only the beginning of entry {exact(seq)} was kept: it cannot be compared.")
    if len(entry.body) > MOST_COMPARED:
        raise Unfit(f"Entry {exact(seq)} is larger than {units.size(MOST_COMPARED)}: that is not compared.")
    return _read(entry)


def _read(entry: Entry) -> Any:
    if not entry.body:
        return dict(entry.detail)
    try:
        return json.loads(entry.body)
    except (ValueError, RecursionError):
        return [clean_line(line, 4_000) for line in entry.body.decode("utf-8", "replace").split("\n")]
