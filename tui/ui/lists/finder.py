"""FinderScreen: a dialog with a text field that filters a list. Keys act on the selected item."""

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ScreenResultType
from textual.timer import Timer
from textual.widgets import Input

from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized
from tui.ui.dialogs.dialog import LIST, Dialog, heading
from tui.ui.keys.action_table import Action, Context, of_context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.lists.items import FinderList, Preview
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.inputs import LIST_KEYS, Field, PromptLine
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row

WITH_PREVIEW = 100
"""Minimum number of screen columns for a preview."""

NEWS_SECONDS = 8.0
"""Seconds for which a message is shown."""


class FinderScreen(Dialog[ScreenResultType]):
    """A dialog with a title, a field, a list, a line about the selected item, a message, and keys.

    A subclass implements `show_items`, `take`, `about` and `offers`. With `PREVIEW`, there is a preview at
    the right, if the screen has `WITH_PREVIEW` columns.
    """

    CONTEXTS: ClassVar[tuple[Context, ...]]
    PLACEHOLDER: ClassVar[str]
    PREVIEW: ClassVar[bool] = False
    SHAPE = LIST
    FITS = False

    BINDINGS: ClassVar[list[BindingType]] = LIST_KEYS

    DEFAULT_CSS = """
    FinderScreen #finder-field {
        height: 1; margin-bottom: 1; padding: 0 1; background: $field; border-left: outer $accent;
    }
    FinderScreen.-short #finder-field { margin-bottom: 0; }
    FinderScreen #finder-field Literal {
        width: auto; padding-right: 1; color: $text-dim; background: $field;
    }
    FinderScreen #finder-field Input { width: 1fr; background: transparent; }
    FinderScreen #finder-body { height: 1fr; }
    FinderScreen FinderList { width: 2fr; height: 1fr; background: $panel; scrollbar-background: $panel; }
    FinderScreen Preview {
        width: 1fr; height: 1fr; padding: 0 0 0 2; margin-left: 1; background: $panel;
        border-left: solid $rule; scrollbar-size-vertical: 0;
    }
    FinderScreen #finder-about { margin-top: 1; }
    FinderScreen.-short #finder-about { margin-top: 0; }
    """

    def __init__(self, overrides: KeyOverrides) -> None:
        self.overrides = overrides
        self.preview = Preview()
        self.label = Literal(_("find ›"))
        self.field = Field(placeholder=_(self.PLACEHOLDER), max_length=200, compact=True)
        self.list = FinderList(self.choose, self._moved)
        self.about_line = SplitBar(id="finder-about", wraps=True)
        self.news = SplitBar(id="finder-news", wraps=True)
        self.prompt = PromptLine()
        self.keys = Footer(always=("app.help",))
        self._sifted: str | None = None
        self._kept = Tasks()
        self._fading: Timer | None = None
        parts = [self.list, self.preview] if self.PREVIEW else [self.list]
        super().__init__(
            heading(""),
            Horizontal(self.label, self.field, id="finder-field"),
            Horizontal(*parts, id="finder-body"),
            *(self.about_line, self.news, self.prompt),
            keys=self.keys,
        )

    # To be implemented by a subclass

    def show_items(self, key: str = "") -> None:
        """Show the items that match the text in the field, with the cursor on `key`."""

    def take(self, key: str) -> None:
        """Do what enter does with an item."""

    def about(self, key: str) -> Row:
        return EMPTY

    def offers(self, found: Action) -> bool:
        return True

    def moved(self, key: str) -> None:
        """Handle a move of the cursor to an item."""

    def on_mount(self) -> None:
        self.news.display = False
        self.keys.styles.background = "transparent"  # the app's stylesheet gives footers another background
        self.set_focus(self.field, scroll_visible=False)
        self.show_keys()

    def on_resize(self) -> None:
        self.preview.display = self.app.size.width >= WITH_PREVIEW

    async def on_unmount(self) -> None:
        await self._kept.cancel()

    def show_keys(self, **labels: str) -> None:
        found = (action for action in of_context(self.CONTEXTS[0]) if self.offers(action))
        self.keys.show(entries_of(found, self.overrides, **labels))

    def keep_task(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run `work` in the background until the screen is closed; show an error as a message."""

        async def run() -> None:
            try:
                await work
            except McptuiError as error:
                self.tell(localized(error), "bad")

        return self._kept.start(run(), name)

    def tell(self, text: str, style: str = "text", keys: str = "", *, lasting: bool = False) -> None:
        """Show a message with the `keys` that it suggests; "" removes it.

        The next key that moves the cursor or changes the text removes it, and so does the end of
        `NEWS_SECONDS`, unless it is `lasting`, such as a message about work in progress. The styles "bad" and
        "warn" add a sign.
        """
        if self._fading is not None:
            self._fading.stop()
        self._fading = self.set_timer(NEWS_SECONDS, self._fade) if text and not lasting else None
        self.news.display = bool(text)
        sign = "! " if style in ("bad", "warn") else ""
        self.news.show(((sign, style), (text, style)), ((keys, "text bold"),) if keys else ())

    def _fade(self) -> None:
        if self._fading is not None:
            self.tell("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the prompt is open, it gets every key."""
        if self.prompt.display and not action.startswith("prompt"):
            return False
        return super().check_action(action, parameters)

    @property
    def early_field(self) -> Field | None:
        return None if self.prompt.display else self.field

    def on_input_changed(self, event: Input.Changed) -> None:
        self.refilter()

    def refilter(self, *, anew: bool = False) -> None:
        """Show the items that match the text, if it changed; with `anew`, in any case."""
        text = self.field.value.strip()
        if anew or text != self._sifted:
            if text != (self._sifted or ""):
                self._fade()
            self._sifted = text
            self.filter(text)

    def filter(self, text: str) -> None:
        """Show the items that match the text, which has changed."""
        self.show_items()

    def _moved(self) -> None:
        key = self.list.current
        self.about_line.show(self.about(key))
        self.moved(key)
        self.show_keys()

    def choose(self) -> None:
        self.refilter()  # apply letters typed before this key in the same burst
        if key := self.list.current:
            self.take(key)

    def action_step(self, direction: int) -> None:
        self.refilter()
        self._fade()
        (self.list.action_row_down if direction > 0 else self.list.action_row_up)()

    def action_page(self, direction: int) -> None:
        self._fade()
        (self.list.action_pane_page_down if direction > 0 else self.list.action_pane_page_up)()

    def empty_field(self) -> bool:
        """Clear the field; return False if it is already empty."""
        if not self.field.value:
            return False
        self.field.value = ""
        self.refilter()
        return True

    def empty_quietly(self) -> None:
        """Clear the field without searching again."""
        self.field.value = ""
        self._sifted = ""
