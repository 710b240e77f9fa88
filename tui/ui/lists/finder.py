"""Finder: a screen with a field and a list. What is typed narrows the list; keys act on the marked item."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input

from tui.core.errors import McptuiError
from tui.ui.keys.actions import Action, Context, action, first_key, of_context
from tui.ui.keys.footer import Footer
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.lists.items import ItemList
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.field import Field, type_into
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.prompt import PromptLine
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

Given = TypeVar("Given")

NEWS_SECONDS = 8.0
"""How long a line of news stays."""


class Line(Bar):
    """A line with something at each end."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._parts: tuple[Row, Row] = ((), ())

    def show(self, left: Row, right: Row = ()) -> None:
        """Show these, if they are new."""
        if (left, right) != self._parts:
            self._parts = (left, right)
            self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        return spread(*self._parts, width)


class Finder(ModalScreen[Given]):
    """A title, a field, a list, a line about the marked item, a line of news, and the keys.

    A subclass implements `sift`, `take`, `about`, and `leave` where escape does more.

    Args:
        conversations: knows what is listed.
        overrides: the keys in force.
        symbols: what the terminal can show.
        busy: why nothing can be taken now, or "".
    """

    CONTEXT: ClassVar[Context]
    """Whose actions the keys are."""

    PLACEHOLDER: ClassVar[str]
    """What stands in the empty field."""

    # Before the field: a key that waits in its queue would act on another list by then.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "down", show=False, priority=True),
        Binding("up", "step(-1)", "up", show=False, priority=True),
        Binding("pagedown", "page(1)", "page down", show=False, priority=True),
        Binding("pageup", "page(-1)", "page up", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    Finder { background: $surface; layout: vertical; }
    Finder > #finder-title, Finder > #finder-news { background: $panel; padding: 0 1; }
    Finder > #finder-field { height: 1; padding: 0 1; background: $panel; }
    Finder #finder-field Literal { width: 7; color: $accent; }
    Finder #finder-field Input { width: 1fr; background: $panel; background-tint: transparent; }
    Finder > ItemList { height: 1fr; padding: 0 1; background: $surface; }
    Finder > #finder-about { padding: 0 1; }
    Finder > Footer { background: $surface; }
    """

    def __init__(
        self,
        conversations: "Conversations",
        overrides: KeyOverrides,
        symbols: Symbols,
        busy: Callable[[], str],
    ) -> None:
        super().__init__()
        self.conversations = conversations
        self.overrides = overrides
        self.symbols = symbols
        self.busy = busy
        self.title_line = Line("finder-title")
        self.field = Field(placeholder=self.PLACEHOLDER, max_length=200, compact=True)
        self.list = ItemList(self.choose, self._moved)
        self.about_line = Line("finder-about")
        self.news = Line("finder-news")
        self.prompt = PromptLine()
        self.keys = Footer()
        self._sifted: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._fading: Timer | None = None

    # ---- what a subclass says ----

    def sift(self, text: str) -> None:
        """Show what fits the text in the field."""
        raise NotImplementedError

    def take(self, key: str) -> None:
        """The person took an item."""
        raise NotImplementedError

    def about(self, key: str) -> Row:
        """Return what is to be known of an item besides its row."""
        raise NotImplementedError

    # ---- the screen ----

    def compose(self) -> ComposeResult:
        """Build the lines."""
        yield self.title_line
        with Horizontal(id="finder-field"):
            yield Literal("find ›")
            yield self.field
        yield self.list
        yield self.about_line
        yield self.news
        yield self.prompt
        yield self.keys

    def on_mount(self) -> None:
        """Let the person type at once."""
        self.news.display = False
        self.set_focus(self.field, scroll_visible=False)
        self.show_keys()

    def on_unmount(self) -> None:
        """End what runs beside the screen."""
        for task in self._tasks:
            task.cancel()

    def show_keys(self) -> None:
        """Show the keys that do something now."""
        found = [one for one in of_context(self.CONTEXT) if one.footer and self.offers(one)]
        found.sort(key=lambda one: one.footer)
        helps = action("app.help")
        shown = [(first_key(self.overrides.keys_of(one)), one.label, one) for one in (*found, helps)]
        self.keys.show(shown)

    def key(self, action_id: str) -> str:
        """Return the first key of an action as a person reads it."""
        return first_key(self.overrides.keys_of(action(action_id)))

    def offers(self, found: Action) -> bool:
        """Whether an action does something now; a subclass may say more."""
        return True

    def keep_task(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` beside the screen and no longer than it; what goes wrong for the person is told."""
        task = asyncio.create_task(self._told(work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except McptuiError as error:
            self.tell(str(error), "bad")

    def tell(self, text: str, style: str = "text", keys: str = "", *, lasting: bool = False) -> None:
        """Show a line of news, with what a key does about it; "" takes it away.

        It goes with the next key that moves the mark or changes the text, and after `NEWS_SECONDS`.

        Args:
            text: what is new.
            style: "bad" and "warn" get a sign.
            keys: what a key does about it.
            lasting: it says what is being done, and stays until something else is told.
        """
        if self._fading is not None:
            self._fading.stop()
        self._fading = self.set_timer(NEWS_SECONDS, self._fade) if text and not lasting else None
        self.news.display = bool(text)
        sign = "! " if style in ("bad", "warn") else ""
        self.news.show(((sign, style), (text, style)), ((keys, "accent"),) if keys else ())

    def _fade(self) -> None:
        """Take the line of news away, unless it says what is being done."""
        if self._fading is not None:
            self.tell("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a line is asked for at the bottom, every key is for it."""
        if self.prompt.display and not action.startswith("prompt"):
            return False
        return super().check_action(action, parameters)

    # ---- finding ----

    def on_key(self, event: events.Key) -> None:
        """Write what was typed before the field could take it."""
        if not self.prompt.display:
            type_into(self.field, event)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self.resift()

    def resift(self, *, anew: bool = False) -> None:
        """Let the list fit what stands in the field."""
        text = self.field.value.strip()
        if anew or text != self._sifted:
            if text != (self._sifted or ""):
                self._fade()
            self._sifted = text
            self.sift(text)

    def _moved(self) -> None:
        self.about_line.show(self.about(self.list.current))
        self.show_keys()

    # ---- keys ----

    def choose(self) -> None:
        """Take the marked item."""
        self.resift()  # the letters before an enter in one burst
        if key := self.list.current:
            self.take(key)

    def action_step(self, direction: int) -> None:
        """Go to the next or the last item."""
        self.resift()
        self._fade()
        if direction > 0:
            self.list.action_row_down()
        else:
            self.list.action_row_up()

    def action_page(self, direction: int) -> None:
        """Go a page down or up."""
        self._fade()
        if direction > 0:
            self.list.action_pane_page_down()
        else:
            self.list.action_pane_page_up()

    def empty_field(self) -> bool:
        """Empty the field; False if it is empty already."""
        if not self.field.value:
            return False
        self.field.value = ""
        self.resift()
        return True
