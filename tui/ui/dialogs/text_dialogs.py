"""Dialogs with a text: why a call is denied, the system text, project instructions, parts of a request."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.core.context.context_parts import ContextPart
from tui.core.context.instructions import FILE, ProjectInstructions
from tui.core.language.translate import N_, _
from tui.core.text import clean, clean_line
from tui.core.units import count
from tui.ui.dialogs.dialog import NARROW, Dialog, heading
from tui.ui.dialogs.rows_dialog import wrapped
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.keys.answer_pause import CONFIRM_SECONDS, AnswerDelay
from tui.ui.widgets.inputs import Field, LinesField
from tui.ui.widgets.lines import RowsPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row, spread


class SayWhy(Dialog[str | None]):
    """Asks why a call is denied; returns the reason, or None to go back to the question."""

    def __init__(self, server: str, tool: str) -> None:
        self.field = Field(placeholder=_("Reason for the model"), max_length=1000, compact=True)
        call = f"{clean_line(server, 40)} › {clean_line(tool, 60)}"
        keys = self.key_line(("enter", _("deny")), close=_("cancel"))
        super().__init__(heading(_("Deny with a reason"), call), self.field, keys=keys)

    def typed(self) -> str:
        return self.field.value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class SystemText(Dialog[str | None]):
    """Edits the system text of the conversation; returns it, "" for the default, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding(SEND_KEYS, "save", N_("save"), priority=True)]

    OPENED_BY = "chat.system"

    DEFAULT_CSS = "SystemText TextArea { max-height: 16; }"

    def __init__(self, text: str) -> None:
        self._area = LinesField(
            clean(text),
            compact=True,
            highlight_cursor_line=False,
            placeholder=_("Empty: the default system prompt"),
        )
        keys = self.key_line(save=_("save"), close=_("cancel"))
        super().__init__(heading(_("System prompt of this conversation")), self._area, keys=keys)

    def on_mount(self) -> None:
        self.set_focus(self._area)
        self._area.move_cursor(self._area.document.end)

    def typed(self) -> str:
        return self._area.text

    def fit_now(self) -> None:
        self._area.styles.max_height = min(16, self.room_for(self._area))

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
        name = _(", ").join(filter(None, (server, _(part.name))))
        bar = "━" * round(cells * part.tokens / most)
        tokens = f"{sign}{count(part.tokens)}".rjust(9)
        rows.append(spread(((name, "text"),), ((bar.ljust(cells), "tool"), (tokens, "text")), width))
    said = f"{sign}{count(total)}"
    if window:
        share = f"{total / window:.0%}"
        said = _("{tokens} of {window} ({share})", tokens=said, window=count(window), share=share)
    return [*rows, EMPTY, spread(((_("Total"), "text bold"),), ((said, "text bold"),), width)]


class ContextDialog(Dialog[None]):
    """Shows the parts of the next request; `traffic_key` opens the full requests."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "back", show=False, priority=True)]

    SHAPE = NARROW

    def __init__(
        self, parts: Sequence[ContextPart], window: int | None, *, measured: bool, traffic_key: str
    ) -> None:
        sign = "" if measured else "~"
        about = (
            _("Tokens of the next request without your message, measured.")
            if measured
            else _("Tokens of the next request without your message, estimated.")
        )
        super().__init__(
            heading(_("Context")),
            Literal(about, classes="about"),
            RowsPane(lambda width: [EMPTY, *context_rows(parts, window, width, sign=sign)]),
            keys=self.key_line(last=[(traffic_key, _("shows each request in full"))]),
        )


class ProjectDialog(Dialog[bool | None]):
    """Shows the instructions; returns whether to use them, or None for no change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", N_("use"), priority=True),
        Binding("n", "decide(False)", N_("do not use"), priority=True),
        Binding("q", "back", show=False, priority=True),
    ]

    def __init__(self, instructions: ProjectInstructions, tokens: str, *, used: bool) -> None:
        use = (
            _("In use. Adds {tokens} to each request.", tokens=tokens)
            if used
            else _("Not in use. It would add {tokens} to each request.", tokens=tokens)
        )
        super().__init__(
            ((FILE, "text bold"), (f"   {clean_line(instructions.folder, 200)}", "dim")),
            Literal(use, classes="about"),
            RowsPane(lambda width: [EMPTY, *wrapped(instructions.shown.split("\n"), width)]),
            keys=self.key_line(),
        )
        self._delay = AnswerDelay(seconds=CONFIRM_SECONDS)

    def action_decide(self, use: bool) -> None:
        """Accept the answer, unless the key was pressed before the text could be seen."""
        if self._delay.accepts_keys:
            self.dismiss(use)
