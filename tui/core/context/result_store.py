"""The shelf: whole results of tools that the model was told in part, by name. Bounded in memory."""

import re
import sys
from collections.abc import Mapping

MAX_RESULTS = 100
MAX_BYTES = 64 * 1024 * 1024

_NAME = re.compile(r"result-([1-9][0-9]{0,8})")


class Shelf:
    """Keeps whole results of one conversation; the oldest go when it is full.

    Attributes:
        max_results: how many are kept.
        max_bytes: how much memory they may take; the newest is kept whatever it takes.
    """

    def __init__(
        self,
        results: Mapping[str, str] | None = None,
        *,
        max_results: int = MAX_RESULTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Begin with `results`, of a conversation that was saved, the oldest first."""
        self.max_results = max_results
        self.max_bytes = max_bytes
        self._texts: dict[str, str] = {}
        self._bytes = 0
        self._last = 0
        for name, text in (results or {}).items():
            if found := _NAME.fullmatch(name):
                self._last = max(self._last, int(found[1]))
                self._put(name, text)

    def __len__(self) -> int:
        return len(self._texts)

    def name_of(self, text: str) -> str:
        """Return the name under which this very text is kept, or ""."""
        return next((name for name, kept in self._texts.items() if kept == text), "")

    def keep(self, text: str) -> str:
        """Put `text` on the shelf and return its name; names are never given twice."""
        self._last += 1
        name = f"result-{self._last}"
        self._put(name, text)
        return name

    def find(self, name: str) -> str | None:
        """Return the text of that name, or None."""
        return self._texts.get(name)

    def was_here(self, name: str) -> bool:
        """Whether there was a result of that name that had to go."""
        found = _NAME.fullmatch(name)
        return found is not None and int(found[1]) <= self._last and name not in self._texts

    def names(self) -> tuple[str, ...]:
        """Return the names of all that is kept, oldest first."""
        return tuple(self._texts)

    def _put(self, name: str, text: str) -> None:
        self._texts[name] = text
        self._bytes += sys.getsizeof(text)
        while len(self._texts) > 1 and (len(self._texts) > self.max_results or self._bytes > self.max_bytes):
            self._bytes -= sys.getsizeof(self._texts.pop(next(iter(self._texts))))
