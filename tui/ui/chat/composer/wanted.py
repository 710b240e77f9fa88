"""What a person may be about to write where the cursor stands: a command, its argument, a reference. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

MOST = 400
"""A word longer than this is not completed."""

BEHIND = ".,;:!?)\"'"
"""What may stand behind a name in a sentence without being part of it."""

_REFERENCE = re.compile(r"(?:^|(?<=[\s(\"']))@(\S*)$")
_COMMAND = re.compile(r"/(\S*)$")
_ARGUMENT = re.compile(r"/(\S+)\s+(.*?)(\S*)$")


class What(StrEnum):
    """What is completed."""

    COMMAND = "command"
    ARGUMENT = "argument"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is completed, and where.

    Attributes:
        what: which.
        query: what is written of it so far.
        start: the column at which it begins; it ends at the cursor.
        command: whose argument it is.
        before: what stands between the command and it.
    """

    what: What
    query: str
    start: int
    command: str = ""
    before: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What the word may name: itself, or what stands before the end of a sentence."""
        return self.query, self.query.rstrip(BEHIND)


def wanted(line: str, column: int, *, is_first: bool) -> Wanted | None:
    """Return what can be completed at a column of a line; `is_first`: the line begins the message."""
    head = line[:column]
    if (found := _REFERENCE.search(head[-MOST:])) is not None and (column - len(found.group())) >= 0:
        start = column - len(found.group())
        return Wanted(What.REFERENCE, found.group(1), start)
    if not is_first or not head.startswith("/") or column > MOST:
        return None
    if (found := _COMMAND.fullmatch(head)) is not None:
        return Wanted(What.COMMAND, found.group(1), 0)
    if (found := _ARGUMENT.fullmatch(head)) is not None:
        command, before, query = found.groups()
        return Wanted(What.ARGUMENT, query, column - len(query), command, before.strip())
    return None
