"""The conversation pane: the transcript, the keys that the table gives it, and its empty state."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from tui.ui.actions import Context
from tui.ui.bindings import bindings_of
from tui.ui.symbols import UNICODE, Symbols
from tui.ui.widgets.transcript.transcript import Transcript


class ConversationPane(Transcript):
    """What was said and called; while a call asks, its answers are keys here."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.CONVERSATION, Context.QUESTION)

    def __init__(self, *, symbols: Symbols = UNICODE) -> None:
        super().__init__(symbols=symbols, id="conversation")

    def welcome(self, model: str, examples: Sequence[str]) -> None:
        """Set what an empty conversation shows: the model, where to change it, what could be asked."""
        lines = ["Ask anything." if not examples else "Ask anything, or begin with one of these."]
        lines.append(f"{model} answers; another one can be set under [models] in the configuration.")
        self.set_welcome(lines, examples)

    def on_focus(self, event: events.Focus) -> None:
        """Mark what enter acts on. The pane counts as focused only after this handler."""
        self.flow_changed()
