"""Thinking between tags around a dialect: `<think>…</think>` at the start of a reply. Pure.

Models use thinking tags in any dialect. A closing tag without an opening one, outside code and calls, means
that everything before it was thinking, including calls.
"""

from collections.abc import Callable, Iterable

from tui.core.ports import ReasoningPart
from tui.model.dialects.dialect_parser import DialectParser, Piece
from tui.model.openai_api import think_tags


class Thoughts:
    """Takes thinking out of a reply, and passes the rest to a dialect's parser.

    `make` creates that parser, and again when everything so far turns out to have been thinking. `opened`:
    the model is known to omit the opening tag.
    """

    def __init__(self, make: Callable[[], DialectParser], *, opened: bool = False) -> None:
        self.tags = think_tags.ThinkTags(opened=opened, is_code=self._is_code)
        self._make = make
        self._parser = make()
        self._out: list[Piece] = []

    @property
    def over(self) -> bool:
        return self._parser.over

    def feed(self, text: str) -> list[Piece]:
        return self._read(self.tags.feed(text))

    def end(self, *, cut: bool = False) -> list[Piece]:
        """Return the text held back. `cut`: the endpoint truncated the reply."""
        return self._read(self.tags.finish()) + self._parser.end(cut=cut)

    def _read(self, pieces: Iterable[think_tags.Piece]) -> list[Piece]:
        for piece in pieces:
            if not piece.thinking:
                self._out.extend(self._parser.feed(piece.text))
                continue
            if piece.all_before:
                self._parser = self._make()
            self._parser.gap()
            self._out.append(ReasoningPart(piece.text, replaces_text=piece.all_before))
        out, self._out = self._out, []
        return out

    def _is_code(self) -> bool:
        """Whether the parser takes the next text for code, or for a part of a call."""
        self._out.extend(self._parser.settle())
        return self._parser.busy or self._parser.in_code or self._parser.over
