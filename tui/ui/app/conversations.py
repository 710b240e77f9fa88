"""What is done with whole conversations and models: the part of the app that opens their lists."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tui.core import units
from tui.core.errors import McptuiError, sentences
from tui.core.text import clean_line
from tui.ui.app.by_hand import ByHand
from tui.ui.keys.actions import Context
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.conversation.conversation import Compaction
    from tui.core.conversation.sessions import ExportKind, SessionInfo
    from tui.runtime.conversations import Conversations
    from tui.ui.chat.bridge import Bridge
    from tui.ui.chat.turn_queue import TurnQueue
    from tui.ui.lists.sessions import Resumed

NOT_SAVED = "Nothing was said yet."


class Conversing(ByHand):
    """Opens the lists of conversations and models; shows another conversation once it is taken up."""

    bridge: "Bridge"
    chat: "TurnQueue"
    came_from: str = ""
    """The conversation that the one on screen branched off, as long as nothing was said in it."""

    shown = -1
    """The conversation that is drawn, by `Conversations.opened`; -1 before there is one."""

    _chats_seen: "tuple[int, Compaction] | None" = None
    _changing: asyncio.Task[None] | None = None

    @property
    def conversations(self) -> "Conversations":
        """The conversations."""
        return self.runtime.conversations

    @property
    def branched_from(self) -> str:
        """The id of the conversation that the one on screen branched off, or ""."""
        info = self.conversations.info if self.runtime.is_ready else None
        return info.parent if info is not None else self.came_from

    def forget(self) -> None:
        """Show the welcome again: a new conversation begins."""
        raise NotImplementedError

    @property
    def obeying(self) -> bool:
        """Whether a command of the composer is being done, which the key for cancelling stops."""
        return False

    def occupied(self) -> tuple[str, str]:
        """Return why the conversation cannot be changed or replaced now, and what to do; or two ""."""
        stop = f"{self.key_of('chat.cancel')} stops it."
        if self.chat.running:
            return "a turn is still running", stop
        if self.chat.reading:
            return "attachments are still being read", stop
        changing = self._changing is not None and not self._changing.done()
        if why := self.conversations.busy or ("the conversation is being changed" if changing else ""):
            return why, stop if self.obeying else "Wait until that is done."
        return "", ""

    def busy(self) -> str:
        """Return why no other conversation or model can be taken up now, or ""."""
        why, step = self.occupied()
        return sentences(f"{why[0].upper()}{why[1:]}", step) if why else ""

    def change(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something with the conversation, one thing at a time; what goes wrong is told."""
        if problem := self.busy():
            work.close()
            self.notify(problem)
            return
        self._changing = asyncio.create_task(self._or_told(work), name="change the conversation")
        self._changing.add_done_callback(self._changed)

    async def _or_told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except McptuiError as error:
            self.notify(str(error), severity="error", timeout=8)

    def is_still_open(self, opened: int) -> bool:
        """Whether the conversation is still the one for which a dialog was opened; says so if not."""
        if self.conversations.opened == opened:
            return True
        self.notify("Another conversation is on screen now. Nothing was changed.")
        return False

    async def stop_changing(self) -> None:
        """Stop what is being done with the conversation."""
        if self._changing is not None and self._changing.cancel():
            await asyncio.wait({self._changing}, timeout=1.0)

    def _changed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.fail(error)

    # ---- another conversation ----

    async def begin_anew(self) -> None:
        """Begin a new conversation.

        Raises:
            McptuiError: something is being done with the one on screen.
        """
        await self.conversations.new()
        self.came_from = ""
        self.show_conversation()
        self.go_to(Context.COMPOSER)

    async def action_chat_new(self) -> None:
        """Begin a new conversation."""
        if not self.runtime.is_ready:
            return
        if problem := self.busy():
            self.notify(problem)
        else:
            await self._or_told(self.begin_anew())

    def follow_chats(self) -> None:
        """Show what changed in the conversation by another way than a turn."""
        conversations = self.conversations
        if conversations.opened != self.shown:  # whoever opened it is gone
            self.came_from = ""
            self.show_conversation()
        seen = (conversations.revision, conversations.compaction)
        if seen == self._chats_seen:
            return
        self._chats_seen = seen
        self.show_compaction()

    def show_conversation(self, message: int | None = None) -> None:
        """Show the conversation anew, at a message or at its end; and the trace, if it is another one."""
        from tui.traffic.spans.past_turns import past_turns
        from tui.ui.chat.bridge import ended_at_limit, note_of

        conversations, runtime = self.conversations, self.runtime
        is_another, self.shown = self.shown != conversations.opened, conversations.opened
        if is_another:  # the trace of the one on screen knows more than its messages tell
            self.spans.clear(
                past_turns(conversations.messages, conversations.remarks, conversations.turn_numbers)
            )
        self.forget()
        self.bridge.can_continue = ended_at_limit(conversations.remarks, len(conversations.messages))
        self.bridge.ended = ""
        label, notice = runtime.model_label, runtime.model_notice
        if conversations.messages:
            self.conversation.show_past(
                conversations.messages,
                conversations.unknown,
                lambda model: notice if model == label else "",
                conversations.remarks,
                lambda remark: note_of(remark, **self.bridge.keys),
            )
        self.show_compaction()
        self.tell_lost()
        if message is not None:
            self.conversation.show_message(message)
        self.wake()

    def tell_lost(self) -> bool:
        """Say if messages of the previous conversation are lost; return whether they are."""
        lost = self.conversations.lost()
        if lost:
            self.came_from = ""  # there is no way back
            self.conversation.add_note(
                f"Not all messages of the previous conversation were saved: {lost}.", "bad"
            )
        return bool(lost)

    def show_compaction(self) -> None:
        """Say what the model is told in place of older messages."""
        from tui.core.context.summaries import done_with
        from tui.core.conversation.conversation import UserMessage

        compaction, messages = self.conversations.compaction, self.conversations.messages
        words = ""
        if compaction.upto:
            turns = sum(isinstance(one, UserMessage) for one in messages[: compaction.upto])
            words = f"{units.plural(turns, 'turn')} {done_with(compaction.summary)}"
        elif compaction.shrunk:
            words = f"results of the first {compaction.shrunk} messages are told in a few words"
        elif compaction.limits:
            words = "large results are told in part, to fit"
        if words:
            words += f" · enter shows it · {self.key_of('chat.uncompact')} undoes it"
        self.conversation.show_summary(
            words, compaction.summary or "Only old results of tools are shortened."
        )

    def wake(self) -> None:
        """Show at once what changed."""
        raise NotImplementedError

    def open_dialog(self, screen: "Screen[Any]", done: Callable[[Any], None] | None = None) -> None:
        """Put a dialog on the screen, unless one of its kind is there already."""
        if not any(type(other) is type(screen) for other in self.screen_stack):
            self.push_screen(screen, done)

    # ---- lists ----

    def action_chat_sessions(self) -> None:
        """Choose a saved conversation to go on with."""
        from tui.ui.lists.sessions import SessionsScreen

        if not self.runtime.is_ready:
            return
        before = self.conversations.info.id if self.conversations.info is not None else ""

        def done(resumed: "Resumed | None") -> None:
            if resumed is not None:
                at_end = resumed.message is None
                if self.conversations.info is None or self.conversations.info.id != before:
                    self.came_from = before if resumed.branch else ""
                    self.show_conversation(resumed.message)
                elif not at_end:
                    self.show_conversation(resumed.message)
                self.go_to(Context.COMPOSER if at_end else Context.CONVERSATION)

        screen = SessionsScreen(
            self.conversations,
            self.overrides,
            symbols_for(os.environ),
            busy=self.busy,
            export=self.export_session,
        )
        self.open_dialog(screen, done)

    def action_chat_models(self) -> None:
        """Choose the model that is asked from now on."""
        self._choose_model("", lambda: None)

    def _choose_model(self, purpose: str, chosen: Callable[[], None]) -> None:
        from tui.ui.lists.models import ModelsScreen

        if not self.runtime.is_ready:
            return

        def done(switched: bool | None) -> None:
            if switched:
                self.wake()
                chosen()

        screen = ModelsScreen(
            self.conversations, self.overrides, symbols_for(os.environ), busy=self.busy, purpose=purpose
        )
        self.open_dialog(screen, done)

    # ---- export ----

    def export_chat(self) -> None:
        """Write the conversation on screen to a file."""
        if self.runtime.is_ready and (info := self.conversations.info) is not None:
            self.export_session(info)
        else:
            self.notify(NOT_SAVED, timeout=3)

    def export_session(self, info: "SessionInfo") -> None:
        """Ask where a conversation is written to, and write it."""
        from tui.ui.dialogs.export_chat import ExportChat, export_path

        def asked(answer: "tuple[ExportKind, Path] | None") -> None:
            if answer is not None:
                self.run_worker(self._or_told(self._export(info, *answer)), name="export a conversation")

        self.open_dialog(ExportChat(info.title, export_path(Path.cwd(), info.title)), asked)

    async def _export(self, info: "SessionInfo", kind: "ExportKind", path: Path) -> None:
        await self.conversations.export(info.id, kind, path)
        self.notify(f"written to {clean_line(str(path), 300)}", timeout=5)

    # ---- what the model is told ----

    def action_chat_system(self) -> None:
        """Read and change the system text of the conversation."""
        from tui.ui.dialogs.text_dialogs import SystemText

        if not self.runtime.is_ready:
            return

        opened = self.conversations.opened

        def done(text: str | None) -> None:
            if text is not None and text != self.conversations.system and self.is_still_open(opened):
                self.change(self._set_system(text))

        self.open_dialog(SystemText(self.conversations.system), done)

    async def _set_system(self, text: str) -> None:
        await self.conversations.set_system(text)
        words = "the model is told it from the next question on" if text else "the usual one is told again"
        self.notify(f"system text kept: {words}", timeout=4)

    def read_all(self) -> None:
        """Let the model read everything again."""
        compaction = self.conversations.compaction
        if not (compaction.upto or compaction.shrunk or compaction.limits):
            self.notify("Nothing is summarised: the model reads everything.", timeout=3)
        elif problem := self.busy():
            self.notify(problem)
        else:
            self.conversations.uncompact()
            self.follow_chats()
            self.show_compaction()
            self.notify("The model reads everything again.", timeout=3)
