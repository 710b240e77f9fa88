"""Questions to a column of names: each different name is decided once, the rows are looked up. Pure."""

from array import array
from collections.abc import Callable

from tui.traffic.filter.masks import low_bytes
from tui.traffic.record.entry_columns import Names

_SMALL = 256


class NameCheck:
    """Which rows have a name that `accepts` says yes to; new names are decided as they come."""

    def __init__(self, column: "array[int]", names: Names, accepts: Callable[[str], bool]) -> None:
        self._column, self._names, self._accepts = column, names, accepts
        self._decided = bytearray()

    def mask(self, start: int, stop: int) -> bytes:
        """Return the mask of the rows from `start` to before `stop`."""
        rows = self._column[start:stop]
        # After the rows are taken: every number in them has its name by now.
        decided = self._decide()
        if len(decided) <= _SMALL:
            return low_bytes(rows.tobytes(), rows.itemsize).translate(decided.ljust(_SMALL, b"\0"))
        return bytes(map(decided.__getitem__, rows))

    def _decide(self) -> bytearray:
        texts = self._names.texts
        while len(self._decided) < len(texts):
            self._decided.append(self._accepts(texts[len(self._decided)]))
        return self._decided
