"""Redaction of texts that arrive in pieces. Pure."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from tui.core.secrets.redact import Redactor
from tui.core.secrets.split_values import MARK

Piece = TypeVar("Piece", bound=Any)


class PieceRedactor(Generic[Piece]):
    """Redacts texts that arrive in pieces of several kinds, such as reasoning and answer.

    Text that may begin a value is held back until more is known, even if the kind changes once. `kind`
    returns the kind of a piece, `of` a copy of a piece with another text, `clear` a text without complete
    values.
    """

    def __init__(
        self,
        redactor: Redactor,
        kind: Callable[[Piece], Hashable],
        of: Callable[[Piece, str], Piece],
        clear: Callable[[str], str],
    ) -> None:
        self._redactor = redactor
        self._kind = kind
        self._of = of
        self._clear = clear
        self._before: Piece | None = None
        self._held: Piece | None = None

    @property
    def holds(self) -> bool:
        return self._held is not None

    def forget(self, is_repeated: Callable[[Piece], bool]) -> Iterator[Piece]:
        """Yield the pieces held back, except those that the next piece repeats."""
        for one in (self._before, self._held):
            if one is not None and not is_repeated(one):
                yield from self._ended([one])
        self._before = self._held = None

    def take(self, piece: Piece, *, always: bool = False) -> Iterator[Piece]:
        """Yield the final pieces; with `always`, this piece too, even if none of its text is final."""
        held, self._held = self._held, None
        if held is not None and self._kind(held) == self._kind(piece):
            piece = replace(piece, text=held.text + piece.text)
        elif held is not None:
            if self._before is not None:
                yield from self._ended([self._before])
            self._before = held
        before, self._before = self._before, None
        if before is not None:
            joined, seam = before.text + piece.text, len(before.text)
            found = self._redactor.over_seam(before.text, piece.text)
            if found is None and self._redactor.begun_at_end(joined) > len(piece.text):
                self._before, self._held = before, piece
                return
            if found is None:
                yield from self._ended([before])
            else:
                yield self._of(before, self._clear(joined[: found[0]]) + MARK)
                piece = replace(piece, text=joined[max(seam, found[1]) :])
        if count := self._redactor.begun_at_end(piece.text):
            self._held = self._of(piece, piece.text[-count:])
            piece = replace(piece, text=piece.text[:-count])
        if piece.text or always:
            yield replace(piece, text=self._clear(piece.text))

    def rest(self, clear: Callable[[str], str] | None = None) -> Iterator[Piece]:
        """Yield the pieces still held at the end, with a long beginning of a value replaced."""
        pieces = [one for one in (self._before, self._held) if one is not None]
        self._before = self._held = None
        yield from self._ended(pieces, clear)

    def _ended(self, pieces: Sequence[Piece], clear: Callable[[str], str] | None = None) -> Iterator[Piece]:
        texts = self._redactor.redact_texts([one.text for one in pieces], clear or self._clear)
        for one, text in zip(pieces, texts, strict=True):
            if text:
                yield replace(one, text=text)
