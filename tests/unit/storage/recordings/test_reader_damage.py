"""Of a damaged recording, the entries before the damage are read, whatever the damaged page contains."""

import os
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.recordings.test_reader import recorded
from tests.unit.storage.traffic_samples import requests
from tui.core import units
from tui.core.errors import StorageError
from tui.core.traffic import BodyTerm, Kind
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.record.entry_columns import EntryColumns

ENTRIES, MIDDLE = 240, 120
FEW = 20
HOSTILE: list[Any] = [None, -1, 1 << 62, -(1 << 63), 2.5, "", "x\0y", b"\xff\x00", "[" * 5000, "null", 99]
COLUMNS = [
    "mono_ns", "wall_ns", "source", "direction", "kind", "method", "tool", "ident", "size", "pair", "root",
    "outcome", "turn", "step", "call", "sha256", "detail", "redactions",
]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a recording that each test copies."""
    return recorded(tmp_path_factory.mktemp("sound") / "r.mcptrace", requests(1, ENTRIES, 80))


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path))


def damaged(path: Path, seed: int) -> None:
    """Overwrite parts of the pages after the schema."""
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    fill = [b"\0", b"\xff", bytes(chance.randbytes(1)), b""][seed % 4]
    for _ in range(chance.randint(1, 12)):
        length = chance.choice([1, 8, 200, 4096])
        at = chance.randrange(7 * 4096, len(data) - length)
        data[at : at + length] = fill * length or chance.randbytes(length)
    path.write_bytes(data)


def loosened(path: Path) -> sqlite3.Connection:
    """Open a recording so that its tables accept any value."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(replace(replace(replace(sql, ' NOT NULL', ''), ' TEXT', ''),"
        " ' BLOB', ''), 'ns INTEGER', 'ns') WHERE name IN ('entries', 'bodies', 'notes', 'findings', 'flags')"
    )
    for name in COLUMNS:
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'entries'",
            (f" {name} INTEGER", f" {name}"),
        )
    connection.close()
    return sqlite3.connect(path, isolation_level=None)


def read_all(path: Path, entries: int = ENTRIES) -> tuple[EntryColumns, dict[int, bytes | None], str]:
    """Return the columns, the bodies (None for a lost one) and the sentence about the damage."""
    columns, bodies = EntryColumns(), dict[int, bytes | None]()
    with closing(RecordingReader(path)) as reader:
        after = 0
        while rows := reader.hand_rows(columns.extend, after, entries - 5):
            after = rows[-1][0]
        for entry in reader.columns(0, entries):
            whole = reader.entry(entry.seq)
            bodies[entry.seq] = None if whole is None or whole.is_body_lost else whole.body
        reader.search([BodyTerm("tools")], 1, entries)
        reader.span(), reader.ends_ns(), reader.sources(5), reader.meta()
        with suppress(StorageError):
            reader.flagged(), reader.findings_of(3)
        return columns, bodies, reader.damage


def test_a_file_that_cannot_be_read_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[sqlite3.Connection] = []

    def is_cut(connection: sqlite3.Connection) -> bool:
        opened.append(connection)
        raise sqlite3.DatabaseError("disk I/O error")

    monkeypatch.setattr("tui.storage.recordings.reader.is_cut", is_cut)
    with pytest.raises(StorageError):
        RecordingReader(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_damage_entries_and_bodies_are_as_stored_or_reported(path: Path, seed: int):
    damaged(path, seed)
    columns, bodies, damage = read_all(path)
    assert set(bodies) <= set(columns.seqs(range(len(columns))))
    assert damage or None not in bodies.values()


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"\x0d"])
def test_the_entries_before_a_damaged_page_are_read(path: Path, fill: bytes):
    overwrite(path, leaves(path, "entries")[-2], fill=fill)
    columns, bodies, damage = read_all(path)
    assert list(bodies) == list(range(1, len(columns) + 1))
    assert 100 < len(columns) < ENTRIES
    assert damage == f"the recording is damaged: only the entries up to {len(columns)} could be read"


@pytest.mark.parametrize("column", COLUMNS)
def test_the_entries_before_a_malformed_value_are_read(tmp_path: Path, column: str):
    path = recorded(tmp_path / "r.mcptrace", requests(1, FEW, 80))
    middle = FEW // 2
    for value in HOSTILE:
        with closing(loosened(path)) as connection:
            connection.execute(f"UPDATE entries SET {column} = ? WHERE seq = ?", (value, middle))
        columns, bodies, damage = read_all(path, FEW)
        assert len(columns) in (middle - 1, FEW) and len(bodies) in (middle - 1, FEW)
        assert all(kind in set(Kind) for kind in columns.kind)
        assert len(bodies) == FEW or damage.endswith(f"only the entries up to {middle - 1} could be read")


@pytest.mark.parametrize("part", [0.3, 0.99])
def test_the_readable_part_of_a_truncated_recording_is_read(path: Path, part: float):
    whole = path.stat().st_size
    os.truncate(path, int(whole * part))
    columns, _, damage = read_all(path)
    assert list(columns.seqs(range(len(columns)))) == list(range(1, len(columns) + 1))
    there = f"{units.size(int(whole * part))} of {units.size(whole)} are readable"
    assert damage.startswith(f"the recording is truncated ({there}): ")


def test_a_malformed_body_is_lost_and_reported(path: Path):
    with closing(loosened(path)) as connection:
        connection.execute("UPDATE bodies SET body = NULL WHERE seq IN (5, 6)")
        connection.execute("UPDATE bodies SET body = 7 WHERE seq = 7")
    _, bodies, damage = read_all(path)
    assert [seq for seq, body in bodies.items() if body is None] == [5, 6, 7]
    assert damage == "the recording is damaged: part of it could not be read"


def test_lost_metadata_is_empty_and_reported_as_damage(path: Path):
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'meta'").fetchone()
    overwrite(path, (root - 1) * 4096)
    with closing(RecordingReader(path)) as reader:
        assert reader.meta() == {}
        assert reader.damage


def test_damage_that_sqlite_reports_in_other_bytes_than_utf_8_loses_only_a_body(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    def stored(seq: int, start: int, length: int) -> bytes:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    with closing(RecordingReader(path)) as reader:
        monkeypatch.setattr(reader, "_stored", stored)
        entry = reader.entry(MIDDLE)
        assert entry is not None and (entry.method, entry.is_body_lost) == ("tools/call", True)
        assert reader.span() == (1, ENTRIES)
        assert reader.search([BodyTerm("tools")], 1, ENTRIES)
