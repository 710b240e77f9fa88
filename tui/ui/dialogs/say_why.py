"""One line for the reason of a no; the model is told it."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.core.text import clean_line
from tui.ui.widgets.field import Field, type_into
from tui.ui.widgets.literal import Literal


class SayWhy(ModalScreen[str | None]):
    """Gives the reason, or None if the person went back to the question."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back to the question")]

    DEFAULT_CSS = """
    SayWhy { align: center bottom; background: $surface 60%; }
    SayWhy > Vertical {
        width: 1fr; max-width: 100; height: auto; padding: 1 3; margin: 0 2 3 2;
        background: $panel; border-left: outer $accent;
    }
    SayWhy Literal { width: 1fr; }
    SayWhy Input { margin: 1 0; background: $panel; }
    SayWhy .keys { color: $text-dim; }
    """

    def __init__(self, server: str, tool: str) -> None:
        super().__init__()
        self._reason = Field(placeholder="not that one, because…", max_length=1000, compact=True)
        self._what = f"{clean_line(server, 40)} › {clean_line(tool, 60)}"

    def compose(self) -> ComposeResult:
        """Build the line."""
        with Vertical():
            yield Literal(f"Why not {self._what}? The model is told.")
            yield self._reason
            yield Literal("enter refuse and say so    esc back to the question", classes="keys")

    def on_key(self, event: events.Key) -> None:
        """Write what was typed before the field could take it."""
        type_into(self._reason, event)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the reason."""
        self.dismiss(event.value.strip())

    def action_back(self) -> None:
        """Leave the question as it was."""
        self.dismiss(None)
