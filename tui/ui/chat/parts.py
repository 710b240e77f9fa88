"""What works behind the chat screen, built and connected here; and the table of its actions."""

import time
from collections.abc import Callable, Iterable
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.attachments import attachment_of
from tui.core.events import Event
from tui.traffic.spans.spans import Spans
from tui.ui.chat.approvals import ApprovalKeys
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.commands import SlashCommands
from tui.ui.chat.composer.attachments import AttachmentReader
from tui.ui.chat.composer.editor import EditorSession
from tui.ui.chat.composer.suggestions import LiveSources
from tui.ui.chat.composer.token_area import Written
from tui.ui.chat.current_conversation import CurrentConversation, OpenDialog
from tui.ui.chat.message_actions import MessageActions
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.outbox import Outbox
from tui.ui.chat.regions import Regions
from tui.ui.chat.status import ChatStatus, Refresher
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Action, Context, action, of_context
from tui.ui.keys.answer_debounce import AnswerKeys
from tui.ui.keys.situation import possible, unavailable

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

ON_MESSAGE = {found.id: found for found in of_context(Context.CONVERSATION) if not found.run}
"""Actions whose keys are also letters of a message; they wait until the letter cannot be the start of one."""

EXPLAINED = frozenset({"chat.continue", "servers.toggle", "servers.restart", "servers.log"})
"""Actions that say why they are unavailable when their key is pressed."""

ACT, UNAVAILABLE = "act ", "unavailable "
"""Prefixes of what `AnswerKeys` holds back besides answers: the id of an action, a message to show."""


class ChatParts:
    """What works behind the chat screen, whose panes are mounted; the runtime is not ready yet."""

    def __init__(
        self,
        runtime: "Runtime",
        regions: Regions,
        sources: LiveSources,
        *,
        open_dialog: OpenDialog,
        fail: Callable[[Exception], None],
    ) -> None:
        self.runtime = runtime
        self._regions = regions
        self._app = regions.screen.app
        self._sources = sources
        self.spans = Spans()
        regions.trace.show(self.spans)
        self.bridge = Bridge(regions.conversation, notice=lambda: runtime.model_notice, key=regions.key_of)
        self.answer_keys = AnswerKeys(
            self._settle, lambda letters: self.approval_keys.write(letters), self._app.set_timer
        )
        self.approval_keys = ApprovalKeys(
            regions, self.bridge.question, self.answer_keys, open_dialog, self.wake
        )
        self.approvals = self.approval_keys.approvals
        self.attachment_reader = AttachmentReader(lambda: runtime.workbench, attachment_of, Path.cwd())
        self.turns = TurnQueue(
            runtime,
            self.approvals,
            self.bridge,
            regions.conversation,
            read=lambda written: self.attachment_reader.read(written),
            give_back=regions.composer.put_back,
            record=self._record,
            clock=lambda: time.strftime("%H:%M"),
            on_change=self.wake,
        )
        self.navigator = Navigator(runtime, regions, self.spans, open_dialog)
        self.current = CurrentConversation(
            runtime,
            regions,
            self.spans,
            self.bridge,
            self.turns,
            open_dialog=open_dialog,
            command_runs=lambda: self.outbox.busy,
            forget=lambda: self.refresher.forget(),
            wake=self.wake,
            fail=fail,
        )
        self.messages = MessageActions(self.current, self.turns)
        commands = SlashCommands(
            runtime, regions, self.current, self.turns, self.navigator, sources, self._run_action
        )
        self.outbox = Outbox(runtime, regions, self.turns, sources, commands.run, fail)
        self.editor = EditorSession(regions.composer, lambda: regions.go_to(Context.COMPOSER), fail)
        self.status = ChatStatus(
            runtime,
            self.turns,
            self.bridge,
            self.approvals,
            regions.overrides,
            parent=lambda: self.current.parent,
        )
        self.refresher = Refresher(
            runtime,
            regions,
            self.status,
            look_first=self.outbox.show_held,
            when_ready=self._look_when_ready,
            fail=fail,
        )
        self._actions = self._table()

    def _table(self) -> dict[str, Callable[[], object]]:
        regions, current, messages, navigator = self._regions, self.current, self.messages, self.navigator
        keys = self.approval_keys
        return {
            "question.once": lambda: keys.answer("once"),
            "question.session": lambda: keys.answer("session"),
            "question.always": lambda: keys.answer("always"),
            "question.no": lambda: keys.answer("no"),
            "question.why": keys.refuse_with_reason,
            "chat.cancel": self._cancel,
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
            "composer.history": self.outbox.search_history,
            "composer.editor": self.editor.open,
            "composer.take_back": self.outbox.take_back,
            "servers.open": lambda: self._with_server(navigator.open_server),
            "servers.toggle": lambda: self._steer_server(regions.servers.toggle_selected),
            "servers.restart": lambda: self._steer_server(regions.servers.restart_selected),
            "servers.log": lambda: self._with_server(navigator.open_log),
            "traffic.open": navigator.open_traffic,
            "traffic.tail": navigator.toggle_tail,
            "traffic.of_call": navigator.open_traffic_of_call,
            "focus.composer": lambda: regions.go_to(Context.COMPOSER),
            "focus.conversation": keys.focus_conversation,
            "focus.servers": lambda: regions.go_to(Context.SERVERS),
            "focus.trace": lambda: regions.go_to(Context.TRACE),
            "pane.maximise": regions.maximize,
        }

    async def begin(self, problems: Iterable[str]) -> None:
        """Show what the runtime, ready now, has loaded; `problems` of theme and keys come first."""
        runtime, regions = self.runtime, self._regions
        regions.servers.show_host(runtime.host, runtime.redactor, mistakes=bool(runtime.problems))
        if runtime.conversations.messages:  # a saved conversation was named on the command line
            self.current.show()
            self.refresher.forget_problems()
        self.current.adopt()
        for problem in problems:
            regions.conversation.add_note(problem, "bad")
        self.refresher.show_problems()
        self._sources.runtime = runtime
        self.turns.flush()
        self.wake()
        await self.outbox.begin()

    async def close(self) -> None:
        await self.editor.close()
        await self.outbox.close()
        await self._sources.close()
        await self.current.close()
        await self.turns.close()

    def wake(self) -> None:
        self.refresher.wake()

    def _look_when_ready(self) -> None:
        self.current.follow()
        self.turns.flush()

    def _record(self, event: Event) -> None:
        self.spans.apply(event, time.monotonic_ns())

    async def act(self, action_id: str) -> None:
        if action_id in EXPLAINED and self.says_unavailable(action_id):
            return
        if action_id in ON_MESSAGE:
            self.answer_keys.answer(f"{ACT}{action_id}")
            return
        result = self._actions[action_id]()
        if isawaitable(result):
            await result

    async def _run_action(self, action_id: str) -> object:
        return await self._app.run_action(action(action_id).method)

    def _settle(self, answer: str) -> None:
        """Act on a letter, now that it cannot be the start of a message."""
        if answer.startswith(UNAVAILABLE):
            self._regions.notify(answer.removeprefix(UNAVAILABLE), timeout=4)
        elif answer.startswith(ACT):
            self._actions[answer.removeprefix(ACT)]()
        else:
            self.approvals.answer(answer)

    def _with_server(self, open: Callable[[str], None]) -> None:
        if name := self._regions.servers.selected:
            open(name)

    def _steer_server(self, steer: Callable[[], None]) -> None:
        steer()
        self.wake()

    def _cancel(self) -> None:
        """Close a list, cancel a command or stop the turn; if there is none of them, focus the composer."""
        composer = self._regions.composer
        if (composer.has_focus and composer.leave()) or self.outbox.cancel():
            return
        if self.turns.running or self.turns.reading:
            if held := self.turns.cancel():
                composer.put_back(held)
        else:
            self._regions.go_to(Context.COMPOSER)

    def _continue(self) -> None:
        if problem := self.current.busy():
            self._regions.notify(problem)
        else:
            self.turns.continue_turn()

    def ask(self, text: str) -> None:
        self._regions.go_to(Context.COMPOSER)
        self.turns.send(Written(text, text))

    def open_message_menu(self) -> None:
        def chosen(action_id: str) -> None:
            if not self.says_unavailable(action_id):
                self._app.call_later(self._app.run_action, action(action_id).method)

        self.messages.open_menu(chosen)

    def allows(self, action_id: str) -> bool:
        """Return whether a key may run this action; if not, another widget may use the key."""
        if action_id.startswith("question."):
            return self.approvals.current is not None
        found = ON_MESSAGE.get(action_id)
        if found is not None and self._regions.conversation.has_focus:
            return possible(found, self.status.situation(self._regions.focus_context))
        return True

    def _why_unavailable(self, found: Action) -> str:
        situation = self.status.situation(self._regions.focus_context)
        return unavailable(found, situation, self._regions.key_of("chat.cancel"))

    def says_unavailable(self, action_id: str) -> bool:
        """Say why an action is unavailable; return False, saying nothing, if it is available."""
        why = self._why_unavailable(action(action_id))
        if why:
            self._regions.notify(why, timeout=4)
        return bool(why)

    def write_letter(self, key: str, letter: str) -> bool:
        """Write a letter that is no command into the composer; return whether it was taken.

        The key of an unavailable command is explained instead, once its letter cannot be the start of a
        message.
        """
        regions = self._regions
        focused = regions.screen.focused
        # In a burst, later letters come here too, although the focus has moved on.
        if focused is not regions.conversation and focused is not regions.composer:
            return False
        if focused is regions.conversation:
            for found in (*of_context(Context.CONVERSATION), *of_context(Context.QUESTION)):
                if key in regions.overrides.keys_of(found).split(",") and (
                    why := self._why_unavailable(found)
                ):
                    self.answer_keys.answer(f"{UNAVAILABLE}{why}", letter)
                    return True
        self.answer_keys.text(letter)
        return True
