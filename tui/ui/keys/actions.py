"""One table of everything a person can do: id, keys, where it works, its words.

The bindings of app and panes, the footer, the help screen, the palette and `[ui.keys]` all read it.
Pure: no screen is touched here. An action `servers.toggle` is the method `action_servers_toggle` of
the app, unless `run` names another one.
"""

from dataclasses import dataclass
from typing import Protocol

from tui.ui.keys.action import OF_SCREENS as OF_SCREENS
from tui.ui.keys.action import Action as Action
from tui.ui.keys.action import Context as Context
from tui.ui.keys.chat_actions import CHAT_ACTIONS
from tui.ui.keys.traffic_actions import TRAFFIC_ACTIONS
from tui.ui.keys.workbench_actions import WORKBENCH_ACTIONS
from tui.ui.keys.writing_actions import WRITING_ACTIONS

_C = Context

ACTIONS: tuple[Action, ...] = (
    # ---- a question ----
    Action("question.once", "y", _C.QUESTION, "once", "Allow this call", 1),
    Action("question.session", "t", _C.QUESTION, "this session", "Allow this tool until mcptui ends", 2),
    Action("question.always", "a", _C.QUESTION, "always", "Always allow this tool as it is now", 3),
    Action("question.no", "n", _C.QUESTION, "no", "Refuse this call", 4),
    Action("question.why", "e", _C.QUESTION, "no, because…", "Refuse and tell the model why", 5),
    # ---- the chat ----
    Action(
        "chat.cancel",
        "escape",
        _C.ANYWHERE,
        "stop",
        "Stop the turn, or go back to the message",
        6,
    ),
    Action("chat.continue", "ctrl+g", _C.ANYWHERE, "go on", "After a limit: go on with fresh ones", 7),
    Action("chat.new", "ctrl+n", _C.ANYWHERE, "new chat", "Begin a new conversation", 70),
    Action(
        "chat.expand",
        "enter",
        _C.CONVERSATION,
        "unfold",
        "Unfold or fold what is marked",
        20,
        run="choose",
        palette=False,
    ),
    # ---- servers ----
    Action("servers.open", "enter", _C.SERVERS, "work with it", "Work with the selected server by hand", 14),
    Action("servers.toggle", "s", _C.SERVERS, "start/stop", "Start or stop the selected server", 15),
    Action("servers.restart", "r", _C.SERVERS, "restart", "Restart the selected server", 16),
    Action(
        "servers.log",
        "l",
        _C.SERVERS,
        "log",
        "Show the stderr of the selected server",
        17,
        anywhere="ctrl+l",
    ),
    # ---- panes ----
    Action("focus.conversation", "f2", _C.ANYWHERE, "conversation", "Go to the conversation", 33),
    Action("focus.servers", "f3", _C.ANYWHERE, "servers", "Go to the servers", 31),
    Action("focus.trace", "f6", _C.ANYWHERE, "trace", "Go to the trace", 32),
    Action("focus.composer", "f5", _C.ANYWHERE, "write", "Go to the message", 0),
    Action(
        "pane.maximise",
        "ctrl+o",
        _C.ANYWHERE,
        "full screen",
        "Give the pane the whole body, and back",
        65,
    ),
    # ---- the app ----
    Action("app.theme", "ctrl+t", _C.ANYWHERE, "theme", "Choose another theme", 75),
    Action(
        "app.palette",
        "ctrl+p",
        _C.ANYWHERE,
        "everything",
        "Find any action by its name",
        20,
        run="command_palette",
        palette=False,
    ),
    Action("app.help", "f1,question_mark", _C.ANYWHERE, "keys", "Show every key", 21),
    Action("app.quit", "ctrl+q", _C.ANYWHERE, "quit", "Stop the servers and leave", 29, priority=True),
    *WRITING_ACTIONS,
    *CHAT_ACTIONS,
    *TRAFFIC_ACTIONS,
    *WORKBENCH_ACTIONS,
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
    """Return the action with this id.

    Raises:
        KeyError: there is none.
    """
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


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which keys do something now.

    Attributes:
        focus: the context of the focused pane.
        asking: a tool call waits for an answer.
        running: a turn runs.
        can_continue: the last turn ended at a limit.
        servers: there is a server to steer.
        held: a message waits to be sent.
        said: something was said in the conversation.
        branched: the conversation is a branch of another one.
        summarised: the model is told a summary in place of older messages.
    """

    focus: Context
    asking: bool = False
    running: bool = False
    can_continue: bool = False
    servers: bool = True
    held: bool = False
    said: bool = True
    branched: bool = False
    summarised: bool = False


BETWEEN_TURNS = frozenset(
    f"chat.{name}"
    for name in ("new", "continue", "parent", "uncompact", "retry", "rewrite", "compare", "branch")
)
"""Actions that change what a running turn goes on with."""

A_TURN_RUNS = "a turn is running"


def possible(found: Action, now: Situation) -> bool:
    """Return whether this action does something in this situation, wherever the focus is."""
    return not why_not(found, now)


def why_not(found: Action, now: Situation) -> str:
    """Return in a few words why this action does nothing in this situation; "" if it does something."""
    does, why = True, ""
    match found.id:
        case "chat.cancel" | "composer.steer":
            does, why = now.running, "no turn is running"
        case "chat.continue":
            does, why = now.can_continue, "no turn has ended at a limit"
        case "composer.take_back" | "composer.drop":
            does, why = now.held, "no message is queued"
        case "chat.parent":
            does, why = now.branched, "this conversation is not a branch"
        case "chat.uncompact":
            does, why = now.summarised, "nothing is summarised"
        case (
            "chat.retry"
            | "chat.rewrite"
            | "chat.compare"
            | "chat.branch"
            | "chat.copy"
            | "chat.result"
            | "chat.export"
        ):
            does, why = now.said, "nothing was said yet"
        case "servers.open" | "servers.toggle" | "servers.restart" | "servers.log":
            does, why = now.servers, "there are no servers"
        case _ if found.context is Context.QUESTION:
            does, why = now.asking, "no tool call is waiting for approval"
    if not does:
        return why
    return A_TURN_RUNS if now.running and found.id in BETWEEN_TURNS else ""


def unavailable(found: Action, now: Situation, stop_key: str) -> str:
    """Return the message for a key of this action that does nothing now; "" if it does something."""
    why = why_not(found, now)
    if not why:
        return ""
    next_step = f" Press {stop_key} to stop it." if why == A_TURN_RUNS else ""
    return f"{found.label[:1].upper()}{found.label[1:]} is not available: {why}.{next_step}"


def works(found: Action, now: Situation) -> bool:
    """Return whether a key of this action does something in this situation."""
    if not possible(found, now):
        return False
    if found.context is Context.QUESTION:
        return now.focus is Context.CONVERSATION
    return found.context in (Context.ANYWHERE, now.focus) or bool(found.anywhere)


_FAR = 9
"""So much less useful is a key of a pane that has not the focus."""


class KeysOf(Protocol):
    """The keys in force; `key_overrides.KeyOverrides` is the real thing."""

    def keys_of(self, found: Action) -> str:
        """Return the keys of an action in its context, separated by commas."""
        ...

    def anywhere_of(self, found: Action) -> str:
        """Return the keys of an action that work everywhere, separated by commas."""
        ...


def in_footer(now: Situation, overrides: KeysOf) -> list[tuple[str, str, Action]]:
    """Return what the footer shows now as (key, label, action), the most useful first."""
    shown: list[tuple[int, str, str, Action]] = []
    for found in ACTIONS:
        if not found.footer or not works(found, now) or _is_there(found, now):
            continue
        here = found.context in (Context.ANYWHERE, now.focus) or found.context is Context.QUESTION
        key = first_key(overrides.keys_of(found) if here else overrides.anywhere_of(found))
        rank, label = (found.footer if here else found.footer + _FAR), found.label
        if now.asking and found.id == "focus.conversation":
            rank, label = 1, "answer"
        if now.running and found.id == "composer.send":
            label = "send after"
        shown.append((rank, key, label, found))
    shown.sort(key=lambda entry: entry[0])
    return [(key, label, found) for _, key, label, found in shown]


def _is_there(found: Action, now: Situation) -> bool:
    """Whether the action leads to the pane that has the focus already."""
    there = {
        "focus.conversation": Context.CONVERSATION,
        "focus.servers": Context.SERVERS,
        "focus.trace": Context.TRACE,
        "focus.composer": Context.COMPOSER,
    }
    return there.get(found.id) is now.focus
