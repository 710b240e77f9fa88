"""Tells an answer to a question from the first letter of a text that somebody writes without looking."""

from collections.abc import Callable
from typing import Protocol

SETTLE_SECONDS = {"always": 0.7}
USUAL_SECONDS = 0.25
"""How long it must be quiet after an answer's letter. What is kept for good takes longer: a slow typist."""


class _Timer(Protocol):
    def stop(self) -> None: ...


class AnswerKeys:
    """Holds an answer back until it is clear that its letter is not the beginning of a word.

    Args:
        settle: called with the answer once it is one.
        typed: called with the letters that turned out to be a text.
        later: calls back after seconds.
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
        """Take note of a key before anyone else; "" if it writes nothing. Whether it was taken away."""
        self._letter = letter
        if self._held is None or not letter:
            return False
        answer, first = self._held
        if letter == first:  # pressed twice, or held down
            self._hold(answer, first)
            return True
        self._drop()
        self._typed(first + letter)
        return True

    def answer(self, answer: str, letter: str = "") -> None:
        """Take the answer that a key means: that of `letter`, or the last key."""
        if letter and self._held is not None and self._held[1] != letter:
            self.text(letter)
        elif letter or self._letter:
            self._hold(answer, letter or self._letter)
        else:
            self._settle(answer)

    def text(self, letter: str) -> None:
        """Type a letter that means no answer, after the one that is held back: together they are a text."""
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
