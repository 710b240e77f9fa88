"""Asks once before something is done that cannot be taken back."""

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


class Confirm(ModalScreen[bool]):
    """Gives whether it is to be done.

    Args:
        question: what is asked, cleaned.
        yes: what the key for it says.
        no: what the key against it says.
        about: what it is asked about, cleaned; a line of its own.
        clock: seconds, monotonic.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "do it", priority=True),
        Binding("n,escape,q", "no", "do not", priority=True),
    ]

    DEFAULT_CSS = """
    Confirm { align: center bottom; background: $surface 60%; }
    Confirm > Vertical {
        width: 1fr; height: auto; max-height: 12; padding: 1 3; margin: 0 0 1 0;
        background: $panel; border-left: outer $warn;
    }
    Confirm Literal { width: 1fr; }
    Confirm .about { color: $text-dim; }
    Confirm .keys { color: $accent; margin-top: 1; }
    """

    def __init__(
        self,
        question: str,
        *,
        yes: str,
        no: str,
        about: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._question = question
        self._about = about
        self._words = f"y {yes}    n esc {no}"
        self._clock = clock
        self._shown = clock()

    def compose(self) -> ComposeResult:
        """Build the question."""
        with Vertical():
            yield Literal(f"! {self._question}")
            if self._about is not None:
                yield Literal(self._about, classes="about")
            yield Literal(self._words, classes="keys")

    def action_yes(self) -> None:
        """Do it, unless the key was pressed before the question could be seen."""
        if self._clock() - self._shown >= RIPE_SECONDS:
            self.dismiss(True)

    def action_no(self) -> None:
        """Do not."""
        self.dismiss(False)
