"""Actions on the conversation on screen and its messages: replace, branch, change, copy and export it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

from textual.content import Content

from tui.core.context.summaries import summary_words
from tui.core.conversation.conversation import AssistantMessage, Compaction, UserMessage
from tui.core.conversation.sessions import ExportKind, SessionInfo
from tui.core.errors import McptuiError, sentences
from tui.core.language.translate import N_, _, localized, message, n_
from tui.core.text import capitalized, clean, clean_line
from tui.runtime.conversations import Conversations
from tui.runtime.runtime import Runtime
from tui.traffic.spans.spans import past_turns
from tui.ui.chat.bridge import Bridge, ended_at_limit, note_of
from tui.ui.chat.comparison import Comparison, EarlierAnswer
from tui.ui.chat.composer.pastes import Reference, Written
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.outbox import SerialQueue
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.blocks import Question
from tui.ui.chat.turn_queue import A_TURN_RUNS, TurnQueue
from tui.ui.keys.action_table import Context, action
from tui.ui.platform import clipboard
from tui.ui.widgets.files import file_stem

NOT_SAVED = message("The conversation is empty.")

MENU = {
    "chat.copy": N_("copy"),
    "chat.retry": N_("retry"),
    "chat.rewrite": N_("edit and retry"),
    "chat.compare": N_("compare with another model"),
    "chat.branch": N_("branch from here"),
    "chat.export": N_("export the conversation"),
}
"""The actions in the menu of a message, and their labels in the menu."""


class ConversationActions:
    """Acts on the conversation on screen, and on its marked message, or the last one if none is marked.

    The methods `why_…` return why an action is unavailable, in a few words, or "".
    """

    def __init__(
        self,
        runtime: Runtime,
        regions: Regions,
        bridge: Bridge,
        turns: TurnQueue,
        navigator: Navigator,
        sent: SerialQueue[Any],
    ) -> None:
        self._runtime = runtime
        self._regions = regions
        self._transcript = regions.conversation
        self._bridge = bridge
        self._turns = turns
        self._navigator = navigator
        self._sent = sent
        self._wake = regions.ticker.wake
        self._shown = -1  # `Conversations.opened` of the conversation on screen
        self._seen: tuple[int, Compaction] | None = None
        self._change: asyncio.Task[None] | None = None
        self.comparison = Comparison(runtime, regions, turns)
        self.why_not_compared, self.toggle_scroll = self.comparison.why_none, self.comparison.toggle_scrolling

    @property
    def conversations(self) -> Conversations:
        """The saved conversations and the one on screen. Only available once the runtime is ready."""
        return self._runtime.conversations

    # ---- availability ----

    def why_none(self) -> str:
        has_messages = self._runtime.is_ready and self.conversations.messages
        return "" if has_messages else message("the conversation is empty")

    def why_not_again(self) -> str:
        return self.why_none() or self._turns.why_runs()

    def why_no_parent(self) -> str:
        is_branch = self._runtime.is_ready and self.conversations.parent
        return self._turns.why_runs() if is_branch else message("this conversation is not a branch")

    def why_not_uncompact(self) -> str:
        is_summarized = not self.why_none() and self.conversations.compaction.applies
        return self._turns.why_runs() if is_summarized else message("nothing is summarized")

    def occupied(self) -> tuple[str, str]:
        """Return why the conversation cannot be changed or replaced now, and the next step, or two ""."""
        stop = message("{key} stops it.", key=self._regions.key_of("chat.cancel"))
        if self._turns.running:
            return A_TURN_RUNS, stop
        if self._turns.reading:
            return message("attachments are still being read"), stop
        changing = self._change is not None and not self._change.done()
        busy = self.conversations.busy
        if why := busy or (message("the conversation is being changed") if changing else ""):
            return why, stop if self._sent.busy else message("Wait until it finishes.")
        return "", ""

    def busy(self) -> str:
        why, step = self.occupied()
        return localized(sentences(capitalized(why), step)) if why else ""

    def _is_free(self) -> bool:
        """Return whether the conversation can be changed or replaced now; notify if not."""
        if problem := self.busy():
            self._regions.notify(problem)
        return not problem

    def _is_still_open(self, opened: int) -> bool:
        """Return whether the conversation for which a dialog was opened is still open; notify if not."""
        is_open = self.conversations.opened == opened
        if not is_open:
            self._regions.notify(_("You switched to another conversation. Nothing was changed."))
        return is_open

    # ---- replacing and changing it ----

    def change(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_free():
            self._change = self._regions.start(work, "change the conversation")
        else:
            work.close()

    async def start_new(self) -> None:
        """Start a new conversation. Raises `McptuiError` while the current one is busy."""
        await self.conversations.new()
        self.show()
        self._regions.go_to(Context.COMPOSER)

    def start_new_if_free(self) -> None:
        if self._is_free():
            if not self.conversations.messages:
                self._regions.notify(_("The conversation is new. It has no messages yet."), timeout=3)
            self.change(self.start_new())

    def go_to_parent(self) -> None:
        self.change(self._resume(self.conversations.parent))

    def continue_turn(self) -> None:
        if self._is_free():
            self._turns.continue_turn()

    def uncompact(self) -> None:
        if self._is_free():
            self.conversations.uncompact()
            self.follow()
            self._show_compaction()
            self._regions.notify(_("Summary undone. The model reads all messages again."), timeout=3)

    def edit_system_text(self) -> None:
        from tui.ui.dialogs.text_dialogs import SystemText

        conversations = self.conversations
        opened = conversations.opened

        async def change(text: str) -> None:
            await conversations.set_system(text)
            told = _("System prompt reset to the default. It applies from the next question on.")
            if text:
                told = _("System prompt saved. It applies from the next question on.")
            self._regions.notify(told, timeout=4)

        def done(text: str | None) -> None:
            if text is not None and text != conversations.system and self._is_still_open(opened):
                self.change(change(text))

        self._regions.open_dialog(SystemText(conversations.system), done)

    # ---- showing it ----

    def adopt(self) -> None:
        """Take the conversation on screen, which is empty, for the one that the runtime has opened."""
        self._shown = self.conversations.opened

    def follow(self) -> None:
        """Show changes in the conversation that were not caused by a turn."""
        if not self._runtime.is_ready:
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
        conversations, runtime, bridge = self.conversations, self._runtime, self._bridge
        is_another, self._shown = self._shown != conversations.opened, conversations.opened
        if is_another:  # the current trace has more details than the messages
            self._regions.trace.replace(
                past_turns(conversations.messages, conversations.remarks, conversations.now.turn_numbers)
            )
        bridge.can_continue = ended_at_limit(conversations.remarks, len(conversations.messages))
        label, notice = runtime.model_label, runtime.model_notice
        go_on = self._regions.key_of("chat.continue")
        self._transcript.show_past(
            conversations.messages,
            conversations.now.unknown,
            lambda model: notice if model == label else "",
            conversations.remarks,
            lambda remark: note_of(remark, go_on),
        )
        self._show_compaction()
        if lost := conversations.lost():
            words = _("Some messages of the previous conversation were not saved: {reason}.", reason=lost)
            self._transcript.add_note(words, "bad")
        if message is not None:
            self._transcript.show_message(message)
        self._wake()

    def _show_compaction(self) -> None:
        conversations = self.conversations
        compaction, messages = conversations.compaction, conversations.messages
        words = ""
        if compaction.upto:
            turns = sum(isinstance(message, UserMessage) for message in messages[: compaction.upto])
            words = localized(summary_words(turns, compaction.summary))
        elif compaction.shrunk:
            words = n_(
                "results in the first message are shortened",
                "results in the first {n} messages are shortened",
                compaction.shrunk,
            )
        elif compaction.limits:
            words = _("large results are truncated to fit")
        if words:
            key = self._regions.key_of("chat.uncompact")
            words = _("{summary} · enter shows it · {key} undoes it", summary=words, key=key)
        text = compaction.summary or _("Only old tool results are shortened.")
        self._transcript.show_summary(words, text)

    # ---- sessions, models, exports ----

    def open_sessions(self) -> None:
        from tui.ui.lists.sessions import Resumed, SessionsScreen

        conversations, regions = self.conversations, self._regions

        def done(resumed: Resumed | None) -> None:
            if resumed is not None:
                at_end = resumed.message is None
                if conversations.opened != self._shown or not at_end:
                    self.show(resumed.message)
                regions.go_to(Context.COMPOSER if at_end else Context.CONVERSATION)

        screen = SessionsScreen(conversations, regions.overrides, busy=self.busy, export=self.ask_to_export)
        regions.open_dialog(screen, done)

    def open_models(self, purpose: str = "", chosen: Callable[[], None] = lambda: None) -> None:
        """Switch the model; `chosen` is called once another model is set."""
        from tui.ui.lists.models import ModelsScreen

        def done(switched: bool | None) -> None:
            if switched:
                self._wake()
                chosen()

        screen = ModelsScreen(
            self.conversations,
            self._regions.overrides,
            add=self._ask_for_model,
            replace_key=self.replace_key,
            busy=self.busy,
            purpose=purpose,
        )
        self._regions.open_dialog(screen, done)

    def add_model(self) -> None:
        if self._is_free():
            self._ask_for_model(lambda _: self._wake())

    def _ask_for_model(self, added: Callable[[str | None], None]) -> None:
        from tui.ui.forms.model_form import add_model

        regions = self._regions
        add_model(regions.screen.app, regions.overrides, self._runtime.model_changes, added)

    async def replace_key(self, name: str = "") -> None:
        """Ask for another key of a profile, by default the current one. Raises McptuiError."""
        from tui.ui.forms.model_form import replace_key

        changes, regions = self._runtime.model_changes, self._regions
        of = await changes.profile(name)
        replace_key(regions.screen.app, regions.overrides, changes, of, self._wake)

    def export(self) -> None:
        if (info := self.conversations.info) is not None:
            self.ask_to_export(info)
        else:
            self._regions.notify(NOT_SAVED, timeout=3)

    def ask_to_export(self, info: SessionInfo, path: Path | None = None, kind: str = "markdown") -> None:
        """Show the contents of an export, and ask for its file."""
        from tui.runtime.shared_traffic import SharedTraffic
        from tui.ui.dialogs.export_dialogs import OF_SESSIONS, Export, ExportDialog
        from tui.ui.forms.share_review import ShareReview

        stored, notify = self.conversations.stored(), self._regions.notify

        async def export(wanted: Export) -> None:
            kind, choice = cast(ExportKind, wanted.format), wanted.choice
            contents = await stored.export(
                info.id, kind, wanted.path, new=not wanted.over, choice=choice, traffic=SharedTraffic
            )
            file = clean_line(str(wanted.path), 300)
            told = _("Exported to {file}: {contents}", file=file, contents=localized(contents))
            if choice.words:
                told = _(
                    "Exported to {file}, {form}: {contents}",
                    file=file,
                    form=localized(choice.words),
                    contents=localized(contents),
                )
            notify(told, timeout=5)

        def answered(answer: Export | None) -> None:
            if answer is not None:
                self._regions.start(export(answer), "export a conversation")

        def chosen(answer: Export | None) -> None:
            if answer is None or not answer.is_reviewed:
                answered(answer)
                return
            app, telling = self._regions.screen.app, file_stem(info.title, "")
            review = ShareReview(app, answer, lambda: stored.review(info.id, SharedTraffic), telling)
            self._regions.open_dialog(review, answered)

        async def contents() -> dict[str, str]:
            words = localized((await stored.review(info.id)).words())
            return {"": _("Contains: {contents}", contents=words)}

        title = clean_line(info.title, 80) or _("this conversation")
        what = _("“{title}”", title=title)
        path = path or Path.cwd() / file_stem(info.title, "conversation")
        self._regions.open_dialog(ExportDialog(what, path, contents, OF_SESSIONS, kind), chosen)

    # ---- the marked message ----

    def open_menu(self) -> None:
        from tui.ui.dialogs.picker import Picker

        app = self._regions.screen.app

        def chosen(name: str | None) -> None:
            if name is not None:
                app.call_later(app.run_action, action(name).method)

        key_of = self._regions.key_of
        choices = [(name, Content(f"{key_of(name):<4}{_(words)}")) for name, words in MENU.items()]
        self._regions.open_dialog(Picker(_("THIS MESSAGE"), choices), chosen)

    def retry(self) -> None:
        """Send the marked question again, in a branch."""
        self._change_from(self.send_again)

    def rewrite(self) -> None:
        """Edit the marked question and send it again, in a branch."""
        self._change_from(self._rewrite)

    def branch(self) -> None:
        """Continue from the marked message in a copy of the conversation."""

        async def branch(question: int) -> None:
            await self.conversations.branch(self._end_of(question))
            self._show_branch()
            self._regions.go_to(Context.COMPOSER)

        self._change_from(branch)

    def compare(self) -> None:
        """Send the marked question to another model, in a branch, and show both answers."""
        opened, question = self.conversations.opened, self._navigator.question()
        effort = self.conversations.effort if question is not None else ""

        async def answer_again(question: int) -> None:
            left = self.comparison.earlier(question, self._end_of(question), effort)
            try:
                await self.send_again(question, left)
            except McptuiError:
                self.comparison.close()
                raise
            self._regions.go_to(Context.CONVERSATION)

        def retry() -> None:
            if question is not None and self._is_still_open(opened):
                self.change(answer_again(question))

        if question is None:
            self._regions.notify(NOT_SAVED, timeout=3)
        else:
            self.open_models(_("for the comparison"), retry)

    def _change_from(self, work: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        if self._regions.in_earlier():
            return
        if (question := self._navigator.question()) is None:
            self._regions.notify(NOT_SAVED, timeout=3)
        else:
            self.change(work(question))

    def take_left(self) -> bool:
        """Close the comparison and return to the earlier answer; return whether there was one."""
        if (left := self.comparison.left) is None:
            return False
        if self._is_free():
            if left.session:
                self.change(self._resume(left.session, left.effort))
            else:
                self._regions.notify(_("The earlier answer was not saved."), timeout=4)
            self.take_right()
        return True

    def take_right(self) -> None:
        """Close the comparison. The conversation goes on with the answer on the right."""
        self.comparison.close()
        self._regions.go_to(Context.COMPOSER)

    async def _resume(self, session: str, effort: str | None = None) -> None:
        await self.conversations.resume(session)
        active = self.conversations.active_model
        if effort not in (None, self.conversations.effort) and active.profile is not None:
            await self.conversations.switch(active.profile.name, active.profile.model, effort)
        self.show()

    async def send_again(self, question: int | None = None, left: EarlierAnswer | None = None) -> None:
        """Send a question again, by default the last one, in a branch, if given beside the answer `left`."""
        text, attachments = await self.conversations.again(question, left.session if left is not None else "")
        if left is not None:
            self.show()
            await self.comparison.open(left)
        elif question is None:
            self.show()
        else:
            self._show_branch()
        self._transcript.follow()
        self._turns.send(Written(text, text, tuple(map(Reference.to_known, attachments))), attachments)

    async def _rewrite(self, question: int) -> None:
        text, attachments = await self.conversations.again(question)
        self._show_branch()
        self._regions.composer.put_back(text)
        if attachments:
            self._regions.composer.attach(*map(Reference.to_known, attachments))
        self._regions.go_to(Context.COMPOSER)

    def _show_branch(self) -> None:
        self.show()
        if self.conversations.parent:
            back = self._regions.key_of("chat.parent")
            self._transcript.add_note(_("Branch. Press {key} to return to the original.", key=back))

    def _end_of(self, question: int) -> int:
        """Return the index after the last message of the turn that a user message started."""
        messages = self._navigator.messages
        later = (at for at in range(question + 1, len(messages)) if isinstance(messages[at], UserMessage))
        return next(later, len(messages))

    def copy(self) -> None:
        marked = self._regions.marked
        label, question = marked.marked_label, self._navigator.question()
        text, what = marked.reply_text(), _("the last reply")
        if label is not None and question is not None:
            turn = self._navigator.messages[question : self._end_of(question)]
            replies = [one.text for one in turn if isinstance(one, AssistantMessage) and one.text]
            if isinstance(label, Question):
                text, what = label.said, _("the question")
            else:
                text, what = "\n\n".join(replies) or text, _("the reply")
        if text:
            clipboard.copy(self._regions.screen.app, clean(text), what)
