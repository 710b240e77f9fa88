"""What is done with a message: copied, asked again, changed, branched from, asked of another model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core.text import clean
from tui.ui.app.conversations import NOT_SAVED, Conversing
from tui.ui.chat.composer.token_area import Reference, Written
from tui.ui.keys.actions import Action, Context, action, of_context
from tui.ui.keys.answer_debounce import AnswerKeys
from tui.ui.keys.situation import possible, unavailable

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.conversation.conversation import Attachment, Message
    from tui.core.tools import ToolResult
    from tui.ui.chat.approvals import Approvals
    from tui.ui.chat.status import ChatStatus
    from tui.ui.chat.transcript.blocks import Label
    from tui.ui.chat.transcript.cards import Card

ON_QUESTION = {
    "chat.copy": "copy it",
    "chat.retry": "ask it again",
    "chat.rewrite": "change it, then ask it again",
    "chat.compare": "ask another model the same",
    "chat.branch": "go on from here, as a branch",
    "chat.export": "write the conversation to a file",
}
"""What the list over a message offers: actions, and their words there."""

LETTERS = {one.method.removeprefix("app."): one for one in of_context(Context.CONVERSATION) if not one.run}
"""Actions whose keys are letters of a text as well."""

ACT = "act "
"""What begins the name of a deed where the answers to questions have theirs."""

UNAVAILABLE = "unavailable "
"""Begins what is said of a key that does nothing now, where the answers to questions have their names."""


class OnMessages(Conversing):
    """The keys of the conversation that act on the message that the mark stands on."""

    approvals: "Approvals"
    answer_keys: AnswerKeys
    glance: "ChatStatus"

    # ---- which message ----

    def _question(self) -> int | None:
        """Return the index of the question that the marked message belongs to; of the last, with no mark."""
        from tui.core.conversation.conversation import UserMessage

        label = self.conversation.marked_label
        found = self.conversation.question_of(label) if label is not None else None
        if found is None:
            return None
        said, since = found
        places = [
            at
            for at, message in enumerate(self.conversations.messages)
            if isinstance(message, UserMessage) and message.text == said
        ]
        return places[-1 - since] if since < len(places) else None

    def _end_of(self, question: int) -> int:
        """Return the index behind the last message that belongs to a question."""
        from tui.core.conversation.conversation import UserMessage

        messages = self.conversations.messages
        later = (at for at in range(question + 1, len(messages)) if isinstance(messages[at], UserMessage))
        return next(later, len(messages))

    def on_messages_message_chosen(self) -> None:
        """Offer what can be done with the message."""
        from tui.ui.dialogs.picker import Choice, Picker

        choices = [
            Choice(name, Content(f"{self.key_of(name):<4}{words}")) for name, words in ON_QUESTION.items()
        ]

        def chosen(action_id: str | None) -> None:
            if action_id is not None and not self.says_unavailable(action_id):
                self.call_later(self.run_action, action(action_id).method)

        self.open_dialog(Picker("THIS MESSAGE", choices), chosen)

    # ---- doing ----

    def settle(self, answer: str) -> None:
        """Take what a letter means, now that it is clear that nobody writes a text with it."""
        if answer.startswith(UNAVAILABLE):
            self._say_unavailable(answer.removeprefix(UNAVAILABLE))
        elif answer.startswith(ACT):
            self._act(answer.removeprefix(ACT))
        else:
            self.approvals.answer(answer)

    def _act(self, deed: str) -> None:
        match deed:
            case "copy":
                self._copy()
            case "result":
                self._show_result()
            case "parent":
                self._leave_branch()
            case "export":
                self.export_chat()
            case "uncompact":
                self.read_all()
            case _:
                self._ask_anew(deed)

    def _ask_anew(self, deed: str) -> None:
        question = self._question()
        if question is None:
            self.notify(NOT_SAVED, timeout=3)
            return
        match deed:
            case "retry":
                self.change(self._retry(question))
            case "rewrite":
                self.change(self._rewrite(question))
            case "branch":
                self.change(self._branch(question))
            case "compare":
                opened = self.conversations.opened

                def ask_again() -> None:
                    if self.is_still_open(opened):
                        self.change(self._retry(question))

                self._choose_model("to ask the same again", ask_again)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a command that does nothing now to `command_unavailable`, which says why."""
        found = LETTERS.get(action)
        if found is not None and self.furnished and self.conversation.has_focus:
            return possible(found, self.glance.situation(self.focus_context))
        return super().check_action(action, parameters)

    # ---- what cannot be done now ----

    def _why_unavailable(self, found: Action) -> str:
        return unavailable(found, self.glance.situation(self.focus_context), self.key_of("chat.cancel"))

    def _say_unavailable(self, why: str) -> None:
        self.notify(why, timeout=4)

    def says_unavailable(self, action_id: str) -> bool:
        """Say why an action does nothing now; return False, saying nothing, if it does something."""
        why = self._why_unavailable(action(action_id))
        if why:
            self._say_unavailable(why)
        return bool(why)

    def command_unavailable(self, key: str, letter: str) -> bool:
        """Say why a command key of the conversation does nothing now; False if the key is no command's.

        It is said once it is clear that the key's letter does not begin a message.
        """
        for found in (*of_context(Context.CONVERSATION), *of_context(Context.QUESTION)):
            if key in self.overrides.keys_of(found).split(",") and (why := self._why_unavailable(found)):
                self.answer_keys.answer(f"{UNAVAILABLE}{why}", letter)
                return True
        return False

    def _held(self, deed: str) -> None:
        self.answer_keys.answer(f"{ACT}{deed}")

    def action_chat_retry(self) -> None:
        """Ask the marked question again, as a branch."""
        self._held("retry")

    def action_chat_rewrite(self) -> None:
        """Change the marked question and ask it again, as a branch."""
        self._held("rewrite")

    def action_chat_branch(self) -> None:
        """Go on from the marked message in a copy of the conversation."""
        self._held("branch")

    def action_chat_compare(self) -> None:
        """Ask another model the marked question, as a branch."""
        self._held("compare")

    async def _again(self, question: int) -> "tuple[str, tuple[Attachment, ...]]":
        before = self.conversations.info
        said = await self.conversations.again(question)
        self._branched(before.id if before is not None else "")
        return said

    def _branched(self, before: str) -> None:
        self.came_from = before
        self.show_conversation()
        if self.branched_from:
            back = self.key_of("chat.parent")
            self.conversation.add_note(f"This is a branch; {back} goes back to the conversation before it.")

    async def _retry(self, question: int) -> None:
        text, attachments = await self._again(question)
        self.conversation.follow()
        self.chat.send(Written(text, text, tuple(map(Reference.to_known, attachments))), attachments)

    async def _rewrite(self, question: int) -> None:
        text, attachments = await self._again(question)
        self.composer.put_back(text)
        if attachments:
            self.composer.attach(*map(Reference.to_known, attachments))
        self.go_to(Context.COMPOSER)

    async def _branch(self, question: int) -> None:
        before = self.conversations.info
        await self.conversations.branch(self._end_of(question))
        self._branched(before.id if before is not None else "")
        self.go_to(Context.COMPOSER)

    def action_chat_parent(self) -> None:
        """Go back to the conversation that this one branched off."""
        self._held("parent")

    def _leave_branch(self) -> None:
        if parent := self.branched_from:
            self.change(self._go_back(parent))
        else:
            self.notify("This conversation is no branch.", timeout=3)

    async def _go_back(self, parent: str) -> None:
        await self.conversations.resume(parent)
        self.came_from = ""
        self.show_conversation()

    def action_chat_export(self) -> None:
        """Write the conversation on screen to a file."""
        self._held("export")

    def action_chat_uncompact(self) -> None:
        """Let the model read everything again."""
        self._held("uncompact")

    # ---- copying and reading ----

    def action_chat_copy(self) -> None:
        """Copy the marked message; with no mark the last reply."""
        self._held("copy")

    def _copy(self) -> None:
        label = self.conversation.marked_label
        question = self._question() if self.runtime.is_ready else None
        if label is None or question is None:
            if self.conversation.copy_last_reply():
                self.notify("The last reply is copied.")
            return
        text = self._text_of(label, self.conversations.messages[question : self._end_of(question)])
        if text:
            self.copy_to_clipboard(clean(text))
            self.notify("The question is copied." if label.role == "user" else "The reply is copied.")

    def _text_of(self, label: "Label", messages: "Sequence[Message]") -> str:
        from tui.core.conversation.conversation import AssistantMessage

        if label.role == "user":
            return label.said
        said = [one.text for one in messages if isinstance(one, AssistantMessage) and one.text]
        return "\n\n".join(said) or self.conversation.reply_text()

    def action_chat_result(self) -> None:
        """Show all of what the marked call gave, or the last one."""
        self._held("result")

    def _show_result(self) -> None:
        from tui.ui.workbench.result_screen import ResultScreen

        call = self.conversation.selected_call
        card = self.conversation.card_of(call)
        result = self._result(call, card) if card is not None else None
        if card is None or result is None:
            self.notify("No call has given anything yet.", timeout=3)
            return
        self.open_dialog(ResultScreen(card.name, result, self.overrides))

    def _result(self, call: str, card: "Card") -> "ToolResult | None":
        from tui.core.conversation.conversation import ToolMessage
        from tui.ui.chat.result_parts import result_of

        told = next(
            (
                one
                for one in reversed(self.conversations.messages)
                if isinstance(one, ToolMessage) and one.call_id == call
            ),
            None,
        )
        if card.gave is not None:
            return card.gave
        return (
            result_of(told, self.conversations.result(told.kept) if told.kept else "")
            if told is not None
            else None
        )
