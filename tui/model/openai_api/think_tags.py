"""Separates thinking between tags in a model's text from the answer. Pure.

Endpoints without a reasoning parser pass on `<think>…</think>` as content, split anywhere. Only a tag at the
very start of a message opens thinking; the same word later is prose. With templates that put the opening tag
into the prompt, a message has only a closing tag: then all text before it was thinking.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from tui.core.ports import ReasoningPart, TextPart
from tui.model.openai_api.code_scanner import CodeScanner

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
}
CLOSE_ONLY = ("</think>", "</thinking>")

HEAD = "content"
"""The field of an echo with `ThinkTags.head`: it is put back before the text of the message."""

_OPENED = "<think>\n"
"""Opens thinking where the template did, not the model."""

MAX_SPACE = 4_096
"""Maximum characters of white space that are held back; more is not just space around thinking."""

MAX_PROSE_TAGS = 64
"""Closing tags in code after which a message is about tags: a dialect reads all held text again at each."""

Part = TextPart | ReasoningPart
"""Text, or thinking; `replaces_text`: all answer so far was thinking, and this is all of it."""


class ThinkTags:
    """Splits a stream of text into thinking and answer; the result does not depend on the chunks.

    White space around thinking is dropped, and so is a message of white space only. `opened`: the endpoint is
    known to omit the opening tag: the message begins with thinking, or is all answer if the thinking is never
    closed. `is_code`: whether the end of the answer so far is code, if the answer may have calls as text.
    """

    def __init__(self, *, opened: bool = False, is_code: Callable[[], bool] | None = None) -> None:
        self._code = CodeScanner()
        self._is_code = is_code or (lambda: self._code.inside)
        self._pending = ""
        self._answer: list[str] = []
        self._opened = opened
        self._closer = ""
        self._guessed: list[str] | None = None
        self._began = False
        self._skip_space = False
        self._settled = False
        self._prose_tags = 0
        self.close_only = False
        """Whether there was a closing tag without an opening one."""
        self.never_closed = False
        """Whether a message that should begin with thinking had none."""
        self.head = ""
        """The thinking with its tags, as the model wrote it, and the white space behind it."""
        self._raw: list[str] | None = []

    def settle(self) -> None:
        """Treat closing tags as prose from now on, because the endpoint sends thinking in its own field."""
        self._settled, self._opened = True, False
        if self._guessed is not None or not self._closer:
            self._raw = None
        if self._guessed is not None:
            self._guessed = None
            self._closer = ""

    def feed(self, text: str) -> Iterator[Part]:
        """Yield the pieces that `text` completes; an end that may be the start of a tag is held back."""
        self._pending += text
        if self._raw is not None:
            self._raw.append(text)
        return (
            part
            for part in self._parts()
            if part.text or (isinstance(part, ReasoningPart) and part.replaces_text)
        )

    def finish(self) -> list[Part]:
        rest, self._pending = self._pending, ""
        if self._closer:
            rest = "" if self._skip_space else rest.rstrip()
            if self._guessed is not None:
                self.never_closed = True
                return [TextPart(answer)] if (answer := "".join(self._guessed) + rest) else []
            return [ReasoningPart(rest)] if rest else []
        self.never_closed = self._opened
        if self._raw is not None and self._began:
            self.head = "".join(self._raw)
        return [TextPart(rest)] if rest.strip() or (rest and self._answer) else []

    def _parts(self) -> Iterator[Part]:
        while True:
            before = (len(self._pending), self._closer, self._began)
            if self._skip_space:
                self._pending = self._pending.lstrip()
                self._skip_space = not self._pending
            if self._closer:
                yield from self._thinking()
            elif not self._began:
                yield from self._start()
            else:
                yield from self._answering()
            if before == (len(self._pending), self._closer, self._began) or not self._pending:
                return

    def _start(self) -> Iterator[Part]:
        """Look for an opening tag before the first visible character."""
        head = self._pending.lstrip()
        for opener, closer in TAGS.items():
            if head.startswith(opener):
                self._pending = head.removeprefix(opener)
                self._closer = closer
                self._skip_space = True
                self._began = self._settled = True
                self._opened = False
                return
        if len(self._pending) - len(head) > MAX_SPACE or (
            head and not any(opener.startswith(head) for opener in TAGS)
        ):
            if self._opened and self._raw is not None:
                self._closer, self._guessed, self._skip_space, self._opened = CLOSE_ONLY[0], [], True, False
                self._raw.insert(0, _OPENED)
            else:
                self._began = True
                self._raw = None
        yield from ()

    def _thinking(self) -> Iterator[Part]:
        inside, closer, behind = self._pending.partition(self._closer)
        if closer:
            yield ReasoningPart(inside.rstrip())
            self._pending = behind
            self._closer = ""
            self._guessed = None
            self._began = self._settled = True
            self._skip_space = True
            return
        known = inside[: len(inside) - tail_of(inside, (self._closer,))]
        if len(known) - len(known.rstrip()) <= MAX_SPACE:
            known = known.rstrip()
        self._pending = inside[len(known) :]
        if self._guessed is not None and known:
            self._guessed.append(known)
        yield ReasoningPart(known)

    def _answering(self) -> Iterator[Part]:
        if self._raw is not None and self._pending:
            raw, self._raw = "".join(self._raw), None
            self.head = raw[: len(raw) - len(self._pending)]
        if self._settled:
            yield TextPart(self._pending)
            self._pending = ""
            return
        at, closer = min(
            ((found, tag) for tag in CLOSE_ONLY if (found := self._pending.find(tag)) >= 0), default=(-1, "")
        )
        if at < 0:
            known = self._pending[: len(self._pending) - tail_of(self._pending, CLOSE_ONLY)]
            self._pending = self._pending[len(known) :]
            yield self._say(known)
            return
        yield self._say(self._pending[:at])
        self._pending = self._pending[at:]
        if self._is_code():
            yield self._say(closer)
            self._prose_tags += 1
            self._settled = self._prose_tags >= MAX_PROSE_TAGS
        else:
            before = "".join(self._answer)
            self._answer.clear()
            self._settled = self.close_only = self._skip_space = True
            yield ReasoningPart(before.strip(), replaces_text=True)
            self._raw = [_OPENED, before, self._pending]
        self._pending = self._pending.removeprefix(closer)

    def _say(self, text: str) -> TextPart:
        if text:
            self._answer.append(text)
            self._code.feed(text)
        return TextPart(text)


def tail_of(text: str, words: Sequence[str]) -> int:
    """Return how many characters at the end of `text` may be the beginning of one of `words`."""
    beginnings, longest = _beginnings(tuple(words))
    start = max(0, len(text) - longest + 1)
    return next((len(text) - at for at in range(start, len(text)) if text[at:] in beginnings), 0)


@lru_cache(maxsize=64)
def _beginnings(words: tuple[str, ...]) -> tuple[frozenset[str], int]:
    """Return all beginnings of `words`, and the length of the longest word."""
    found = {word[:size] for word in words for size in range(1, len(word) + 1)}
    return frozenset(found), max(map(len, words))
