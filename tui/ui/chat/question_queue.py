"""Questions to the user: a queue with one visible question, and the keys and focus of that question."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual import events
from textual.widget import Widget

from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.questions import (
    Action,
    AddressAnswer,
    AddressQuestion,
    ConfigErrors,
    ConsentsAnswer,
    DefinitionsAnswer,
    DefinitionsQuestion,
    FormAnswer,
    FormQuestion,
    SamplingAnswer,
    SamplingQuestion,
    SamplingReview,
)
from tui.core.text import clean_line, quoted_name
from tui.ui.keys.action_table import Action as KeyAction
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.answer_pause import STORED_SECONDS, USUAL_SECONDS, AnswerDelay, AnswerKeys
from tui.ui.permission.trust_dialog import TrustAnswer
from tui.ui.platform.editing import caret_of
from tui.ui.questions.question_dialogs import ServerQuestion, ServerQuestions

if TYPE_CHECKING:
    from tui.ui.chat.regions import Regions

TYPING_SECONDS = 1.5
"""A key pressed in a field within this time means that the user is typing."""


Asked = ApprovalRequest | ServerQuestion
Reply = TypeVar("Reply")


@dataclass(eq=False, slots=True)
class _Question:
    request: Asked
    answer: asyncio.Future[Any]


class QuestionQueue:
    """`Approver` and `Questioner` for the screen, which shows one question after the other.

    Approvals are shown in the conversation, other questions in dialogs. Whatever opens without a key of the
    user is one of them: it waits until the user stops typing, and ignores the first keys. `tell` shows a
    notification.
    """

    def __init__(
        self,
        on_change: Callable[[], None],
        now: Callable[[], float],
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._on_change = on_change
        self._now = now
        self._tell = tell
        self._queue: list[_Question] = []
        self._delay = AnswerDelay(now)

    @property
    def current(self) -> ApprovalRequest | None:
        """The visible question, if it is an approval."""
        first = self._queue[0].request if self._queue else None
        return first if isinstance(first, ApprovalRequest) else None

    @property
    def of_server(self) -> ServerQuestion | None:
        """The visible question, if it is from a server."""
        first = self._queue[0].request if self._queue else None
        return None if isinstance(first, ApprovalRequest) else first

    @property
    def asks(self) -> bool:
        """Whether there is a question of any kind."""
        return bool(self._queue)

    @property
    def questions(self) -> list[Asked]:
        """All questions, the visible one first."""
        return [one.request for one in self._queue]

    @property
    def waiting(self) -> int:
        """Number of questions after the visible one."""
        return max(0, len(self._queue) - 1)

    @property
    def accepts_keys(self) -> bool:
        """Whether the question has been visible long enough for a key to answer it."""
        return self._delay.accepts_keys

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Wait for the user's answer. Cancelling withdraws the question."""
        return await self._wait(Decision, request)

    async def trust(self, question: TrustQuestion) -> bool | None:
        return (await self._wait(TrustAnswer, question)).trusted

    async def form(self, question: FormQuestion) -> FormAnswer:
        return await self._wait(FormAnswer, question)

    async def address(self, question: AddressQuestion) -> AddressAnswer:
        return await self._wait(AddressAnswer, question, first=question.again)

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer:
        return await self._wait(SamplingAnswer, question)

    async def review(self, question: SamplingReview) -> SamplingAnswer:
        return await self._wait(SamplingAnswer, question)

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return await self._wait(DefinitionsAnswer, question)

    async def consent(self, question: ConsentQuestion) -> Action:
        return await self._wait(Action, question)

    async def consents(self, question: ConsentsQuestion) -> ConsentsAnswer:
        return await self._wait(ConsentsAnswer, question)

    async def config_errors(self, errors: Sequence[str]) -> bool:
        """Show the errors of a configuration; return whether to edit it again."""
        return await self._wait(bool, ConfigErrors(errors))

    def refused(self, server: str, why: str) -> None:
        name, reason = quoted_name(server, 60), clean_line(why, 300).rstrip(".")
        self._tell(f"Rejected an invalid request from the server {name}. {reason}.")

    async def _wait(self, _: type[Reply], request: Asked, *, first: bool = False) -> Reply:
        """Wait for the user's answer, which is of the given type."""
        question = _Question(request, asyncio.get_running_loop().create_future())
        self._queue.insert(0 if first else len(self._queue), question)
        if self._queue[0] is question:
            self._show()
        else:
            self._counted()
        try:
            answer: Reply = await question.answer
            return answer
        finally:
            self._remove(question)

    def answer(self, answer: str, reason: str = "") -> None:
        """Answer the visible approval with a value of `Answer`.

        Does nothing if that answer is not possible.
        """
        request = self.current
        if request is not None and not (request.once_only and answer in (Answer.SESSION, Answer.ALWAYS)):
            self.settle(request, Decision(Answer(answer), reason))

    def settle(self, request: Asked, answer: object) -> None:
        """Answer the visible question. Does nothing if another one is visible by now."""
        if self._queue and self._queue[0].request is request:
            question = self._queue[0]
            if not question.answer.done():
                question.answer.set_result(answer)
            self._remove(question)

    def _remove(self, question: _Question) -> None:
        if question in self._queue:
            was_visible = self._queue[0] is question
            self._queue.remove(question)
            if was_visible:
                self._show()
            else:
                self._counted()

    def _counted(self) -> None:
        if self.of_server is not None:  # its dialog shows the number of waiting questions
            self._on_change()

    def _show(self) -> None:
        self.ignore_first_keys()
        self._on_change()

    def ignore_first_keys(self) -> None:
        """Ignore keys for a moment: the question is on screen only from now on."""
        self._delay = AnswerDelay(self._now)


class ApprovalKeys:
    """The keys that answer the visible question, and the focus that it takes and returns."""

    def __init__(
        self,
        regions: "Regions",
        show: Callable[[ApprovalRequest | None], None],
        wake: Callable[[], None],
        model: Callable[[], str],
        open_rules: Callable[[ApprovalRequest | None], None],
    ) -> None:
        self.typed_at = -TYPING_SECONDS
        tell = partial(regions.notify, severity="warning", timeout=12)
        self.approvals = QuestionQueue(self._changed, time.monotonic, tell)
        self._dialogs = ServerQuestions(
            regions.screen.app,
            regions.overrides,
            os.environ,
            answer=self.approvals.settle,
            busy=lambda: self._is_typing,
            model=model,
            show_approval=self._show_approval,
        )
        self._regions = regions
        self._show = show
        self._open_rules = open_rules
        self.keys = AnswerKeys(self.write, regions.screen.app.set_timer)
        self._wake = wake
        self._shown: ApprovalRequest | None = None
        self._took_from: Context | None = None
        self._closed_by_user = True
        self._returned = False

    @property
    def has_question(self) -> bool:
        """Whether a tool call waits for approval."""
        return self.approvals.current is not None

    def why_none(self) -> str:
        return "" if self.has_question else "no tool call is waiting for approval"

    @property
    def ignores_keys(self) -> bool:
        """Whether keys are still meant for a question that was just withdrawn."""
        return self._dialogs.ignores_keys

    def answer(self, answer: str) -> None:
        """Answer the visible question, unless it has just appeared."""
        if self._accepts_keys:
            seconds = STORED_SECONDS if answer == Answer.ALWAYS else USUAL_SECONDS
            self.keys.hold(partial(self._settle, answer), seconds)

    def holds(self, found: KeyAction, act: Callable[[], object]) -> bool:
        """Delay a command of the conversation while a question is open; return whether it was delayed."""
        if not self.has_keys or found.context is not Context.CONVERSATION:
            return False
        self.keys.hold(partial(self._regions.screen.app.call_later, act))
        return True

    def _settle(self, answer: str) -> None:
        """Answer the visible question. A yes only counts once the whole question was on screen."""
        request, regions = self.approvals.current, self._regions
        if request is None or request is not self._dialogs.approval:
            return
        if answer != Answer.NO.value and (unseen := regions.conversation.show_unseen(request)):
            regions.notify(unseen, severity="warning", timeout=6)
            return
        self._closed_by_user = True
        self.approvals.answer(answer)

    def refuse_with_reason(self) -> None:
        from tui.ui.dialogs.text_dialogs import SayWhy

        request = self.approvals.current
        if request is None or not self._accepts_keys:
            return

        def refuse(reason: str | None) -> None:
            if reason is not None and self.approvals.current is request:
                self._closed_by_user = True
                self.approvals.answer("no", reason)

        self._regions.open_dialog(SayWhy(request.tool.server, request.tool.name), refuse)

    def open_rules(self) -> None:
        """Show the rules that apply to the visible call."""
        self._open_rules(self.approvals.current)

    def _changed(self) -> None:
        self._dialogs.show(self.approvals.questions)
        self._wake()

    def _show_approval(self, request: ApprovalRequest | None) -> None:
        """Show an approval and give it the keys; None returns them to what had them before."""
        regions = self._regions
        if request is not None:
            if request is not self._shown:
                self._show(request)
                if not regions.is_on_top:
                    self._tell_elsewhere(request)
            self.approvals.ignore_first_keys()
            if regions.focus_context is not Context.CONVERSATION:
                self._took_from = regions.focus_context
            regions.go_to(Context.CONVERSATION)
        else:
            self._show(None)
            back = self._took_from or (None if regions.composer.is_blank else Context.COMPOSER)
            if back is not None and regions.conversation.has_focus:
                regions.go_to(back)
                if not self._closed_by_user:
                    self._dialogs.withdrawn()
            self._took_from = None
        self._shown, self._closed_by_user = request, False
        self._wake()

    def _tell_elsewhere(self, request: ApprovalRequest) -> None:
        """Say on another screen that the turn waits: the card is in the conversation."""
        call = f"{clean_line(request.tool.server, 40)} › {clean_line(request.tool.name, 60)}"
        key = self._regions.overrides.first_of("focus.conversation")
        self._regions.notify(f"{call} is waiting for approval. Press {key} to answer.", timeout=8)

    @property
    def has_keys(self) -> bool:
        """Whether letters in the conversation answer an approval."""
        return self._dialogs.approval is not None

    @property
    def _accepts_keys(self) -> bool:
        return self.has_keys and self.approvals.accepts_keys

    def came_back(self) -> None:
        """Ignore the next keys of a user who returns from another screen: they were meant for that."""
        if self._dialogs.approval is not None:
            self.approvals.ignore_first_keys()
            self._returned = True

    def close(self) -> None:
        """Record that the user ends the call, so that the keys after that are not meant for its question."""
        self._closed_by_user = True

    @property
    def _is_typing(self) -> bool:
        return time.monotonic() - self.typed_at < TYPING_SECONDS

    def focus_conversation(self) -> None:
        """Focus the conversation, and leave the focus there when the question is answered."""
        self.typed_at = -TYPING_SECONDS
        if self.approvals.current is not None and self._dialogs.approval is None:
            self._changed()  # the user stops typing to answer
        self._took_from = None
        self._regions.go_to(Context.CONVERSATION)

    def write(self, letters: str) -> None:
        """Write letters that turned out not to be an answer into the composer.

        The question has the keys again once the user has stopped typing.
        """
        self._regions.go_to(Context.COMPOSER)
        self._regions.composer.insert(letters)
        self.composer_changed()
        self._dialogs.show_again()

    def paste(self, event: events.Paste) -> None:
        """Paste into the composer, whatever has the focus, and treat it as typed."""
        self._regions.go_to(Context.COMPOSER)
        self._regions.composer.post_message(event)
        self.typed_at = time.monotonic()
        self._dialogs.show_again()

    def sent(self) -> None:
        """Give the keys back to the question after a message was sent."""
        self._dialogs.show_again()

    def takes(self, event: events.Key, focused: Widget | None) -> bool:
        """See a key before everything else; return whether it was meant for something that is gone by now.

        Records when the user last typed into a field. On another screen, enter and the like end it.
        """
        self._returned = self._returned and not self.approvals.accepts_keys
        if self.ignores_keys or (event.is_printable and (self._dialogs.ignores_text or self._is_deaf)):
            return True
        if self._returned and self._regions.is_on_top and event.key in self._stop_keys:
            return True  # pressed once too often to leave the other screen
        if focused is not None and caret_of(focused) is not None:
            if event.is_printable or event.key in ("backspace", "delete"):
                self.typed_at = time.monotonic()
            elif focused is not self._regions.composer:  # it says when its message was sent
                self.typed_at = -TYPING_SECONDS
        return False

    @property
    def _stop_keys(self) -> list[str]:
        return self._regions.overrides.keys_of(action("chat.cancel")).split(",")

    @property
    def _is_deaf(self) -> bool:
        """Whether an approval has the keys, but only just: letters were meant for what had them before."""
        regions = self._regions
        has_keys = self._dialogs.approval is not None and regions.is_on_top and regions.conversation.has_focus
        return has_keys and not self.approvals.accepts_keys

    def composer_changed(self) -> None:
        """Record when the user last typed. After a message is sent, the user is not typing."""
        self.typed_at = -TYPING_SECONDS if self._regions.composer.is_blank else time.monotonic()
