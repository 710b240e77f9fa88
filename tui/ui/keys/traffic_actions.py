"""What a person can do with the traffic: the part of the table of actions that its screen reads. Pure."""

from tui.ui.keys.action import Action, Context

_C = Context


def _list(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    run = f"screen.{id.replace('.', '_')}"  # a method of the screen
    return Action(id, keys, _C.TRAFFIC, label, help, footer, run=run)


def _frame(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    run = id.replace(".", "_")  # a method of the pane that reads the entry
    return Action(id, keys, _C.FRAME, label, help, footer, run=run, palette=False)


TRAFFIC_ACTIONS: tuple[Action, ...] = (
    Action("traffic.open", "f4", _C.ANYWHERE, "traffic", "Show all that travels, entry by entry", 22),
    Action("traffic.tail", "f7", _C.ANYWHERE, "tail", "Show or hide the newest of the traffic"),
    Action("traffic.of_call", "f8", _C.ANYWHERE, "its traffic", "Show what travelled for a call or turn", 34),
    # ---- the list ----
    _list("traffic.read", "enter", "read", "Read the entry: open it and go to it", 1),
    _list("traffic.back", "escape,q", "back", "Close what is open, clear the filter, leave", 2),
    _list("traffic.filter", "slash", "filter", "Filter the list", 3),
    _list("traffic.filters", "f", "saved", "Take or keep a filter by its name", 14),
    _list("traffic.search", "s", "search", "Search in the list and in bodies", 8),
    _list("traffic.next", "n", "next", "Search: go to the next find", 15),
    _list("traffic.previous", "N", "last", "Search: go to the find before", 0),
    _list("traffic.pair", "p", "pair", "Go to the answer, or to the request", 4),
    _list("traffic.first", "o", "origin", "Go to the first request of the call", 11),
    _list("traffic.mark", "m", "mark", "Mark the entry, or take its mark away", 5),
    _list("traffic.note", "M", "note", "Write a note on the entry", 12),
    _list("traffic.time", "t", "time", "Time of day, since the start, since the one before", 9),
    _list("traffic.follow", "F,end,G", "follow", "Go to the newest and follow it", 6),
    _list("traffic.copy", "c", "copy as…", "Copy the entry as raw bytes, curl or Python", 7),
    _list("traffic.resend", "R", "send again", "Send the request again to its server, as it was", 12),
    _list("traffic.form", "E", "edit as form", "Edit the arguments of a call as a form, in the workbench"),
    _list("traffic.edit", "e", "edit, send", "Edit the params of the request as JSON, and send it", 11),
    _list(
        "traffic.compare", "d", "compare", "Compare: mark the entry; on another one, show what differs", 12
    ),
    _list("traffic.export", "x", "export", "Export entries: JSON lines, Markdown, HTML, HAR", 12),
    _list("traffic.turn", "g", "turn", "Go to the turn that caused it", 10),
    _list("traffic.stats", "S", "numbers", "Calls, errors and times of each server and tool", 13),
    _list("traffic.waterfall", "w", "waterfall", "Where the time of the entry's turn went", 13),
    # ---- one entry ----
    _frame("frame.close", "escape,q", "close", "Go back to the list and close the entry", 1),
    _frame("frame.fold", "enter,space", "fold", "Fold or unfold what the mark stands on", 2),
    _frame("frame.fold_all", "a", "fold all", "Fold or unfold everything", 12),
    _frame("frame.next_tab", "right,l", "tabs", "Tree, pair, raw, timing, explanation, findings", 3),
    _frame("frame.last_tab", "left,h", "last tab", "The view before", 0),
    _frame("frame.search", "slash,s", "search", "Search in this entry", 4),
    _frame("frame.next", "n", "next", "Go to the next find", 13),
    _frame("frame.previous", "N", "last", "Go to the find before", 0),
    _frame("frame.copy_value", "y", "copy value", "Copy the value that the mark stands on", 5),
    _frame("frame.copy_path", "Y", "copy path", "Copy the path of the value", 6),
    _frame("frame.copy", "c", "copy as…", "Copy the entry as raw bytes, curl or Python", 7),
    _frame("frame.save", "w", "save", "Save the image or the body to a file", 11),
    _frame("frame.older", "left_square_bracket", "entry before", "Read the entry before in the list", 9),
    _frame("frame.newer", "right_square_bracket", "next entry", "Read the next entry of the list", 8),
    _frame("frame.pair", "p", "pair", "Read the answer, or the request", 10),
    _frame("frame.maximise", "z", "whole screen", "Give the entry the whole screen, and back", 10),
)
