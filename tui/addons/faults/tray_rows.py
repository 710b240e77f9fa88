"""The lines of the tray: a held message with what it says, and how long the other side waits. Pure."""

from tui.addons.faults.tray import AnyHeld
from tui.core.jsonrpc.reader import json_mapping
from tui.core.language.translate import N_, _
from tui.core.text import cells_of, clean_line, compact, object_in
from tui.core.traffic import Direction, Kind
from tui.ui.widgets.rows import Row, crop, pad
from tui.ui.widgets.symbols import kind_look
from tui.ui.widgets.times import clock

SOON_SECONDS = 10
MEDIUM = 100
_SECOND = 1_000_000_000


def held_row(held: AnyHeld, now_ns: int, lead: str, width: int) -> Row:
    """Return the line of a held message in `width` cells."""
    reading = held.reading
    words, short, style = kind_look(reading.kind, held.direction)
    right = (*(((f"{_('edited')}  ", "warn"),) if held.is_edited else ()), *_times(held, now_ns))
    kind, server = (words, 14) if width >= MEDIUM else (short, 10)
    left = (
        (lead, "accent"),
        *pad(crop(((kind, style),), 15 if width >= MEDIUM else 10), 16 if width >= MEDIUM else 11),
        *pad(crop(((clean_line(held.source, 40), "text"),), server), server + 2),
        (f"{reading.tool or reading.method or _('message')} ", "tool" if reading.tool else "text"),
        (_preview(held), "dim"),
    )
    room = max(0, width - sum(cells_of(text) for text, _style in right) - 2)
    return (*pad(crop(left, room), room + 2), *right)


def _times(held: AnyHeld, now_ns: int) -> Row:
    waits = clock((now_ns - held.at_ns) / _SECOND)
    if held.is_given_up:
        return ((f"{waits}  ", "dim"), (_("cancelled"), "bad"))
    if not held.deadline_ns:
        return ((_("held {time}", time=waits), "dim"),)
    left = (held.deadline_ns - now_ns) / _SECOND
    about = "~" if held.patience.is_guess else ""
    if left <= 0:
        return ((f"{waits}  ", "dim"), (f"{about}{_('timed out')}", "bad"))
    rest = _("{time} left", time=f"{about}{clock(left)}")
    return ((f"{waits}  ", "dim"), (rest, "warn" if left < SOON_SECONDS else "text"))


def _preview(held: AnyHeld) -> str:
    message = json_mapping(held.sent)
    if held.reading.kind in (Kind.REQUEST, Kind.NOTIFICATION):
        params = object_in(message, "params")
        said = params.get("arguments", {key: value for key, value in params.items() if key != "_meta"})
    else:
        said = message.get("result", message.get("error"))
    return clean_line(compact(said, 200)) if said else ""


def way_of(held: AnyHeld) -> str:
    """Return where a held message goes, for a title."""
    way = N_("{name} to {server}") if held.direction is Direction.OUT else N_("{name} from {server}")
    name = held.reading.tool or held.reading.method or _("message")
    return _(way, name=clean_line(name, 60), server=clean_line(held.source, 40))
