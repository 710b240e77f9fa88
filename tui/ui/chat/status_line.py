"""The status line: activity, limits and counts; and the header."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.core import units
from tui.core.text import clean_line
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row, width_of

WARN_AT = 0.8
"""The share of a limit from which its meter has the warning color."""

LOADING = "loading; you can write meanwhile"

_CELLS = 5


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a limit is used; `text` has both numbers with their unit ("2 of 10")."""

    label: str
    used: float
    limit: float
    text: str

    @property
    def share(self) -> float:
        return min(1.0, self.used / self.limit) if self.limit > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Used:
    """What the conversation has used, in words, or "".

    `context` is how full the model's window is: a meter if the window is known, "~12 k" if not.
    """

    context: Meter | str = ""
    tokens: str = ""
    cost: str = ""


NOTHING_USED = Used()


@dataclass(frozen=True, slots=True)
class Status:
    """Everything the status line can show.

    Attributes:
        urgent: `activity` asks something of the user.
        meters: the limits; empty while no turn runs.
        model: the model's label, if no header shows it.
        running: servers that run.
        frames: messages on the wire.
        fault: what mcptui fails to do ("not saved"), or "". Always shown.
    """

    activity: str = ""
    urgent: bool = False
    meters: tuple[Meter, ...] = ()
    model: str = ""
    running: int = 0
    servers: int = 0
    used: Used = NOTHING_USED
    frames: int = 0
    fault: str = ""


class StatusLine(Bar):
    """One line under the composer."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self.status = Status()

    def show(self, status: Status) -> None:
        """Repaint if it reads differently: its times and meters change many times a second."""
        if status == self.status:
            return
        before = status_row(self.status, self.size.width)
        self.status = status
        if status_row(status, self.size.width) != before:
            self.refresh()

    def row(self, width: int) -> Row:
        return status_row(self.status, width)


def status_row(status: Status, width: int) -> Row:
    """Return the line for `width` cells; the least important parts are dropped first."""
    for right, bars, meters in _FULL_TO_BARE:
        row = (*_left(status, bars=bars, meters=meters), ("  ", ""), *_counts(status, right, bars=bars))
        if width_of(row) <= width:
            break
    return spread(_left(status, bars=bars, meters=meters), _counts(status, right, bars=bars), width)


# (counts at the right end, meters with bars, any meters)
_FULL_TO_BARE = (
    (5, True, True),
    (4, True, True),
    (4, False, True),
    (3, False, True),
    (2, False, True),
    (2, False, False),
    (1, False, False),
    (0, False, False),
)


def _left(status: Status, *, bars: bool, meters: bool) -> Row:
    left: list[tuple[str, str]] = [(" ", "")]
    if status.fault:
        left += [(status.fault, "bad"), ("   ", "")]
    if status.model:
        left.append((clean_line(status.model, 30) + "   ", "text"))
    words = (clean_line(status.activity, 200), "accent bold" if status.urgent else "dim")
    if status.urgent:
        left += [words, ("   ", "")]
    if meters or not status.urgent:
        for meter in status.meters:
            left.extend(_meter(meter, bars=bars))
    if status.activity and not status.urgent:
        left.append(words)
    return tuple(left)


def _counts(status: Status, how_many: int, *, bars: bool) -> Row:
    """Return the most important counts, in the order in which they are shown."""
    used = status.used
    servers: Row = ((f"{status.running} of {units.plural(status.servers, 'server')}", "dim"),)
    tokens: Row = ((f"{used.tokens} tokens", "dim"),) if used.tokens else ()
    cost: Row = ((used.cost, "dim"),) if used.cost else ()
    frames: Row = ((f"{units.count(status.frames)} frames", "dim"),)
    context: Row = ()
    if isinstance(used.context, Meter):
        context = _meter(used.context, bars=bars)[:-1]
    elif used.context:
        context = (("context ", "dim"), (used.context, "dim"))
    ranked = [part for part in (context, servers, cost, tokens, frames) if part][:how_many]
    row: list[tuple[str, str]] = []
    for part in (servers, context, tokens, cost, frames):
        if part in ranked:
            row += [*([("   ", "")] if row else []), *part]
    return (*row, (" ", ""))


def _meter(meter: Meter, *, bars: bool) -> Row:
    colour = "warn" if meter.share >= WARN_AT else "text"
    row: Row = ((f"{meter.label} ", "dim"), (meter.text, colour))
    if bars:
        full = round(meter.share * _CELLS)
        row = (*row, (" " + "━" * full, colour), ("━" * (_CELLS - full), "rule"))
    return (*row, ("   ", ""))


class Header(Bar):
    """Name of the program, running servers, model and step."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._servers = ""
        self._right = ""
        self._busy = False

    def show(self, servers: Sequence[str], model: str, step: str) -> None:
        names = ", ".join(clean_line(name, 40) for name in servers)
        right = " · ".join(part for part in (clean_line(model, 60), step) if part)
        if (names, right, bool(step)) != (self._servers, self._right, self._busy):
            self._servers, self._right, self._busy = names, right, bool(step)
            self.refresh()

    def row(self, width: int) -> Row:
        left: Row = ((" mcptui", "accent bold"),)
        if self._servers:
            left = (*left, (f"  ·  {self._servers}", "dim"))
        right: Row = ((self._right, "text"), (" ▸ " if self._busy else " ", "accent"))
        return spread(left, right, width)
