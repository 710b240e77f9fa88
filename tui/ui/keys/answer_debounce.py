"""Distinguishes the answer to a question from the first letter of text typed without looking."""

from collections.abc import Callable
from typing import Protocol

USUAL_SECONDS, STORED_SECONDS = 0.25, 0.7
"""Seconds without a key after which a letter counts as an answer; longer for the stored answer."""

Act = Callable[[], object]


class _Timer(Protocol):
    def stop(self) -> None: ...


class AnswerKeys:
    """Delays what a letter does until it can no longer be the start of a word.

    Letters that turn out to be text are passed to `typed`.
    """

    def __init__(
        self, typed: Callable[[str], None], later: Callable[[float, Callable[[], None]], _Timer]
    ) -> None:
        self._typed = typed
        self._later = later
        self._letter = ""
        self._held: tuple[Act, str, float] | None = None
        self._timer: _Timer | None = None

    def key(self, letter: str) -> bool:
        """See a key before everything else, "" if it is not a letter; return whether it was consumed."""
        self._letter = letter
        if self._held is None or not letter:
            return False
        act, first, seconds = self._held
        if letter == first:  # the key was pressed twice, or held down
            self._hold(act, first, seconds)
            return True
        self._drop()
        self._typed(first + letter)
        return True

    def hold(self, act: Act, letter: str = "", *, seconds: float = USUAL_SECONDS) -> None:
        """Delay what `letter`, or the last key, does; do it at once if that is not a letter."""
        if letter and self._held is not None and self._held[1] != letter:
            self.text(letter)
        elif letter or self._letter:
            self._hold(act, letter or self._letter, seconds)
        else:
            act()

    def text(self, letter: str) -> None:
        """Take a letter that is not an answer: it is text, and so is the delayed letter."""
        held = self._held[1] if self._held is not None else ""
        self._drop()
        self._typed(held + letter)

    def _hold(self, act: Act, letter: str, seconds: float) -> None:
        self._drop()
        self._held = (act, letter, seconds)
        self._timer = self._later(seconds, self._quiet)

    def _quiet(self) -> None:
        if self._held is not None:
            act = self._held[0]
            self._drop()
            act()

    def _drop(self) -> None:
        self._held = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
