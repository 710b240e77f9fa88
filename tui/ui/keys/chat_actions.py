"""What a person can do with conversations, messages and models: a part of the table of actions. Pure."""

from tui.ui.keys.action import Action, Context

_C = Context


def _sessions(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    return Action(id, keys, _C.SESSIONS, label, help, footer, run=f"screen.{id.replace('.', '_')}")


def _models(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    return Action(id, keys, _C.MODELS, label, help, footer, run=f"screen.{id.replace('.', '_')}")


def _result(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    return Action(id, keys, _C.RESULT, label, help, footer, run=f"screen.{id.replace('.', '_')}")


CHAT_ACTIONS: tuple[Action, ...] = (
    # ---- everywhere ----
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
    _models("model.leave", "escape", "back", "Empty the search; leave the list", 3),
    # ---- what a call gave ----
    _result("result.save", "w", "save as", "Write the marked part to a file", 1),
    _result("result.open", "o", "open", "Open the marked part with the system's program", 2),
    _result("result.copy", "c", "copy", "Copy the marked part, if it is text", 3),
    _result("result.leave", "escape,q", "back", "Leave the result", 4),
)
