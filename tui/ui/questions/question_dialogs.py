"""The dialogs of questions, and what to say of a withdrawn one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.ports import TrustQuestion
from tui.core.questions import (
    AddressQuestion,
    ConfigErrors,
    DefinitionsQuestion,
    FormQuestion,
    SamplingQuestion,
    SamplingReview,
)
from tui.core.text import quoted_name
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.ui.dialogs.question_dialog import QuestionDialog
    from tui.ui.questions.elicitation_dialogs import FormDialog

    Dialog = FormDialog | QuestionDialog

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


def dialog_for(
    question: ServerQuestion,
    app: App[Any],
    keys: KeyOverrides,
    env: Mapping[str, str],
    *,
    model: str,
    waiting: int,
) -> "Dialog":
    """Return a new dialog. Imported late: most runs need none, and all of them take 2 MB.

    `model` is the name of the active model, `waiting` the number of questions after this one.
    """
    match question:
        case FormQuestion():
            from tui.ui.questions.elicitation_dialogs import FormDialog

            return FormDialog(question, keys, symbols_for(env), waiting=waiting)
        case AddressQuestion():
            from tui.ui.questions.elicitation_dialogs import address_dialog

            return address_dialog(question, app, keys, env, waiting=waiting)
        case TrustQuestion():
            from tui.ui.permission.permission_dialogs import trust_dialog

            return trust_dialog(question, keys, waiting=waiting)
        case SamplingQuestion() | SamplingReview():
            from tui.ui.questions.sampling_dialog import sampling_dialog

            return sampling_dialog(question, model, keys, waiting=waiting)
        case DefinitionsQuestion():
            from tui.ui.permission.permission_dialogs import definitions_dialog

            return definitions_dialog(question, keys, waiting=waiting)
        case ConfigErrors():
            return _errors_dialog(question, keys, waiting=waiting)
        case ConsentQuestion() | ConsentsQuestion():
            from tui.ui.permission.permission_dialogs import consent_dialog

            return consent_dialog(question, keys, waiting=waiting)


def _errors_dialog(question: ConfigErrors, keys: KeyOverrides, *, waiting: int) -> "QuestionDialog":
    """Return a dialog with the errors of a configuration that was not applied. No letter answers."""
    from tui.ui.dialogs.question_dialog import QuestionDialog, Reply, Room
    from tui.ui.dialogs.read_pane import ReadPane

    heading = (("! The configuration has errors. The previous one is still in use.", "text"),)
    pane = ReadPane([heading, *(((line, "dim"),) for line in question.lines())])
    replies = {
        "ask.send": Reply("edit again", True, unread=True),
        "ask.cancel": Reply("close", False),
        "ask.decline": Reply("", False),
    }
    dialog = QuestionDialog(question, keys, [pane], replies, waiting=waiting, room=Room(6, 2, least=1))
    dialog.add_class("-warning")
    return dialog


def withdrawal(question: object) -> str:
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
