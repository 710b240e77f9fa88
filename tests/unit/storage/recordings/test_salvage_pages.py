"""Whatever a damaged page contains, undamaged entries are read and the rest is counted."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.storage.recordings.test_reader import recorded
from tests.unit.storage.traffic_samples import requests
from tui.core.errors import StorageError
from tui.core.traffic import BodyTerm, Kind
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.record.entry_columns import EntryColumns

ENTRIES = 600
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


def read_all(path: Path) -> tuple[EntryColumns, dict[int, bytes | None], str]:
    """Return the columns, the bodies (None for a lost one) and the sentence about the damage."""
    columns, bodies = EntryColumns(), dict[int, bytes | None]()
    with closing(RecordingReader(path)) as reader:
        after = 0
        while rows := reader.hand_rows(columns.extend, after, 200):
            after = rows[-1][0]
        for entry in reader.columns(0, ENTRIES):
            whole = reader.entry(entry.seq)
            bodies[entry.seq] = None if whole is None or whole.is_body_lost else whole.body
        reader.search([BodyTerm("tools")], 1, ENTRIES)
        reader.span(), reader.ends_ns(), reader.sources(5), reader.meta()
        with suppress(StorageError):
            reader.flagged(), reader.findings_of(3)
        return columns, bodies, reader.damage


@pytest.mark.parametrize("seed", range(24))
def test_at_least_100_entries_are_read_and_lost_bodies_reported_whatever_the_damage(path: Path, seed: int):
    stored = {entry.seq: entry.body for entry in requests(1, ENTRIES, 80)}
    damaged(path, seed)
    columns, bodies, damage = read_all(path)
    assert list(columns.seqs(range(len(columns)))) == list(bodies)
    same = sum(bodies.get(seq) == body for seq, body in stored.items())
    assert same > 100
    assert damage or None not in bodies.values()


@pytest.mark.parametrize("column", COLUMNS)
def test_a_malformed_value_costs_at_most_one_entry(path: Path, column: str):
    with closing(loosened(path)) as connection:
        for place, value in enumerate(HOSTILE):
            connection.execute(f"UPDATE entries SET {column} = ? WHERE seq = ?", (value, 10 + 20 * place))
    columns, _, damage = read_all(path)
    assert len(columns) == ENTRIES
    assert sum(columns.methods.texts[number] == "unreadable" for number in columns.method) <= len(HOSTILE)
    assert all(kind in set(Kind) for kind in columns.kind)
    if column not in ("sha256", "redactions"):
        assert "could not be read" in damage


def test_a_malformed_body_is_lost_and_counted(path: Path):
    with closing(loosened(path)) as connection:
        connection.execute("UPDATE bodies SET body = NULL WHERE seq IN (5, 6)")
        connection.execute("UPDATE bodies SET body = 7 WHERE seq = 7")
    _, bodies, damage = read_all(path)
    assert [seq for seq, body in bodies.items() if body is None] == [5, 6, 7]
    assert damage == "the recording is damaged: 3 bodies could not be read"
    with closing(RecordingReader(path)) as reader:
        assert reader.damage == ""
        reader.look_for_lost_bodies(1, ENTRIES)
        assert reader.damage == damage
