"""Dialogs with a text: why a call is denied, the system text, project instructions, parts of a request."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea

from tui.core.context.context_parts import ContextPart
from tui.core.context.instructions import FILE, ProjectInstructions
from tui.core.text import clean, clean_line
from tui.core.units import count
from tui.ui.dialogs.dialog import Dialog, RowsPane
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.keys.answer_pause import CONFIRM_SECONDS, AnswerDelay
from tui.ui.widgets.inputs import Field, LinesField
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, spread, wrap


class SayWhy(Dialog[str | None]):
    """Asks why a call is denied; returns the reason, or None to go back to the question."""

    DEFAULT_CSS = """
    SayWhy > Vertical > * { max-width: 104; }
    SayWhy Input { margin: 1 0; }
    """

    def __init__(self, server: str, tool: str) -> None:
        self.field = Field(placeholder="Reason", max_length=1000, compact=True)
        heading = f"Deny {clean_line(server, 40)} › {clean_line(tool, 60)}: reason for the model"
        super().__init__(Literal(heading), self.field, self.key_line(("enter", "deny"), back="cancel"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class SystemText(Dialog[str | None]):
    """Edits the system text of the conversation; returns it, "" for the default, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding(SEND_KEYS, "save", "save", priority=True)]

    DEFAULT_CSS = """
    SystemText > Vertical > * { max-width: 104; }
    SystemText TextArea {
        height: auto; min-height: 3; max-height: 16; margin: 1 0; border: none; padding: 0;
        background: $panel; background-tint: transparent;
    }
    """

    def __init__(self, text: str) -> None:
        self._area = LinesField(
            clean(text),
            compact=True,
            highlight_cursor_line=False,
            placeholder="Empty: the default system prompt",
        )
        self._area.set_reactive(TextArea.cursor_blink, False)
        keys = self.key_line(back="cancel")
        super().__init__(Literal("System prompt of this conversation"), self._area, keys)

    def on_mount(self) -> None:
        self.set_focus(self._area)
        self._area.move_cursor(self._area.document.end)

    def action_save(self) -> None:
        self.dismiss(self._area.text.strip())


BAR_CELLS = 20
BAR_FROM = 60
"""Minimum number of columns for showing bars."""


def context_rows(parts: Sequence[ContextPart], window: int | None, width: int, *, sign: str) -> list[Row]:
    """Return a line for each part, with a bar for its share, and the total; `sign` precedes numbers."""
    total = sum(part.tokens for part in parts)
    most = max((part.tokens for part in parts), default=0) or 1
    cells = BAR_CELLS if width >= BAR_FROM else 0
    rows: list[Row] = []
    for part in parts:
        server = clean_line(part.server, 40)
        name = f"{server}, {part.name}" if server else part.name
        bar = "━" * round(cells * part.tokens / most)
        tokens = f"{sign}{count(part.tokens)}".rjust(9)
        rows.append(spread(((name, "text"),), ((bar.ljust(cells), "tool"), (tokens, "text")), width))
    share = f" of {count(window)} ({total / window:.0%})" if window else ""
    total_row = spread((("Total", "text bold"),), ((f"{sign}{count(total)}{share}", "text bold"),), width)
    return [*rows, EMPTY, total_row]


class ContextDialog(Dialog[None]):
    """Shows the parts of the next request; `traffic_key` opens the full requests."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    DEFAULT_CSS = """
    ContextDialog { align: center middle; }
    ContextDialog > Vertical { width: 84; max-width: 100%; margin: 0; }
    ContextDialog RowsPane { margin: 1 0; background: $panel; }
    """

    def __init__(
        self, parts: Sequence[ContextPart], window: int | None, *, measured: bool, traffic_key: str
    ) -> None:
        sign, how = ("", "measured") if measured else ("~", "estimated")
        pane = RowsPane(lambda width: context_rows(parts, window, width, sign=sign))
        pane.styles.height = len(parts) + 2
        super().__init__(
            Literal("Context"),
            Literal(f"Tokens of the next request without your message, {how}.", classes="about"),
            pane,
            self.key_line(last=[(traffic_key, "shows each request in full")], back="close"),
        )


AROUND = 8
"""Rows of the screen around the text."""


class ProjectDialog(Dialog[bool | None]):
    """Shows the instructions; returns whether to use them, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", "use", priority=True),
        Binding("n", "decide(False)", "do not use", priority=True),
        Binding("q", "back", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    ProjectDialog { align: center middle; }
    ProjectDialog > Vertical { width: 104; max-width: 100%; max-height: 100%; margin: 0; }
    ProjectDialog RowsPane { margin: 1 0; background: $panel; }
    """

    def __init__(self, instructions: ProjectInstructions, tokens: str, *, used: bool) -> None:
        self._instructions = instructions
        self._text = RowsPane(self._lay_out)
        use = "In use. Adds" if used else "Not in use. It would add"
        super().__init__(
            Literal(f"{FILE} in {clean_line(instructions.folder, 200)}"),
            Literal(f"{use} {tokens} to each request.", classes="about"),
            self._text,
            self.key_line(back="close"),
        )
        self._delay = AnswerDelay(seconds=CONFIRM_SECONDS)

    def _lay_out(self, width: int) -> list[Row]:
        lines = self._instructions.shown.split("\n")
        rows = [row for line in lines for row in wrap(((line.expandtabs(4), "text"),), width)]
        self._text.styles.height = max(3, min(len(rows), self.app.size.height - AROUND))
        return rows

    def action_decide(self, use: bool) -> None:
        """Accept the answer, unless the key was pressed before the text could be seen."""
        if self._delay.accepts_keys:
            self.dismiss(use)
