"""What is said in the conversation when saving or recording fails, and when it works again."""

from collections.abc import Iterator

HEALED_SECONDS = 0.5
"""How long it must work before that is said: at the start of a conversation nothing has been tried yet."""

AGAIN_SECONDS = 10.0
"""A fault that comes back sooner is not said again: the mark in the status line is enough."""


class FaultNotes:
    """When to say what about one thing that can fail; a state machine without a clock of its own."""

    def __init__(self, failing: str, working: str) -> None:
        """Take what is said before the reason of a fault, and when it is over."""
        self._failing, self._working = failing, working
        self._why = ""
        self._works_since = self._healed_at = float("-inf")

    def forget(self) -> None:
        """Begin anew, with another conversation."""
        self._why, self._healed_at = "", float("-inf")

    def seen(self, why: str, now: float) -> Iterator[tuple[str, str]]:
        """Yield the notes to add, as text and kind, when the reason of the fault is `why`, "" for none.

        `now` is in seconds and never goes back.
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
