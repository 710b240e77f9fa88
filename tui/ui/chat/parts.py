"""The objects behind the chat screen, created and connected."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.attachments import attachment_of
from tui.core.events import Event
from tui.traffic.spans.spans import Spans
from tui.ui.chat.action_handlers import ActionHandlers, TurnKeys
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.commands import SlashCommands
from tui.ui.chat.composer.attachments import AttachmentReader
from tui.ui.chat.composer.editor import EditorSession
from tui.ui.chat.composer.suggestions import LiveSources
from tui.ui.chat.composer.token_area import Written
from tui.ui.chat.config_changes import ApplyUi, ConfigEditing, ServerEditing
from tui.ui.chat.current_conversation import CurrentConversation, OpenDialog
from tui.ui.chat.message_actions import MessageActions
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.outbox import Outbox
from tui.ui.chat.question_queue import ApprovalKeys
from tui.ui.chat.regions import Regions
from tui.ui.chat.status import ChatStatus, Refresher
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Context, action

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


class ChatParts:
    """The objects behind the chat screen. Its panes are mounted; the runtime is not ready yet."""

    def __init__(
        self,
        runtime: "Runtime",
        regions: Regions,
        sources: LiveSources,
        *,
        open_dialog: OpenDialog,
        apply_ui: ApplyUi,
        fail: Callable[[Exception], None],
    ) -> None:
        self.runtime = runtime
        self.regions = regions
        self._app = regions.screen.app
        self._sources = sources
        self.spans = Spans()
        regions.trace.show(self.spans)
        self.bridge = Bridge(regions.conversation, notice=lambda: runtime.model_notice, key=regions.key_of)
        self.actions = ActionHandlers(self, regions)
        self.navigator = Navigator(runtime, regions, self.spans, open_dialog)
        self.approval_keys = ApprovalKeys(
            regions,
            self.bridge.question,
            open_dialog,
            self.wake,
            lambda: runtime.model_label,
            self.navigator.open_rules,
        )
        self.approvals = runtime.questioner = self.approval_keys.approvals
        runtime.configuration.apply_ui = apply_ui
        self.attachment_reader = AttachmentReader(lambda: runtime.workbench, attachment_of, Path.cwd())
        self.turns = TurnQueue(
            runtime,
            self.approvals,
            self.bridge,
            regions.conversation,
            read=lambda written: self.attachment_reader.read(written),
            give_back=regions.composer.put_back,
            refuse=lambda why: self.refresher.refuse(why),
            record=self._record,
            clock=lambda: time.strftime("%H:%M"),
            on_change=self.wake,
        )
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
        self.messages = MessageActions(self.current, self.turns, self.navigator)
        commands = SlashCommands(
            runtime, regions, self.current, self.turns, self.navigator, sources, self._run_action
        )
        self.outbox = Outbox(runtime, regions, self.turns, sources, commands.run, fail)
        self.turn_keys = TurnKeys(
            regions, self.bridge, self.turns, self.outbox, self.approval_keys, self.current.busy
        )
        self.editing = ServerEditing(runtime, regions, open_dialog)
        self.editor = EditorSession(regions.composer, lambda: regions.go_to(Context.COMPOSER), fail)
        self.configuration = ConfigEditing(runtime, regions, self.editor, self.approvals)
        self.status = ChatStatus(runtime, self.turns, self.bridge, self.approvals, regions.overrides)
        self.refresher = Refresher(
            runtime,
            regions,
            self.status,
            why_not=self.actions.why_not,
            look_first=self.outbox.show_held,
            when_ready=self._look_when_ready,
            fail=fail,
        )

    async def begin(self, problems: Iterable[str]) -> None:
        """Show what the runtime has loaded; `problems` of theme and keys come first."""
        runtime, regions = self.runtime, self.regions
        runtime.host.on_change = self.refresher.changed
        regions.servers.show_host(
            runtime.host,
            runtime.redactor,
            tokens=runtime.request.latest_definition_tokens,
            mistakes=any(one not in runtime.warnings for one in runtime.problems),
        )
        if runtime.conversations.messages:  # the command line named a saved conversation
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

    async def _run_action(self, action_id: str) -> object:
        return await self._app.run_action(action(action_id).method)

    def ask(self, text: str) -> None:
        self.regions.go_to(Context.COMPOSER)
        self.turns.send(Written(text, text))
