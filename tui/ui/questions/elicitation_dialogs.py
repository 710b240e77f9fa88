"""Dialogs for elicitation: a form to fill in, or a URL to open, which is also how signing in asks."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core import units
from tui.core.forms.elicitation import (
    blank_form,
    content_of,
    content_problem,
    problem_of,
    secret_fields,
)
from tui.core.questions import Action, AddressAnswer, AddressQuestion, FormAnswer, FormQuestion
from tui.core.text import clean, clean_line, quoted_name
from tui.core.web import has_browser, web_address
from tui.ui.dialogs.question_line import BREAKPOINTS, QuestionLine
from tui.ui.forms.form_box import FormBox
from tui.ui.forms.form_pane import FormPane
from tui.ui.forms.form_rows import FormHead
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.platform import clipboard
from tui.ui.widgets.inputs import Button, Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.symbols import Symbols

ELSEWHERE = "The browser is on another machine. Copy the URL and open it there."

MAX_MESSAGE = 2_000
"""Maximum characters of the server's message. It is not decisive: the address is."""


class AddressDialog(ModalScreen[AddressAnswer]):
    """Asks for consent to open an address. Shows all of it, emphasizes the host and flags anything odd.

    If no browser can be opened, the address is copied. For signing in, the user then pastes the browser's
    final address.
    """

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)

    DEFAULT_CSS = """
    AddressDialog { align: center bottom; background: $surface 60%; }
    AddressDialog > Vertical {
        width: 100%; height: auto; max-height: 80vh; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent; overflow-y: auto;
    }
    AddressDialog > Vertical > * { max-width: 104; }
    AddressDialog Literal, AddressDialog Static { width: 1fr; height: auto; }
    AddressDialog .address { margin: 1 0; }
    AddressDialog .odd { color: $warn; }
    AddressDialog .about { color: $text-dim; }
    AddressDialog Input { margin: 1 0 0 0; background: $surface; }
    AddressDialog QuestionLine { margin-top: 1; }
    """

    def __init__(
        self, question: AddressQuestion, keys: KeyOverrides, env: Mapping[str, str], *, waiting: int
    ) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self._browser = question.opens and has_browser(env)
        copy = ("ask.copy",) if self._browser or question.purpose == "sign in" else ()
        self.line = QuestionLine(keys, ("ask.send", *copy, "ask.decline", "ask.cancel"), waiting)
        self._address = web_address(question.url)
        self._pasted: Field | None = None
        if question.purpose == "sign in" and not self._browser:
            self._pasted = Field(placeholder="paste the URL of the last page in the browser", compact=True)

    def compose(self) -> ComposeResult:
        question = self.question
        server = quoted_name(question.server, 60)
        what = "requires signing in" if question.purpose == "sign in" else "asks you to open a URL"
        what += f", round {question.round}" if question.round > 1 else ""
        with Vertical():
            yield Static(Content.assemble("The server ", (server, "bold"), f" {what}"), markup=False)
            if question.message:
                yield Literal(self._message(), classes="about")
            yield Static(Content.assemble(*self._parts()), classes="address", markup=False)
            for warning in self._address.warnings:
                yield Literal(f"! {clean_line(warning, 300)}", classes="odd")
            if question.opens and not self._browser:
                yield Literal(ELSEWHERE, classes="about")
            if self._pasted is not None:
                yield self._pasted
            yield self.line

    def _message(self) -> str:
        message = self.question.message
        more = len(message) - MAX_MESSAGE
        note = f"… {units.count(more)} more characters" if more > 0 else ""
        return f"{clean(message[:MAX_MESSAGE])}{note}"

    def _parts(self) -> Iterator[tuple[str, str]]:
        address = self._address
        for text, style in (
            (address.before, "$text-dim"),
            (address.host, "bold reverse"),
            (address.after, "$text-dim"),
        ):
            yield clean_line(text, 5000), style

    def on_mount(self) -> None:
        self.line.relabel("ask.send", "open in the browser" if self._browser else "copy and continue")
        if self._pasted is not None:
            self.line.relabel("ask.send", "continue")
            self.set_focus(self._pasted)

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def on_input_submitted(self) -> None:
        self.action_ask_send()

    def action_ask_send(self) -> None:
        """Consent to open the address; copy it if it cannot be opened."""
        if not self.answer_delay.accepts_keys:
            return
        pasted = self._pasted.value.strip() if self._pasted is not None else ""
        if not self._browser and not pasted:
            self.action_ask_copy()
        self.dismiss(AddressAnswer(Action.ACCEPT, pasted))

    def action_ask_copy(self) -> None:
        clipboard.copy(self.app, self.question.url, "the URL")

    def action_ask_decline(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(AddressAnswer(Action.DECLINE))

    def action_ask_cancel(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(AddressAnswer(Action.CANCEL))


WIDTHS = [(0, "-narrow"), (60, "-wide")]
"""A narrow dialog shows its keys below its button."""


class FormDialog(ModalScreen[FormAnswer]):
    """Asks for the values of a form.

    It always names the server, and the user can always decline or cancel.
    """

    CONTEXTS = (Context.SERVER_QUESTION, Context.BENCH_FORM)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS
    HORIZONTAL_BREAKPOINTS = WIDTHS

    DEFAULT_CSS = """
    FormDialog { align: center bottom; background: $surface 60%; }
    FormDialog QuestionLine { margin-left: 3; }
    FormDialog.-narrow QuestionLine { margin-left: 0; }
    """

    def __init__(self, question: FormQuestion, keys: KeyOverrides, signs: Symbols, *, waiting: int) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self.pane = FormPane(keys, signs)
        self.button = Button("Send", keys.answers_of("ask.send"), self.action_ask_send)
        self.line = QuestionLine(keys, ("ask.decline", "ask.cancel"), waiting)
        self._box = FormBox(self.pane, self.button, self.line)
        rounds = f", round {question.round}" if question.round > 1 else ""
        label = f"  The server {quoted_name(question.server, 60)} asks{rounds}:"
        self._head = FormHead(((label, "text bold"),), description=question.message)

    def compose(self) -> ComposeResult:
        yield self._box

    def on_mount(self) -> None:
        if secret := secret_fields(self.question.schema):
            names = ", ".join(clean_line(name, 40) for name in secret[:4])
            self.line.say(f"{names}: servers must not request secrets in a form.")
        self.pane.show(blank_form(self.question.schema), self._head)
        self.set_focus(self.pane if self.pane.current is not None else self.button)

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def on_form_pane_changed(self, event: FormPane.Changed) -> None:
        event.stop()
        self.line.say("")
        self._box.fit()

    def action_ask_send(self) -> None:
        """Send the values, unless one is invalid."""
        if not self.answer_delay.accepts_keys:
            return

        value, problems = self.pane.form.value()
        content = content_of(self.question.schema, value)
        problem = problem_of(problems) or content_problem(self.question.schema, content)
        if problem:
            self.pane.go_to_problem()
            self.line.say(f"{problem}.")
            self._box.fit()
        else:
            self.dismiss(FormAnswer(Action.ACCEPT, content))

    def action_ask_decline(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(FormAnswer(Action.DECLINE))

    def action_ask_cancel(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(FormAnswer(Action.CANCEL))
