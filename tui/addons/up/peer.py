"""A process that is attached to a running mcptui."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, eq=False)
class Peer:
    """A process that is attached.

    Attributes:
        command: what it is: "mcptui call".
        server: the server that it uses, or "".
        label: for whom it asks, such as "mcptui agent for claude-code"; or its command.
        note: sends it something before the result of the request that is being answered.
    """

    pid: int
    command: str = ""
    label: str = ""
    server: str = ""
    note: Callable[[Any], None] = lambda value: None

    @property
    def words(self) -> str:
        return f"{self.label or self.command or 'unknown'} (pid {self.pid})"

    @property
    def by(self) -> str:
        """How the record of decisions names it."""
        return f"command {self.command or 'unknown'}, pid {self.pid}"
