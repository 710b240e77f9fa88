"""What an action is: something a person can do, its keys, where they work, its words. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Context(StrEnum):
    """Where an action's keys work. The value is the heading of its group in the help."""

    ANYWHERE = "Anywhere"
    COMPOSER = "Writing a message"
    CONVERSATION = "Conversation"
    QUESTION = "A tool call asks"
    SERVERS = "Servers"
    TRACE = "Trace"
    TRAFFIC = "Traffic"
    FRAME = "Traffic, one entry"
    WORKBENCH = "Workbench"
    BENCH_LIST = "Workbench, lists and results"
    BENCH_FORM = "Workbench, a form"
    SESSIONS = "Saved conversations"
    MODELS = "Models"
    RESULT = "What a call gave"


OF_SCREENS = (
    Context.TRAFFIC,
    Context.FRAME,
    Context.WORKBENCH,
    Context.BENCH_LIST,
    Context.BENCH_FORM,
    Context.SESSIONS,
    Context.MODELS,
    Context.RESULT,
)
"""Contexts whose actions do something only while their screen is on top."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do.

    Attributes:
        id: what `[ui.keys]` calls it.
        keys: keys, separated by commas, as Textual names them.
        context: where `keys` work.
        label: the word in the footer.
        help: the sentence in the help and in the palette.
        footer: rank in the footer, smaller stays longer in a narrow one; 0: not in the footer.
        anywhere: keys that work outside `context` too.
        run: the Textual action, if it is not the app's method of that id.
        priority: the key is taken before the focused pane sees it.
        palette: whether the palette offers it.
    """

    id: str
    keys: str
    context: Context
    label: str
    help: str
    footer: int = 0
    anywhere: str = ""
    run: str = ""
    priority: bool = False
    palette: bool = True

    @property
    def method(self) -> str:
        """The Textual action that a key of this action runs."""
        return self.run or f"app.{self.id.replace('.', '_')}"
