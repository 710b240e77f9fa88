"""One line before the first call of a tool that may destroy something."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.ui.widgets.literal import Literal

RIPE_SECONDS = 0.3
"""A yes that comes sooner was typed before the question was seen."""


class ConfirmCall(ModalScreen[bool]):
    """Gives whether the call may be made.

    Args:
        warning: what the server says, cleaned.
        asked: with what it would be called, cleaned.
        clock: seconds, monotonic.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "call it", priority=True),
        Binding("n,escape,q", "no", "do not", priority=True),
    ]

    DEFAULT_CSS = """
    ConfirmCall { align: center bottom; background: $surface 60%; }
    ConfirmCall > Vertical {
        width: 1fr; height: auto; max-height: 12; padding: 1 3; margin: 0 0 1 0;
        background: $panel; border-left: outer $warn;
    }
    ConfirmCall Literal { width: 1fr; }
    ConfirmCall .asked { color: $text-dim; }
    ConfirmCall .keys { color: $accent; margin-top: 1; }
    """

    def __init__(self, warning: str, asked: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._warning = warning
        self._asked = asked
        self._clock = clock
        self._shown = clock()

    def compose(self) -> ComposeResult:
        """Build the line."""
        with Vertical():
            yield Literal(f"! {self._warning}")
            yield Literal(self._asked, classes="asked")
            yield Literal("y call it, and do not ask again here    n esc do not", classes="keys")

    def action_yes(self) -> None:
        """Call it."""
        if self._clock() - self._shown >= RIPE_SECONDS:
            self.dismiss(True)

    def action_no(self) -> None:
        """Do not call it."""
        self.dismiss(False)
