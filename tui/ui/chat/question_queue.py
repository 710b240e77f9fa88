"""Questions to the user: a queue, and the visible question with its keys and its focus."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, overload

from textual import events
from textual.widget import Widget

from tui.core.errors import without_stop
from tui.core.files import short_path
from tui.core.language.translate import _, localized, message
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.questions import Action, AddressQuestion, QuestionAnswer, Questioner
from tui.core.text import clean_line, quoted_name
from tui.runtime.runtime import Runtime
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Action as KeyAction
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.answer_pause import STORED_SECONDS, USUAL_SECONDS, AnswerDelay, AnswerKeys
from tui.ui.platform.editing import caret_of
from tui.ui.questions.question_dialogs import DialogQuestion, dialog_for, withdrawal

if TYPE_CHECKING:
    from tui.ui.questions.question_dialogs import Dialog

TYPING_SECONDS = 1.5
"""A key pressed in a field within this time means that the user is typing."""

LOOK_AGAIN_SECONDS = 0.5
REMEMBERED_SECONDS = 3
"""How long to say what a lasting answer stores."""

Asked = ApprovalRequest | DialogQuestion


@dataclass(eq=False, slots=True)
class _Question:
    request: Asked
    answer: asyncio.Future[Decision | QuestionAnswer]


class QuestionQueue(Questioner):
    """`Approver` and `Questioner` for the screen, which shows one question after the other.

    Approvals are shown in the conversation, other questions in dialogs over whatever screen is on top.
    Whatever opens without a key of the user is one of them: it waits until the user stops typing, and ignores
    the first keys. The visible one has the keys and the focus, and returns them.

    Attributes:
        answer_delay: determines whether the question has been visible long enough for a key to answer it.
        closed_by_user: whether the last approval was answered, or its call was ended by the user.
    """

    def __init__(self, runtime: Runtime, regions: Regions, bridge: Bridge) -> None:
        self._runtime = runtime
        self._regions = regions
        self._app = regions.screen.app
        self._bridge = bridge
        self._wake = regions.ticker.wake
        self._queue: list[_Question] = []
        self.answer_delay = AnswerDelay()
        self.closed_by_user = True
        self.keys = AnswerKeys(self.write, self._app.set_timer)
        self.typed_at = -TYPING_SECONDS
        self._dialog: Dialog | None = None
        self._approval: ApprovalRequest | None = None  # the approval that is on screen
        self._shown: ApprovalRequest | None = None  # the same, until another one has the keys
        self._took_from: Context | None = None
        self._withdrawn: AnswerDelay | None = None
        self._returned = False

    # ---- the queue ----

    @property
    def first(self) -> Asked | None:
        """The visible question."""
        return self._queue[0].request if self._queue else None

    @property
    def current(self) -> ApprovalRequest | None:
        """The visible question, if it is an approval."""
        return self.first if isinstance(self.first, ApprovalRequest) else None

    @property
    def waiting(self) -> int:
        """Number of questions after the visible one."""
        return max(0, len(self._queue) - 1)

    @overload
    async def ask(self, request: ApprovalRequest) -> Decision: ...

    @overload
    async def ask(self, request: DialogQuestion) -> QuestionAnswer: ...

    async def ask(self, request: Asked) -> Decision | QuestionAnswer:
        """Wait for the user's answer. Cancelling withdraws the question."""
        question = _Question(request, asyncio.get_running_loop().create_future())
        is_first = isinstance(request, AddressQuestion) and request.again
        self._queue.insert(0 if is_first else len(self._queue), question)
        self._changed(self._queue[0] is question)
        try:
            return await question.answer
        finally:
            self._remove(question)

    async def trust(self, question: TrustQuestion) -> bool | None:
        return {Action.ACCEPT: True, Action.DECLINE: False}.get((await self.ask(question)).action)

    def refused(self, server: str, why: str) -> None:
        name, reason = quoted_name(server, 60), without_stop(clean_line(localized(why), 300))
        told = _(
            "Rejected an invalid request from the server {server}. {reason}.", server=name, reason=reason
        )
        self._regions.notify(told, severity="warning", timeout=12)

    def decide(self, answer: str, reason: str = "") -> None:
        """Answer the visible approval with a value of `Answer`, if that answer is possible."""
        request = self.current
        if request is not None and not (request.once_only and answer in (Answer.SESSION, Answer.ALWAYS)):
            self.closed_by_user = True
            self.settle(request, Decision(Answer(answer), reason))
            if answer == Answer.ALWAYS:
                self._say_remembered(request)

    def _say_remembered(self, request: ApprovalRequest) -> None:
        """Say which approval is stored from now on, where, and how to revoke it."""
        told = _(
            "{call} runs without approval until its definition changes. Stored in {file}. To revoke it, press"
            " {key} in the servers pane.",
            call=f"{clean_line(request.tool.server, 40)} › {clean_line(request.tool.name, 60)}",
            file=clean_line(short_path(self._runtime.approvals.path), 120),
            key=self._regions.key_of("rules.open"),
        )
        self._regions.notify(told, timeout=REMEMBERED_SECONDS)

    def settle(self, request: Asked, answer: Decision | QuestionAnswer) -> None:
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
            self._changed(was_visible)

    def _changed(self, is_another: bool) -> None:
        if is_another:
            self.answer_delay.restart()  # the question is on screen only from now on
        self.changed()

    # ---- the visible question ----

    def changed(self) -> None:
        """Handle a change of the visible question, or of the number of those that wait."""
        self._show_first()
        self._wake()

    def _show_first(self) -> None:
        """Show the first question; the others wait. One that is on screen but not among them is withdrawn.

        Once the app has left the screen, nothing is shown: the questions are withdrawn one by one.
        """
        question = self.first
        if not self._app.is_running:
            self._dialog = self._approval = None
            return
        dialog = self._dialog
        if dialog is not None and dialog.question is not question:
            self._dialog = None
            # Otherwise, another one is asked before it.
            is_over = all(one.request is not dialog.question for one in self._queue)
            if self._close(dialog) and is_over and (note := withdrawal(dialog.question)):
                self._app.notify(note, timeout=4)
        if self._approval is not None and self._approval is not question:
            self._approval = None
            if not isinstance(question, ApprovalRequest) or self._is_typing:
                self._return_keys()
        if self._dialog is not None:
            self._dialog.line.show_waiting(self.waiting)
        elif question is not None and self._approval is None:
            self._when_quiet(question, partial(self._open, question))

    def _when_quiet(self, question: Asked, show: Callable[[], None]) -> None:
        """Call `show` once the user is not typing, unless another question comes first by then."""
        if question is not self.first:
            return
        if self._is_typing:
            self._app.set_timer(LOOK_AGAIN_SECONDS, partial(self._when_quiet, question, show))
        else:
            show()

    def _open(self, question: Asked) -> None:
        if self._dialog is not None or self._approval is not None:
            return
        if isinstance(question, ApprovalRequest):
            self._approval = question
            self._give_keys(question)
            return
        overrides, model = self._regions.overrides, self._runtime.model_label
        dialog = self._dialog = dialog_for(question, self._app, overrides, model)
        dialog.line.show_waiting(self.waiting)

        def answered(answer: QuestionAnswer | None) -> None:
            if self._dialog is dialog:
                self._dialog = None
                if answer is not None:
                    self.settle(question, answer)

        self._app.push_screen(dialog, answered)

    def _close(self, dialog: "Dialog") -> bool:
        """Close a dialog and the screens over it; return whether it was open."""
        stack = self._app.screen_stack
        if dialog not in stack:
            return False
        for _screen in stack[stack.index(dialog) :]:
            self._app.pop_screen()
        self._withdrawn = AnswerDelay()
        return True

    def _give_keys(self, request: ApprovalRequest) -> None:
        regions = self._regions
        if request is not self._shown:
            self._bridge.question(request)
            if not regions.is_on_top:  # say that the turn waits: the card is in the conversation
                call = f"{clean_line(request.tool.server, 40)} › {clean_line(request.tool.name, 60)}"
                key = regions.key_of("focus.conversation")
                told = _("{call} is waiting for approval. Press {key} to answer.", call=call, key=key)
                regions.notify(told, timeout=8)
        self.answer_delay.restart()
        if regions.focus_context is not Context.CONVERSATION:
            self._took_from = regions.focus_context
        regions.go_to(Context.CONVERSATION)
        self._shown, self.closed_by_user = request, False
        self._wake()

    def _return_keys(self) -> None:
        """Return the keys to what had them before the approval."""
        regions = self._regions
        self._bridge.question(None)
        back = self._took_from or (None if regions.composer.is_blank else Context.COMPOSER)
        if back is not None and regions.conversation.has_focus:
            regions.go_to(back)
            if not self.closed_by_user:
                self._withdrawn = AnswerDelay()
        self._took_from = self._shown = None
        self.closed_by_user = False
        self._wake()

    def give_back(self) -> None:
        """Give the approval on screen the keys again, once the user has stopped typing."""
        if (approval := self._approval) is not None:
            show = partial(self._give_keys, approval)
            self._app.set_timer(LOOK_AGAIN_SECONDS, partial(self._when_quiet, approval, show))

    # ---- its keys ----

    def why_none(self) -> str:
        if self.current is None:
            return message("no tool call is waiting for approval")
        in_other = self._regions.has_panes and self._regions.marked is not self._regions.conversation
        return message("the question is in the other column") if in_other else ""

    @property
    def has_keys(self) -> bool:
        """Whether letters in the conversation answer an approval."""
        return self._approval is not None

    @property
    def ignores_keys(self) -> bool:
        """Whether keys are still meant for a question that was just closed, but not by the user."""
        return self._withdrawn is not None and not self._withdrawn.accepts_keys

    @property
    def _ignores_text(self) -> bool:
        """Whether a question has just appeared: letters were meant for what had the keys before."""
        dialog, regions = self._dialog, self._regions
        if dialog is not None and dialog.is_current:
            return not dialog.answer_delay.accepts_keys
        has_keys = self.has_keys and regions.is_on_top and regions.conversation.has_focus
        return has_keys and not self.answer_delay.accepts_keys

    def answer(self, answer: str) -> None:
        """Answer the visible question, unless it has just appeared."""
        if self.has_keys and self.answer_delay.accepts_keys:
            seconds = STORED_SECONDS if answer == Answer.ALWAYS else USUAL_SECONDS
            self.keys.hold(partial(self._settle, answer), seconds)

    def holds(self, found: KeyAction, act: Callable[[], object]) -> bool:
        """Delay a command of the conversation while a question is open; return whether it was delayed."""
        if not self.has_keys or found.context is not Context.CONVERSATION:
            return False
        self.keys.hold(partial(self._app.call_later, act))
        return True

    def _settle(self, answer: str) -> None:
        """Answer the visible question. A yes only counts once the whole question was on screen."""
        request, regions = self._approval, self._regions
        if request is None or request is not self.first:
            return
        if answer != Answer.NO.value and (unseen := regions.conversation.show_unseen(request)):
            regions.notify(unseen, severity="warning", timeout=6)
        else:
            self.decide(answer)

    def refuse_with_reason(self) -> None:
        from tui.ui.dialogs.text_dialogs import SayWhy

        request = self.current
        if request is None or not (self.has_keys and self.answer_delay.accepts_keys):
            return

        def refuse(reason: str | None) -> None:
            if reason is not None and self.current is request:
                self.decide("no", reason)

        self._regions.open_dialog(SayWhy(request.tool.server, request.tool.name), refuse)

    # ---- what the user types ----

    @property
    def _is_typing(self) -> bool:
        return time.monotonic() - self.typed_at < TYPING_SECONDS

    def came_back(self) -> None:
        """Ignore the next keys of a user who returns from another screen: they were meant for that."""
        if self.has_keys:
            self.answer_delay.restart()
            self._returned = True

    def focus_conversation(self) -> None:
        """Focus the conversation, and leave the focus there when the question is answered."""
        self.typed_at = -TYPING_SECONDS
        if self.current is not None and not self.has_keys:
            self.changed()  # the user stops typing to answer
        self._took_from = None
        self._regions.go_to(Context.CONVERSATION)

    def write(self, letters: str) -> None:
        """Write letters that turned out not to be an answer into the composer.

        The question has the keys again once the user has stopped typing.
        """
        self._regions.go_to(Context.COMPOSER)
        self._regions.composer.insert(letters)
        self.composer_changed()
        self.give_back()

    def paste(self, event: events.Paste) -> None:
        """Paste into the composer, whatever has the focus, and treat it as typed."""
        self._regions.go_to(Context.COMPOSER)
        self._regions.composer.post_message(event)
        self.typed_at = time.monotonic()
        self.give_back()

    def takes(self, event: events.Key, focused: Widget | None) -> bool:
        """See a key before everything else; return whether it was meant for something that is gone by now.

        Or whether it is the rest of a delayed answer. Records when the user last typed into a field. On
        another screen, enter and the like end it.
        """
        regions = self._regions
        self._returned = self._returned and not self.answer_delay.accepts_keys
        if self.ignores_keys or (event.is_printable and self._ignores_text):
            return True
        stop_keys = regions.overrides.keys_of(action("chat.cancel")).split(",")
        if self._returned and regions.is_on_top and event.key in stop_keys:
            return True  # pressed once too often to leave the other screen
        if focused is not None and caret_of(focused) is not None:
            if event.is_printable or event.key in ("backspace", "delete"):
                self.typed_at = time.monotonic()
            elif focused is not regions.composer:  # it says when its message was sent
                self.typed_at = -TYPING_SECONDS
        letter = event.character if event.is_printable and event.character else ""
        return regions.is_on_top and self.keys.key(letter)

    def composer_changed(self) -> None:
        """Record when the user last typed. After a message is sent, the user is not typing."""
        self.typed_at = -TYPING_SECONDS if self._regions.composer.is_blank else time.monotonic()
