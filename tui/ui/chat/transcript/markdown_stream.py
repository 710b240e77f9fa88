"""Splits Markdown into blocks: text that arrives in pieces, and complete text. Pure."""

import re
from collections.abc import Callable, Iterator
from itertools import accumulate

from tui.core.text import clean
from tui.ui.chat.transcript.blocks import PIECE, Code, Plain, Prose
from tui.ui.chat.transcript.flow import Block
from tui.ui.widgets import code
from tui.ui.widgets.markdown import Markdown

# A line of only these characters may become anything ("-" below a paragraph: a heading, "- a": a list).
_UNDECIDED = re.compile(r"[ \t]*(?:[-=+*#>|:`~ ]+|\d{1,9}[.)]?)[ \t]*\Z")
MAX_BLOCK = 4 * 1024  # larger blocks are split: the tail is parsed again at each flush
MAX_TABLE = 8 * 1024
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class _Fence:
    """An open fence: the marks that close it, and the indentation of its lines."""

    def __init__(self, opening: str) -> None:
        match = _FENCE.match(opening)
        self.opening, self.mark = opening[:200], match.group(1) if match else "```"
        self._closing = re.compile(rf" {{0,3}}{re.escape(self.mark[0])}{{{len(self.mark)},}}[ \t]*\Z")
        self._indent = re.compile(rf" {{0,{len(opening) - len(opening.lstrip(' '))}}}")

    def closed_by(self, line: str) -> bool:
        return self._closing.match(line) is not None

    def inside(self, line: str) -> str:
        return self._indent.sub("", line, count=1)


class MarkdownStream:
    """Splits arriving text into blocks, and passes those that are finished to `finish`.

    `tail` is the unfinished block after them, or None. A code block is the same object until it is finished.
    """

    def __init__(self, markdown: Markdown, finish: Callable[[Block], None]) -> None:
        self._markdown = markdown
        self._finish_block = finish
        self._raw = ""  # the incomplete last line, not cleaned
        self._lines = ""  # complete, cleaned lines of unfinished blocks
        self._long = False  # inside a line longer than a piece
        self._fence: _Fence | None = None
        self._code: Code | None = None
        self._tail: Block | None = None
        self._gap = 1
        self._headless = False  # the lines start with the head of a split table

    @property
    def tail(self) -> Block | None:
        return self._code if self._code is not None else self._tail

    def feed(self, delta: str) -> None:
        *complete, self._raw = (self._raw + delta).split("\n")
        kept: list[str] = []
        for line in complete:
            if len(line) > PIECE or self._long:
                self._read("".join(kept))
                kept.clear()
                self._read_long(line, ended=True)
            else:
                kept.append(clean(line + "\n"))
        self._read("".join(kept))
        if len(self._raw) > PIECE:
            self._read_long(self._raw, ended=False)
        self._draw_tail(clean(self._raw.removesuffix("\r")))

    def end(self) -> None:
        if self._raw:
            self.feed("\n")
        self._read("", decided=True)
        self._finish_lines()
        self._close_code()
        self._fence = None
        self._tail = None

    def _read(self, lines: str, *, decided: bool = False) -> None:
        """Read complete lines. `decided`: no further line changes the meaning of the last one."""
        self._lines += lines
        while self._lines:
            if self._fence is not None:
                self._read_code(self._fence)
            elif not self._finish_blocks(decided):
                return

    def _finish_blocks(self, decided: bool) -> bool:
        """Finish blocks that can no longer change; return whether more may follow from that."""
        window = self._lines[: 4 * MAX_BLOCK]
        if len(window) < len(self._lines):
            window = window[: window.rfind("\n") + 1]
        tops = [token for token in self._markdown.blocks(window) if token.level == 0 and token.map]
        offsets = [0, *accumulate(len(line) + 1 for line in window.split("\n"))]
        begins = [offsets[token.map[0]] for token in tops if token.map]
        ends = [*begins, len(window)][1:]
        for token, begin, end in zip(tops, begins, ends, strict=True):
            if token.type == "fence":
                opening, _, rest = window[begin:].partition("\n")
                if not decided and "|" in opening and not rest:  # the next line may make it a table's head
                    self._lines = self._lines[begin:]
                    return False
                self._open_fence(window, begin, token.info)
                return True
            limit = MAX_TABLE if token.type == "table_open" else MAX_BLOCK
            if len(window[begin:end].rstrip("\n")) > limit:
                self._finish_part(window[begin:end], limit, begin)
                return True
            if token is tops[-1] and len(window) == len(self._lines):
                self._lines = self._lines[begin:]
                return False
            self._finish(window[begin:end])
        self._lines = self._lines[len(window) :]
        return bool(self._lines)

    def _finish(self, source: str) -> None:
        self._finish_block(Prose(self._markdown, source, gap=self._gap, headless=self._headless))
        self._gap, self._headless = 1, False

    def _finish_part(self, source: str, limit: int, begin: int) -> None:
        """Finish the first part of a block that is too large to parse repeatedly."""
        cut = _cut(source, limit)
        rest = self._lines[begin + cut :]
        loose = source[:cut].endswith("\n\n")
        self._finish(source[:cut])
        self._gap = 1 if loose else 0
        if limit == MAX_TABLE:
            self._headless = True
            rest = "\n".join(source.split("\n", 2)[:2]) + "\n" + rest
        self._lines = rest

    def _finish_lines(self) -> None:
        if self._lines.strip():
            self._finish(self._lines)
        self._lines = ""

    def _open_fence(self, window: str, begin: int, info: str) -> None:
        end = window.index("\n", begin) + 1
        self._fence = _Fence(window[begin:end])
        self._code = Code(code.language_of(info))
        self._lines = self._lines[end:]

    def _read_code(self, fence: _Fence) -> None:
        """Move complete lines into the open code block; stop at its end."""
        position = 0
        while position < len(self._lines):
            end = self._lines.index("\n", position)
            line = self._lines[position:end]
            position = end + 1
            if fence.closed_by(line):
                self._close_code()
                self._fence = None
                break
            self._add_code(fence.inside(line))
        self._lines = self._lines[position:]

    def _add_code(self, line: str) -> None:
        if self._code is not None and self._code.full:
            language = self._code.language
            self._close_code()
            self._code = Code(language, continued=True)
        if self._code is not None:
            self._code.lines.append(line)
            self._code.width = 0

    def _close_code(self) -> None:
        if self._code is not None:
            self._code.close()
            self._finish_block(self._code)
            self._code = None

    def _read_long(self, line: str, *, ended: bool) -> None:
        """Add a line that is longer than a piece as plain text, piece by piece."""
        start = 0
        while len(line) - start > PIECE:
            self._take_long(clean(line[start : start + PIECE]))
            start += PIECE
        rest = line[start:]
        if ended:
            if rest:
                self._take_long(clean(rest))
            self._long = False
        else:
            self._raw = rest

    def _take_long(self, text: str) -> None:
        self._read("", decided=True)
        if self._fence is not None:
            self._add_code(text)
            return
        self._finish_lines()
        self._finish_block(Plain(text, gap=0 if self._long else 1))
        self._long = True

    def _draw_tail(self, partial: str) -> None:
        if self._code is not None:
            partial = self._fence.inside(partial) if self._fence and not _UNDECIDED.match(partial) else ""
            if partial != self._code.partial:
                self._code.partial = partial
                self._code.width = 0
            self._tail = None
            return
        if self._long:
            self._tail = Plain(partial) if partial else None
            return
        text = self._lines if _UNDECIDED.match(partial) else self._lines + partial
        if not text.strip():
            self._tail = None
        elif not isinstance(self._tail, Prose) or self._tail.text != text:
            self._tail = Prose(self._markdown, text, gap=self._gap, headless=self._headless)


def _cut(source: str, limit: int) -> int:
    """Return where to split a block that is too large: before an unindented line, if there is one.

    If no line ends within the limit, split the line at the limit.
    """
    position = source.rfind("\n", 0, limit)
    while position > 0:
        if source[position + 1] not in " \t\n":
            return position + 1
        position = source.rfind("\n", 0, position)
    return source.rfind("\n", 0, limit) + 1 or limit


def parts(text: str) -> Iterator[str]:
    """Yield the parts of a Markdown text, none longer than a piece, split between blocks if possible.

    A split fence is closed in one part and opened again in the next.
    """
    if len(text) <= PIECE:
        if text:
            yield text
        return
    part: list[str] = []
    size = 0
    fence: _Fence | None = None
    for line in text.split("\n"):
        for start in range(0, len(line) or 1, PIECE // 2):
            bit = line[start : start + PIECE // 2]
            if size + len(bit) > PIECE or (size > PIECE // 2 and not bit.strip() and fence is None):
                yield "\n".join([*part, fence.mark] if fence is not None else part)
                part, size = ([fence.opening] if fence is not None else []), 0
            part.append(bit)
            size += len(bit) + 1
        if fence is not None:
            fence = None if fence.closed_by(line) else fence
        elif _FENCE.match(line):
            fence = _Fence(line)
    if part:
        yield "\n".join(part)
