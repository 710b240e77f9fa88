"""What is in an export, in numbers, for the person who is about to give it away. Pure."""

from tui.core.traffic import Entry
from tui.core.units import plural

MODEL = "model:"
"""Start of the source of what was exchanged with a model."""


class ExportContents:
    """Counts entries as they are exported."""

    def __init__(self) -> None:
        self.redacted = 0
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

    def words(self) -> str:
        """Return the numbers: "12 entries, 2 servers, 1 model, 3 redacted values"."""
        models = sum(source.startswith(MODEL) for source in self.sources)
        servers = sum(bool(source) for source in self.sources) - models
        counts = ["1 entry" if self.entries == 1 else f"{self.entries:,} entries"]
        counts += [plural(servers, "server")] if servers else []
        counts += [plural(models, "model")] if models else []
        return ", ".join([*counts, plural(self.redacted, "redacted value")])
