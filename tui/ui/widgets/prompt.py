"""PromptLine: an input line at the bottom, for a search, a note or a name."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from tui.ui.widgets.field import Field
from tui.ui.widgets.literal import Literal

FINISH_INPUT = "Finish the input line first: press enter or esc."
"""Why a screen cannot be closed while its input line is open."""


def _accept(text: str) -> str:
    return ""


class PromptLine(Horizontal):
    """Asks for one line, then returns the focus to where it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", priority=True)]

    DEFAULT_CSS = """
    PromptLine { height: 1; background: $panel; }
    PromptLine Literal { width: auto; padding: 0 1; color: $accent; }
    PromptLine .problem { color: $error; display: none; }
    PromptLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._label = Literal("")
        self._input = Field(max_length=2000, compact=True)
        self._problem = Literal("", classes="problem")
        self._back: Widget | None = None
        self._check: Callable[[str], str] = _accept
        self._typed: Callable[[str], object] = _accept
        self._done: Callable[[str], object] = _accept
        self._cancelled: Callable[[], None] | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._input
        yield self._problem

    def ask(
        self,
        label: str,
        done: Callable[[str], None],
        *,
        value: str = "",
        placeholder: str = "",
        typed: Callable[[str], object] = _accept,
        cancelled: Callable[[], None] | None = None,
        replaces: bool = False,
        check: Callable[[str], str] = _accept,
    ) -> None:
        """Ask for a line and call `done` with it.

        `typed` is called at each change, `cancelled` if the user cancels. With `replaces`, typing replaces
        `value`; otherwise it appends. `check` returns the problem of a line, so that the user can correct it,
        or "".
        """
        self._label.update(f"{label} ›")
        self._done, self._typed, self._cancelled, self._check = done, typed, cancelled, check
        self._problem.display = False
        with self.prevent(Input.Changed):
            self._input.value = value
        self._input.placeholder = placeholder
        self._input.select_on_focus = replaces
        self._input.cursor_position = len(value)
        if not self.display:
            self._back = self.screen.focused
        self.display = True
        # Immediately: the next key of a burst is for this line.
        self.screen.set_focus(self._input, scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._problem.display = False
        self._typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if problem := self._check(event.value):
            self._problem.show(problem)
            self._problem.display = True
            return
        self._close()
        self._done(event.value)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Cancel when the focus moves elsewhere in the app, but not if the terminal loses the focus."""
        if self.display and self.app.app_focus and not self._input.has_focus:
            self.display = False
            if self._cancelled is not None:
                self._cancelled()

    def action_cancel(self) -> None:
        self._close()
        if self._cancelled is not None:
            self._cancelled()

    def _close(self) -> None:
        self.display = False
        if self._back is not None and self._back.is_attached:
            self.screen.set_focus(self._back, scroll_visible=False)
