"""Actions on the conversation on screen: replace it, change it, export it, switch its model."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core import units
from tui.core.context.summaries import summary_words
from tui.core.conversation.conversation import Compaction, UserMessage
from tui.core.errors import McptuiError, sentences
from tui.core.text import clean_line
from tui.traffic.spans.spans import Spans, past_turns
from tui.ui.chat.bridge import Bridge, ended_at_limit, note_of
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.outbox import SerialQueue
from tui.ui.chat.regions import Regions
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Context

if TYPE_CHECKING:
    from tui.core.conversation.sessions import ExportKind, SessionInfo
    from tui.runtime.conversations import Conversations
    from tui.runtime.runtime import Runtime
    from tui.ui.dialogs.export_dialogs import ChatExport
    from tui.ui.lists.sessions import Resumed

NOT_SAVED = "The conversation is empty."


class ConversationActions:
    """Replaces and changes the conversation on screen, with the dialogs for that, and has it shown."""

    def __init__(
        self,
        runtime: "Runtime",
        regions: Regions,
        spans: Spans,
        bridge: Bridge,
        turns: TurnQueue,
        sent: SerialQueue[Composer.Sent],
        wake: Callable[[], None],
    ) -> None:
        self.runtime = runtime
        self.regions = regions
        self._spans = spans
        self._bridge = bridge
        self._turns = turns
        self._sent = sent
        self._wake = wake
        self._shown = -1  # `Conversations.opened` of the conversation on screen
        self._seen: tuple[int, Compaction] | None = None
        self._change: asyncio.Task[None] | None = None

    @property
    def conversations(self) -> "Conversations":
        """The saved conversations and the one on screen. Only available once the runtime is ready."""
        return self.runtime.conversations

    def occupied(self) -> tuple[str, str]:
        """Return why the conversation cannot be changed or replaced now, and the next step, or two ""."""
        stop = f"{self.regions.key_of('chat.cancel')} stops it."
        if self._turns.running:
            return "a turn is running", stop
        if self._turns.reading:
            return "attachments are still being read", stop
        changing = self._change is not None and not self._change.done()
        busy = self.conversations.busy
        if why := busy or ("the conversation is being changed" if changing else ""):
            return why, stop if self._sent.busy else "Wait until it finishes."
        return "", ""

    def busy(self) -> str:
        why, step = self.occupied()
        return sentences(f"{why[0].upper()}{why[1:]}", step) if why else ""

    def change(self, work: Coroutine[Any, Any, None]) -> None:
        if problem := self.busy():
            work.close()
            self.regions.notify(problem)
            return
        self._change = asyncio.create_task(self.or_notify(work), name="change the conversation")
        self._change.add_done_callback(self._changed)

    async def or_notify(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except McptuiError as error:
            self.regions.notify(str(error), severity="error", timeout=8)

    def _changed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.regions.fail(error)

    def is_still_open(self, opened: int) -> bool:
        """Return whether the conversation for which a dialog was opened is still open; notify if not."""
        if self.conversations.opened == opened:
            return True
        self.regions.notify("You switched to another conversation. Nothing was changed.")
        return False

    async def close(self) -> None:
        if self._change is not None and self._change.cancel():
            await asyncio.wait({self._change}, timeout=1.0)

    async def start_new(self) -> None:
        """Start a new conversation. Raises `McptuiError` while the current one is busy."""
        await self.conversations.new()
        self.show()
        self.regions.go_to(Context.COMPOSER)

    async def start_new_if_free(self) -> None:
        if not self.runtime.is_ready:
            return
        if problem := self.busy():
            self.regions.notify(problem)
        else:
            was_empty = not self.conversations.messages
            await self.or_notify(self.start_new())
            if was_empty:
                self.regions.notify("The conversation is new. It has no messages yet.", timeout=3)

    async def branch(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        self.show()
        if self.conversations.parent:
            back = self.regions.key_of("chat.parent")
            note = f"Branch. Press {back} to return to the original."
            self.regions.conversation.add_note(note)

    def go_to_parent(self) -> None:
        parent = self.conversations.parent if self.runtime.is_ready else ""
        if parent:
            self.change(self._resume(parent))
        else:
            self.regions.notify("This conversation is not a branch.", timeout=3)

    async def _resume(self, session: str) -> None:
        await self.conversations.resume(session)
        self.show()

    def adopt(self) -> None:
        """Show the conversation that the runtime has opened."""
        self._shown = self.conversations.opened

    def follow(self) -> None:
        """Show changes in the conversation that were not caused by a turn."""
        if not self.runtime.is_ready:
            return
        conversations = self.conversations
        if conversations.opened != self._shown:  # opened by a command that has since been cancelled
            self.show()
        seen = (conversations.revision, conversations.compaction)
        if seen != self._seen:
            self._seen = seen
            self._show_compaction()

    def show(self, message: int | None = None) -> None:
        """Redraw the conversation, at a message or its end.

        Redraw the trace if it is another conversation.
        """
        conversations, runtime, bridge = self.conversations, self.runtime, self._bridge
        is_another, self._shown = self._shown != conversations.opened, conversations.opened
        if is_another:  # the current trace has more details than the messages
            self._spans.clear(
                past_turns(conversations.messages, conversations.remarks, conversations.turn_numbers)
            )
            self.regions.trace.show(self._spans)
        self.regions.conversation.clear()
        bridge.can_continue = ended_at_limit(conversations.remarks, len(conversations.messages))
        label, notice = runtime.model_label, runtime.model_notice
        if conversations.messages:
            self.regions.conversation.show_past(
                conversations.messages,
                conversations.unknown,
                lambda model: notice if model == label else "",
                conversations.remarks,
                lambda remark: note_of(remark, **bridge.keys),
            )
        self._show_compaction()
        if lost := conversations.lost():
            words = f"Some messages of the previous conversation were not saved: {lost}."
            self.regions.conversation.add_note(words, "bad")
        if message is not None:
            self.regions.conversation.show_message(message)
        self._wake()

    def _show_compaction(self) -> None:
        conversations = self.conversations
        compaction, messages = conversations.compaction, conversations.messages
        words = ""
        if compaction.upto:
            turns = sum(isinstance(message, UserMessage) for message in messages[: compaction.upto])
            words = f"{units.plural(turns, 'turn')} {summary_words(compaction.summary)}"
        elif compaction.shrunk:
            words = f"results in the first {compaction.shrunk} messages are shortened"
        elif compaction.limits:
            words = "large results are truncated to fit"
        if words:
            words += f" · enter shows it · {self.regions.key_of('chat.uncompact')} undoes it"
        self.regions.conversation.show_summary(
            words, compaction.summary or "Only old tool results are shortened."
        )

    def uncompact(self) -> None:
        compaction = self.conversations.compaction
        if not compaction.applies:
            self.regions.notify("Nothing is summarized. The model reads all messages.", timeout=3)
        elif problem := self.busy():
            self.regions.notify(problem)
        else:
            self.conversations.uncompact()
            self.follow()
            self._show_compaction()
            self.regions.notify("Summary undone. The model reads all messages again.", timeout=3)

    def open_sessions(self) -> None:
        from tui.ui.lists.sessions import SessionsScreen

        if not self.runtime.is_ready:
            return
        conversations = self.conversations

        def done(resumed: "Resumed | None") -> None:
            if resumed is not None:
                at_end = resumed.message is None
                if conversations.opened != self._shown or not at_end:
                    self.show(resumed.message)
                self.regions.go_to(Context.COMPOSER if at_end else Context.CONVERSATION)

        screen = SessionsScreen(
            conversations,
            self.regions.overrides,
            self.regions.symbols,
            busy=self.busy,
            export=self._export_session,
        )
        self.regions.open_dialog(screen, done)

    def open_models(self, purpose: str = "", chosen: Callable[[], None] = lambda: None) -> None:
        """Switch the model; `chosen` is called once another model is set."""
        from tui.ui.lists.models import ModelsScreen

        if not self.runtime.is_ready:
            return

        def done(switched: bool | None) -> None:
            if switched:
                self._wake()
                chosen()

        screen = ModelsScreen(
            self.conversations,
            self.regions.overrides,
            self.regions.symbols,
            add=self._ask_for_model,
            replace_key=self.replace_key,
            busy=self.busy,
            purpose=purpose,
        )
        self.regions.open_dialog(screen, done)

    def add_model(self) -> None:
        """Add a model profile and switch to it."""

        def added(name: str | None) -> None:
            if name is not None:
                self._wake()

        if problem := self.busy():
            self.regions.notify(problem)
        else:
            self._ask_for_model(added)

    async def replace_key(self, name: str = "") -> None:
        """Ask for another key of a profile, by default the current one. Raises McptuiError."""
        from tui.ui.forms.model_dialogs import replace_key

        changes = self.runtime.model_changes
        of = await changes.profile(name)
        regions = self.regions
        replace_key(regions.screen.app, regions.overrides, changes, of, self._wake)

    def _ask_for_model(self, added: Callable[[str | None], None]) -> None:
        from tui.ui.forms.model_dialogs import add_model

        regions = self.regions
        add_model(regions.screen.app, regions.overrides, self.runtime.model_changes, added)

    def export(self) -> None:
        if self.runtime.is_ready and (info := self.conversations.info) is not None:
            self._export_session(info)
        else:
            self.regions.notify(NOT_SAVED, timeout=3)

    def _export_session(self, info: "SessionInfo") -> None:
        from tui.ui.dialogs.export_dialogs import export_path

        self.ask_to_export(info, export_path(Path.cwd(), info.title))

    def ask_to_export(self, info: "SessionInfo", path: Path, kind: "ExportKind" = "markdown") -> None:
        """Show the contents of an export, and ask for its file."""
        from tui.ui.dialogs.export_dialogs import ExportChat

        def answered(answer: "ChatExport | None") -> None:
            if answer is not None:
                work = self.or_notify(self._export(info, answer))
                self.regions.screen.app.run_worker(work, name="export a conversation")

        contents = partial(self.conversations.stored().contents, info.id)
        self.regions.open_dialog(ExportChat(info.title, path, contents, kind), answered)

    async def _export(self, info: "SessionInfo", wanted: "ChatExport") -> None:
        path = wanted.path
        contents = await self.conversations.stored().export(info.id, wanted.kind, path, shapes=wanted.shapes)
        form = ", redacted" if wanted.shapes else ""
        self.regions.notify(f"Exported to {clean_line(str(path), 300)}{form}: {contents}", timeout=5)

    def edit_system_text(self) -> None:
        from tui.ui.dialogs.text_dialogs import SystemText

        if not self.runtime.is_ready:
            return
        conversations = self.conversations
        opened = conversations.opened

        def done(text: str | None) -> None:
            if text is not None and text != conversations.system and self.is_still_open(opened):
                self.change(self._set_system(text))

        self.regions.open_dialog(SystemText(conversations.system), done)

    async def _set_system(self, text: str) -> None:
        await self.conversations.set_system(text)
        words = "saved" if text else "reset to the default"
        self.regions.notify(f"System prompt {words}. It applies from the next question on.", timeout=4)
