"""The conversation pane: the transcript, the keys that the table gives it, and its empty state."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from tui.ui.chat.transcript.transcript import Transcript
from tui.ui.keys.actions import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.symbols import UNICODE, Symbols


class ConversationPane(Transcript):
    """What was said and called; while a call asks, its answers are keys here."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.CONVERSATION, Context.QUESTION)

    def __init__(self, *, symbols: Symbols = UNICODE) -> None:
        super().__init__(symbols=symbols, id="conversation")

    def welcome(self, model: str, examples: Sequence[str], *, is_demo: bool) -> None:
        """Set what an empty conversation shows: what could be asked, the model, and how to get another."""
        lines = ["Ask anything, or begin with one of these." if examples else "Ask anything."]
        if is_demo:
            lines.append(
                f"Model: {model}. Three ways to another one: an API key in the environment such as "
                "OPENAI_API_KEY; Ollama or LM Studio running here; [models] in the configuration."
            )
        else:
            lines.append(f"Model: {model}. Another one can be set under [models] in the configuration.")
        self.set_welcome(lines, examples)

    def on_focus(self) -> None:
        """Mark what enter acts on. The pane counts as focused only after this handler."""
        self.flow_changed()
