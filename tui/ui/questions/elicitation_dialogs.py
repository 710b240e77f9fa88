"""Dialogs for elicitation: a form to fill in, or a URL to open, which is also how signing in asks."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from tui.core import units
from tui.core.forms.elicitation import blank_form, content_of, content_problem, problem_of, secret_warning
from tui.core.language.translate import N_, _, localized
from tui.core.questions import Action, AddressQuestion, FormQuestion, QuestionAnswer, cause_of
from tui.core.text import clean, clean_line, quoted_name, start_of
from tui.core.web import has_browser, web_address
from tui.ui.dialogs.question_dialog import ANSWERS, YES, QuestionDialog, QuestionLine
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead
from tui.ui.forms.form_screen import FormScreen
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.platform import clipboard
from tui.ui.widgets.inputs import Button, Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import filled

ELSEWHERE = N_("The browser is on another machine. Copy the URL and open it there.")

MAX_MESSAGE = 2_000
"""Maximum characters of the server's message. It is not decisive: the address is."""


def address_dialog(question: AddressQuestion, app: App[Any], keys: KeyOverrides) -> QuestionDialog:
    """Return a dialog for consent to open an address: all of it, its host emphasized, anything odd flagged.

    If no browser can be opened, the address is copied. For signing in, the user then pastes the browser's
    final address.
    """
    browser, is_sign_in = question.opens and has_browser(os.environ), question.purpose == "sign in"
    pasted = None
    if is_sign_in and not browser:
        pasted = Field(
            placeholder=_("the URL in the browser's address bar after you signed in"),
            compact=True,
            classes="body apart",
        )

    def copy() -> None:
        clipboard.copy(app, question.url, _("the URL"))

    def accept() -> QuestionAnswer:
        text = pasted.value.strip() if pasted is not None else ""
        if not browser and not text:
            copy()
        return QuestionAnswer(Action.ACCEPT, pasted=text)

    send = _("continue") if is_sign_in else _("copy and continue")
    send = _("open in the browser") if browser else send
    copies = _(action("ask.copy").label) if browser or is_sign_in else ""
    labels = {YES: send, "ask.copy": copies, "ask.decline": _("decline"), "ask.cancel": _("cancel")}
    parts = [*_address_texts(question, browser=browser), *filter(None, (pasted,))]
    dialog = QuestionDialog(question, keys, parts, labels, accept=accept, acts={"ask.copy": copy})
    dialog.add_class("-scrolls")
    return dialog


def _address_texts(question: AddressQuestion, *, browser: bool) -> Iterator[Static]:
    address = web_address(question.url)
    server = (quoted_name(question.server, 60), "bold")
    asked = Content.assemble(*filled(question.head, "", server=server), cause_of(question))
    yield Static(asked, markup=False, classes="question")
    if message := localized(question.message):
        more = len(message) - MAX_MESSAGE
        note = _("… {more} more characters", more=units.count(more)) if more > 0 else ""
        yield Literal(f"{clean(start_of(message, MAX_MESSAGE))}{note}", classes="about")
    styled = ((address.before, "$text-dim"), (address.host, "bold reverse"), (address.after, "$text-dim"))
    parts = ((clean_line(text, 5000), style) for text, style in styled)
    yield Static(Content.assemble(*parts), classes="inset", markup=False)
    for warning in address.warnings:
        yield Literal(f"! {clean_line(localized(warning), 300)}", classes="odd")
    if question.opens and not browser:
        yield Literal(_(ELSEWHERE), classes="about")


OTHERS = ("ask.decline", "ask.cancel")
"""The answers to a form besides sending it."""


class FormDialog(FormScreen[QuestionAnswer]):
    """Asks for the values of a form.

    It always names the server, and the user can always decline or cancel.
    """

    CONTEXTS = (Context.SERVER_QUESTION, Context.BENCH_FORM)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    OPENS_ITSELF = True

    DEFAULT_CSS = """
    FormDialog QuestionLine { margin-left: 3; }
    FormDialog.-narrow QuestionLine { margin-left: 0; }
    """

    def __init__(self, question: FormQuestion, keys: KeyOverrides) -> None:
        self.question = question
        self.answer_delay = AnswerDelay()
        self._keys = keys
        self.line = QuestionLine(keys, OTHERS, {})
        button = Button(_("Send"), keys.answers_of(YES), partial(self.action_act, YES))
        server = quoted_name(question.server, 60)
        label = _("The server {server} asks{cause}:", server=server, cause=cause_of(question))
        super().__init__(((label, "text bold"),), FormPane(keys), button, line=self.line)
        self._head = FormHead(description=question.message)

    def on_mount(self) -> None:
        if warning := secret_warning(self.question.schema):
            self.line.say(warning)
        self.pane.show(blank_form(self.question.schema), self._head)
        self.set_focus(self.pane if self.pane.current is not None else self.button)

    def close(self) -> None:
        self.dismiss(ANSWERS["ask.cancel"])

    def say(self, problem: str) -> None:
        self.line.say(problem)
        self.fit()

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self.say("")

    def action_act(self, name: str) -> None:
        """Send the values, unless one is invalid; or decline, or cancel."""
        if not self.answer_delay.accepts_keys:
            return
        if name == "ask.cancel":
            self.leave(self._keys.first_of(name))
        elif name in OTHERS:
            self.dismiss(ANSWERS[name])
        if name != YES:
            return
        value, problems = self.pane.form.value()
        content = content_of(self.question.schema, value)
        if problem := problem_of(problems) or content_problem(self.question.schema, content):
            self.pane.go_to_problem()
            self.say(_("{problem}.", problem=localized(problem)))
        else:
            self.dismiss(QuestionAnswer(Action.ACCEPT, content))
