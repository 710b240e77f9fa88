"""Whether a place in a reply is code: fenced, inline or indented (CommonMark). Pure."""

import re
from copy import copy
from dataclasses import dataclass, replace

COLUMNS = 4
"""Columns by which code is indented."""

_SPECIAL = frozenset(" \t\r\f\v\u00a0\u3000>-*+_#=0123456789") | {""}
"""First characters of lines that may be more than text."""

_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( *)((?:[-*+]|\d{1,9}[.)]))( +|\Z)")
_ENDS_ITSELF = re.compile(r" *(?:#{1,6}(?: .*)?|([-*_]) *(?:\1 *){2,}|=+ *)\s*")


@dataclass(frozen=True, slots=True)
class Indents:
    """The meaning of the next line's indentation, after the lines so far.

    The rule is CommonMark's (0.31, 4.4 and 5.2): a line is code if it is indented by four columns more than
    its container (a quote, a list item), and continues no open paragraph. So a call that a model indents with
    its list is a call, and an example after a blank line and four columns is not.

    One rule is not in CommonMark: after thinking or a call, which readers do not see, indentation has no
    meaning until the next text, because models indent what they write between tags.

    Attributes:
        loose: no paragraph is open, so indentation makes code.
        items: the columns at which the content of the open items of lists begins, the outermost first.
        quoted: how many quotes are open.
        hidden: only blank lines followed since a block was removed from the text.
    """

    loose: bool = True
    items: tuple[int, ...] = ()
    quoted: int = 0
    hidden: bool = False

    def is_code(self, head: str) -> bool:
        """Whether the rest of a line that begins with `head` is code."""
        here, rest = self._placed(f"{head}x")
        return here.loose and _columns(rest) - here._base(rest) >= COLUMNS

    def behind(self, line: str) -> "Indents":
        """Return the state after `line`."""
        if line[:1] not in _SPECIAL and not (self.items or self.quoted):  # nearly all lines
            return Indents(False, self.items, self.quoted) if self.loose or self.hidden else self
        here, rest = self._placed(line)
        bare = rest.strip()
        if not bare:
            return self if self.hidden else Indents(True, here.items, here.quoted, here.hidden)
        if here.loose and _columns(rest) - here._base(rest) >= COLUMNS:
            return replace(here, hidden=False)
        return replace(here, loose=bool(_ENDS_ITSELF.fullmatch(rest)), hidden=False)

    def _base(self, rest: str) -> int:
        columns = _columns(rest)
        return max((column for column in self.items if column <= columns), default=0)

    def _placed(self, line: str) -> tuple["Indents", str]:
        """Return the quotes and items that contain a line, and the line with their marks as blanks."""
        rest = line.rstrip("\r\n").expandtabs(COLUMNS)
        quoted = 0
        while (mark := _QUOTE.match(rest)) is not None:
            rest = rest[mark.end() :]
            quoted += 1
        state = self
        if quoted > self.quoted or (quoted < self.quoted and (self.loose or not rest.strip())):
            state = Indents(quoted=quoted, hidden=self.hidden, loose=not self.hidden)
        if state.loose and rest.strip():
            columns = _columns(rest)
            state = replace(state, items=tuple(column for column in state.items if column <= columns))
        while (item := _ITEM.match(rest)) is not None and not _ENDS_ITSELF.fullmatch(rest):
            if state.loose and len(item[1]) - state._base(rest) >= COLUMNS:
                break
            marked = item.end(2)
            # Text five or more columns after the mark is code; the content then begins one column after the
            # mark.
            inner = marked + (len(item[3]) if 0 < len(item[3]) <= COLUMNS else 1)
            outer = tuple(column for column in state.items if column <= len(item[1]))
            state = replace(state, items=(*outer, inner), loose=not self.hidden)
            rest = " " * item.end() + rest[item.end() :]
        return state, rest


def _columns(rest: str) -> int:
    return len(rest) - len(rest.lstrip(" "))


_TOKEN = re.compile(r"\n|`+|[^\n`]+")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_MAX_HEAD = 200


class CodeScanner:
    """Follows the text of a reply, and tells whether the next text is code; chunks do not matter.

    It is fed the text without the blocks removed from it (calls, thinking), once, so the cost is linear.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._head = ""
        self._run = 0
        self._open = 0
        self._indents = Indents()

    @property
    def inside(self) -> bool:
        return self.marked or self._indents.is_code(self._head)

    @property
    def marked(self) -> bool:
        """Whether the next text is code between marks: in a fence, or inline code."""
        return bool(self._fence or self._open_now())

    def inside_behind(self, text: str) -> bool:
        """Whether text after `text` would be code."""
        marks = copy(self)
        marks.feed(text)
        return marks.inside

    @property
    def line_start(self) -> bool:
        """Whether only white space precedes this place on its line."""
        return not self._head.strip()

    def hidden(self) -> None:
        """Record that only thinking or a call was here, so any indentation may follow."""
        self._new_line()
        self._indents = replace(self._indents, loose=False, hidden=True)

    def _new_line(self) -> None:
        self._head, self._run, self._open = "", 0, 0

    def feed(self, text: str) -> None:
        for found in _TOKEN.finditer(text):
            token = found.group()
            if token == "\n":
                self._end_line()
                continue
            if token[0] == "`":
                self._run += len(token)
            else:
                self._open, self._run = self._open_now(), 0
            self._head += token[: _MAX_HEAD - len(self._head)]

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
            self._indents = replace(self._indents, loose=True, hidden=False)
