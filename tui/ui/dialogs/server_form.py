"""Asks for a server: its address or command, its environment or headers, its transport."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, TextArea

from tui.core.errors import McptuiError
from tui.core.text import clean, clean_line
from tui.ui.dialogs.text_dialogs import MultilineText
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.field import Field
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

if TYPE_CHECKING:
    from tui.runtime.server_changes import Draft, ServerValues

TRANSPORTS = (
    ("", "automatic"),
    ("stdio", "stdio"),
    ("lines", "lines"),
    ("http", "HTTP"),
    ("sse", "HTTP+SSE"),
    ("websocket", "WebSocket"),
)
LOOK_SECONDS = 0.1
KEYS = "enter save   tab next field   ←→ transport   esc cancel"

MakeDraft = Callable[[str, "ServerValues"], "Draft"]
"""Takes a name and what was typed; raises McptuiError with what is wrong."""


class TransportBar(Bar, can_focus=True):
    """The transports side by side, one of them selected."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "step(1)", "next"),
        Binding("left", "step(-1)", "previous"),
    ]

    def __init__(self, chosen: str, changed: Callable[[], object]) -> None:
        super().__init__(id="transport")
        self.chosen = chosen
        self._changed = changed

    def row(self, width: int) -> Row:
        row: list[tuple[str, str]] = []
        for value, words in TRANSPORTS:
            mine = value == self.chosen
            style = ("accent bold" if self.has_focus else "text bold") if mine else "dim"
            row.append((("● " if mine else "○ ") + words + "  ", style))
        return tuple(row)

    def action_step(self, step: int) -> None:
        values = [value for value, _ in TRANSPORTS]
        self.chosen = values[(values.index(self.chosen) + step) % len(values)]
        self.refresh()
        self._changed()


class ServerForm(ModalScreen["Draft | None"]):
    """Returns the server to write, or None. `name` is given if an existing one is changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "cancel", priority=True),
        Binding("tab", "app.focus_next", "next field", priority=True),
        Binding("shift+tab", "app.focus_previous", "field before", priority=True),
        Binding("ctrl+j,ctrl+enter", "save", "save", priority=True),
    ]

    DEFAULT_CSS = """
    ServerForm { align: center bottom; background: $surface 60%; }
    ServerForm > Vertical {
        width: 1fr; max-width: 110; height: auto; max-height: 100%; padding: 1 3; margin: 0 2 1 2;
        background: $panel; border-left: outer $accent;
    }
    ServerForm Literal { width: 1fr; }
    ServerForm .label { color: $text-dim; }
    ServerForm Input { background: $panel; background-tint: transparent; margin-bottom: 1; }
    ServerForm TextArea {
        height: auto; min-height: 1; max-height: 3; margin-bottom: 1; border: none; padding: 0;
        background: $panel; background-tint: transparent;
    }
    ServerForm #toml { color: $text-dim; margin-top: 1; max-height: 4; }
    ServerForm #problem { color: $warn; display: none; }
    ServerForm .keys { color: $accent; margin-top: 1; }
    """

    def __init__(self, make: MakeDraft, values: "ServerValues", name: str = "") -> None:
        super().__init__()
        self._make = make
        self._fixed = name
        self._line = Field(
            clean_line(values.line, 4000),
            placeholder="npx -y PACKAGE, or https://…",
            compact=True,
            select_on_focus=False,
        )
        self._name_field = Field(placeholder="from its address or package", max_length=64, compact=True)
        self._label = Literal("", classes="label")
        self._values = MultilineText(clean(values.values), compact=True, highlight_cursor_line=False)
        self._values.set_reactive(TextArea.cursor_blink, False)
        self._transport = TransportBar(values.transport, self._look)
        self._toml = Literal("", id="toml")
        self._problem = Literal("", id="problem")
        self._complains = False
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Literal(f"Change {clean_line(self._fixed, 64)}" if self._fixed else "Add a server")
            yield Literal("Address or command", classes="label")
            yield self._line
            if not self._fixed:
                yield Literal("Name", classes="label")
                yield self._name_field
            yield self._label
            yield self._values
            yield self._transport
            yield self._toml
            yield self._problem
            yield Literal(KEYS, classes="keys")

    def on_mount(self) -> None:
        self.set_focus(self._line)
        self._look()

    def on_key(self, event: events.Key) -> None:
        """Take characters that were typed before the form had its focus."""
        if self.focused is None and event.is_printable and event.character:
            event.stop()
            self._line.insert_text_at_cursor(event.character)

    def _typed(self) -> "ServerValues":
        from tui.runtime.server_changes import ServerValues

        return ServerValues(self._line.value, self._values.text, self._transport.chosen)

    def _look(self) -> "Draft | None":
        """Show what would be written; return it, None if it cannot be."""
        remote = "://" in self._line.value
        self._label.show(
            "Headers, one a line: Authorization: Bearer ${TOKEN}"
            if remote
            else "Environment, one a line: NAME=VALUE or NAME=${VARIABLE}"
        )
        self._problem.display = False
        try:
            draft = self._make(self._fixed or self._name_field.value, self._typed())
        except McptuiError as error:
            self._toml.show("")
            self._say(str(error) if self._complains or self._line.value.strip() else "")
            return None
        if not self._fixed:
            self._name_field.placeholder = draft.name
        self._toml.show(draft.toml.rstrip())
        self._say("; ".join(draft.notes))
        return draft

    def _say(self, text: str) -> None:
        self._problem.show(clean_line(f"{text[:1].upper()}{text[1:]}", 400))
        self._problem.display = bool(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look_soon()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._look_soon()

    def _look_soon(self) -> None:
        """Look once a burst of keys is over: each look checks the whole table."""
        if self._timer is None:
            self._timer = self.set_timer(LOOK_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._timer = None
        self._look()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        self._complains = True
        draft = self._look()
        if draft is not None and self.is_current:
            self.dismiss(draft)

    def action_back(self) -> None:
        self.dismiss(None)
