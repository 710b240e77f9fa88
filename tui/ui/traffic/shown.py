"""Which entries the list shows, in which row: all of them, or what a filter found so far."""

from array import array
from bisect import bisect_left
from typing import Protocol

from tui.trace.frames import Frames


class Shown(Protocol):
    """Rows of the list and the entries that stand in them; rows are only added, at the end."""

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    def index(self, row: int) -> int:
        """Return the index of the entry in a row."""
        ...

    def row(self, index: int) -> int:
        """Return the row of an entry, -1 if it is not shown."""
        ...

    def near(self, index: int) -> int:
        """Return the row of the first entry shown from `index` on; the last row if there is none."""
        ...


class Everything:
    """Every entry, in its order. `update` says how many there are; between two updates nothing moves."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._count = len(frames)

    def update(self) -> None:
        """Take in what came."""
        self._count = len(self._frames)

    def __len__(self) -> int:
        return self._count

    def index(self, row: int) -> int:
        """Return the index of the entry in a row."""
        return row

    def row(self, index: int) -> int:
        """Return the row of an entry, -1 if it is not shown."""
        return index if 0 <= index < self._count else -1

    def near(self, index: int) -> int:
        """Return the row of the first entry shown from `index` on."""
        return max(0, min(index, self._count - 1))


class Chosen:
    """The entries of an ascending array of indices that grows at its end."""

    def __init__(self, indices: "array[int]") -> None:
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def index(self, row: int) -> int:
        """Return the index of the entry in a row."""
        return self._indices[row]

    def row(self, index: int) -> int:
        """Return the row of an entry, -1 if it is not shown."""
        row = bisect_left(self._indices, index)
        return row if row < len(self._indices) and self._indices[row] == index else -1

    def near(self, index: int) -> int:
        """Return the row of the first entry shown from `index` on; the last row if there is none."""
        return max(0, min(bisect_left(self._indices, index), len(self._indices) - 1))
