"""Actions on the marked message: copy, retry, rewrite, compare, branch, and a call's complete result."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from tui.core.text import clean
from tui.ui.chat.composer.token_area import Reference, Written
from tui.ui.chat.conversation_actions import NOT_SAVED, ConversationActions
from tui.ui.chat.navigation import Navigator
from tui.ui.chat.transcript.result_parts import result_of
from tui.ui.chat.turn_queue import A_TURN_RUNS, TurnQueue
from tui.ui.keys.action_table import Context, action
from tui.ui.platform import clipboard

if TYPE_CHECKING:
    from tui.core.tools import LinkContent, ToolResult
    from tui.ui.chat.transcript.blocks import Label
    from tui.ui.chat.transcript.tool_call_cards import Card
    from tui.ui.results.message_draft import ResultSource

MENU = {
    "chat.copy": "copy",
    "chat.retry": "retry",
    "chat.rewrite": "edit and retry",
    "chat.compare": "compare with another model",
    "chat.branch": "branch from here",
    "chat.export": "export the conversation",
}
"""The actions in the menu of a message, and their labels in the menu."""


class MessageActions:
    """Acts on the marked message, or on the last one if none is marked.

    The methods `why_…` return why an action is unavailable, in a few words, or "".
    """

    def __init__(self, current: ConversationActions, turns: TurnQueue, navigator: Navigator) -> None:
        self._current = current
        self._regions = current.regions
        self._transcript = current.regions.conversation
        self._turns = turns
        self._navigator = navigator

    def why_none(self) -> str:
        has_messages = self._current.runtime.is_ready and self._current.conversations.messages
        return "" if has_messages else "the conversation is empty"

    def why_not_again(self) -> str:
        return self.why_none() or self._why_turn_runs()

    def why_no_parent(self) -> str:
        is_branch = self._current.runtime.is_ready and self._current.conversations.parent
        return self._why_turn_runs() if is_branch else "this conversation is not a branch"

    def why_not_uncompact(self) -> str:
        compaction = None if self.why_none() else self._current.conversations.compaction
        if compaction is None or not compaction.applies:
            return "nothing is summarized"
        return self._why_turn_runs()

    def _why_turn_runs(self) -> str:
        return A_TURN_RUNS if self._turns.running else ""

    def question(self) -> int | None:
        """Return the index of the user message that is marked, or that the marked message answers."""
        label = self._transcript.marked_label
        found = self._transcript.question_of(label) if label is not None else None
        if found is None:
            return None
        said, since = found
        places = [
            index
            for index, message in enumerate(self._current.conversations.messages)
            if isinstance(message, UserMessage) and message.text == said
        ]
        return places[-1 - since] if since < len(places) else None

    def _end_of(self, question: int) -> int:
        """Return the index after the last message of the turn that a user message started."""
        messages = self._current.conversations.messages
        later = (at for at in range(question + 1, len(messages)) if isinstance(messages[at], UserMessage))
        return next(later, len(messages))

    def open_menu(self) -> None:
        from tui.ui.dialogs.picker import Picker, PickerChoice

        app = self._regions.screen.app

        def chosen(name: str | None) -> None:
            if name is not None:
                app.call_later(app.run_action, action(name).method)

        choices = [
            PickerChoice(name, Content(f"{self._regions.key_of(name):<4}{words}"))
            for name, words in MENU.items()
        ]
        self._regions.open_dialog(Picker("THIS MESSAGE", choices), chosen)

    def open_traffic(self) -> None:
        """Show the traffic of the selected call or turn."""
        self._navigator.open_traffic_of_call(self.question)

    def retry(self) -> None:
        """Send the marked question again, in a branch."""
        self._with_question(lambda question: self._current.change(self._retry(question)))

    def rewrite(self) -> None:
        """Edit the marked question and send it again, in a branch."""
        self._with_question(lambda question: self._current.change(self._rewrite(question)))

    def branch(self) -> None:
        """Continue from the marked message in a copy of the conversation."""
        self._with_question(lambda question: self._current.change(self._branch(question)))

    def compare(self) -> None:
        """Send the marked question to another model, in a branch."""
        self._with_question(self._compare)

    def _compare(self, question: int) -> None:
        opened = self._current.conversations.opened

        def retry() -> None:
            if self._current.is_still_open(opened):
                self._current.change(self._retry(question))

        self._current.open_models("for the comparison", retry)

    def _with_question(self, act: Callable[[int], None]) -> None:
        if (question := self.question()) is None:
            self._regions.notify(NOT_SAVED, timeout=3)
        else:
            act(question)

    async def _branch_before(self, question: int) -> tuple[str, tuple[Attachment, ...]]:
        said: list[tuple[str, tuple[Attachment, ...]]] = []

        async def work() -> None:
            said.append(await self._current.conversations.again(question))

        await self._current.branch(work())
        return said[0]

    async def _retry(self, question: int) -> None:
        text, attachments = await self._branch_before(question)
        self._transcript.follow()
        self._turns.send(Written(text, text, tuple(map(Reference.to_known, attachments))), attachments)

    async def _rewrite(self, question: int) -> None:
        text, attachments = await self._branch_before(question)
        self._regions.composer.put_back(text)
        if attachments:
            self._regions.composer.attach(*map(Reference.to_known, attachments))
        self._regions.go_to(Context.COMPOSER)

    async def _branch(self, question: int) -> None:
        await self._current.branch(self._current.conversations.branch(self._end_of(question)))
        self._regions.go_to(Context.COMPOSER)

    def copy(self) -> None:
        label = self._transcript.marked_label
        question = self.question() if self._current.runtime.is_ready else None
        if label is None or question is None:
            self._transcript.copy_last_reply()
            return
        text = self._text_of(label, self._current.conversations.messages[question : self._end_of(question)])
        if text:
            what = "the question" if label.role == "user" else "the reply"
            clipboard.copy(self._regions.screen.app, clean(text), what)

    def _text_of(self, label: "Label", messages: Sequence[Message]) -> str:
        if label.role == "user":
            return label.said
        said = [one.text for one in messages if isinstance(one, AssistantMessage) and one.text]
        return "\n\n".join(said) or self._transcript.reply_text()

    def open_result(self) -> None:
        from tui.ui.results.result_screen import ResultScreen

        call = self._transcript.selected_call
        card = self._transcript.cards.get(call)
        result = self._result(call, card) if card is not None else None
        if card is None or result is None:
            self._regions.notify("No results yet.", timeout=3)
            return
        screen = ResultScreen(card.name, result, self._regions.overrides, self._source(card.server))
        self._regions.open_dialog(screen, None)

    def _source(self, server: str) -> "ResultSource":
        from tui.ui.results.message_draft import ResultSource

        return ResultSource(server, self._current.runtime.workbench, self._navigator)

    def open_link(self, server: str, link: "LinkContent") -> None:
        """Show the resource of a link in the result of a call."""
        from tui.ui.results.result_screen import read_link

        if self._current.runtime.is_ready:
            read_link(self._regions.screen.app, self._source(server), link, self._regions.overrides)

    def _result(self, call: str, card: "Card") -> "ToolResult | None":
        if card.gave is not None:
            return card.gave
        for message in reversed(self._current.conversations.messages):
            if isinstance(message, ToolMessage) and message.call_id == call:
                return result_of(
                    message, self._current.conversations.result(message.kept) if message.kept else ""
                )
        return None
