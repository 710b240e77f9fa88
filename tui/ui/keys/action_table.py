"""The table of all actions.

The bindings of app and panes, the footer, the help, the palette, slash commands and `[ui.keys]` all use it.
"""

from collections.abc import Iterator
from functools import partial

from tui.core.addons import every
from tui.ui.keys.actions import EVERY as EVERY
from tui.ui.keys.actions import MAIN as MAIN
from tui.ui.keys.actions import NEWLINE_KEYS as NEWLINE_KEYS
from tui.ui.keys.actions import OF_SCREENS as OF_SCREENS
from tui.ui.keys.actions import OF_TRAFFIC as OF_TRAFFIC
from tui.ui.keys.actions import OPENERS as OPENERS
from tui.ui.keys.actions import SEND_KEYS as SEND_KEYS
from tui.ui.keys.actions import Action as Action
from tui.ui.keys.actions import Context as Context
from tui.ui.keys.screen_actions import SCREEN_ACTIONS

_C = Context
_sessions = partial(Action, Context.SESSIONS)
_models = partial(Action, Context.MODELS)
_rules = partial(Action, Context.RULES)
_ask = partial(Action, Context.SERVER_QUESTION)
_result = partial(Action, Context.RESULT)
_composer = partial(Action, Context.COMPOSER, palette=False)
_to_composer = partial(Action, Context.COMPOSER)
_chat = partial(Action, Context.ANYWHERE)
_pane = partial(Action, Context.SERVERS)
_of_server = partial(Action, Context.SERVERS, when="editing.why_none")
_on_message = partial(Action, Context.CONVERSATION, when="current.why_none")
"""An action on the selected message, or on the last one."""
_compared = partial(Action, Context.CONVERSATION, when="current.why_not_compared")
_answer = partial(Action, Context.QUESTION, when="approvals.why_none")


def _of_addons() -> Iterator[Action]:
    """Yield the actions that add-ons bring: one for each context, with the same id.

    A row has the names of the contexts, separated by commas, then what an `Action` has after its id.
    """
    for name, (contexts, *more) in every("action"):
        for context in contexts.split(","):
            yield Action(Context[context], name, *more)


# fmt: off
ACTIONS: tuple[Action, ...] = (
    # ---- questions ----
    _answer("question.once", "y", "once", "Allow this call once", call="approvals.answer('once')"),
    _answer("question.session", "t", "until quit", "Allow this tool until mcptui quits",
        call="approvals.answer('session')"),
    _answer("question.always", "a", "always", "Always allow this tool until its definition changes",
        call="approvals.answer('always')"),
    _answer("question.no", "n", "deny", "Deny this call", call="approvals.answer('no')"),
    _answer("question.why", "e", "deny with a reason", "Deny this call with a reason",
        call="approvals.refuse_with_reason"),
    _answer("question.rules", "P", "rules", "Show the rules that apply to this call", call="open_rules"),
    # ---- chat ----
    _chat("chat.cancel", "escape", "stop", "Stop the turn, or focus the input", 2, call="outbox.cancel",
        when="turns.why_idle"),
    _chat("chat.continue", "ctrl+g", "continue", "Continue after a limit", 3, call="current.continue_turn",
        when="turns.why_not_continue"),
    _chat("chat.new", "ctrl+n", "new", "New conversation", 36, call="current.start_new_if_free"),
    _compared("compare.left", "1", "use left", "Continue with the left answer", 1, "current.take_left"),
    _compared("compare.right", "2", "use right", "Continue with the right answer", 1, "current.take_right"),
    _compared("compare.scroll", "l", "scroll apart", "Scroll one answer or both", 2, "current.toggle_scroll"),
    _on_message("chat.expand", "enter", "expand", "Expand or collapse the selected block", 1, run="choose",
        palette=False),
    # ---- servers ----
    _of_server("servers.open", "enter", "open", "Open the workbench of the selected server", 1,
        "navigator.open_server"),
    _of_server("servers.toggle", "s", "start/stop", "Start or stop the selected server", 10,
        "editing.start_or_stop"),
    _of_server("servers.restart", "r", "restart", "Restart the selected server", 11, "editing.restart"),
    _pane("servers.add", "a", "add", "Add a server", 13, call="editing.add"),
    _of_server("servers.change", "e", "edit", "Edit the selected server", 14, "editing.change"),
    _of_server("servers.disable", "o", "disable", "Disable or enable the selected server", 15,
        "editing.toggle_disabled"),
    _of_server("servers.remove", "ctrl+d", "remove", "Remove the selected server", 16, "editing.remove"),
    _of_server("servers.trust", "T", "trust", "Trust the selected server, or stop trusting it", 17,
        "editing.toggle_trust"),
    _of_server("servers.log", "l", "log", "Show the log of the selected server", 12, "navigator.open_log",
        anywhere="ctrl+l"),
    _pane("servers.changes", "D", "changes", "Review tools that changed", 9,
        call="editing.review_changes", when="editing.why_unchanged"),
    # ---- configuration ----
    _pane("rules.open", "P", "rules", "Show, edit and try the rules for tool calls", 17,
        call="navigator.open_rules"),
    _pane("config.edit", "E", "edit file", "Edit the configuration in $EDITOR", call="editing.open"),
    _pane("config.reload", "R", "reload", "Reload the configuration from its file", call="editing.reload"),
    # ---- panes ----
    _chat("focus.conversation", "f2", "conversation", "Focus the conversation", 35,
        call="approvals.focus_conversation"),
    _chat("focus.servers", "f3", "servers", "Focus the servers", 31, call="regions.go_to('Servers')"),
    _chat("focus.trace", "f6", "trace", "Focus the trace", 34, call="regions.go_to('Trace')"),
    _chat("focus.composer", "f5", "input", "Focus the input", call="regions.go_to('Input')"),
    _chat("pane.maximize", "ctrl+o", "maximize", "Maximize or restore the pane", 37, call="regions.maximize"),
    # ---- app ----
    _chat("app.theme", "ctrl+t", "theme", "Switch theme", run="app.app_theme"),
    _chat("app.palette", "ctrl+p", "commands", "Search all commands", run="command_palette", palette=False),
    _chat("app.help", "f1,question_mark", "keys", "Show all keys and commands", run="app.app_help"),
    _chat("app.suspend", "ctrl+z", "suspend", "Suspend mcptui, or undo in a text", run="app.app_suspend",
        priority=True),
    _chat("app.quit", "ctrl+q", "quit", "Quit", run="app.app_quit", priority=True),
    # ---- composer ----
    _composer("composer.send", "enter", "send", "Send, or queue while a turn runs", 1),
    _composer("composer.steer", SEND_KEYS, "steer", "Send, or steer the running turn at its next step", 4,
        when="turns.why_idle"),
    _composer("composer.newline", NEWLINE_KEYS, "newline", "Insert a newline", 34),
    _to_composer("composer.page_up", "pageup", "page up", "Scroll the conversation up",
        call="regions.scroll_page(-1)"),
    _to_composer("composer.page_down", "pagedown", "page down", "Scroll the conversation down",
        call="regions.scroll_page(1)"),
    _to_composer("composer.to_start", "ctrl+home", "start", "Scroll the conversation to its start",
        call="regions.scroll_to_end(-1)"),
    _to_composer("composer.to_end", "ctrl+end", "end", "Scroll the conversation to its end",
        call="regions.scroll_to_end(1)"),
    _composer("composer.complete", "tab", "complete", "Accept the suggestion, or focus the next pane"),
    _composer("composer.older", "up", "older", "Previous message, if the cursor is on the first line"),
    _composer("composer.newer", "down", "newer", "Next message, if the cursor is on the last line"),
    _to_composer("composer.history", "ctrl+r", "search history", "Search the input history", 36,
        call="outbox.search_history"),
    _to_composer("composer.editor", "ctrl+f", "editor", "Edit the message in $EDITOR", 39, "editor.open"),
    _to_composer("composer.take_back", "ctrl+up", "edit queued", "Edit the queued message", 5,
        call="outbox.take_back", when="outbox.why_none_held"),
    _composer("composer.drop", "ctrl+x", "discard queued",
        "Discard the queued message, if the input is empty", 6, "outbox.drop", "outbox.why_none_held",
        run="drop"),
    # ---- conversations and models ----
    _chat("chat.sessions", "f9", "sessions", "Open, search or manage sessions", 32, "current.open_sessions"),
    _chat("chat.models", "f10", "model", "Switch model", 33, call="current.open_models"),
    _chat("chat.system", "f12", "system", "Edit the system prompt", call="current.edit_system_text"),
    # ---- messages: the marked one, or the last ----
    _on_message("chat.copy", "c", "copy", "Copy the message, the last reply or a call", 10, "copy"),
    Action(_C.TRACE, "trace.copy", "c", "copy as…", "Copy the call as a command or script", 4, "copy"),
    _on_message("chat.retry", "r", "retry", "Retry the selected question, as a branch", 11, "current.retry",
        when="current.why_not_again"),
    _on_message("chat.rewrite", "w", "edit", "Edit the selected question and ask it again", 12,
        "current.rewrite", when="current.why_not_again"),
    _on_message("chat.compare", "m", "compare models", "Compare with another model", 14, "current.compare",
        when="current.why_not_again"),
    _on_message("chat.branch", "b", "branch", "Branch from the selected message", 15, "current.branch",
        when="current.why_not_again"),
    _on_message("chat.parent", "p", "parent", "Return to the parent conversation", 16,
        "current.go_to_parent", when="current.why_no_parent"),
    _on_message("chat.result", "v", "full result", "Show the full tool result", 13, "navigator.open_result"),
    _on_message("chat.uncompact", "u", "undo summary", "Undo the summary, and send all messages again", 17,
        "current.uncompact", when="current.why_not_uncompact"),
    _on_message("chat.cancel_call", "K", "cancel call", "Cancel the selected running call", 9,
        "turns.cancel_call", when="turns.why_idle"),
    _on_message("chat.export", "x", "export", "Export the conversation", 18, "current.export"),
    # ---- sessions ----
    _sessions("session.resume", "enter", "open", "Open the session", 1),
    _sessions("session.branch", "ctrl+b", "branch", "Open a copy of the session", 7),
    _sessions("session.rename", "ctrl+e", "rename", "Rename the session", 4),
    _sessions("session.delete", "ctrl+d", "delete", "Delete the session", 5),
    _sessions("session.undo", "ctrl+z", "undo", "Undo the last deletion", 3),
    _sessions("session.export", "ctrl+s", "export", "Export the session", 6),
    _sessions("session.leave", "escape", "close", "Clear the search, or close the list", 2),
    # ---- models ----
    _models("model.take", "enter", "select", "Switch to this model", 1),
    _models("model.offered", "tab", "all models", "List all models of the endpoint, or go back", 4),
    _models("model.leave", "escape", "close", "Clear the search, or close the list", 2),
    _models("model.add", "ctrl+n", "add", "Add a model", 5),
    _models("model.key", "ctrl+k", "key", "Paste an API key for the profile", 6),
    _models("model.forget", "ctrl+d", "forget learned", "Forget what was learned about the endpoint", 3),
    # ---- rules ----
    _rules("rule.edit", "enter", "edit", "Edit the rule", 1),
    _rules("rule.add", "ctrl+n", "add", "Add a rule", 3),
    _rules("rule.remove", "ctrl+d", "remove", "Remove the rule, or revoke the approval", 4),
    _rules("rule.recent", "tab", "recent call", "Try the rules on a recent call of the conversation", 5),
    _rules("rule.leave", "escape", "close", "Clear the text, or close the rules", 2),
    # ---- questions of servers ----
    _ask("ask.send", SEND_KEYS, "send", "Send the answer, or open the URL", 1),
    _ask("ask.copy", "ctrl+y", "copy URL", "Copy the URL", 4),
    _ask("ask.each", "ctrl+u", "one by one", "Answer for each server separately", 5),
    _ask("ask.lasting", "ctrl+w", "until quit", "Allow it until mcptui quits", 6),
    _ask("ask.decline", "ctrl+x", "decline", "Decline the request", 3),
    _ask("ask.cancel", "escape", "cancel", "Cancel, or answer later", 2),
    # ---- results ----
    _result("result.save", "w", "save", "Save the selected part to a file", 3),
    _result("result.open", "o", "open", "Open the selected part in its default program", 4, "open_part()"),
    _result("result.attach", "a", "attach", "Attach the selected part or link to the next message", 5),
    _result("result.copy", "c", "copy", "Copy the selected part, if it is text", 6,
        "page.copy_value('result.save')"),
    _result("result.leave", "escape,q", "back", "Close the result", 2, "action_back()"),
    # ---- traffic ----
    _chat("traffic.open", "f4", "traffic", "Show the traffic", 30, call="navigator.open_traffic"),
    _chat("traffic.tail", "f7", "tail", "Show or hide the latest traffic", call="navigator.toggle_tail"),
    _chat("traffic.of_call", "f8", "traffic of call", "Show the traffic of a call or turn", 38,
        call="navigator.open_traffic_of_call"),
    # ---- screens of traffic and servers, forms, add-ons ----
    *SCREEN_ACTIONS,
    *_of_addons(),
)
# fmt: on

_YES = ("question.once", "question.session", "question.always", "ask.send", "ask.lasting")
_NO = ("question.no", "question.why", "ask.decline", "ask.cancel")
IS_YES = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
"""The actions that answer questions, and whether their answer is yes."""

_BY_ID = {action.id: action for action in reversed(ACTIONS)}


def action(action_id: str) -> Action:
    """Return the action with this id, of several contexts the first, or raise `KeyError`."""
    return _BY_ID[action_id]


def of_context(context: Context) -> tuple[Action, ...]:
    """Return the actions whose keys work in `context`, in the order of the table."""
    return tuple(found for found in ACTIONS if found.context is context)
