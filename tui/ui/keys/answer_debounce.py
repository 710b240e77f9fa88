"""Distinguishes the answer to a question from the first letter of text typed without looking."""

from collections.abc import Callable
from typing import Protocol

SETTLE_SECONDS = {"always": 0.7}
USUAL_SECONDS = 0.25
"""Seconds without a key after which a letter counts as an answer; longer for the stored answer."""


class _Timer(Protocol):
    def stop(self) -> None: ...


class AnswerKeys:
    """Delays an answer until its letter can no longer be the start of a word.

    Then calls `settle` with the answer. Letters that turn out to be text are passed to `typed`.
    """

    def __init__(
        self,
        settle: Callable[[str], None],
        typed: Callable[[str], None],
        later: Callable[[float, Callable[[], None]], _Timer],
    ) -> None:
        self._settle = settle
        self._typed = typed
        self._later = later
        self._letter = ""
        self._held: tuple[str, str] | None = None
        self._timer: _Timer | None = None

    def key(self, letter: str) -> bool:
        """See a key before everything else, "" if it is not a letter; return whether it was consumed."""
        self._letter = letter
        if self._held is None or not letter:
            return False
        answer, first = self._held
        if letter == first:  # the key was pressed twice, or held down
            self._hold(answer, first)
            return True
        self._drop()
        self._typed(first + letter)
        return True

    def answer(self, answer: str, letter: str = "") -> None:
        """Delay the answer of `letter`, or of the last key; settle it at once if that is not a letter."""
        if letter and self._held is not None and self._held[1] != letter:
            self.text(letter)
        elif letter or self._letter:
            self._hold(answer, letter or self._letter)
        else:
            self._settle(answer)

    def text(self, letter: str) -> None:
        """Take a letter that is not an answer: it is text, and so is the delayed letter."""
        held = self._held[1] if self._held is not None else ""
        self._drop()
        self._typed(held + letter)

    def _hold(self, answer: str, letter: str) -> None:
        self._drop()
        self._held = (answer, letter)
        self._timer = self._later(SETTLE_SECONDS.get(answer, USUAL_SECONDS), self._quiet)

    def _quiet(self) -> None:
        if self._held is not None:
            answer = self._held[0]
            self._drop()
            self._settle(answer)

    def _drop(self) -> None:
        self._held = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
