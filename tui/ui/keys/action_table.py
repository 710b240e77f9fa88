"""One table of everything a person can do: id, keys, where it works, its words.

The bindings of app and panes, the footer, the help screen, the palette and `[ui.keys]` all read it.
Pure: no screen is touched here. What runs an action such as `servers.toggle` is in the table of
`chat/action_handlers.py`, unless `run` names a Textual action.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class Context(StrEnum):
    """Where an action's keys work. The value is the heading of its group in the help."""

    ANYWHERE = "Anywhere"
    COMPOSER = "Writing a message"
    CONVERSATION = "Conversation"
    QUESTION = "A tool call asks"
    SERVERS = "Servers"
    TRACE = "Trace"
    TRAFFIC = "Traffic"
    ENTRY = "Traffic, one entry"
    WORKBENCH = "Workbench"
    BENCH_LIST = "Workbench, lists and results"
    BENCH_FORM = "Workbench, a form"
    SESSIONS = "Saved conversations"
    MODELS = "Models"
    SERVER_QUESTION = "A server asks"
    RESULT = "What a call gave"


OF_SCREENS = (
    Context.TRAFFIC,
    Context.ENTRY,
    Context.WORKBENCH,
    Context.BENCH_LIST,
    Context.BENCH_FORM,
    Context.SESSIONS,
    Context.MODELS,
    Context.SERVER_QUESTION,
    Context.RESULT,
)
"""Contexts whose actions do something only while their screen is on top."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do.

    Attributes:
        id: what `[ui.keys]` calls it.
        keys: keys, separated by commas, as Textual names them.
        context: where `keys` work.
        label: the word in the footer.
        help: the sentence in the help and in the palette.
        footer: rank in the footer, smaller stays longer in a narrow one; 0: not in the footer.
        anywhere: keys that work outside `context` too.
        run: the Textual action, unless it is one of the app or of `chat/action_handlers.py`.
        priority: the key is taken before the focused pane sees it.
        palette: whether the palette offers it.
    """

    id: str
    keys: str
    context: Context
    label: str
    help: str
    footer: int = 0
    anywhere: str = ""
    run: str = ""
    priority: bool = False
    palette: bool = True

    @property
    def method(self) -> str:
        """The Textual action that a key of this action runs."""
        own = f"app.{self.id.replace('.', '_')}" if self.id.startswith("app.") else f"app.act('{self.id}')"
        return self.run or own


def _on_screen(
    context: Context, id: str, keys: str, label: str, help: str, footer: int = 0, run: str = ""
) -> Action:
    """Return an action that is a method of the screen."""
    return Action(id, keys, context, label, help, footer, run=f"screen.{run or id.replace('.', '_')}")


def _on_pane(
    context: Context,
    id: str,
    keys: str,
    label: str,
    help: str,
    footer: int = 0,
    *,
    run: str = "",
    place: str = "",
) -> Action:
    """Return an action of the focused pane, which is not in the palette; `place` may be "screen."."""
    run = run or place + id.removeprefix("composer.").replace(".", "_")
    return Action(id, keys, context, label, help, footer, run=run, palette=False)


def _on_bench(context: Context, id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    """Return an action of the bench on the current tab of the workbench."""
    run = f"on_bench('{id.removeprefix('bench.')}')"
    return _on_screen(context, id, keys, label, help, footer, run)


_C = Context
_sessions = partial(_on_screen, Context.SESSIONS)
_models = partial(_on_screen, Context.MODELS)
_ask = partial(_on_screen, Context.SERVER_QUESTION)
_result = partial(_on_screen, Context.RESULT)
_traffic = partial(_on_screen, Context.TRAFFIC)
_bench = partial(_on_screen, Context.WORKBENCH)
_bench_arguments = partial(_on_bench, Context.WORKBENCH)
_results = partial(_on_screen, Context.BENCH_LIST)
_bench_result = partial(_on_bench, Context.BENCH_LIST)
_entry = partial(_on_pane, Context.ENTRY)
_panel = partial(_on_pane, Context.ENTRY, place="screen.")
_form = partial(_on_pane, Context.BENCH_FORM)
_composer = partial(_on_pane, Context.COMPOSER)
_anywhere = partial(_on_pane, Context.ANYWHERE)

ACTIONS: tuple[Action, ...] = (
    # ---- a question ----
    Action("question.once", "y", _C.QUESTION, "once", "Allow this call", 0),
    Action("question.session", "t", _C.QUESTION, "this session", "Allow this tool until mcptui ends", 0),
    Action("question.always", "a", _C.QUESTION, "always", "Always allow this tool as it is now", 0),
    Action("question.no", "n", _C.QUESTION, "deny", "Deny this call", 0),
    Action("question.why", "e", _C.QUESTION, "deny with a reason", "Deny this call and say why", 0),
    # ---- the chat ----
    Action("chat.cancel", "escape", _C.ANYWHERE, "stop", "Stop the turn, or go back to the message", 6),
    Action("chat.continue", "ctrl+g", _C.ANYWHERE, "go on", "After a limit: go on with fresh ones", 7),
    Action("chat.new", "ctrl+n", _C.ANYWHERE, "new chat", "Begin a new conversation", 70),
    _on_pane(
        _C.CONVERSATION, "chat.expand", "enter", "unfold", "Unfold or fold what is marked", 20, run="choose"
    ),
    # ---- servers ----
    Action("servers.open", "enter", _C.SERVERS, "work with it", "Work with the selected server by hand", 14),
    Action("servers.toggle", "s", _C.SERVERS, "start/stop", "Start or stop the selected server", 15),
    Action("servers.restart", "r", _C.SERVERS, "restart", "Restart the selected server", 16),
    Action("servers.add", "a", _C.SERVERS, "add", "Add a server", 18),
    Action("servers.change", "e", _C.SERVERS, "edit", "Edit the selected server", 19),
    Action("servers.disable", "d", _C.SERVERS, "disable", "Disable the selected server, or enable it", 19),
    Action("servers.remove", "ctrl+d", _C.SERVERS, "remove", "Remove the selected server", 19),
    Action(
        "servers.log", "l", _C.SERVERS, "log", "Show the stderr of the selected server", 17, anywhere="ctrl+l"
    ),
    # ---- the configuration ----
    Action("config.edit", "E", _C.SERVERS, "edit file", "Edit the configuration in $EDITOR"),
    Action("config.reload", "ctrl+r", _C.SERVERS, "reload", "Reload the configuration from its file"),
    # ---- panes ----
    Action("focus.conversation", "f2", _C.ANYWHERE, "conversation", "Go to the conversation", 33),
    Action("focus.servers", "f3", _C.ANYWHERE, "servers", "Go to the servers", 31),
    Action("focus.trace", "f6", _C.ANYWHERE, "trace", "Go to the trace", 32),
    Action("focus.composer", "f5", _C.ANYWHERE, "write", "Go to the message", 0),
    Action(
        "pane.maximise", "ctrl+o", _C.ANYWHERE, "full screen", "Give the pane the whole body, and back", 65
    ),
    # ---- the app ----
    Action("app.theme", "ctrl+t", _C.ANYWHERE, "theme", "Choose another theme", 75),
    _anywhere(
        "app.palette", "ctrl+p", "everything", "Find any action by its name", 20, run="command_palette"
    ),
    Action("app.help", "f1,question_mark", _C.ANYWHERE, "keys", "Show every key", 21),
    Action("app.quit", "ctrl+q", _C.ANYWHERE, "quit", "Stop the servers and leave", 29, priority=True),
    # ---- the message that is being written ----
    _composer("composer.send", "enter", "send", "Send; while a turn runs: after it", 10),
    _composer("composer.steer", "ctrl+s", "say it now", "While a turn runs: say it at the next step", 11),
    _composer("composer.newline", "shift+enter,ctrl+j,alt+enter", "new line", "Begin a new line", 60),
    _composer("composer.complete", "tab", "complete", "Take the suggestion, or go to the next pane"),
    _composer("composer.older", "up", "older", "In the first line: the message before"),
    _composer("composer.newer", "down", "newer", "In the last line: the message after"),
    Action("composer.history", "ctrl+r", _C.COMPOSER, "search", "Search in what was written before", 61),
    Action("composer.editor", "ctrl+f", _C.COMPOSER, "editor", "Write the message in $EDITOR", 62),
    Action(
        "composer.take_back", "ctrl+up", _C.COMPOSER, "edit held", "Take back what is held, to change it", 12
    ),
    _composer("composer.drop", "ctrl+x", "drop held", "With nothing written: drop what is held", 13),
    # ---- conversations and models ----
    Action("chat.sessions", "f9", _C.ANYWHERE, "sessions", "Go on with a saved conversation", 34),
    Action("chat.models", "f10", _C.ANYWHERE, "model", "Ask another model from now on", 35),
    Action("chat.system", "f12", _C.ANYWHERE, "system", "Read and change the system text"),
    # ---- a message: the one that the mark stands on, or the last ----
    Action("chat.copy", "c", _C.CONVERSATION, "copy", "Copy the marked message, or the last reply", 30),
    Action("chat.retry", "r", _C.CONVERSATION, "ask again", "Ask the marked question again, as a branch", 22),
    Action("chat.rewrite", "w", _C.CONVERSATION, "rewrite", "Change the marked question, then ask it", 23),
    Action("chat.compare", "m", _C.CONVERSATION, "other model", "Ask another model the same", 24),
    Action("chat.branch", "b", _C.CONVERSATION, "branch", "Go on from the marked message, as a branch", 25),
    Action("chat.parent", "p", _C.CONVERSATION, "parent", "Go back to where this branch began", 26),
    Action("chat.result", "v", _C.CONVERSATION, "whole result", "Show all of what a call gave", 21),
    Action("chat.uncompact", "u", _C.CONVERSATION, "read all", "Let the model read everything again", 27),
    Action("chat.cancel_call", "k", _C.CONVERSATION, "cancel call", "Cancel the selected running call", 28),
    Action("chat.export", "x", _C.CONVERSATION, "export", "Write the conversation to a file", 31),
    # ---- the list of saved conversations ----
    _sessions("session.resume", "enter", "go on", "Go on with the conversation", 1),
    _sessions("session.branch", "ctrl+b", "branch", "Go on with a copy of the conversation", 6),
    _sessions("session.rename", "f2", "rename", "Give the conversation another title", 4),
    _sessions("session.delete", "ctrl+d", "delete", "Take the conversation out of the list", 5),
    _sessions("session.undo", "ctrl+z", "undo", "Bring back what was deleted last", 2),
    _sessions("session.export", "ctrl+e", "export", "Write the conversation to a file", 7),
    _sessions("session.leave", "escape", "back", "Empty the search; leave the list", 3),
    # ---- models ----
    _models("model.take", "enter", "ask it", "Ask this model from now on", 1),
    _models("model.offered", "tab", "what it offers", "List the models of the endpoint, and back", 2),
    _models("model.add", "ctrl+n", "add", "Add a model", 3),
    _models("model.forget", "ctrl+d", "forget learned", "Forget what the endpoint was found to refuse", 4),
    _models("model.leave", "escape", "back", "Empty the search; leave the list", 3),
    # ---- what a server asks ----
    _ask("ask.send", "ctrl+j,ctrl+enter,f9", "send", "Send the answer, or open the address", 1),
    _ask("ask.copy", "ctrl+y", "copy address", "Copy the address", 2),
    _ask("ask.decline", "ctrl+x", "decline", "Decline what the server asks", 3),
    _ask("ask.cancel", "escape", "cancel", "Close the question without an answer", 4),
    # ---- what a call gave ----
    _result("result.save", "w", "save as", "Write the marked part to a file", 1),
    _result("result.open", "o", "open", "Open the marked part with the system's program", 2),
    _result("result.attach", "a", "attach", "Attach the marked part or link to the next message", 3),
    _result("result.copy", "c", "copy", "Copy the marked part, if it is text", 3),
    _result("result.leave", "escape,q", "back", "Leave the result", 4),
    # ---- traffic ----
    Action("traffic.open", "f4", _C.ANYWHERE, "traffic", "Show all that travels, entry by entry", 22),
    Action("traffic.tail", "f7", _C.ANYWHERE, "tail", "Show or hide the newest of the traffic"),
    Action("traffic.of_call", "f8", _C.ANYWHERE, "its traffic", "Show what travelled for a call or turn", 34),
    # ---- the list ----
    _traffic("traffic.read", "enter", "read", "Read the entry: open it and go to it", 1),
    _traffic("traffic.back", "escape,q", "back", "Close what is open, clear the filter, leave", 2),
    _traffic("traffic.filter", "slash", "filter", "Filter the list", 3),
    _traffic("traffic.filters", "f", "saved", "Take or keep a filter by its name", 14),
    _traffic("traffic.search", "s", "search", "Search in the list and in bodies", 8),
    _traffic("traffic.next", "n", "next", "Search: go to the next find", 15),
    _traffic("traffic.previous", "N", "last", "Search: go to the find before", 0),
    _traffic("traffic.pair", "p", "pair", "Go to the answer, or to the request", 4),
    _traffic("traffic.first", "o", "origin", "Go to the first request of the call", 11),
    _traffic("traffic.mark", "m", "mark", "Mark the entry, or take its mark away", 5),
    _traffic("traffic.note", "M", "note", "Write a note on the entry", 12),
    _traffic("traffic.time", "t", "time", "Time of day, since the start, since the one before", 9),
    _traffic(
        "traffic.setup",
        "h",
        "fold setup",
        "Fold handshakes and lists to one line a server",
        10,
        "traffic_arrange",
    ),
    _traffic(
        "traffic.sort_time",
        "1",
        "by time",
        "Sort by time, newest first; again for oldest first",
        run="traffic_arrange('time')",
    ),
    _traffic(
        "traffic.sort_server",
        "2",
        "by server",
        "Sort by server; again to reverse, then by time",
        run="traffic_arrange('server')",
    ),
    _traffic(
        "traffic.sort_kind",
        "3",
        "by kind",
        "Sort by kind; again to reverse, then by time",
        run="traffic_arrange('kind')",
    ),
    _traffic(
        "traffic.sort_method",
        "4",
        "by method",
        "Sort by method; again to reverse, then by time",
        run="traffic_arrange('method')",
    ),
    _traffic(
        "traffic.sort_size",
        "5",
        "by size",
        "Sort by size; again to reverse, then by time",
        run="traffic_arrange('size')",
    ),
    _traffic(
        "traffic.sort_latency",
        "6",
        "by latency",
        "Sort by latency; again to reverse, then by time",
        run="traffic_arrange('latency')",
    ),
    _traffic("traffic.follow", "F,end,G", "follow", "Go to the newest and follow it", 6),
    _traffic("traffic.copy", "c", "copy as…", "Copy the entry as raw bytes, curl or Python", 7),
    _traffic("traffic.resend", "R", "send again", "Send the request again to its server, as it was", 12),
    _traffic("traffic.form", "E", "edit as form", "Edit the arguments of a call as a form, in the workbench"),
    _traffic("traffic.edit", "e", "edit, send", "Edit the params of the request as JSON, and send it", 11),
    _traffic(
        "traffic.compare", "d", "compare", "Compare: mark the entry; on another one, show what differs", 12
    ),
    _traffic("traffic.export", "x", "export", "Export entries: JSON lines, Markdown, HTML, HAR", 12),
    _traffic("traffic.turn", "g", "turn", "Go to the turn that caused it", 10),
    _traffic("traffic.stats", "S", "numbers", "Calls, errors and times of each server and tool", 13),
    _traffic("traffic.waterfall", "w", "waterfall", "Where the time of the entry's turn went", 13),
    # ---- one entry ----
    _panel("frame.close", "escape,q", "close", "Go back to the list and close the entry", 1),
    _entry("frame.fold", "enter,space", "fold", "Fold or unfold what the mark stands on", 2),
    _entry("frame.fold_all", "a", "fold all", "Fold or unfold everything", 12),
    _entry("frame.next_tab", "right,l", "tabs", "Tree, pair, raw, timing, explanation, findings", 3),
    _entry("frame.last_tab", "left,h", "last tab", "The view before", 0),
    _entry("frame.search", "slash,s", "search", "Search in this entry", 4),
    _entry("frame.next", "n", "next", "Go to the next find", 13),
    _entry("frame.previous", "N", "last", "Go to the find before", 0),
    _entry("frame.copy_value", "y", "copy value", "Copy the value that the mark stands on", 5),
    _entry("frame.copy_path", "Y", "copy path", "Copy the path of the value", 6),
    _entry("frame.copy", "c", "copy as…", "Copy the entry as raw bytes, curl or Python", 7),
    _entry("frame.save", "w", "save", "Save the image or the body to a file", 11),
    _panel("frame.older", "left_square_bracket", "entry before", "Read the entry before in the list", 9),
    _panel("frame.newer", "right_square_bracket", "next entry", "Read the next entry of the list", 8),
    _panel("frame.pair", "p", "pair", "Read the answer, or the request", 10),
    _panel("frame.maximise", "z", "whole screen", "Give the entry the whole screen, and back", 10),
    # ---- everywhere on the workbench ----
    _bench(
        "bench.call", "ctrl+j,ctrl+enter,f9", "call", "Call the tool, read the resource, get the prompt", 3
    ),
    _bench("bench.back", "escape", "back", "Stop the call, leave the form, leave the workbench", 4),
    _bench_arguments(
        "bench.raw", "ctrl+r", "raw JSON", "Write the arguments as raw JSON, or in the form again", 5
    ),
    _bench_arguments("bench.keep", "ctrl+k", "keep", "Keep these arguments under a name", 9),
    _bench_arguments("bench.saved", "ctrl+o", "kept", "Take arguments that were kept", 10),
    _bench("bench.frames", "f4", "frames", "Show the frames of this call, or the traffic of the server", 6),
    _bench_arguments("bench.hand", "ctrl+g", "to chat", "Put the result into the message to the model", 7),
    _bench("bench.start", "ctrl+s", "start/stop", "Start or stop the server", 14, run="bench_toggle"),
    _bench("bench.next_tab", "ctrl+pagedown", "next tab", "Go to the next tab", run="bench_step_tab(1)"),
    _bench("bench.last_tab", "ctrl+pageup", "last tab", "Go to the tab before", run="bench_step_tab(-1)"),
    # ---- lists and results ----
    _results("bench.open", "enter", "open", "List: go to the form. Call: take its arguments. Tree: fold", 1),
    _results("bench.filter", "slash", "filter", "Filter the list while typing", 2),
    _results("bench.next", "n", "next find", "Go to the next find", 0, run="bench_find(1)"),
    _results("bench.previous", "N", "last find", "Go to the find before", 0, run="bench_find(-1)"),
    _results("bench.right", "right,l", "tabs", "Go to the next tab", 2, run="bench_step_tab(1)"),
    _results("bench.left", "left,h", "last tab", "Go to the tab before", run="bench_step_tab(-1)"),
    _results("bench.overview", "1", "overview", "Go to the overview", run="bench_tab('overview')"),
    _results("bench.tools", "2", "tools", "Go to the tools", run="bench_tab('tools')"),
    _results("bench.resources", "3", "resources", "Go to the resources", run="bench_tab('resources')"),
    _results("bench.prompts", "4", "prompts", "Go to the prompts", run="bench_tab('prompts')"),
    _results("bench.log", "5", "log", "Go to the log", run="bench_tab('log')"),
    _results("bench.traffic", "6", "traffic", "Go to the traffic of the server", run="bench_tab('traffic')"),
    _bench_result(
        "bench.diff", "d", "compare", "Compare this result with the one before, or the marked one", 8
    ),
    _bench_result("bench.mark", "m", "mark", "Mark a call, to compare others with it", 12),
    _bench_result("bench.attach", "a", "attach", "Attach the resource or the marked link to the message", 4),
    _bench_result(
        "bench.subscribe",
        "u",
        "subscribe",
        "Subscribe to the resource: it is read again when it changes",
        8,
    ),
    _bench_result("bench.send", "S", "send", "Send the messages of the prompt to the model", 4),
    _bench_result("bench.offer", "o", "on/off", "Turn the tool off for the model, or on again", 8),
    _results(
        "bench.instructions", "i", "instructions", "Give the model the server's instructions, or not", 0
    ),
    _results("bench.level", "v", "level", "Set the least severe messages that the server logs", 7),
    _results("bench.roots", "t", "roots", "Set the directories that the server is told it may work in", 0),
    _results(
        "bench.read_resources", "x", "resources", "Let the model read the server's resources, or not", 0
    ),
    _results("bench.sampling", "e", "sampling", "Let the server ask the model: never, ask or allow", 0),
    _bench_result("bench.offer_all", "O", "all on/off", "Turn all tools off for the model, or on again", 0),
    _results("bench.copy", "y", "copy", "Copy the value that the mark stands on", 11),
    _bench_result("bench.copy_all", "Y", "copy all", "Copy the whole result as JSON", 0),
    _bench_result("bench.save", "w", "save", "Save the image, the text or the whole result to a file", 11),
    _bench_result("bench.maximise", "z", "whole screen", "Give the result the whole screen, and back", 13),
    _results("bench.toggle", "s", "start/stop", "Start or stop the server", 15),
    _results("bench.restart", "r", "restart", "Restart the server", 16),
    _results("bench.reload", "R", "list again", "Ask the server again for what it offers", 17),
    _results("bench.leave", "q", "back", "Leave the workbench", 0),
    # ---- a form ----
    _form("form.choose", "enter", "next, choose", "Next field; choose; unfold", 1),
    _form("form.next", "tab,down", "next", "Go to the next field", 0),
    _form("form.previous", "shift+tab,up", "before", "Go to the field before", 0),
    _form("form.add", "ctrl+n", "add", "Add an item to the list, or an optional field", 8),
    _form("form.remove", "ctrl+d", "remove", "Take the item, or the value of the field, away", 8),
    _form("form.cycle", "ctrl+a", "another", "Take the next choice, or the next arm of a union", 11),
)

_BY_ID = {action.id: action for action in ACTIONS}

_KEY_WORDS = {
    "question_mark": "?",
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def action(action_id: str) -> Action:
    """Return the action with this id, or raise `KeyError`."""
    return _BY_ID[action_id]


def of_context(context: Context) -> tuple[Action, ...]:
    """Return the actions whose keys work in `context`, in the order of the table."""
    return tuple(found for found in ACTIONS if found.context is context)


def key_words(keys: str) -> str:
    """Return keys as a person reads them: "f1,question_mark" is "f1, ?"."""
    return ", ".join(
        "+".join(_KEY_WORDS.get(part, part) for part in key.strip().split("+")) for key in keys.split(",")
    )


def first_key(keys: str) -> str:
    """Return the first of several keys as a person reads it."""
    return key_words(keys.split(",", 1)[0])
