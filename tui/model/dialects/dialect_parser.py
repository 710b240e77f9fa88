"""The base of every dialect's parser: text in, pieces of a reply out, however the text was split. Pure."""

import re
from collections.abc import Generator, Sequence
from typing import TypeVar

from tui.core.conversation.conversation import CallRequest
from tui.core.ports import CallPart, ReasoningPart, TextPart
from tui.model.dialects.argument_repair import span
from tui.model.dialects.call_maker import CallMaker
from tui.model.openai_api.code_scanner import CodeScanner
from tui.model.openai_api.reply_stream import joined
from tui.model.openai_api.think_tags import tail_of

T = TypeVar("T")
Steps = Generator[None, None, T]
"""A part of a parser: waits at each `yield`, and returns a T."""

WAIT_SHARE = 8
"""Pending content is searched again after it has grown by one part in this many, to keep long content
cheap."""

MAX_UNBALANCED = 32
"""Maximum number of unfinished values whose end is searched; each search reads all of the rest."""

MAX_BEFORE = 1_000
"""Characters from the beginning of the text that are kept; a longer text does not announce a call."""

_SPACE = re.compile(r"\s*")


Piece = TextPart | ReasoningPart | CallPart | CallRequest
"""Visible text, thinking, a call that is being written, or a finished call: `truncated` if its end is
missing, with a `problem` if it cannot be parsed."""

RESULT = "<tool_result"
"""The beginning of a result. If the model writes it, the result is invented, and so is everything after
it."""


class Visible:
    """Visible text on its way out.

    White space next to a removed block (a call, thinking) is dropped, except where it separates the text
    before from the text after. All other white space is kept.
    """

    def __init__(self) -> None:
        self.shown = False
        """Whether anything but white space was shown."""
        self.code = CodeScanner()
        self._space: list[str] = []
        self._gap = ""
        self._behind_block = False

    def say(self, text: str) -> str:
        """Take text; return the part of it, and of the text held back, that can be shown now."""
        self.code.feed(text)
        body = text.rstrip()
        if not body:
            self._space.append(text)
            return ""
        whole = "".join(self._space) + body
        self._space = [text[len(body) :]]
        if self._behind_block:
            bare = whole.lstrip()
            behind = whole[: len(whole) - len(bare)]
            between = max(self._gap, behind, key=lambda space: (space.count("\n"), len(space)))
            whole = between + bare if self.shown else bare
            self._behind_block = False
        self.shown = True
        return whole

    def block(self) -> None:
        """Record that something was removed here, so white space around it is dropped."""
        if not self._behind_block:
            self._gap = "".join(self._space)
        self._space.clear()
        self._behind_block = True
        self.code.hidden()

    def end(self) -> str:
        rest = "" if self._behind_block or not self.shown else "".join(self._space)
        self._space.clear()
        return rest


class DialectParser:
    """Reads one reply; `over`: it has ended in this dialect, and the rest is dropped.

    A parser is a generator. If the text so far does not decide a question, it waits for more. So every
    decision depends only on the text, never on how it was split.

    `busy`: the last text belongs to an unfinished call or unfinished thinking. `_before` is the beginning of
    the text so far, as it was written. `openers` begin what `_read` reads; `folds`: words are found in any
    case, and given in lower case.
    """

    def __init__(self, maker: CallMaker, openers: Sequence[str] = (), *, folds: bool = False) -> None:
        self.over = False
        self.busy = False
        self._maker = maker
        self._text = ""
        self._at = 0
        self._unbalanced = 0
        self._fresh: list[str] = []
        self._fresh_size = 0
        self._ended = False
        """Whether the text is complete."""
        self._openers = openers
        self._folds = folds
        self.visible = Visible()
        self._before = ""
        self._cut = False
        self._called = False
        self._forming: str | None = None
        self._out: list[Piece] = []
        self._steps = self._parse()

    @property
    def in_code(self) -> bool:
        """Whether the next text is inside a code fence or inline code."""
        return self.visible.code.inside_behind(self._part(0))

    def feed(self, text: str) -> list[Piece]:
        if self.over or not text:
            return []
        self._fresh.append(text)
        self._fresh_size += len(text)
        if self._fresh_size * WAIT_SHARE >= self._size:
            self._advance()
        return self._taken()

    def settle(self) -> list[Piece]:
        """Parse everything so far, so that `busy` and `in_code` are correct at this position."""
        if not self.over:
            self._advance()
        return self._taken()

    def end(self, *, cut: bool = False) -> list[Piece]:
        """Return the text held back. `cut`: the endpoint truncated the reply."""
        if not self.over:
            self._cut = cut
            self._ended = True
            self._advance()
        if rest := self.visible.end():
            self._out.append(TextPart(rest))
        return self._taken()

    def _parse(self) -> Steps[None]:
        """Parse the reply from its beginning to its end."""
        return self._read_each(any_of(self._openers, folds=self._folds))

    def _read(self, opener: str) -> Steps[bool]:
        """Read what begins with one of the openers; return False for what is only text."""
        yield from ()
        return False

    def _advance(self) -> None:
        if self._fresh:
            self._text = self._text[self._at :] + "".join(self._fresh)
            self._at = self._fresh_size = 0
            self._fresh.clear()
        try:
            next(self._steps)
        except StopIteration:
            self.over = True
        else:
            if self._forming is not None:
                self._out.append(CallPart(self._forming, self._size))

    def _taken(self) -> list[Piece]:
        """Return the output, adjacent texts joined, so that the next stage gets fewer pieces."""
        out, self._out = self._out, []
        return list(joined(out))

    def _say(self, size: int) -> None:
        if size:
            raw = self._drop(size)
            self._before += raw[: MAX_BEFORE - len(self._before)]
            if text := self.visible.say(raw):
                self._out.append(TextPart(text))

    def _think(self, text: str) -> None:
        if text:
            self._out.append(ReasoningPart(text))

    def _call(self, call: CallRequest, size: int) -> None:
        self._skip(size)
        self._form(None)
        self._called = True
        self._out.append(call)

    def _form(self, name: str | None) -> None:
        """Report that a call of `name` is being written, as far as is known; None if it no longer is."""
        self._forming = name
        self.busy = name is not None

    def _skip(self, size: int) -> None:
        self._drop(size)
        self.visible.block()

    def _read_each(self, opener: re.Pattern[str]) -> Steps[None]:
        """Emit text, and read what begins with a match of `opener` that is not in code.

        A `RESULT` on a line of its own after a call is invented.
        """
        while True:
            while (found := self._search(opener)) is None:
                self._say_open(self._openers)
                if not (yield from self._more()):
                    self._say(self._size)
                    return
            self._say(found[0])
            word = self._part(0, found[1] - found[0])
            word = folded(word) if self._folds else word
            code = self.visible.code
            if word == RESULT and not code.inside and self._called and code.line_start:
                return
            if word == RESULT or code.inside or not (yield from self._read(word)):
                self._say(1)

    def _say_open(self, words: Sequence[str]) -> None:
        """Emit everything except an end that may become one of `words`."""
        size = self._size
        end = self._part(max(0, size - 64))
        self._say(size - tail_of(folded(end) if self._folds else end, words))

    def _inside(self, at: int) -> Steps[int]:
        """Return the offset of the content at an offset: inside CDATA or a fence, if there is one."""
        at = yield from self._space(at)
        for wrapper in (("<![CDATA[",), ("```json", "```", "~~~json", "~~~")):
            word = yield from self._starts(at, wrapper)
            at = yield from self._space(at + len(word))
        return at

    def _closed(self, at: int, *closer: str) -> Steps[int]:
        """Return the offset after one of `closer`, a fence or CDATA closed before it; -1 if it is missing."""
        word = ""
        for closers in (("```", "~~~"), ("]]>",), closer):
            at = yield from self._space(at)
            word = yield from self._starts(at, closers)
            at += len(word)
        return at if word else -1

    # ---- the unread text: offsets count from its beginning and stay valid while it grows

    @property
    def _size(self) -> int:
        return len(self._text) - self._at

    def _part(self, start: int, end: int | None = None) -> str:
        return self._text[self._at + start : None if end is None else self._at + end]

    def _drop(self, size: int) -> str:
        """Consume `size` characters and return them."""
        text = self._text[self._at : self._at + size]
        self._at += len(text)
        return text

    def _search(self, pattern: re.Pattern[str], start: int = 0) -> tuple[int, int] | None:
        """Return the position of a match of `pattern` in the text so far."""
        found = pattern.search(self._text, self._at + start)
        return (found.start() - self._at, found.end() - self._at) if found else None

    def _more(self) -> Steps[bool]:
        """Wait for more text; return False if there is none."""
        if self._ended:
            return False
        yield
        return True

    def _starts(self, start: int, words: Sequence[str]) -> Steps[str]:
        """Return the word that the text starts with at an offset, the longest if there are several."""
        words = tuple(map(folded, words)) if self._folds else words
        longest = max(map(len, words))
        while True:
            head = self._part(start, start + longest)
            head = folded(head) if self._folds else head
            may_come = len(head) < longest and any(
                len(word) > len(head) and word.startswith(head) for word in words
            )
            if not may_come or not (yield from self._more()):
                return max((word for word in words if head.startswith(word)), key=len, default="")

    def _space(self, start: int) -> Steps[int]:
        """Return the offset of the first visible character from an offset on."""
        while True:
            found = _SPACE.match(self._text, self._at + start)
            start = found.end() - self._at if found else start
            if start < self._size or not (yield from self._more()):
                return start

    def _find(self, pattern: re.Pattern[str], start: int = 0) -> Steps[tuple[int, int] | None]:
        """Wait until `pattern` is found; return None if it never is."""
        while True:
            if (found := self._search(pattern, start)) is not None or not (yield from self._more()):
                return found

    def _balanced(self, start: int) -> Steps[int]:
        """Return the end of the JSON value whose bracket is at an offset, or -1 if it has none."""
        while self._unbalanced < MAX_UNBALANCED:
            end = span(self._text, self._at + start)
            if end >= 0:
                return end - self._at
            if not (yield from self._more()):
                self._unbalanced += 1
                break
        return -1


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def folded(text: str) -> str:
    """Return `text` with its ASCII letters in lower case; the length stays."""
    return text.translate(_LOWER)


def any_of(words: Sequence[str], *, folds: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches the first of `words`; `folds`: in any case."""
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(pattern, re.IGNORECASE | re.ASCII if folds else 0)
