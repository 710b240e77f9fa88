"""Which lines are code because they are indented. Pure.

The rule is CommonMark's (0.31, 4.4 and 5.2): a line is code if it is indented by four columns more than what
it stands in (a quote, an item of a list), and no paragraph is open that it could go on: a blank line, a
heading, a rule or code stands before it, or nothing. So a call that a model indents with its list is a call,
and an example set off by a blank line and four columns is not.

One thing is not CommonMark's: behind thinking or a call, which no reader sees, indentation means nothing
until there is text again. Models indent what they write between tags.
"""

import re
from dataclasses import dataclass, replace

COLUMNS = 4
"""How far code is indented."""

_SPECIAL = frozenset(" \t\r\f\v\u00a0\u3000>-*+_#=0123456789") | {""}
"""What a line begins with that may be more than text."""

_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( *)((?:[-*+]|\d{1,9}[.)]))( +|\Z)")
_ENDS_ITSELF = re.compile(r" *(?:#{1,6}(?: .*)?|([-*_]) *(?:\1 *){2,}|=+ *)\s*")


@dataclass(frozen=True, slots=True)
class Indents:
    """What the lines so far say about the indentation of the next one.

    Attributes:
        loose: no paragraph is open, so indentation makes code.
        items: the columns at which the content of the open items of lists begins, the outermost first.
        quoted: how many quotes are open.
        hidden: nothing but blank lines came since something was taken out of the text.
    """

    loose: bool = True
    items: tuple[int, ...] = ()
    quoted: int = 0
    hidden: bool = False

    def is_code(self, head: str) -> bool:
        """Whether what comes next on a line that begins with `head` is code."""
        if head[:1] not in (" ", "\t", ">") and not self._is_item(head):
            return False
        here, rest = self._placed(f"{head}x")
        return here.loose and _columns(rest) - here._base(rest) >= COLUMNS

    def behind(self, line: str) -> "Indents":
        """Return what is true behind `line`."""
        if line[:1] not in _SPECIAL and not (self.items or self.quoted):  # nearly all lines
            return replace(self, loose=False, hidden=False) if self.loose or self.hidden else self
        here, rest = self._placed(line)
        bare = rest.strip()
        if not bare:
            return self if self.hidden else replace(here, loose=True)
        if here.loose and _columns(rest) - here._base(rest) >= COLUMNS:
            return replace(here, hidden=False)
        return replace(here, loose=bool(_ENDS_ITSELF.fullmatch(rest)), hidden=False)

    def behind_hidden(self) -> "Indents":
        """Return what is true behind something that was taken out of the text."""
        return replace(self, loose=False, hidden=True)

    def behind_fence(self) -> "Indents":
        """Return what is true behind the last line of a fence."""
        return replace(self, loose=True, hidden=False)

    def _base(self, rest: str) -> int:
        """Return the column at which the content begins that `rest` belongs to."""
        columns = _columns(rest)
        return max((column for column in self.items if column <= columns), default=0)

    def _is_item(self, head: str) -> bool:
        return head[:1] in "-*+0123456789" and bool(_ITEM.match(head))

    def _placed(self, line: str) -> tuple["Indents", str]:
        """Return the quotes and items that a line is in, and the line with blanks in place of their marks."""
        rest = line.rstrip("\r\n").expandtabs(COLUMNS)
        quoted = 0
        while (mark := _QUOTE.match(rest)) is not None:
            rest = rest[mark.end() :]
            quoted += 1
        here = self
        if quoted > self.quoted or (quoted < self.quoted and (self.loose or not rest.strip())):
            here = Indents(quoted=quoted, hidden=self.hidden, loose=not self.hidden)
        if here.loose and rest.strip():
            columns = _columns(rest)
            here = replace(here, items=tuple(column for column in here.items if column <= columns))
        while (item := _ITEM.match(rest)) is not None and not _ENDS_ITSELF.fullmatch(rest):
            if here.loose and len(item[1]) - here._base(rest) >= COLUMNS:
                break
            marked = item.end(2)
            # What begins five or more columns behind the mark is code in the item, one column behind it.
            inner = marked + (len(item[3]) if 0 < len(item[3]) <= COLUMNS else 1)
            outer = tuple(column for column in here.items if column <= len(item[1]))
            here = replace(here, items=(*outer, inner), loose=not self.hidden)
            rest = " " * item.end() + rest[item.end() :]
        return here, rest


def _columns(rest: str) -> int:
    return len(rest) - len(rest.lstrip(" "))
