"""Shows a question when it is its turn and the user is not typing, and closes it when it is withdrawn."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import ModalScreen

from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.ports import ApprovalRequest, TrustQuestion
from tui.core.questions import (
    AddressQuestion,
    ConfigErrors,
    DefinitionsQuestion,
    FormQuestion,
    SamplingQuestion,
    SamplingReview,
)
from tui.core.text import quoted_name
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.ui.dialogs.question_dialog import QuestionDialog
    from tui.ui.questions.elicitation_dialogs import FormDialog

    Dialog = FormDialog | QuestionDialog

LOOK_AGAIN_SECONDS = 0.5

ServerQuestion = (
    FormQuestion
    | AddressQuestion
    | SamplingQuestion
    | SamplingReview
    | DefinitionsQuestion
    | TrustQuestion
    | ConsentQuestion
    | ConsentsQuestion
    | ConfigErrors
)


class ServerQuestions:
    """Shows one question at a time: an approval in the conversation, others over whatever screen is on top.

    `answer` is called with the question and its answer. `busy` returns whether the user is typing, so that a
    question would catch keys meant for something else. `model` returns the name of the active model.
    `show_approval` shows an approval and gives it the keys, None if there is none any more.
    """

    def __init__(
        self,
        app: App[Any],
        keys: KeyOverrides,
        env: Mapping[str, str],
        *,
        answer: Callable[[ServerQuestion, object], None],
        busy: Callable[[], bool],
        model: Callable[[], str],
        show_approval: Callable[[ApprovalRequest | None], None],
    ) -> None:
        self._app = app
        self._keys = keys
        self._env = env
        self._answer = answer
        self._busy = busy
        self._model = model
        self._show_approval = show_approval
        self._dialog: Dialog | None = None
        self._next: ServerQuestion | ApprovalRequest | None = None
        self._waiting = 0
        self.approval: ApprovalRequest | None = None
        """The approval that is on screen."""
        self._withdrawn: AnswerDelay | None = None

    @property
    def ignores_keys(self) -> bool:
        """Whether a question was just closed, but not by the user: the next keys are meant for it."""
        return self._withdrawn is not None and not self._withdrawn.accepts_keys

    @property
    def ignores_text(self) -> bool:
        """Whether a dialog has just opened: letters are meant for what was on screen before."""
        dialog = self._dialog
        return dialog is not None and dialog.is_current and not dialog.answer_delay.accepts_keys

    def show(self, questions: Sequence[ServerQuestion | ApprovalRequest]) -> None:
        """Show the first question; the others wait. One that is on screen but not among them is withdrawn.

        Once the app has left the screen, nothing is shown: the questions are withdrawn one by one.
        """
        question = questions[0] if questions else None
        self._next, self._waiting = question, max(0, len(questions) - 1)
        if not self._app.is_running:
            self._dialog = self.approval = None
            return
        dialog = self._dialog
        if dialog is not None and dialog.question is not question:
            self._dialog = None
            waits = any(one is dialog.question for one in questions)  # another one is asked before it
            if self._close(dialog) and not waits and (note := _withdrawal(dialog.question)):
                self._app.notify(note, timeout=4)
            dialog = None
        if self.approval is not None and self.approval is not question:
            self.approval = None
            if not isinstance(question, ApprovalRequest) or self._busy():
                self._show_approval(None)
        if dialog is not None:
            dialog.show_waiting(self._waiting)
        elif question is not None and self.approval is None:
            self._when_quiet(question, lambda: self._open(question))

    def withdrawn(self) -> None:
        """Ignore the next keys: they are meant for a question that has just closed, but not by the user."""
        self._withdrawn = AnswerDelay()

    def show_again(self) -> None:
        """Give the approval on screen the keys again, once the user has stopped typing."""
        if (approval := self.approval) is not None:
            self._app.set_timer(
                LOOK_AGAIN_SECONDS,
                lambda: self._when_quiet(approval, lambda: self._show_approval(approval)),
            )

    def _when_quiet(self, question: ServerQuestion | ApprovalRequest, show: Callable[[], None]) -> None:
        """Call `show` once the user is not typing, unless another question comes first by then."""
        if self._next is not question:
            return
        if self._busy():
            self._app.set_timer(LOOK_AGAIN_SECONDS, lambda: self._when_quiet(question, show))
        else:
            show()

    def _open(self, question: ServerQuestion | ApprovalRequest) -> None:
        if self._dialog is not None or self.approval is not None:
            return
        if isinstance(question, ApprovalRequest):
            self.approval = question
            self._show_approval(question)
            return
        dialog = self._dialog_for(question, self._waiting)
        self._dialog = dialog

        def answered(answer: object) -> None:
            if self._dialog is dialog:
                self._dialog = None
                if answer is not None:
                    self._answer(question, answer)

        self._app.push_screen(dialog, answered)

    def _dialog_for(self, question: ServerQuestion, waiting: int) -> "Dialog":
        """Return a new dialog. Imported late: most runs need none, and all of them take 2 MB."""
        match question:
            case FormQuestion():
                from tui.ui.questions.elicitation_dialogs import FormDialog

                return FormDialog(question, self._keys, symbols_for(self._env), waiting=waiting)
            case AddressQuestion():
                from tui.ui.questions.elicitation_dialogs import address_dialog

                return address_dialog(question, self._app, self._keys, self._env, waiting=waiting)
            case TrustQuestion():
                from tui.ui.permission.trust_dialog import trust_dialog

                return trust_dialog(question, self._keys, waiting=waiting)
            case SamplingQuestion() | SamplingReview():
                from tui.ui.questions.sampling_dialog import sampling_dialog

                return sampling_dialog(question, self._model(), self._keys, waiting=waiting)
            case DefinitionsQuestion():
                from tui.ui.permission.definitions_dialog import definitions_dialog

                return definitions_dialog(question, self._keys, waiting=waiting)
            case ConfigErrors():
                return _errors_dialog(question, self._keys, waiting=waiting)
            case ConsentQuestion() | ConsentsQuestion():
                from tui.ui.permission.consent_dialog import consent_dialog

                return consent_dialog(question, self._keys, waiting=waiting)

    def _close(self, dialog: ModalScreen[Any]) -> bool:
        """Close a dialog and the screens over it; return whether it was open."""
        stack = self._app.screen_stack
        if dialog not in stack:
            return False
        for _ in stack[stack.index(dialog) :]:
            self._app.pop_screen()
        self.withdrawn()
        return True


def _errors_dialog(question: ConfigErrors, keys: KeyOverrides, *, waiting: int) -> "QuestionDialog":
    """Return a dialog with the errors of a configuration that was not applied. No letter answers."""
    from tui.ui.dialogs.question_dialog import QuestionDialog, Reply, Room
    from tui.ui.dialogs.read_pane import ReadPane

    heading = (("! The configuration has errors. The previous one is still in use.", "text"),)
    pane = ReadPane([heading, *(((line, "dim"),) for line in question.lines())])
    replies = {
        "ask.send": Reply("edit again", lambda: True, unread=True),
        "ask.cancel": Reply("close", lambda: False),
        "ask.decline": Reply("", lambda: False),
    }
    dialog = QuestionDialog(question, keys, [pane], replies, waiting=waiting, room=Room(6, 2, least=1))
    dialog.add_class("-warning")
    return dialog


def _withdrawal(question: object) -> str:
    """Return a note that a question was withdrawn, or "" where the screen shows why.

    The errors of a configuration were corrected, or the browser has answered a sign-in.
    """
    match question:
        case AddressQuestion(purpose="sign in"):
            return ""
        case FormQuestion() | AddressQuestion() | SamplingQuestion() | SamplingReview():
            return f"The server {quoted_name(question.server, 60)} withdrew its request."
        case ConfigErrors():
            return ""
        case _:  # asked by mcptui itself
            return "The question was withdrawn."
