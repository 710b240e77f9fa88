"""Damage to recordings for tests: overwritten pages of a table."""

import sqlite3
from contextlib import closing
from pathlib import Path


def leaves(path: Path, table: str) -> list[int]:
    """Return the file offsets of the pages with the rows of a table, in order."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    data = path.read_bytes()
    at = (root - 1) * 4096
    cells = int.from_bytes(data[at + 3 : at + 5])  # https://sqlite.org/fileformat.html 1.6
    pointers = [int.from_bytes(data[at + 12 + 2 * each :][:2]) for each in range(cells)]
    children = [data[at + pointer :][:4] for pointer in pointers] + [data[at + 8 : at + 12]]
    return [(int.from_bytes(child) - 1) * 4096 for child in children]


def overwrite(path: Path, *pages: int, fill: bytes = b"\0") -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page)
            file.write(fill * 4096)
