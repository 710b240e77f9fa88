"""What an action is: id, keys, context, texts, method, and when it is available. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Context(StrEnum):
    """Where an action's keys work. The value is the heading of its group in the help."""

    ANYWHERE = "Anywhere"
    COMPOSER = "Input"
    CONVERSATION = "Conversation"
    QUESTION = "Tool approval"
    SERVERS = "Servers"
    TRACE = "Trace"
    TRAFFIC = "Traffic screen"
    ENTRY = "Traffic entry"
    STATISTICS = "Traffic statistics"
    WATERFALL = "Traffic waterfall"
    COMPARISON = "Traffic comparison"
    TRAY = "Held messages"
    WORKBENCH = "Workbench"
    BENCH_LIST = "Workbench lists and results"
    BENCH_FORM = "Forms"
    LOG = "Server log"
    SESSIONS = "Sessions"
    MODELS = "Models"
    RULES = "Rules"
    SERVER_QUESTION = "Server request"
    RESULT = "Tool result"
    TESTS = "Tests"
    REVIEW = "Test review"
    DOCTOR = "Doctor"
    SKILLS = "Skills"
    EVENTS = "Events"


_C = Context
MAIN = (_C.COMPOSER, _C.ANYWHERE, _C.CONVERSATION, _C.QUESTION, _C.SERVERS, _C.TRACE)
"""The contexts of the main screen, the most frequently used first."""

OF_SCREENS = tuple(context for context in Context if context not in MAIN)
"""Contexts whose actions only work while their screen is on top."""

EVERY = (*MAIN, *OF_SCREENS)
"""All contexts, the main screen's first."""

OF_TRAFFIC = (_C.TRAFFIC, _C.ENTRY, _C.STATISTICS, _C.WATERFALL, _C.COMPARISON, _C.TRAY)
"""The contexts of the traffic screen and of the screens that it opens."""

_OF_LISTS = (_C.SESSIONS, _C.MODELS, _C.RULES)  # their actions are Textual actions of their screen

_OF_FIELDS = (Context.COMPOSER, Context.BENCH_FORM)
"""Contexts whose actions without `call` are Textual actions of the focused pane."""

OPENERS = {
    Context.TRAFFIC: "traffic.open",
    Context.ENTRY: "traffic.open",
    Context.WORKBENCH: "servers.open",
    Context.BENCH_LIST: "servers.open",
    Context.LOG: "servers.log",
    Context.SESSIONS: "chat.sessions",
    Context.MODELS: "chat.models",
    Context.RULES: "rules.open",
    Context.RESULT: "chat.result",
    Context.TESTS: "tests.open",
    Context.DOCTOR: "servers.doctor",
    Context.EVENTS: "events.open",
}
"""The actions that open the screens of `OF_SCREENS`, if a key opens them."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the user can do.

    Attributes:
        context: where `keys` work.
        id: its name in `[ui.keys]`.
        keys: its default keys, separated by commas, by Textual's names.
        label: the word in the footer.
        help: the sentence in the help and in the palette.
        footer: rank in the footer. Smaller ranks stay longer if it is narrow; 0 is never shown.
        call: the method with its arguments, by its path from `ChatParts` or from the screen of the action. By
            default, the method of that screen with the name of the action. Of an add-on it is a function,
            `package.module:name`, which gets `ChatParts` or the screen.
        when: the path of the method that returns why the action is unavailable, or "".
        anywhere: keys that also work outside `context`.
        run: the Textual action, for actions of the app, of a list or of the focused pane.
        priority: whether the app handles the key before the focused pane.
        palette: whether the palette offers it.
    """

    context: Context
    id: str
    keys: str
    label: str
    help: str
    footer: int = 0
    call: str = ""
    when: str = ""
    anywhere: str = ""
    run: str = ""
    priority: bool = False
    palette: bool = True

    @property
    def method(self) -> str:
        """The Textual action that this action's keys run."""
        if self.context in _OF_LISTS:
            return f"screen.{self.id.replace('.', '_')}"
        if self.context in _OF_FIELDS and not (self.call or self.run):
            return self.id.removeprefix("composer.").replace(".", "_")
        return self.run or f"{'screen' if self.context in OF_SCREENS else 'app'}.act('{self.id}')"

    @property
    def place(self) -> str:
        """The method that this action calls, with its arguments."""
        return self.call or f"{self.id.partition('.')[2]}()"


SEND_KEYS = "ctrl+s,ctrl+enter"
"""Keys that send, call, save and confirm in every form and dialog, and send in the composer."""

NEWLINE_KEYS = "shift+enter,ctrl+j,alt+enter"
"""Keys that insert a newline where enter does something else."""
