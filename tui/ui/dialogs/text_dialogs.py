"""Dialogs to write a text: the reason for denying a call, and the system text."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, TextArea

from tui.core.text import clean, clean_line
from tui.ui.dialogs.dialog import Dialog
from tui.ui.platform.key_order import act_at_once
from tui.ui.widgets.bar import KeyLine
from tui.ui.widgets.inputs import Field, LinesField
from tui.ui.widgets.literal import Literal


class SayWhy(Dialog[str | None]):
    """Asks why a call is denied; returns the reason, or None to go back to the question."""

    DEFAULT_CSS = """
    SayWhy > Vertical > * { max-width: 104; }
    SayWhy Input { margin: 1 0; }
    """

    def __init__(self, server: str, tool: str) -> None:
        super().__init__()
        self.field = Field(placeholder="Reason", max_length=1000, compact=True)
        self._what = f"{clean_line(server, 40)} › {clean_line(tool, 60)}"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal(f"Deny {self._what}: reason for the model")
            yield self.field
            yield KeyLine([("enter", "deny"), ("esc", "cancel")])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


_DOING = {
    binding.key: binding.action
    for binding in Binding.make_bindings([*TextArea.BINDINGS, *LinesField.BINDINGS])
    if len(binding.key) > 1
}


class MultilineText(LinesField):
    """Textual's TextArea, but correct for keys that arrive in one burst."""

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, _DOING, super()._on_key)


class SystemText(Dialog[str | None]):
    """Edits the system text of the conversation; returns it, "" for the default, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "save", "save", priority=True),
    ]

    DEFAULT_CSS = """
    SystemText > Vertical > * { max-width: 104; }
    SystemText TextArea {
        height: auto; min-height: 3; max-height: 16; margin: 1 0; border: none; padding: 0;
        background: $panel; background-tint: transparent;
    }
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._area = MultilineText(
            clean(text),
            compact=True,
            highlight_cursor_line=False,
            placeholder="Empty: the default system prompt",
        )
        self._area.set_reactive(TextArea.cursor_blink, False)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal("System prompt of this conversation")
            yield self._area
            yield KeyLine([("ctrl+s", "save"), ("esc", "cancel")])

    def on_mount(self) -> None:
        self.set_focus(self._area)
        self._area.move_cursor(self._area.document.end)

    def action_save(self) -> None:
        self.dismiss(self._area.text.strip())
