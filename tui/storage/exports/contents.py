"""Counts the contents of an export, for the user who is about to share it. Pure."""

import json
from collections.abc import Iterable
from typing import Any

from tui.core.text import quoted_name
from tui.core.traffic import ANSWERS, Entry, Kind
from tui.core.units import plural

MODEL = "model:"
"""Prefix of the source of entries exchanged with a model."""

MOST_NAMED = 5
"""Maximum number of servers to name."""


class ExportContents:
    """Counts entries as they are exported."""

    def __init__(self) -> None:
        self.redacted = self.results = self.arguments = 0
        self.sources: set[str] = set()
        self._seen: set[int] = set()

    @property
    def entries(self) -> int:
        return len(self._seen)

    def see(self, entry: Entry) -> None:
        if entry.seq in self._seen:
            return
        self._seen.add(entry.seq)
        self.redacted += len(entry.redactions)
        self.sources.add(entry.source)
        self.results += entry.kind in ANSWERS
        if entry.kind is Kind.REQUEST and entry.method == "tools/call":
            self.arguments += _argument_values(entry.body)

    def words(self) -> str:
        """Return the numbers: "9 entries, 3 results, from the server “weather”, 2 redacted values"."""
        models = sum(source.startswith(MODEL) for source in self.sources)
        servers = [source for source in self.sources if source and not source.startswith(MODEL)]
        counts = ["1 entry" if self.entries == 1 else f"{self.entries:,} entries"]
        counts += [plural(self.results, "result")] if self.results else []
        counts += [plural(self.arguments, "argument value")] if self.arguments else []
        counts += [named_servers(servers)] if servers else []
        counts += [plural(models, "model")] if models else []
        return ", ".join([*counts, plural(self.redacted, "redacted value")])


def named_servers(names: Iterable[str]) -> str:
    """Return "from the server “weather”", "from the servers “a” and “b”", with the first of many."""
    listed = [quoted_name(name, 40) for name in sorted(set(names))]
    if len(listed) > MOST_NAMED:
        listed[MOST_NAMED:] = [f"{len(listed) - MOST_NAMED} more"]
    *some, last = listed
    return f"from the servers {', '.join(some)} and {last}" if some else f"from the server {last}"


def values_in(value: Any) -> int:
    """Return how many texts, numbers and other plain values are in a value of JSON."""
    waiting, count = [value], 0
    while waiting:
        match waiting.pop():
            case dict() as members:
                waiting += members.values()
            case list() as items:
                waiting += items
            case _:
                count += 1
    return count


def _argument_values(body: bytes) -> int:
    try:
        params = json.loads(body)["params"]
        return values_in(params.get("arguments", {}))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return 1 if body else 0
