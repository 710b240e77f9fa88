"""Text that comes in pieces, read as if it were all there.

A parser is written as a generator that asks for what it wants to know next; where the text so far cannot
tell, the generator waits for more. So every decision rests on the text alone, never on how it was cut.
"""

import re
from collections.abc import Generator, Sequence
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
"""A part of a parser: waits at each `yield`, and gives a T."""

WAIT_SHARE = 8
"""A body that is waited for is looked at again once it has grown by this part: long ones stay cheap."""

MAX_UNBALANCED = 32
"""How many values without an end are looked for one; each look goes through all of the rest."""

_SPACE = re.compile(r"\s*")
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)


class Reader:
    """The unread text. Offsets count from its beginning and stay right while it grows."""

    def __init__(self) -> None:
        self.ended = False
        """Whether there will be no more."""
        self._text = ""
        self._at = 0
        self._unbalanced = 0
        self._fresh: list[str] = []
        self._fresh_size = 0

    def add(self, text: str) -> bool:
        """Take more text; return whether it is worth looking at."""
        self._fresh.append(text)
        self._fresh_size += len(text)
        return self._fresh_size * WAIT_SHARE >= len(self)

    def refresh(self) -> None:
        """Make what was added readable."""
        if self._fresh:
            self._text = self._text[self._at :] + "".join(self._fresh)
            self._at = self._fresh_size = 0
            self._fresh.clear()

    def __len__(self) -> int:
        return len(self._text) - self._at

    def cut(self, start: int, end: int | None = None) -> str:
        """Return the text between two offsets."""
        return self._text[self._at + start : None if end is None else self._at + end]

    def drop(self, size: int) -> str:
        """Take `size` characters away as read, and return them."""
        text = self._text[self._at : self._at + size]
        self._at += len(text)
        return text

    def view(self) -> tuple[str, int]:
        """Return a text and where in it the unread part begins, without copying."""
        return self._text, self._at

    def search(self, pattern: re.Pattern[str], start: int = 0) -> tuple[int, int] | None:
        """Return where `pattern` is found in what is there now."""
        found = pattern.search(self._text, self._at + start)
        return (found.start() - self._at, found.end() - self._at) if found else None

    def more(self) -> Steps[bool]:
        """Wait for more text; return False if there is none."""
        if self.ended:
            return False
        yield
        return True

    def starts(self, start: int, words: Sequence[str]) -> Steps[str]:
        """Return which of `words` stands at an offset, or ""; the longest, should several."""
        longest = max(map(len, words))
        while True:
            head = self.cut(start, start + longest)
            may_come = any(len(word) > len(head) and word.startswith(head) for word in words)
            if not may_come or not (yield from self.more()):
                return max((word for word in words if head.startswith(word)), key=len, default="")

    def space(self, start: int) -> Steps[int]:
        """Return the offset of the first visible character from an offset on."""
        while True:
            found = _SPACE.match(self._text, self._at + start)
            start = found.end() - self._at if found else start
            if start < len(self) or not (yield from self.more()):
                return start

    def find(self, pattern: re.Pattern[str], start: int = 0) -> Steps[tuple[int, int] | None]:
        """Wait until `pattern` is found; return None if it never is."""
        while True:
            if (found := self.search(pattern, start)) is not None or not (yield from self.more()):
                return found

    def balanced(self, start: int) -> Steps[int]:
        """Return the end of the JSON value that begins at an offset with a bracket, or -1 if it has none."""
        while self._unbalanced < MAX_UNBALANCED:
            end = span(self._text, self._at + start)
            if end >= 0:
                return end - self._at
            if not (yield from self.more()):
                self._unbalanced += 1
                break
        return -1


def span(text: str, start: int) -> int:
    """Return the end of the JSON object or array that begins at `start`, or -1.

    Brackets in strings do not count, and a string ends only at a quote that is not escaped.
    """
    depth = 0
    for found in _JSON_TOKEN.finditer(text, start):
        token = found.group()
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
            if depth <= 0:
                return found.end()
        elif token == '"':  # a string that does not end
            return -1
    return -1


def tail_of(text: str, words: Sequence[str]) -> int:
    """Return how many characters at the end of `text` may be the beginning of one of `words`."""
    for size in range(min(max(map(len, words)) - 1, len(text)), 0, -1):
        tail = text[-size:]
        if any(word.startswith(tail) for word in words):
            return size
    return 0
