"""The status line: activity, limits, context and cost; and the header."""

from dataclasses import dataclass, replace

from tui.core.language.translate import N_, _
from tui.core.text import clean_line
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row, width_of

WARN_AT = 0.8
"""The share of a limit from which its meter has the warning color."""

LOADING = N_("Loading… You can start typing.")

_CELLS = 5


@dataclass(frozen=True, slots=True)
class Meter:
    """The used part of a limit; `text` has both numbers with their unit ("2 of 10")."""

    label: str
    used: float
    limit: float
    text: str

    @property
    def share(self) -> float:
        return min(1.0, self.used / self.limit) if self.limit > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Status:
    """Everything the status line can show: activity, limits, context and cost.

    Attributes:
        urgent: whether `activity` needs the user.
        stalled: whether `activity` says that the model sends nothing, which takes precedence over the meters.
        meters: the limits; empty between turns.
        model: the model's label, if no header shows it.
        context: the used part of the model's window: a meter, or "~12 k" if the window is unknown.
        tokens: shown if no cost is known, or "".
        fault: what is failing ("not saved"), or "". Always shown.
        news: what waits to be read ("3 events"), or "".
    """

    activity: str = ""
    urgent: bool = False
    stalled: bool = False
    meters: tuple[Meter, ...] = ()
    model: str = ""
    context: Meter | str = ""
    tokens: str = ""
    cost: str = ""
    fault: str = ""
    news: str = ""


class StatusLine(Bar):
    """The line below the composer."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self.status = Status()

    def show(self, status: Status) -> None:
        """Repaint if the text changes: its times and meters change many times a second."""
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
        left, used = _left(status, bars=bars, meters=meters), _used(status, right, bars=bars)
        if width_of(left) + 2 + width_of(used) <= width:
            return spread(left, used, width)
    shorter = (replace(status, meters=status.meters[:count]) for count in reversed(range(len(status.meters))))
    lefts = (_left(one, bars=False, meters=False) for one in shorter)
    left = next((one for one in lefts if width_of(one) + 2 + width_of(used) <= width), left)
    return spread(left, used, width)


# (parts at the right end, meters with bars, any meters)
_FULL_TO_BARE = (
    (2, True, True),
    (2, False, True),
    (1, False, True),
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
    if meters or not (status.urgent or status.stalled):
        for meter in status.meters:
            left.extend(_meter(meter, bars=bars))
    if status.activity and not status.urgent:
        left.append(words)
    return tuple(left)


def _used(status: Status, how_many: int, *, bars: bool) -> Row:
    """Return the first `how_many` of context and cost."""
    parts: list[Row] = [((status.news, "accent"),)] if status.news else []
    if isinstance(status.context, Meter):
        parts.append(_meter(status.context, bars=bars)[:-1])
    elif status.context:
        parts.append(((_("context {tokens}", tokens=status.context), "dim"),))
    if words := status.cost or (status.tokens and _("{tokens} tokens", tokens=status.tokens)):
        parts.append(((words, "dim"),))
    row: list[tuple[str, str]] = []
    for part in parts[:how_many]:
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
    """The title of the session, the faults that are injected, the folder, model and step."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._title = self._folder = self._right = self._faults = ""

    def show(self, title: str, folder: str, model: str, step: str, faults: str = "") -> None:
        right = "   ".join(part for part in (clean_line(model, 60), step) if part)
        shown = clean_line(title, 200), clean_line(folder, 200), right, faults
        if shown != (self._title, self._folder, self._right, self._faults):
            self._title, self._folder, self._right, self._faults = shown
            self.refresh()

    def row(self, width: int) -> Row:
        return header_row(self._title, self._folder, self._right, width, self._faults)


def header_row(title: str, folder: str, right: str, width: int, faults: str = "") -> Row:
    """Return the header. If it is too long, the folder is dropped first, then the title is truncated."""
    left: Row = ((" mcptui", "model bold"), (f"   {title}" if title else "", "text"))
    end: Row = ((f"{faults}   " if faults else "", "warn"), (f"{right} ", "dim"))
    with_folder: Row = ((f"{folder}   ", "dim"), *end) if folder else end
    fits = width_of(left) + 3 + width_of(with_folder) <= width
    return spread(left, with_folder if fits else end, width)
