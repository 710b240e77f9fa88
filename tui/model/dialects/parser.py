"""What every dialect's parser is: text in, pieces of a reply out, the same however the text was cut. Pure."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import CallPart, ReasoningPart, TextPart
from tui.model.dialects.made import Maker
from tui.model.dialects.reader import Reader, Steps, tail_of
from tui.model.dialects.visible import Visible

Piece = TextPart | ReasoningPart | CallPart | CallRequest
"""Visible text, thinking, a call that is being written, or a call that is read: `truncated` if its end is
missing, with a `problem` if it cannot be understood."""

RESULT = "<tool_result"
"""What begins a result as the model is told it; written by itself, it and all behind it is invented."""


class Parser(ABC):
    """Reads one reply.

    Attributes:
        over: the reply has ended for this dialect; what else comes is dropped.
        busy: what was read last belongs to a call or to thinking that is not over yet.
    """

    def __init__(self, maker: Maker) -> None:
        self.over = False
        self.busy = False
        self._maker = maker
        self._reader = Reader()
        self._visible = Visible()
        self._cut = False
        self._called = False
        self._forming: str | None = None
        self._out: list[Piece] = []
        self._steps = self._parse()

    @property
    def in_code(self) -> bool:
        """Whether what comes next is inside a code fence or inline code."""
        return self._visible.code.inside_behind(self._reader.cut(0))

    def feed(self, text: str) -> list[Piece]:
        """Take more of the reply and return what it lets be known."""
        if self.over or not text:
            return []
        if self._reader.add(text):
            self._go_on()
        return self._taken()

    def settle(self) -> list[Piece]:
        """Look at all that came so far, so that `busy` and `in_code` are true of this place."""
        if not self.over:
            self._go_on()
        return self._taken()

    def thought(self) -> None:
        """Nothing was said yet but thinking, which comes apart: the reply may begin with any indentation."""
        self._visible.code.hidden()

    def gap(self) -> None:
        """Drop white space at this place: something was taken out here before."""
        self._visible.block()

    def end(self, *, cut: bool = False) -> list[Piece]:
        """Return what was kept back. `cut`: the endpoint ended the reply before the model did."""
        if not self.over:
            self._cut = cut
            self._reader.ended = True
            self._go_on()
        if rest := self._visible.end():
            self._out.append(TextPart(rest))
        return self._taken()

    @abstractmethod
    def _parse(self) -> Steps[None]:
        """Read the reply from its beginning to its end."""

    def _go_on(self) -> None:
        self._reader.refresh()
        try:
            next(self._steps)
        except StopIteration:
            self.over = True
        else:
            if self._forming is not None:
                self._out.append(CallPart(self._forming, len(self._reader)))

    def _taken(self) -> list[Piece]:
        """Return what came out, neighbouring text as one: whoever reads it next is asked less often."""
        out, self._out = self._out, []
        if len(out) < 2:
            return out
        joined: list[Piece] = []
        for kind, pieces in groupby(out, type):
            if kind is TextPart:
                joined.append(
                    TextPart("".join(piece.text for piece in pieces if isinstance(piece, TextPart)))
                )
            else:
                joined.extend(pieces)
        return joined

    def _say(self, size: int) -> None:
        """Take `size` characters as visible text."""
        if size and (text := self._visible.say(self._reader.drop(size))):
            self._out.append(TextPart(text))

    def _think(self, text: str) -> None:
        if text:
            self._out.append(ReasoningPart(text))

    def _call(self, call: CallRequest, size: int) -> None:
        """Give out a call that was written in the next `size` characters."""
        self._skip(size)
        self._form(None)
        self._called = True
        self._out.append(call)

    def _invents(self) -> bool:
        """Whether a `RESULT` that comes next begins what the model thinks its call will give."""
        return self._called and self._visible.code.line_start

    def _form(self, name: str | None) -> None:
        """Say that a call of `name` is being written, as far as that is known; None if it is not any more."""
        self._forming = name
        self.busy = name is not None

    def _skip(self, size: int) -> None:
        """Take out a block of `size` characters."""
        self._reader.drop(size)
        self._visible.block()

    def _say_until(self, words: Sequence[str], pattern: re.Pattern[str] | None = None) -> Steps[str]:
        """Say text until one of `words` comes that is not in code; return it, unread, or "" at the end.

        Args:
            words: what is looked for; the end of the text so far is kept back while it may become one.
            pattern: finds any of `words`, if it is made already.
        """
        pattern = pattern or any_of(words)
        while True:
            found = self._reader.search(pattern)
            if found is None:
                self._say_open(words)
                if not (yield from self._reader.more()):
                    self._say(len(self._reader))
                    return ""
                continue
            self._say(found[0])
            if not self._visible.code.inside:
                return self._reader.cut(0, found[1] - found[0])
            self._say(1)

    def _say_open(self, words: Sequence[str]) -> None:
        """Say all that is there but an end that may become one of `words`."""
        size = len(self._reader)
        self._say(size - tail_of(self._reader.cut(max(0, size - 64)), words))

    def _inside(self, at: int) -> Steps[int]:
        """Return the offset of what stands at an offset, in CDATA or a fence or in neither."""
        at = yield from self._reader.space(at)
        for wrapper in (("<![CDATA[",), ("```json", "```", "~~~json", "~~~")):
            word = yield from self._reader.starts(at, wrapper)
            at = yield from self._reader.space(at + len(word))
        return at

    def _closed(self, at: int, closer: str) -> Steps[int]:
        """Return the offset behind `closer`, a fence or CDATA ended before it; -1 if it stands not there."""
        word = ""
        for closers in (("```", "~~~"), ("]]>",), (closer,)):
            at = yield from self._reader.space(at)
            word = yield from self._reader.starts(at, closers)
            at += len(word)
        return at if word else -1

    def _think_until(self, closers: Sequence[str]) -> Steps[str]:
        """Take text as thinking until one of `closers`, and that away; return it, or "" at the end.

        White space at both ends is dropped.
        """
        pattern = any_of(closers)
        begun = False
        while True:
            found = self._reader.search(pattern)
            whole = self._reader.cut(0, found[0] if found else None)
            held = 0 if found else tail_of(whole[-64:], closers)
            text = whole[: len(whole) - held]
            if not begun:
                space = len(text) - len(text.lstrip())
                self._reader.drop(space)
                text = text[space:]
            body = text.rstrip()
            if body:
                begun = True
                self._think(self._reader.drop(len(body)))
            if found:
                closer = self._reader.cut(len(text) - len(body)).lstrip()
                closer = next(word for word in closers if closer.startswith(word))
                self._reader.drop(len(text) - len(body) + len(closer))
                return closer
            if not (yield from self._reader.more()):
                rest = self._reader.drop(len(self._reader))
                self._think(rest.rstrip() if begun else rest.strip())
                return ""


def any_of(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that finds the first of `words`."""
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
