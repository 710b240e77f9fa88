"""Questions that are answered with yes or no."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from tui.core.language.translate import N_, _
from tui.core.ports import BY_KEY, hand_call
from tui.core.questions import TRUSTED
from tui.core.servers import ServerStatus
from tui.core.text import compact, quoted_name
from tui.ui.dialogs.dialog import NARROW, Dialog
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.keys.answer_pause import CONFIRM_SECONDS, AnswerDelay
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


class Confirm(Dialog[bool]):
    """Asks before something irreversible; returns whether to do it. All texts are cleaned.

    Letters of text typed by mistake do not answer. With `by_letter`, the keys that send do not either: what
    they do in the dialog below is something else.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", N_("yes"), priority=True),
        Binding(SEND_KEYS, "send", show=False, priority=True),
        Binding("n,escape,q", "back", N_("no"), priority=True, key_display="n"),
    ]

    SHAPE = NARROW

    def __init__(self, question: str, *, yes: str, no: str, about: str, by_letter: bool = False) -> None:
        parts = Literal(f"! {question}", classes="question"), Literal(about, classes="about")
        super().__init__(EMPTY, *parts, keys=self.key_line(yes=yes, no=no))
        self.add_class("-warning")
        self._by_letter = by_letter
        self._delay = AnswerDelay(seconds=CONFIRM_SECONDS)

    def on_key(self, event: events.Key) -> None:
        """Restart the wait for a pause: in "Try this", the y is part of a word."""
        self._delay.restart()

    def action_send(self) -> None:
        """Answer yes with a key that sends."""
        if not self._by_letter:
            self.action_yes()

    def action_yes(self) -> None:
        """Answer yes, unless the key was pressed before the question could be seen."""
        if self._delay.accepts_keys:
            self.dismiss(True)


def change_trust(
    status: ServerStatus,
    change: Callable[[bool], None],
    open_dialog: Callable[[Confirm, Callable[[bool | None], None]], object],
) -> None:
    """Withdraw trust from a server at once, or grant it after asking. `change` gets which of them."""
    if status.spec.trusted:
        change(False)
        return
    asked = _("Trust the server {server}?", server=quoted_name(status.name))
    question = Confirm(asked, yes=_("trust"), no=_("cancel"), about=_(TRUSTED))
    open_dialog(question, lambda yes: change(True) if yes else None)


class ConfirmQuit(Dialog[bool]):
    """Asks whether to quit while a turn is running."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(f"y,enter,{SEND_KEYS}", "dismiss(True)", show=False),
        Binding("n,escape", "back", N_("keep running"), key_display="n"),
    ]

    SHAPE = NARROW

    def __init__(self) -> None:
        keys = self.key_line(("y", _("quit")))
        super().__init__(
            EMPTY, Literal(_("A turn is running. Stop it and quit?"), classes="question"), keys=keys
        )

    def closes_on(self, event: events.Key) -> bool:
        """Return False: pressing the key that quits once more is a yes."""
        return False


def confirm_call(
    warning: str, arguments: object, yes: str = N_("call, and stop asking for this tool")
) -> Confirm:
    """Return the question before a call that may be destructive. The warning is cleaned."""
    about = compact(arguments, 600)
    return Confirm(warning, yes=_(yes), no=_("cancel"), about=about)


def call_after(
    question: Confirm | None,
    app: App[Any],
    runtime: "Runtime",
    called: tuple[str, str, Mapping[str, Any]] | None,
    call: Callable[[], None],
) -> None:
    """Call at once if there is no question, otherwise after a yes; record the decision.

    `called` is the server, the tool and its arguments; None for anything but a tool.
    """

    def answered(yes: bool | None) -> None:
        if called is not None:
            asked = question is not None
            runtime.decisions.add(hand_call(*called, by=BY_KEY, allowed=bool(yes), asked=asked))
        if yes:
            call()

    if question is None:
        answered(True)
    else:
        app.push_screen(question, answered)
