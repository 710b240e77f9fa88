"""Asks before a running turn is thrown away."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.ui.widgets.literal import Literal

LOOKS_PER_SECOND = 8

_RUNNING = "A turn is still running. Leave and stop it?"
_ENDED = "The turn has ended by now. Leave?"


class ConfirmQuit(ModalScreen[bool]):
    """Gives True if the person wants to leave although a turn runs.

    Args:
        running: says whether it still does; the question follows.
    """

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

    def __init__(self, running: Callable[[], bool]) -> None:
        super().__init__()
        self._turn_runs = running
        self._question = Literal(_RUNNING)

    def compose(self) -> ComposeResult:
        """Build the question."""
        with Vertical():
            yield self._question
            yield Literal("y leave    n stay", classes="keys")

    def on_mount(self) -> None:
        """Begin to look whether there is still something to stop."""
        self.set_interval(1 / LOOKS_PER_SECOND, self._look)

    def _look(self) -> None:
        self._question.show(_RUNNING if self._turn_runs() else _ENDED)

    def action_answer(self, leave: bool) -> None:
        """Give the answer."""
        self.dismiss(leave)
