"""Notes in the conversation when saving or recording fails, and when it works again."""

from collections.abc import Iterator

HEALED_SECONDS = 0.5
"""How long it must work before a note says so: a new conversation has not tried it yet."""

AGAIN_SECONDS = 10.0
"""No note is added for a fault that returns within this time: the status line shows it."""


class FaultNotes:
    """Decides which notes to show for one thing that can fail: a state machine without its own clock."""

    def __init__(self, failing: str, working: str) -> None:
        """Take the text before a fault's reason, and the text for the end of the fault."""
        self._failing, self._working = failing, working
        self._why = ""
        self._works_since = self._healed_at = float("-inf")

    def forget(self) -> None:
        """Start over, for another conversation."""
        self._why, self._healed_at = "", float("-inf")

    def seen(self, why: str, now: float) -> Iterator[tuple[str, str]]:
        """Yield the notes to add, as text and kind. `why` is the reason of the fault, "" if there is none.

        `now` is in seconds and never decreases.
        """
        if why:
            self._works_since = float("inf")
            if why != self._why and (self._why or now - self._healed_at >= AGAIN_SECONDS):
                self._why = why
                yield f"{self._failing}: {why}.", "bad"
        elif self._why:
            self._works_since = min(self._works_since, now)
            if now - self._works_since >= HEALED_SECONDS:
                self._why, self._healed_at = "", now
                yield self._working, "info"
