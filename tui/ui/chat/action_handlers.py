"""Runs the actions of the chat screen, and determines which are available."""

from collections.abc import Callable
from functools import partial
from inspect import isawaitable

from tui.traffic.spans.span_values import CallSpan
from tui.ui.chat.composer.editor import EditorSession
from tui.ui.chat.config_changes import ConfigEditing, ServerEditing
from tui.ui.chat.conversation_actions import ConversationActions
from tui.ui.chat.message_actions import MessageActions
from tui.ui.chat.navigation import Navigator, RulesOpening
from tui.ui.chat.outbox import Outbox
from tui.ui.chat.question_queue import ApprovalKeys
from tui.ui.chat.regions import Regions
from tui.ui.chat.status import ChatStatus
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Action, Context, action, of_context
from tui.ui.keys.situation import WITHOUT_SERVERS, possible, unavailable
from tui.ui.widgets.server_rows import why_only_listed

ON_MESSAGE = {found.id: found for found in of_context(Context.CONVERSATION) if not found.run}
"""Actions whose keys are also letters of a message. They wait until the letter cannot start a message."""

EXPLAINED = frozenset({"chat.continue"}) | {
    found.id for found in of_context(Context.SERVERS) if found.id not in WITHOUT_SERVERS
}
"""Actions that say why they are unavailable when their key is pressed."""


class ActionHandlers:
    """Runs the actions of the chat screen by their ids, as in `keys/action_table.py`."""

    def __init__(
        self,
        regions: Regions,
        *,
        approval_keys: ApprovalKeys,
        turns: TurnQueue,
        outbox: Outbox,
        editor: EditorSession,
        current: ConversationActions,
        messages: MessageActions,
        navigator: Navigator,
        editing: ServerEditing,
        configuration: ConfigEditing,
        rules: RulesOpening,
        status: ChatStatus,
        wake: Callable[[], None],
    ) -> None:
        self._regions = regions
        self._approval_keys = approval_keys
        self._approvals = approval_keys.approvals
        self._answer_keys = approval_keys.answer_keys
        self._turns = turns
        self._outbox = outbox
        self._current = current
        self._messages = messages
        self._status = status
        self._wake = wake
        self.handlers: dict[str, Callable[[], object]] = {
            "question.once": lambda: approval_keys.answer("once"),
            "question.session": lambda: approval_keys.answer("session"),
            "question.always": lambda: approval_keys.answer("always"),
            "question.no": lambda: approval_keys.answer("no"),
            "question.why": approval_keys.refuse_with_reason,
            "question.rules": lambda: rules.open(self._approvals.current),
            "rules.open": rules.open,
            "chat.cancel": self._cancel,
            "chat.cancel_call": self._cancel_call,
            "chat.continue": self._continue,
            "chat.new": current.start_new_if_free,
            "chat.sessions": current.open_sessions,
            "chat.models": current.open_models,
            "chat.system": current.edit_system_text,
            "chat.export": current.export,
            "chat.parent": current.go_to_parent,
            "chat.uncompact": current.uncompact,
            "chat.copy": messages.copy,
            "chat.retry": messages.retry,
            "chat.rewrite": messages.rewrite,
            "chat.compare": messages.compare,
            "chat.branch": messages.branch,
            "chat.result": messages.open_result,
            "composer.page_up": lambda: regions.scroll_page(-1),
            "composer.page_down": lambda: regions.scroll_page(1),
            "composer.to_start": lambda: regions.scroll_to_end(-1),
            "composer.to_end": lambda: regions.scroll_to_end(1),
            "composer.history": outbox.search_history,
            "composer.editor": editor.open,
            "composer.take_back": outbox.take_back,
            "servers.open": lambda: self._with_server(navigator.open_server),
            "servers.toggle": lambda: self._steer_server(regions.servers.toggle_selected),
            "servers.restart": lambda: self._steer_server(regions.servers.restart_selected),
            "servers.changes": lambda: self._with_server(navigator.review_changes),
            "servers.add": editing.add,
            "servers.change": editing.change,
            "servers.disable": editing.toggle_disabled,
            "servers.remove": editing.remove,
            "servers.trust": editing.toggle_trust,
            "config.edit": configuration.open,
            "config.reload": configuration.reload,
            "servers.log": lambda: self._with_server(navigator.open_log),
            "traffic.open": navigator.open_traffic,
            "traffic.tail": navigator.toggle_tail,
            "traffic.of_call": lambda: navigator.open_traffic_of_call(messages.question),
            "focus.composer": lambda: regions.go_to(Context.COMPOSER),
            "focus.conversation": approval_keys.focus_conversation,
            "focus.servers": lambda: regions.go_to(Context.SERVERS),
            "focus.trace": lambda: regions.go_to(Context.TRACE),
            "pane.maximize": regions.maximize,
        }

    async def act(self, action_id: str) -> None:
        if action_id in EXPLAINED and self.says_unavailable(action_id):
            return
        if action_id in ON_MESSAGE:
            self._answer_keys.hold(self.handlers[action_id])
            return
        result = self.handlers[action_id]()
        if isawaitable(result):
            await result

    def _with_server(self, open: Callable[[str], None]) -> None:
        if name := self._regions.servers.selected:
            open(name)

    def _steer_server(self, steer: Callable[[], None]) -> None:
        status = self._regions.servers.selected_status
        if status is not None and (why := why_only_listed(status.spec, self._regions.key_of)):
            self._regions.notify(why)
            return
        steer()
        self._wake()

    def _cancel(self) -> None:
        """Close a list, cancel a command or stop the turn; otherwise, focus the composer."""
        composer = self._regions.composer
        if (composer.has_focus and composer.leave()) or self._outbox.cancel():
            return
        if self._turns.running or self._turns.reading:
            self._approval_keys.close()
            if held := self._turns.cancel():
                composer.put_back(held)
        else:
            self._regions.go_to(Context.COMPOSER)

    def _cancel_call(self) -> None:
        regions = self._regions
        span = regions.trace.selected if regions.focus_context is Context.TRACE else None
        call = span.id if isinstance(span, CallSpan) else regions.conversation.selected_call
        self._approval_keys.close()
        if not self._turns.cancel_call(call):
            regions.notify("Select a running call first.", timeout=3)

    def _continue(self) -> None:
        if problem := self._current.busy():
            self._regions.notify(problem)
        else:
            self._turns.continue_turn()

    def open_message_menu(self) -> None:
        app = self._regions.screen.app

        def chosen(action_id: str) -> None:
            if not self.says_unavailable(action_id):
                app.call_later(app.run_action, action(action_id).method)

        self._messages.open_menu(chosen)

    def allows(self, action_id: str) -> bool:
        """Return whether a key may run this action; if not, another widget may use the key."""
        if action_id.startswith("question."):
            return self._approvals.current is not None
        found = ON_MESSAGE.get(action_id)
        if found is not None and self._regions.conversation.has_focus:
            return possible(found, self._status.situation(self._regions.focus_context))
        return True

    def _why_unavailable(self, found: Action) -> str:
        situation = self._status.situation(self._regions.focus_context)
        return unavailable(found, situation, self._regions.key_of("chat.cancel"))

    def says_unavailable(self, action_id: str) -> bool:
        """Say why an action is unavailable and return True; if it is available, return False."""
        why = self._why_unavailable(action(action_id))
        if why:
            self._regions.notify(why, timeout=4)
        return bool(why)

    def write_letter(self, key: str, letter: str) -> bool:
        """Write a letter that is not a command into the composer; return whether it was consumed.

        For an unavailable command, the reason is shown instead, once its letter can no longer be the start of
        a message.
        """
        regions = self._regions
        focused = regions.screen.focused
        # In a burst, later letters arrive here too, although the focus has already moved.
        if focused is not regions.conversation and focused is not regions.composer:
            return False
        if focused is regions.conversation:
            for found in (*of_context(Context.CONVERSATION), *of_context(Context.QUESTION)):
                if key in regions.overrides.keys_of(found).split(",") and (
                    why := self._why_unavailable(found)
                ):
                    self._answer_keys.hold(partial(regions.notify, why, timeout=4), letter)
                    return True
        self._answer_keys.text(letter)
        return True
