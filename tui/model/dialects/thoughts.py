"""Thinking between tags around a dialect: `<think>…</think>` at the start of a reply. Pure.

Models use thinking tags in any dialect. Only a tag at the very start opens thinking. A closing tag without an
opening one, outside code and calls, means that everything before it was thinking, including calls.
"""

from collections.abc import Callable

from tui.core.ports import ReasoningPart
from tui.model.dialects.dialect_parser import DialectParser, Piece, any_of, tail_of
from tui.model.openai_api.think_tags import CLOSE_ONLY, MAX_SPACE, TAGS

_ALONE = any_of(CLOSE_ONLY)


class Thoughts:
    """Takes thinking out of a reply, and passes the rest to a dialect's parser.

    `make` creates that parser, and again when everything so far turns out to have been thinking. `opened`:
    the model is known to omit the opening tag. `close_only`: thinking was closed by a tag but never opened by
    one. `never_closed`: a reply that should begin with thinking had none.
    """

    def __init__(self, make: Callable[[], DialectParser], *, opened: bool = False) -> None:
        self.close_only = False
        self.never_closed = False
        self._opened = opened
        self._guessed = False
        self._make = make
        self._parser = make()
        self._pending = ""
        self._closer = ""
        self._begun = False
        self._settled = False
        self._said: list[str] = []
        self._space: list[str] = []
        self._out: list[Piece] = []

    @property
    def over(self) -> bool:
        return self._parser.over

    def feed(self, text: str) -> list[Piece]:
        self._pending += text
        if not (self._begun or self._closer):
            self._open()
        if self._closer:
            self._think()
        if self._begun:
            self._read()
        return self._taken()

    def end(self, *, cut: bool = False) -> list[Piece]:
        """Return the text held back. `cut`: the endpoint truncated the reply."""
        rest, self._pending = self._pending, ""
        if self._guessed:
            self.never_closed = True
            self._out.extend(self._parser.feed("".join((*self._said, *self._space, rest))))
        elif self._closer:
            self._emit_thinking(rest)
        else:
            self._feed_parser(rest)
        self._out.extend(self._parser.end(cut=cut))
        return self._taken()

    def _taken(self) -> list[Piece]:
        out, self._out = self._out, []
        return out

    def _open(self) -> None:
        head = self._pending.lstrip()
        near = len(self._pending) - len(head) <= MAX_SPACE
        for opener, closer in TAGS.items():
            if near and head.startswith(opener):
                self._closer, self._pending = closer, head.removeprefix(opener)
                self._settled = True
                return
        if near and any(opener.startswith(head) for opener in TAGS):
            return
        if self._opened:
            self._closer, self._guessed = CLOSE_ONLY[0], True
        else:
            self._begun = True

    def _think(self) -> None:
        if not self._said:
            self._pending = self._pending.lstrip()
        at = self._pending.find(self._closer)
        if at >= 0:
            self._emit_thinking(self._pending[:at])
            self._space.clear()
            self._pending = self._pending[at + len(self._closer) :]
            self.close_only = self._guessed
            self._closer, self._guessed, self._begun, self._settled = "", False, True, True
            self._parser.gap()
            return
        known = len(self._pending) - tail_of(self._pending[-32:], (self._closer,))
        self._emit_thinking(self._pending[:known])
        self._pending = self._pending[known:]

    def _emit_thinking(self, text: str) -> None:
        """Emit thinking; white space is held back until more follows."""
        body = text.rstrip()
        if body:
            told = "".join(self._space) + body
            self._said.append(told)
            self._out.append(ReasoningPart(told))
            self._space.clear()
        self._space.append(text[len(body) :])

    def _read(self) -> None:
        while not self._settled and (found := _ALONE.search(self._pending)) is not None:
            self._feed_parser(self._pending[: found.start()])
            self._out.extend(self._parser.settle())
            self._pending = self._pending[found.end() :]
            if self._parser.busy or self._parser.in_code or self._parser.over:
                self._feed_parser(found.group())
                continue
            self._settled = self.close_only = True
            self._parser = self._make()
            self._parser.gap()
            self._out.append(ReasoningPart("".join(self._said).strip(), replaces_text=True))
        held = 0 if self._settled else tail_of(self._pending[-32:], CLOSE_ONLY)
        size = len(self._pending) - held
        self._feed_parser(self._pending[:size])
        self._pending = self._pending[size:]

    def _feed_parser(self, text: str) -> None:
        if text:
            if not self._settled:
                self._said.append(text)
            self._out.extend(self._parser.feed(text))
