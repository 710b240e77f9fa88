"""Determines which actions are available now: what the footer shows, and why a key does nothing. Pure."""

from dataclasses import dataclass

from tui.ui.keys.action_table import ACTIONS, Action, Context
from tui.ui.keys.footer import Entry
from tui.ui.keys.key_overrides import KeyOverrides, first_key

WITHOUT_SERVERS = frozenset({"servers.add", "config.edit", "config.reload", "rules.open"})
"""Actions of the servers pane that need no server."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The state that determines which actions are available.

    Attributes:
        focus: the context of the focused pane.
        asking: whether a tool call is waiting for approval.
        running: whether a turn is running.
        can_continue: whether the last turn ended at a limit.
        servers: whether there are servers.
        changed: whether tools of a server have changed since they were accepted.
        held: whether a message is queued.
        said: whether the conversation has messages.
        branched: whether the conversation is a branch.
        summarized: whether the model gets a summary instead of older messages.
    """

    focus: Context
    asking: bool = False
    running: bool = False
    can_continue: bool = False
    servers: bool = True
    changed: bool = False
    held: bool = False
    said: bool = True
    branched: bool = False
    summarized: bool = False


NEED_RUNTIME = frozenset(
    {
        *("chat.new", "chat.sessions", "chat.models", "chat.system"),
        *("traffic.open", "traffic.tail", "traffic.of_call"),
    }
)
"""Actions that need what the app loads after its panes."""


def waits_for_loading(found: Action | None, *, has_panes: bool) -> bool:
    """Return whether an action's key waits while the app loads; `has_panes`: the panes are loaded."""
    if found is None or found.id in ("chat.cancel", "focus.composer"):
        return False
    return not has_panes or found.id in NEED_RUNTIME


BETWEEN_TURNS = frozenset(
    f"chat.{name}"
    for name in ("new", "continue", "parent", "uncompact", "retry", "rewrite", "compare", "branch")
)
"""Actions that change what a running turn depends on."""

A_TURN_RUNS = "a turn is running"


def possible(found: Action, now: Situation) -> bool:
    """Return whether an action is available in this situation, regardless of the focus."""
    return not why_not(found, now)


def why_not(found: Action, now: Situation) -> str:
    """Return why an action is unavailable in this situation, in a few words, or ""."""
    does, why = True, ""
    match found.id:
        case "chat.cancel" | "chat.cancel_call" | "composer.steer":
            does, why = now.running, "no turn is running"
        case "chat.continue":
            does, why = now.can_continue, "the last turn did not end at a limit"
        case "composer.take_back" | "composer.drop":
            does, why = now.held, "no message is queued"
        case "chat.parent":
            does, why = now.branched, "this conversation is not a branch"
        case "chat.uncompact":
            does, why = now.summarized, "nothing is summarized"
        case (
            "chat.retry"
            | "chat.rewrite"
            | "chat.compare"
            | "chat.branch"
            | "chat.copy"
            | "chat.result"
            | "chat.export"
            | "chat.expand"
        ):
            does, why = now.said, "the conversation is empty"
        case "servers.changes" if now.servers:
            does, why = now.changed, "no tools have changed since you accepted them"
        case _ if found.context is Context.SERVERS and found.id not in WITHOUT_SERVERS:
            does, why = now.servers, "there are no servers"
        case _ if found.context is Context.QUESTION:
            does, why = now.asking, "no tool call is waiting for approval"
    if not does:
        return why
    return A_TURN_RUNS if now.running and found.id in BETWEEN_TURNS else ""


def unavailable(found: Action, now: Situation, stop_key: str) -> str:
    """Return the message for a key of this action if it is unavailable now, or ""."""
    why = why_not(found, now)
    if not why:
        return ""
    next_step = f" Press {stop_key} to stop it." if why == A_TURN_RUNS else ""
    what = found.help.partition(",")[0]
    return f"Cannot {what[:1].lower()}{what[1:]}: {why}.{next_step}"


def works(found: Action, now: Situation) -> bool:
    """Return whether a key of this action works in this situation."""
    if not possible(found, now):
        return False
    if found.context is Context.QUESTION:
        return now.focus is Context.CONVERSATION
    return found.context in (Context.ANYWHERE, now.focus) or bool(found.anywhere)


_FAR = 40
"""Added to the rank of keys of panes without the focus."""

_TRACE_FIRST = ("traffic.of_call",)
"""First keys in the footer of the trace, which has no keys of its own."""


def in_footer(now: Situation, overrides: KeyOverrides) -> list[Entry]:
    """Return the entries of the footer, the most useful first."""
    shown: list[tuple[int, str, str, Action]] = []
    answers = now.asking and now.focus is Context.CONVERSATION  # its keys are at the question
    for found in ACTIONS:
        to_input = answers and found.id == "focus.composer"
        if not (found.footer or to_input) or not works(found, now) or _is_current(found, now):
            continue
        if answers and found.context is Context.CONVERSATION:
            continue
        here = found.context in (Context.ANYWHERE, now.focus)
        key = first_key(overrides.keys_of(found) if here else found.anywhere)
        rank, label = (found.footer if here else found.footer + _FAR), found.label
        if now.asking and found.id == "focus.conversation":
            rank, label = 0, "answer"
        if to_input:
            rank = 3
        if now.focus is Context.TRACE and found.id in _TRACE_FIRST:
            rank = 1
        if now.running and found.id == "composer.send":
            label = "queue"
        shown.append((rank, key, label, found))
    shown.sort(key=lambda entry: entry[0])
    return [(key, label, found) for _, key, label, found in shown]


def _is_current(found: Action, now: Situation) -> bool:
    """Return whether the action leads to the pane that already has the focus."""
    there = {
        "focus.conversation": Context.CONVERSATION,
        "focus.servers": Context.SERVERS,
        "focus.trace": Context.TRACE,
        "focus.composer": Context.COMPOSER,
    }
    return there.get(found.id) is now.focus
