"""The pause that protects questions: what was typed without seeing a question does not answer it.

Before an answer, `AnswerDelay`: the question must have been on screen for a moment. After an answer to a tool
call, `AnswerKeys`: its letter may be the first one of a word.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.timer import Timer

GRACE_SECONDS = 0.6
"""A key pressed within this time after a question appeared was meant for something else."""

CONFIRM_SECONDS = 0.3
"""The same for a question that a key of the user opened."""

USUAL_SECONDS, STORED_SECONDS = 0.25, 0.7
"""Seconds without a key after which a letter counts as an answer; longer for an answer that is stored."""


class AnswerDelay:
    """Determines whether a question has been visible long enough for a key to answer it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float | None = None) -> None:
        self._clock = clock
        self._seconds = seconds
        self._shown = clock()

    def restart(self) -> None:
        self._shown = self._clock()

    @property
    def accepts_keys(self) -> bool:
        seconds = GRACE_SECONDS if self._seconds is None else self._seconds
        return self._clock() - self._shown >= seconds


class AnswerKeys:
    """Delays what a letter does while a question is open, until it can no longer be the start of a word.

    Letters that turn out to be text are passed to `typed`.
    """

    def __init__(
        self, typed: Callable[[str], None], later: "Callable[[float, Callable[[], None]], Timer]"
    ) -> None:
        self._typed = typed
        self._later = later
        self._letter = ""
        self._held: tuple[str, Callable[[], object], float] | None = None
        self._timer: Timer | None = None

    def key(self, letter: str) -> bool:
        """See a key before everything else, "" if it is not a letter; return whether it was consumed."""
        self._letter = letter
        if self._held is None or not letter:
            return False
        first, do, seconds = self._held
        if letter == first:  # the key was pressed twice, or held down
            self.hold(do, seconds)
            return True
        self.text(letter)
        return True

    def hold(self, do: Callable[[], object], seconds: float = USUAL_SECONDS) -> None:
        """Call `do` after that time without another letter; at once if the last key is not a letter."""
        if not self._letter:
            do()
            return
        self._drop()
        self._held = (self._letter, do, seconds)
        self._timer = self._later(seconds, self._quiet)

    def text(self, letter: str) -> None:
        """Take a letter that is not an answer: it is text, and so is the delayed letter."""
        held = self._held[0] if self._held is not None else ""
        self._drop()
        self._typed(held + letter)

    def _quiet(self) -> None:
        if self._held is not None:
            do = self._held[1]
            self._drop()
            do()

    def _drop(self) -> None:
        self._held = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
