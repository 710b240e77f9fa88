"""Asks before a running turn is thrown away."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.ui.widgets.literal import Literal


class ConfirmQuit(ModalScreen[bool]):
    """Gives True if the person wants to leave although a turn runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter,ctrl+q", "answer(True)", "leave"),
        Binding("n,escape", "answer(False)", "stay"),
    ]

    DEFAULT_CSS = """
    ConfirmQuit { align: center middle; background: $surface 60%; }
    ConfirmQuit > Vertical {
        width: 56; max-width: 90%; height: auto; padding: 1 3;
        background: $panel; border-left: outer $accent;
    }
    ConfirmQuit Literal { width: 1fr; }
    ConfirmQuit .keys { color: $text-dim; margin-top: 1; }
    """

    def compose(self) -> ComposeResult:
        """Build the question."""
        with Vertical():
            yield Literal("A turn is still running. Leave and stop it?")
            yield Literal("y leave    n stay", classes="keys")

    def action_answer(self, leave: bool) -> None:
        """Give the answer."""
        self.dismiss(leave)
