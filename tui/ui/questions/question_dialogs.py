"""The dialogs of questions, and what to say of a withdrawn one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

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
    from tui.ui.questions.elicitation_dialogs import AddressDialog, FormDialog

    Dialog = FormDialog | AddressDialog | QuestionDialog

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
    question: ServerQuestion, keys: KeyOverrides, env: Mapping[str, str], *, model: str, waiting: int
) -> "Dialog":
    """Return a new dialog. Imported late: most runs need none, and all of them take 2 MB.

    `model` is the name of the active model, `waiting` the number of questions after this one.
    """
    match question:
        case FormQuestion():
            from tui.ui.questions.elicitation_dialogs import FormDialog

            return FormDialog(question, keys, symbols_for(env), waiting=waiting)
        case AddressQuestion():
            from tui.ui.questions.elicitation_dialogs import AddressDialog

            return AddressDialog(question, keys, env, waiting=waiting)
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
            from tui.ui.questions.config_dialog import config_errors_dialog

            return config_errors_dialog(question, keys, waiting=waiting)
        case ConsentQuestion() | ConsentsQuestion():
            from tui.ui.permission.permission_dialogs import consent_dialog

            return consent_dialog(question, keys, waiting=waiting)


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
