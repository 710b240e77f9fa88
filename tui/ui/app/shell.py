"""The shell of the app: which regions there are, how they share the screen, and what theme they wear.

Knows nothing of turns. Wide terminals show everything at once; below `WIDE` columns one of conversation,
servers and trace fills the body and the line above it names all three. A pane that is given the whole
body is the same thing, so maximising needs nothing of its own.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widget import Widget

from tui.core.text import clean, clean_line
from tui.settings.locations import themes_dir
from tui.settings.themes import load_theme
from tui.ui.app.regions import REGIONS
from tui.ui.chat.body_rule import BodyRule
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.status_line import Header, StatusLine
from tui.ui.keys.actions import Context, action, first_key
from tui.ui.keys.footer import Footer
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.platform.keys_in_order import in_order
from tui.ui.platform.strips import ControlFilter
from tui.ui.widgets import theming
from tui.ui.widgets.bar import Rule
from tui.ui.widgets.box import Box
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.ui.chat.composer.suggestions import LiveSources
    from tui.ui.chat.conversation import ConversationPane
    from tui.ui.chat.side import SideServers, SideTrace

WIDE = 100
"""From so many columns on the servers and the trace stand beside the conversation."""

TALL = 24
"""Below so many rows the header folds into the status line."""

LOW, LOWEST = 7, 5
"""Below so many rows there is no line above the composer, and none above the body."""

BODY = (Context.CONVERSATION, Context.TRACE, Context.SERVERS)
"""The regions of the body, in the order of their tabs."""


class Shell(App[int]):
    """Regions, themes and the last gate before the terminal.

    Attributes:
        furnished: the panes are there; they come after the first frame.
    """

    conversation: "ConversationPane"
    servers: "SideServers"
    trace: "SideTrace"

    TITLE = "mcptui"
    ENABLE_COMMAND_PALETTE = True

    CSS = REGIONS

    def __init__(self, theme_name: str, overrides: KeyOverrides) -> None:
        super().__init__()
        self.overrides = overrides
        self.crash = ""
        """The traceback of the defect that ended the app, or ""."""
        self._controls = ControlFilter()
        self._maximised: Context | None = None
        self._tab = Context.CONVERSATION
        self.theme_problem = self.wear(theme_name)
        self.furnished = False
        self.header = Header()
        self.held_box = Box(id="held")
        self.suggestions = Box(id="suggestions")
        self.composer = Composer(overrides, self.suggestions, lambda: self.sources)
        self.status_line = StatusLine()
        self.footer = Footer()
        self.rule_top = BodyRule(id="rule-top")
        self.rule_composer = Rule(id="rule-composer")

    @cached_property
    def sources(self) -> "LiveSources":
        """What can be completed in the composer; made when it is first asked for, after the first frame."""
        from tui.ui.chat.composer.suggestions import LiveSources

        return LiveSources(Path.cwd(), lambda: self.composer.completing.again())

    def compose(self) -> ComposeResult:
        """Build the regions, top to bottom."""
        yield self.header
        yield self.rule_top
        yield Horizontal(id="body")
        yield self.rule_composer
        yield self.held_box
        yield self.suggestions
        with Horizontal(id="composer-bar"):
            yield Literal("›", id="prompt")
            yield self.composer
        yield Rule(id="rule-bottom")
        yield self.status_line
        yield self.footer

    async def furnish(self) -> None:
        """Put the panes into the body. The first frame is painted without them: they would delay it."""
        from tui.ui.chat.conversation import ConversationPane
        from tui.ui.chat.side import SideServers, SideTrace

        symbols = symbols_for(os.environ)
        self.conversation = ConversationPane(symbols=symbols)
        self.servers = SideServers(symbols=symbols, id="servers")
        self.trace = SideTrace(symbols=symbols, id="trace")
        self.rule_side = Rule(id="rule-side")
        side = Vertical(self.servers, self.rule_side, self.trace, id="side")
        with self.batch_update():
            await self.main.query_one("#body").mount(self.conversation, side)
            self.furnished = True
            self.arrange()

    # ---- themes and the terminal ----

    def wear(self, name: str) -> str:
        """Put a theme on; return what is wrong with it, or "". Only this one is loaded."""
        spec, problem = load_theme(name, themes_dir())
        self.register_theme(theming.theme_of(spec))
        self.theme = spec.name
        return str(problem) if problem is not None else ""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our roles a colour under themes of Textual's own too."""
        return theming.variable_defaults()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Put the gate before the filters of Textual."""
        return [self._controls, *super().get_line_filters()]

    def fail(self, error: Exception) -> None:
        """Leave because of a defect that Textual cannot see: it was raised outside its own tasks."""
        self._handle_exception(error)

    def _fatal_error(self) -> None:
        # Textual would print the values of all local variables, API keys among them.
        error = self._exception or sys.exc_info()[1]
        self.crash = clean("".join(traceback.format_exception(error))) if error else "unknown defect"
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """Leave because of a defect; what is known of it is printed once the screen is given back."""
        self.crash = clean("\n".join(str(renderable) for renderable in renderables))
        self._close_messages_no_wait()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a short message in the corner. Its text is cleaned and never markup, whatever is asked."""
        super().notify(
            clean(message), title=clean_line(title), severity=severity, timeout=timeout, markup=False
        )

    # ---- regions ----

    @property
    def main(self) -> Screen[object]:
        """The screen under every dialog."""
        return self.screen_stack[0]

    @property
    def is_narrow(self) -> bool:
        """Whether the body has room for one region only."""
        return self.size.width < WIDE

    @property
    def focus_context(self) -> Context:
        """The context of what has the focus on the main screen."""
        focused = self.main.focused
        for context, widget in self._widgets().items():
            if widget is focused:
                return context
        return Context.COMPOSER

    def _widgets(self) -> dict[Context, Widget]:
        if not self.furnished:
            return {Context.COMPOSER: self.composer}
        return {
            Context.COMPOSER: self.composer,
            Context.CONVERSATION: self.conversation,
            Context.SERVERS: self.servers,
            Context.TRACE: self.trace,
        }

    def go_to(self, context: Context) -> None:
        """Bring a region to the front and give it the focus."""
        if context in BODY:
            self.show_region(context)
        elif not self.is_narrow:
            self._tab = Context.CONVERSATION  # what belongs to the composer, should the terminal get narrow
        # No scrolling into view: every region is in view, and the animation would move the screen.
        self.main.set_focus(self._widgets()[context], scroll_visible=False)

    def show_region(self, context: Context) -> None:
        """Bring a region of the body to the front, without the focus."""
        self._tab = context
        if self._maximised is not None:
            self._maximised = context
        self.arrange()

    def maximise(self) -> None:
        """Give the focused region the whole body, or give the room back."""
        context = self.focus_context
        if self._maximised is not None:
            self._maximised = None
        else:
            self._maximised = context if context in BODY else Context.CONVERSATION
            self._tab = self._maximised
        self.arrange()

    @property
    def maximised(self) -> Context | None:
        """The region that was given the whole body, or None."""
        return self._maximised

    @property
    def only(self) -> Context | None:
        """The one region that the body shows, or None if it shows all."""
        return self._maximised or (self._tab if self.is_narrow else None)

    def arrange(self) -> None:
        """Show what is to be shown, and let the rules meet where the regions do."""
        only = self.only
        self.main.set_class(self.size.height < TALL, "-short")
        self.main.set_class(self.size.height < LOW, "-tiny")
        self.main.set_class(self.size.height < LOWEST, "-least")
        self.composer.limit_rows((self.size.height - LOWEST) // 2)
        for context in BODY:
            self.main.set_class(only is context, f"-only-{context.name.lower()}")
        self.rule_top.tabs(BODY if self.is_narrow else (), only, self.region_keys())
        if self.furnished:
            self.fit_servers()
            self.call_after_refresh(self._join_rules)

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action as a person reads it."""
        return first_key(self.overrides.keys_of(action(action_id)))

    def region_keys(self) -> dict[Context, str]:
        """Return the keys that lead to the regions of the body."""
        return {context: self.key_of(f"focus.{context.name.lower()}") for context in BODY}

    def on_body_rule_chosen(self, event: BodyRule.Chosen) -> None:
        """Go to the region whose name was clicked."""
        self.go_to(event.context)

    def fit_servers(self) -> None:
        """Give the servers as many rows as they need, at most two fifths of the body."""
        if self.only is Context.SERVERS:
            self.servers.styles.height = None
            return
        room = max(3, self.size.height * 2 // 5)
        rows = min(room, max(2, self.servers.row_count()))
        height = self.servers.styles.inline.height
        if height is None or height.value != rows:
            self.servers.styles.height = rows

    def _join_rules(self) -> None:
        self.rule_top.join(lambda: self._joint("┬"))
        self.rule_composer.join(lambda: self._joint("┴"))
        self.rule_side.join(lambda: {0: "├"})

    def _joint(self, sign: str) -> dict[int, str]:
        return {self.servers.region.x: sign} if self.only is None else {}

    def light_focus(self, focus: Context) -> None:
        """Light the line over the conversation while it has the focus; the other panes have titles."""
        lit = focus is Context.CONVERSATION and not self.is_narrow
        self.rule_top.light(self.conversation.region.right if lit else 0)

    async def on_event(self, event: events.Event) -> None:
        """Let each key of a burst find the screen as the keys before it have left it."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            await in_order(self, event, super().on_event)
        else:
            await super().on_event(event)

    def on_resize(self, event: events.Resize) -> None:
        """Another size may show other regions."""
        self.call_next(self.arrange)  # Textual learns the new size only after this handler
