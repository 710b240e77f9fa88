"""The columns of chosen entries, read by pages."""

from collections.abc import Sequence

from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.record.open_recording import columns_of


class CountingReader:
    """A recording of 2,000 entries whose first 100 have been dropped."""

    rows = 0

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        first = max(101, after + 1)
        found = range(first, min(first + limit, 2001))
        self.rows += len(found)
        return [Entry(seq, seq, seq, "srv", Direction.OUT, Kind.REQUEST) for seq in found]


def test_only_chosen_entries_are_read_if_they_are_far_apart() -> None:
    reader, seqs = CountingReader(), list(range(1, 2100, 300))
    found = [(seq, entry.seq if entry is not None else None) for seq, entry in columns_of(reader, seqs)]
    assert found == [(1, None), *((seq, seq) for seq in seqs[1:])]
    assert reader.rows == len(seqs)
