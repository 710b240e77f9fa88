"""The dialogs of questions, and what to say of a withdrawn one."""

from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.core.language.translate import _
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.ports import TrustQuestion
from tui.core.questions import (
    AddressQuestion,
    AgentQuestion,
    AttachQuestion,
    ConfigErrors,
    DefinitionsQuestion,
    FormQuestion,
    Question,
    SamplingQuestion,
    SkillQuestion,
)
from tui.core.text import quoted_name
from tui.ui.keys.bindings import KeyOverrides

if TYPE_CHECKING:
    from tui.ui.dialogs.question_dialog import QuestionDialog
    from tui.ui.questions.elicitation_dialogs import FormDialog

    Dialog = FormDialog | QuestionDialog

DialogQuestion = Question | TrustQuestion | ConfigErrors


def dialog_for(question: DialogQuestion, app: App[Any], keys: KeyOverrides, model: str) -> "Dialog":
    """Return a new dialog. Imported late: most runs need none, and all of them take 2 MB.

    `model` is the name of the active model.
    """
    match question:
        case FormQuestion():
            from tui.ui.questions.elicitation_dialogs import FormDialog

            return FormDialog(question, keys)
        case AddressQuestion():
            from tui.ui.questions.elicitation_dialogs import address_dialog

            return address_dialog(question, app, keys)
        case TrustQuestion():
            from tui.ui.permission.permission_dialogs import trust_dialog

            return trust_dialog(question, keys)
        case SamplingQuestion():
            from tui.ui.questions.sampling_dialog import sampling_dialog

            return sampling_dialog(question, model, keys)
        case DefinitionsQuestion():
            from tui.ui.permission.permission_dialogs import definitions_dialog

            return definitions_dialog(question, keys)
        case ConfigErrors():
            return _errors_dialog(question, keys)
        case ConsentQuestion() | ConsentsQuestion():
            from tui.ui.permission.permission_dialogs import consent_dialog

            return consent_dialog(question, keys)
        case AttachQuestion():
            from tui.ui.permission.permission_dialogs import attach_dialog

            return attach_dialog(question, keys)
        case SkillQuestion():
            from tui.ui.permission.skill_dialog import skill_dialog

            return skill_dialog(question, keys)
        case AgentQuestion():
            from tui.ui.permission.agent_dialog import agent_dialog

            return agent_dialog(question, keys)


def _errors_dialog(question: ConfigErrors, keys: KeyOverrides) -> "QuestionDialog":
    """Return a dialog with the errors of a configuration that was not applied. No letter answers."""
    from tui.ui.dialogs.question_dialog import YES, QuestionDialog
    from tui.ui.dialogs.read_pane import ReadPane

    heading = ((_("! The configuration has errors. The previous one is still in use."), "text bold"),)
    pane = ReadPane([heading, *(((line, "dim"),) for line in question.lines())])
    labels = {YES: _("edit again"), "ask.cancel": _("close"), "ask.decline": ""}
    dialog = QuestionDialog(question, keys, [pane], labels, unread=True)
    dialog.add_class("-warning")
    return dialog


def withdrawal(question: object) -> str:
    """Return a note that a question was withdrawn, or "" where the screen shows why.

    The errors of a configuration were corrected, or the browser has answered a sign-in.
    """
    match question:
        case AddressQuestion(purpose="sign in") | ConfigErrors():
            return ""
        case FormQuestion() | AddressQuestion() | SamplingQuestion():
            return _("The server {server} withdrew its request.", server=quoted_name(question.server, 60))
        case _:  # asked by mcptui itself
            return _("The question was withdrawn.")
