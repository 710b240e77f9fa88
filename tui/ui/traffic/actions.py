"""What a person can do with the traffic: the part of the table of actions that its screen reads. Pure."""

from tui.ui.action import Action, Context

_C = Context


def _list(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    run = f"screen.{id.replace('.', '_')}"  # a method of the screen
    return Action(id, keys, _C.TRAFFIC, label, help, footer, run=run, palette=False)


TRAFFIC_ACTIONS: tuple[Action, ...] = (
    Action("traffic.open", "f4", _C.ANYWHERE, "traffic", "Show all that travels, entry by entry", 22),
    # ---- the list ----
    _list("traffic.back", "escape,q", "back", "Close what is open, clear the filter, leave", 2),
    _list("traffic.pair", "p", "pair", "Go to the answer, or to the request", 4),
    _list("traffic.first", "o", "origin", "Go to the first request of the call", 11),
    _list("traffic.mark", "m", "mark", "Mark the entry, or take its mark away", 5),
    _list("traffic.time", "t", "time", "Time of day, since the start, since the one before", 9),
    _list("traffic.follow", "F,end,G", "follow", "Go to the newest and follow it", 6),
)
