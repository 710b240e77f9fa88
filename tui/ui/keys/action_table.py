"""The table of all actions: id, keys, context, texts, method, and when it is available. Pure.

The bindings of app and panes, the footer, the help, the palette, slash commands and `[ui.keys]` all use it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from tui.core.addons import every


class Context(StrEnum):
    """Where an action's keys work. The value is the heading of its group in the help."""

    ANYWHERE = "Anywhere"
    COMPOSER = "Input"
    CONVERSATION = "Conversation"
    QUESTION = "Tool approval"
    SERVERS = "Servers"
    TRACE = "Trace"
    TRAFFIC = "Traffic screen"
    ENTRY = "Traffic entry"
    STATISTICS = "Traffic statistics"
    WATERFALL = "Traffic waterfall"
    COMPARISON = "Traffic comparison"
    TRAY = "Held messages"
    WORKBENCH = "Workbench"
    BENCH_LIST = "Workbench lists and results"
    BENCH_FORM = "Forms"
    LOG = "Server log"
    SESSIONS = "Sessions"
    MODELS = "Models"
    RULES = "Rules"
    SERVER_QUESTION = "Server request"
    RESULT = "Tool result"
    TESTS = "Tests"
    REVIEW = "Test review"
    DOCTOR = "Doctor"
    SKILLS = "Skills"
    EVENTS = "Events"


_C = Context
MAIN = (_C.COMPOSER, _C.ANYWHERE, _C.CONVERSATION, _C.QUESTION, _C.SERVERS, _C.TRACE)
"""The contexts of the main screen, the most frequently used first."""

OF_SCREENS = tuple(context for context in Context if context not in MAIN)
"""Contexts whose actions only work while their screen is on top."""

EVERY = (*MAIN, *OF_SCREENS)
"""All contexts, the main screen's first."""

OF_TRAFFIC = (_C.TRAFFIC, _C.ENTRY, _C.STATISTICS, _C.WATERFALL, _C.COMPARISON, _C.TRAY)
"""The contexts of the traffic screen and of the screens that it opens."""

_OF_LISTS = (_C.SESSIONS, _C.MODELS, _C.RULES)  # their actions are Textual actions of their screen

_OF_FIELDS = (Context.COMPOSER, Context.BENCH_FORM)
"""Contexts whose actions without `call` are Textual actions of the focused pane."""

OPENERS = {
    Context.TRAFFIC: "traffic.open",
    Context.ENTRY: "traffic.open",
    Context.WORKBENCH: "servers.open",
    Context.BENCH_LIST: "servers.open",
    Context.LOG: "servers.log",
    Context.SESSIONS: "chat.sessions",
    Context.MODELS: "chat.models",
    Context.RULES: "rules.open",
    Context.RESULT: "chat.result",
    Context.TESTS: "tests.open",
    Context.DOCTOR: "servers.doctor",
    Context.EVENTS: "events.open",
}
"""The actions that open the screens of `OF_SCREENS`, if a key opens them."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the user can do.

    Attributes:
        context: where `keys` work.
        id: its name in `[ui.keys]`.
        keys: its default keys, separated by commas, by Textual's names.
        label: the word in the footer.
        help: the sentence in the help and in the palette.
        footer: rank in the footer. Smaller ranks stay longer if it is narrow; 0 is never shown.
        call: the method with its arguments, by its path from `ChatParts` or from the screen of the action. By
            default, the method of that screen with the name of the action. Of an add-on it is a function,
            `package.module:name`, which gets `ChatParts` or the screen.
        when: the path of the method that returns why the action is unavailable, or "".
        anywhere: keys that also work outside `context`.
        run: the Textual action, for actions of the app, of a list or of the focused pane.
        priority: whether the app handles the key before the focused pane.
        palette: whether the palette offers it.
    """

    context: Context
    id: str
    keys: str
    label: str
    help: str
    footer: int = 0
    call: str = ""
    when: str = ""
    anywhere: str = ""
    run: str = ""
    priority: bool = False
    palette: bool = True

    @property
    def method(self) -> str:
        """The Textual action that this action's keys run."""
        if self.context in _OF_LISTS:
            return f"screen.{self.id.replace('.', '_')}"
        if self.context in _OF_FIELDS and not (self.call or self.run):
            return self.id.removeprefix("composer.").replace(".", "_")
        return self.run or f"{'screen' if self.context in OF_SCREENS else 'app'}.act('{self.id}')"

    @property
    def place(self) -> str:
        """The method that this action calls, with its arguments."""
        return self.call or f"{self.id.partition('.')[2]}()"


SEND_KEYS = "ctrl+s,ctrl+enter"
"""Keys that send, call, save and confirm in every form and dialog, and send in the composer."""

NEWLINE_KEYS = "shift+enter,ctrl+j,alt+enter"
"""Keys that insert a newline where enter does something else."""

_sessions = partial(Action, Context.SESSIONS)
_models = partial(Action, Context.MODELS)
_rules = partial(Action, Context.RULES)
_ask = partial(Action, Context.SERVER_QUESTION)
_result = partial(Action, Context.RESULT)
_traffic = partial(Action, Context.TRAFFIC)
_entry = partial(Action, Context.ENTRY, palette=False)
_statistics = partial(Action, Context.STATISTICS)
_waterfall = partial(Action, Context.WATERFALL)
_comparison = partial(Action, Context.COMPARISON)
_bench = partial(Action, Context.WORKBENCH)
_of_bench = partial(Action, Context.BENCH_LIST)
_log = partial(Action, Context.LOG)
_form = partial(Action, Context.BENCH_FORM, palette=False)
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
    """Yield the actions that add-ons bring: one for each context, with the same id."""
    for name, found in every("action"):
        texts = {key: value for key, value in found.items() if key != "contexts"}
        for context in found["contexts"]:
            yield Action(Context[context], name, **texts)


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
    _composer("composer.newline", NEWLINE_KEYS, "newline", "Insert a newline", 60),
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
    _to_composer("composer.history", "ctrl+r", "search history", "Search the input history", 61,
        call="outbox.search_history"),
    _to_composer("composer.editor", "ctrl+f", "editor", "Edit the message in $EDITOR", 62, "editor.open"),
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
    _sessions("session.leave", "escape", "back", "Clear the search, or close the list", 2),
    # ---- models ----
    _models("model.take", "enter", "select", "Switch to this model", 1),
    _models("model.offered", "tab", "all models", "List all models of the endpoint, or go back", 4),
    _models("model.leave", "escape", "back", "Clear the search, or close the list", 2),
    _models("model.add", "ctrl+n", "add", "Add a model", 5),
    _models("model.key", "ctrl+k", "key", "Paste an API key for the profile", 6),
    _models("model.forget", "ctrl+d", "forget learned", "Forget what was learned about the endpoint", 3),
    # ---- rules ----
    _rules("rule.edit", "enter", "edit", "Edit the rule", 1),
    _rules("rule.add", "ctrl+n", "add", "Add a rule", 3),
    _rules("rule.remove", "ctrl+d", "remove", "Remove the rule, or revoke the approval", 4),
    _rules("rule.recent", "tab", "recent call", "Try the rules on a recent call of the conversation", 5),
    _rules("rule.leave", "escape", "back", "Clear the text, or close the rules", 2),
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
    # ---- list of traffic ----
    _traffic("traffic.read", "enter", "open", "Open the entry", 1, "entry.open()"),
    _traffic("traffic.back", "escape,q", "back", "Close the entry, clear the filter, or go back", 2),
    _traffic("traffic.filter", "slash", "filter", "Filter the list", 3, "edit_filter()"),
    _traffic("traffic.filters", "f", "saved filters", "Load or save a filter", 14,
        "active_filter.choose_filter()"),
    _traffic("traffic.search", "ctrl+f", "search", "Search in the list and in message bodies", 7,
        "active_filter.ask_search()"),
    _traffic("traffic.next", "n", "next match", "Next match", 15, "active_filter.go(1)"),
    _traffic("traffic.previous", "N", "previous match", "Previous match", 0, "active_filter.go(-1)"),
    _traffic("traffic.pair", "p", "pair", "Go to the response, or to the request", 4, "list.go_to_partner()"),
    _traffic("traffic.first", "B", "origin", "Go to the first request of the call", 11, "list.go_to_first()"),
    _traffic("traffic.mark", "m", "mark", "Mark or unmark the entry", 10, "list.toggle_mark()"),
    _traffic("traffic.next_marked", "right_curly_bracket", "next marked",
        "Next marked entry, such as a failed test", 16, "list.go_to_marked(1)"),
    _traffic("traffic.previous_marked", "left_curly_bracket", "previous marked", "Previous marked entry", 0,
        "list.go_to_marked(-1)"),
    _traffic("traffic.note", "M", "note", "Add a note to the entry", 12, "edit_note()"),
    _traffic("traffic.time", "t", "time", "Show clock times, times since the start, or deltas", 12,
        "next_time_format()"),
    _traffic("traffic.setup", "h", "fold setup", "Fold handshakes and lists to one line per server", 10,
        "active_filter.arrange('')"),
    _traffic("traffic.sort_time", "1", "by time", "Sort by time, newest first. Again: oldest first",
        0, "active_filter.arrange('time')"),
    *(
        _traffic(f"traffic.sort_{one}", str(number), f"by {one}",
            f"Sort by {one}. Again: reverse, then by time", 0, f"active_filter.arrange('{one}')")
        for number, one in enumerate(("server", "kind", "method", "size", "latency"), 2)
    ),
    _traffic("traffic.follow", "F,end,G", "follow", "Go to the newest and follow", 11, "list.go_to_end()"),
    _traffic("traffic.copy", "c", "copy as…", "Copy as a command, a script, JSON…", 5, "entry.copy_row()"),
    _traffic("traffic.resend", "R", "resend", "Resend the request unchanged", 8, "resender.resend()"),
    _traffic("traffic.form", "E", "edit as form", "Edit the arguments in the workbench form",
        0, "resender.open_form()"),
    _traffic("traffic.edit", "e", "edit and resend", "Edit the params as JSON and resend", 9,
        "resender.edit()"),
    _traffic("traffic.compare", "d", "compare", "Mark an entry, then compare another one with it", 12,
        "compare()"),
    _traffic("traffic.export", "x", "export", "Export entries as JSON Lines, Markdown, HTML or HAR", 12,
        "exporter.ask()"),
    _traffic("traffic.turn", "g", "turn", "Go to the turn of this entry", 6, "go_to_turn()"),
    _traffic("traffic.stats", "S", "statistics", "Show statistics of each server and tool", 13,
        "show_statistics()"),
    _traffic("traffic.waterfall", "w", "waterfall", "Show the entry's turn as a waterfall", 13,
        "show_waterfall()"),
    # ---- entry ----
    _entry("entry.close", "escape,q", "close", "Close the entry", 2, "entry.close()"),
    _entry("entry.fold", "enter,space", "fold", "Expand or collapse the selected value", 1,
        "entry.page.action_choose()"),
    _entry("entry.fold_all", "a", "collapse all", "Expand or collapse all", 12, "entry.fold_all()"),
    _entry("entry.next_tab", "right,l", "next tab",
        "Next view: tree, pair, raw, timing, explanation, findings", 3, "entry.step_tab(1)"),
    _entry("entry.last_tab", "left,h", "previous tab", "Previous view", 0, "entry.step_tab(-1)"),
    _entry("entry.search", "slash,ctrl+f", "search", "Search in this entry", 4, "entry.ask_search()"),
    _entry("entry.next", "n", "next match", "Next match", 13, "entry.go(1)"),
    _entry("entry.previous", "N", "previous match", "Previous match", 0, "entry.go(-1)"),
    _entry("entry.copy_value", "y", "copy value", "Copy the selected value", 6,
        "entry.page.copy_value('entry.save')"),
    _entry("entry.copy_path", "Y", "copy path", "Copy the path of the value", 7, "entry.copy_path()"),
    _entry("entry.copy", "c", "copy as…", "Copy as a command, a script, JSON…", 5, "entry.copy()"),
    _entry("entry.save", "w", "save", "Save the image or the body to a file", 11, "entry.save()"),
    _entry("entry.older", "left_square_bracket", "previous", "Previous entry", 9, "list.action_row_up()"),
    _entry("entry.newer", "right_square_bracket", "next entry", "Next entry", 8, "list.action_row_down()"),
    _entry("entry.pair", "p", "pair", "Show the response, or the request", 10, "list.go_to_partner()"),
    _entry("entry.maximize", "z", "maximize", "Maximize or restore the entry", 10, "entry.toggle_whole()"),
    # ---- statistics, waterfall, comparison ----
    _statistics("statistics.read", "enter", "show its entries", "Show the entries of the selected line", 1,
        "body.action_choose()"),
    _statistics("statistics.back", "escape,q", "back", "Close the statistics", 2, "action_back()"),
    _statistics("statistics.setup", "h", "handshakes and lists", "Show or hide handshakes and lists", 3,
        "toggle_setup()"),
    _waterfall("waterfall.read", "enter", "show its entries", "Show the entries of the selected bar", 1,
        "body.action_choose()"),
    _waterfall("waterfall.back", "escape,q", "back", "Close the waterfall", 2, "action_back()"),
    _waterfall("waterfall.previous", "left,h", "previous turn", "Show the previous turn", 3, "turn(-1)"),
    _waterfall("waterfall.next", "right,l", "next turn", "Show the next turn", 4, "turn(1)"),
    _comparison("comparison.calls", "tab,left,right,h,l", "calls",
        "Compare the two entries, or their whole calls", 1, "toggle_calls()"),
    _comparison("comparison.all", "a", "all differences", "Show or hide expected differences", 2,
        "toggle_all()"),
    _comparison("comparison.copy", "c", "copy", "Copy the differences", 3),
    _comparison("comparison.back", "escape,q,d", "back", "Close the comparison", 4, "action_back()"),
    # ---- whole workbench ----
    _bench("bench.call", SEND_KEYS, "call", "Call the tool, read the resource or get the prompt", 1,
        "", "why_no_item"),
    _bench("bench.back", "escape", "back", "Stop the call, leave the form, or go back", 2),
    _bench("bench.raw", "ctrl+e", "JSON", "Edit the arguments as JSON, or as a form", 4,
        "bench.toggle_raw()", "why_no_item"),
    _bench("bench.saved", "ctrl+k", "saved arguments", "Save or load arguments", 10,
        "bench.choose_saved()", "why_no_item"),
    _bench("bench.call_traffic", "f4", "traffic", "Show the traffic of this call or server", 5,
        "show_call_traffic()"),
    _bench("bench.hand", "f5", "to input", "Insert the result into the input", 6,
        "bench.result.put_into_message()", "why_no_bench"),
    _bench("bench.next_tab", "ctrl+pagedown", "next tab", "Next tab", 0, "step_tab(1)"),
    _bench("bench.last_tab", "ctrl+pageup", "previous tab", "Previous tab", 0, "step_tab(-1)"),
    # ---- lists and results ----
    _of_bench("bench.open", "enter", "open", "Open the form, load the arguments of a call, or expand", 1,
        "", "why_no_row"),
    _of_bench("bench.filter", "slash", "filter", "Filter the list", 3, "", "why_no_list"),
    _of_bench("bench.next", "n", "next match", "Next match", 0, "find(1)", "why_no_search"),
    _of_bench("bench.previous", "N", "previous match", "Previous match", 0, "find(-1)", "why_no_search"),
    _of_bench("bench.right", "right,l", "next tab", "Next tab", 6, "step_tab(1)"),
    _of_bench("bench.left", "left,h", "previous tab", "Previous tab", 0, "step_tab(-1)"),
    _of_bench("bench.overview", "1", "overview", "Show the overview", 0, "show_tab('overview')"),
    _of_bench("bench.tools", "2", "tools", "Show the tools", 0, "show_tab('tools')"),
    _of_bench("bench.resources", "3", "resources", "Show the resources", 0, "show_tab('resources')"),
    _of_bench("bench.prompts", "4", "prompts", "Show the prompts", 0, "show_tab('prompts')"),
    _of_bench("bench.log", "5", "log", "Show the log", 0, "show_tab('log')"),
    _of_bench("bench.traffic", "6", "traffic", "Show the traffic of the server", 0, "show_tab('traffic')"),
    _of_bench("bench.diff", "d", "compare", "Compare with the previous or marked result", 8,
        "bench.result.toggle_difference()", "why_no_call"),
    _of_bench("bench.schema", "J", "schema", "Show the schema of the tool, or the result again",
        0, "bench.toggle_schema()", "why_no_item"),
    _of_bench("bench.mark", "m", "mark", "Mark the call to compare", 12, "bench.calls.mark()", "why_no_call"),
    _of_bench("bench.attach", "a", "attach", "Attach the resource or link to the next message", 4,
        "bench.attach()", "why_no_bench"),
    _of_bench("bench.subscribe", "u", "subscribe",
        "Subscribe, and read the resource again when it changes", 8, "bench.subscribe()", "why_no_bench"),
    _of_bench("bench.send", "A", "send", "Send the prompt to the model", 4,
        "bench.result.send_prompt()", "why_no_bench"),
    _of_bench("bench.offer", "o", "on/off", "Turn the tool on or off for the model, or review it", 8,
        "bench.offer()", "why_no_tool"),
    _of_bench("bench.instructions", "i", "instructions",
        "Turn the server's instructions on or off for the model", 0, "shared.toggle('instructions')"),
    _of_bench("bench.level", "v", "level", "Set the log level of the server", 7, "shared.choose_level()"),
    _of_bench("bench.roots", "t", "roots", "Edit the roots of the server", 0, "shared.edit_roots()"),
    _of_bench("bench.read_resources", "X", "resources", "Let the model read resources, or stop it",
        0, "shared.toggle('offer_resources')"),
    _of_bench("bench.trust", "T", "trust", "Trust the server, or stop trusting it",
        0, "shared.toggle_trust()"),
    _of_bench("bench.sampling", "e", "sampling", "Set sampling: never, ask or allow",
        0, "shared.choose_sampling()"),
    _of_bench("bench.extension", "V", "extensions", "Turn an extension on or off", 0, "switches.choose()"),
    _of_bench("bench.offer_all", "O", "all on/off", "Turn all tools on or off for the model",
        0, "shared.toggle_tools()", "why_no_tool"),
    _of_bench("bench.copy", "y", "copy", "Copy the selected value", 11, "", "why_nothing_to_copy"),
    _of_bench("bench.copy_as", "c", "copy as…", "Copy the call or item as a command, a script or a test", 12,
        "bench.copy_as()", "why_no_item"),
    _of_bench("bench.copy_all", "Y", "copy all", "Copy the result as JSON",
        0, "bench.result.copy_all()", "why_no_result"),
    _of_bench("bench.save", "w", "save", "Save the image, text or result to a file", 11,
        "bench.result.save()", "why_no_result"),
    _of_bench("bench.maximize", "z", "maximize", "Maximize or restore the result", 13,
        "bench.maximize()", "why_no_bench"),
    _of_bench("bench.toggle", "s", "start/stop", "Start or stop the server", 7),
    _of_bench("bench.restart", "r", "restart", "Restart the server", 16),
    _of_bench("bench.reload", "R", "reload", "Reload the lists of the server", 17, "offers.reload()"),
    _of_bench("bench.leave", "q", "back", "Close the workbench"),
    # ---- server log ----
    _log("log.back", "escape", "back", "Close the search or the log", 1),
    _log("log.search", "slash", "search", "Search in the log", 2),
    _log("log.toggle", "s", "start/stop", "Start or stop the server", 6),
    _log("log.restart", "r", "restart", "Restart the server", 7),
    _log("log.copy", "c", "copy", "Copy the log", 5),
    _log("log.next", "n", "next match", "Next match", 3, "find(1)"),
    _log("log.previous", "N", "previous match", "Previous match", 0, "find(-1)"),
    _log("log.wrap", "w", "wrap", "Wrap or truncate long lines", 4, "lines.toggle_wrap()"),
    _log("log.leave", "q", "back", "Close the log", 0, "back()"),
    # ---- forms ----
    _form("form.choose", "enter", "next", "Next field, or a list of choices", 3),
    _form("form.next", "tab,down", "next", "Next field", 0),
    _form("form.previous", "shift+tab,up", "previous", "Previous field", 0),
    _form("form.add", "ctrl+n", "add", "Add an item or an optional field", 8),
    _form("form.remove", "ctrl+d", "remove", "Remove the item, or clear the field", 9),
    _form("form.cycle", "ctrl+a", "next choice", "Next choice, or null and back", 11),
    # ---- add-ons ----
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
