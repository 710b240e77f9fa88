"""Recordings and sessions that somebody else could have made, which compute for ever when they are read."""

import sqlite3
from contextlib import closing
from pathlib import Path

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


def become_view(path: Path, table: str) -> None:
    """Replace a table with a view of the same columns that never ends."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] or ["text"]
        connection.execute(f"DROP TABLE {table}")
        shown = ", ".join(f"x AS {name}" for name in columns)
        connection.execute(f"CREATE VIEW {table} AS {ENDLESS} SELECT {shown} FROM n WHERE x < 0")


def change(path: Path, script: str) -> None:
    """Change a file with SQL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(script)


def rewrite_schema(path: Path, table: str, sql: str | bytes) -> None:
    """Replace the SQL of a table in the schema, which SQLite believes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, table))


def share_a_page(path: Path, table: str, child: int) -> None:
    """Let all entries of a table's root page lead to its child number `child`."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        found = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        start = (found.fetchone()[0] - 1) * size
    data = bytearray(path.read_bytes())
    assert data[start] == 5, "the root is not an interior page of a table"
    count = int.from_bytes(data[start + 3 : start + 5])
    cells = [int.from_bytes(data[at : at + 2]) for at in range(start + 12, start + 12 + 2 * count, 2)]
    shared = data[start + cells[child] : start + cells[child] + 4]
    for cell in cells:
        data[start + cell : start + cell + 4] = shared
    path.write_bytes(data)
