"""The text of a reply that is shown: where it is code, and what white space stands around what is not."""

import re
from copy import copy

from tui.model.dialects.indents import Indents

_TOKEN = re.compile(r"\n|`+|[^\n`]+")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_MAX_HEAD = 200


class CodeMarks:
    """Knows at each place of a growing text whether it is code: fenced, inline or indented (CommonMark)."""

    def __init__(self) -> None:
        self._fence = ""
        self._head = ""
        self._run = 0
        self._open = 0
        self._indents = Indents()

    @property
    def inside(self) -> bool:
        """Whether what comes next is code."""
        return self.marked or self._indents.is_code(self._head)

    @property
    def marked(self) -> bool:
        """Whether what comes next is code that has marks around it: a fence, or inline code."""
        return bool(self._fence or self._open_now())

    def inside_behind(self, text: str) -> bool:
        """Whether what comes behind `text` would be code."""
        marks = copy(self)
        marks.feed(text)
        return marks.inside

    @property
    def line_start(self) -> bool:
        """Whether only white space stands before this place on its line."""
        return not self._head.strip()

    def hidden(self) -> None:
        """Something was taken out here: what comes next begins a line."""
        self._new_line()
        self._indents = self._indents.behind_hidden()

    def _new_line(self) -> None:
        self._head, self._run, self._open = "", 0, 0

    def feed(self, text: str) -> None:
        """Go on by `text`."""
        for found in _TOKEN.finditer(text):
            token = found.group()
            if token == "\n":
                self._end_line()
                continue
            if token[0] == "`":
                self._run += len(token)
            else:
                self._open, self._run = self._open_now(), 0
            if len(self._head) <= _MAX_HEAD:
                self._head += token[: _MAX_HEAD + 1]

    def _open_now(self) -> int:
        """Return the length of the run of backticks that opened inline code here, or 0."""
        if not self._run:
            return self._open
        if not self._open:
            return self._run
        return 0 if self._run == self._open else self._open

    def _end_line(self) -> None:
        found = _FENCE.fullmatch(self._head)
        if not self._fence:
            self._indents = self._indents.behind(self._head)
        self._new_line()
        if found is None:
            return
        marks, info = found.groups()
        if not self._fence:
            self._fence = "" if marks[0] == "`" and "`" in info else marks
        elif marks.startswith(self._fence) and not info.strip():
            self._fence = ""
            self._indents = self._indents.behind_fence()


class Visible:
    """Visible text on its way out.

    White space next to a block that was taken out (a call, thinking) is dropped, but for what parts the
    text before from the text behind. All other white space is kept.
    """

    def __init__(self) -> None:
        self.code = CodeMarks()
        self.shown = False
        """Whether anything but white space was shown."""
        self._space: list[str] = []
        self._gap = ""
        self._behind_block = False

    def say(self, text: str) -> str:
        """Take text and return what of it, and of what was kept back, is shown now."""
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
        """Something was taken out here."""
        if not self._behind_block:
            self._gap = "".join(self._space)
        self._space.clear()
        self._behind_block = True
        self.code.hidden()

    def end(self) -> str:
        """Return what is still to be shown at the end."""
        rest = "" if self._behind_block or not self.shown else "".join(self._space)
        self._space.clear()
        return rest
