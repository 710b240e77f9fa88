"""Entries in memory are read like a recording, even by several readers at once."""

from contextlib import closing

from tests.unit.storage.traffic_samples import request
from tui.core.traffic import BodyTerm
from tui.runtime.recording import MemoryReader
from tui.traffic.record.recorder import RecentEntries


def ring(*bodies: bytes) -> RecentEntries:
    made = RecentEntries()
    made.add([request(seq, body) for seq, body in enumerate(bodies, start=1)])
    return made


def test_entries_and_bodies_are_read_from_memory():
    kept = ring(b"Hello", b"world")
    with closing(MemoryReader(kept)) as reader:
        assert [entry.seq for entry in reader.columns(1, 9)] == [2]
        assert reader.entry(1) == kept.entry(1) and reader.body(2, 1, 2) == b"or"
        assert reader.findings_of(1) == []


def test_an_interrupt_affects_only_its_own_reader_and_can_be_reset():
    kept, word = ring(b"a"), BodyTerm("a")
    with closing(MemoryReader(kept)) as one, closing(MemoryReader(kept)) as other:
        one.interrupt()
        assert one.search([word], 1, 1) == [set()] and other.search([word], 1, 1) == [{1}]
        one.interrupt()
        one.rearm()
        assert one.search([word], 1, 1) == [{1}]
