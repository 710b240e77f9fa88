"""The regions of the chat screen, their layout in the body, and the focus. A wide terminal shows all of them.

Below `WIDE` columns, one of conversation, servers and trace fills the body, and the line above it names all
three. A maximized pane is shown in the same way.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.language.translate import _, localized
from tui.core.text import clean_line
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.status_line import Header, StatusLine
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import Footer
from tui.ui.platform.key_order import open_once
from tui.ui.platform.textual_internals import crash
from tui.ui.widgets.bar import Box, Rule, part_at
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, width_of

if TYPE_CHECKING:  # not needed for the first frame
    from textual.await_remove import AwaitRemove

    from tui.core.conversation.conversation import Message
    from tui.ui.chat.side_panes import ServersPane, TracePane
    from tui.ui.chat.transcript.transcript import Transcript
    from tui.ui.widgets.lines import LinePane

WIDE = 100
"""Minimum columns for showing servers and trace next to the conversation."""

SLIM = 60
"""With fewer columns, one of two conversations is above the other."""

SIDE_SHARE = 0.38
READ_COLUMNS = 104
"""Columns that the conversation can use: its text is at most 100 columns wide."""

TALL = 24
"""With fewer rows, the header becomes part of the status line."""

LOW, LOWEST = 7, 5
"""With fewer rows, there is no line above the composer, and none above the body."""

BODY = (Context.CONVERSATION, Context.TRACE, Context.SERVERS)
"""The regions of the body, in the order of their tabs."""

FAST = 1 / 15
SLOW = 1.0
"""Seconds between two updates, while something moves and while nothing does."""

STYLES = """
#chat { overflow: hidden; }
#header { background: $surface; }
#body { height: 1fr; }
#conversation { width: 1fr; height: 1fr; background: $surface; padding: 0 1; }
#side { width: 38%; min-width: 40; background: $surface; }
#servers { height: 6; padding: 0 1; border-left: solid $rule; }
#trace { height: 1fr; padding: 0 1; border-left: solid $rule; }
#trace-preview { height: 1fr; padding: 0 1; border-left: solid $rule; background: $surface; }
#compared { width: 1fr; height: 1fr; background: $surface; padding: 0 1; }
#figures { height: auto; background: $surface; }
.-compares #conversation { border-left: solid $rule; }
.-slim #body, .-slim #figures { layout: vertical; }
.-slim #conversation { border-left: none; border-top: solid $rule; }
#composer-bar { height: auto; background: $panel; }
#prompt { width: 3; padding: 0 0 0 1; color: $text-dim; }
/* Without a rule for the bar itself, Textual 8.2.8 leaves what is in it as it was when the focus leaves. */
#composer-bar:focus-within { background: $panel; }
#composer-bar:focus-within #prompt { color: $accent; }
#composer { width: 1fr; height: 1; background: $panel; padding: 0 1 0 0; border: none; }
#status { background: $surface; }
#footer { background: $surface; }
.-short #header { display: none; }
.-short #rule-bottom { display: none; }
.-tiny #rule-composer { display: none; }
.-tiny.-least #rule-top { display: none; }
.-only-conversation #side { display: none; }
.-only-servers #conversation, .-only-servers #trace, .-only-servers #rule-side { display: none; }
.-only-trace #conversation, .-only-trace #servers, .-only-trace #rule-side { display: none; }
.-only-servers #compared, .-only-trace #compared { display: none; }
.-only-servers #figures, .-only-trace #figures { display: none; }
.-only-servers #side, .-only-trace #side { width: 1fr; }
.-only-servers #servers { height: 1fr; border-left: none; }
.-only-trace #trace { border-left: none; }
"""


class Side(Vertical):
    """Servers and trace."""

    virtual_size = Reactive(Size(0, 0))  # Textual's requests a second layout once a layout sets it


class Ticker:
    """Calls its `observers` in order: often while one of them returns True, otherwise seldom."""

    def __init__(self, regions: "Regions") -> None:
        self._regions = regions
        self.observers: list[Callable[[], object]] = []
        self._next: asyncio.TimerHandle | None = None

    def tick(self) -> None:
        if self._next is not None:
            self._next.cancel()
        if not self._regions.screen.app.is_running:
            return
        try:
            moving = [observer() is True for observer in self.observers]
        except Exception as error:
            # The event loop calls this and would only log an error: the screen would freeze.
            crash(self._regions.screen.app, error)
        else:
            self._next = asyncio.get_running_loop().call_later(FAST if any(moving) else SLOW, self.tick)

    def wake(self) -> None:
        if self._next is not None:
            self.tick()

    def changed(self, _server: str) -> None:
        """Update soon; called as often as servers change."""
        soon = asyncio.get_running_loop().time() + FAST
        if self._next is not None and self._next.when() > soon:
            self._next.cancel()
            self._next = asyncio.get_running_loop().call_at(soon, self.tick)

    def stop(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None


class Regions:
    """The widgets of the chat screen, and what the app does for all of them."""

    conversation: "Transcript"
    servers: "ServersPane"
    trace: "TracePane"
    side: Side

    def __init__(self, screen: Screen[None], overrides: KeyOverrides) -> None:
        self.screen = screen
        self.overrides = overrides
        self.key_of = overrides.first_of
        self.has_panes = False
        self.compared: Transcript | None = None
        """The conversation to the left of the one on screen, if two answers are compared."""
        self.compared_messages: Sequence[Message] = ()
        self._removed: AwaitRemove | None = None
        self.ticker = Ticker(self)
        self._tasks = Tasks(self._failed)
        self._is_maximized = False
        self._tab = Context.CONVERSATION
        self.header = Header()
        self.held_box = Box(id="held")
        self.suggestions = Box(id="suggestions")
        self.composer = Composer(overrides, self.suggestions)
        self._widgets: dict[Context, Widget] = {Context.COMPOSER: self.composer}
        self.status_line = StatusLine()
        self.footer = Footer()
        self.rule_top = BodyRule(self.go_to)
        self.rule_composer = Rule(id="rule-composer")
        self.rule_side = Rule(id="rule-side")

    def compose(self) -> ComposeResult:
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

    async def mount_panes(self) -> None:
        """Mount the panes of the body. The first frame is painted without them: they would delay it."""
        from tui.ui.chat.side_panes import ServersPane, TracePane
        from tui.ui.chat.transcript.transcript import Transcript

        answers_of = self.overrides.answers_of
        self.conversation = Transcript(keys_of=answers_of, id="conversation")
        self.servers = ServersPane(id="servers")
        self.trace = TracePane(id="trace")
        self._widgets |= {
            Context.CONVERSATION: self.conversation,
            Context.SERVERS: self.servers,
            Context.TRACE: self.trace,
        }
        self.side = Side(self.servers, self.rule_side, self.trace, id="side")
        with self.screen.app.batch_update():
            await self.screen.query_one("#body").mount(self.conversation, self.side)
            self.has_panes = True
            self.arrange()

    @property
    def is_on_top(self) -> bool:
        return self.screen.app.screen is self.screen

    @property
    def focus_context(self) -> Context:
        focused = self.screen.focused
        if focused is not None and focused is self.compared:
            return Context.CONVERSATION
        found = (context for context, widget in self._widgets.items() if widget is focused)
        return next(found, Context.COMPOSER)

    @property
    def marked(self) -> "Transcript":
        """The conversation whose messages are selected: the one that has the focus, if there are two."""
        other = self.compared
        return other if other is not None and other is self.screen.focused else self.conversation

    def in_earlier(self) -> bool:
        """Return whether the selection is in the earlier of two answers, and say how to go on with that."""
        if is_there := self.marked is self.compared:
            key = self.key_of("compare.left")
            self.notify(_("Press {key} to continue with this answer first.", key=key), timeout=4)
        return is_there

    async def show_beside(
        self, compared: "Transcript", messages: "Sequence[Message]", figures: Sequence[Widget]
    ) -> None:
        """Show another conversation to the left of the one on screen, with a line below each of them."""
        if self._removed is not None:
            await self._removed  # only then can others have the same ids
        self.compared, self.compared_messages = compared, messages
        with self.screen.app.batch_update():
            await self.screen.query_one("#body").mount(compared, before=self.conversation)
            await self.screen.mount(Horizontal(*figures, id="figures"), before=self.rule_composer)
            self.show(Context.CONVERSATION)

    def remove_beside(self) -> None:
        self.compared, self.compared_messages = None, ()
        self._removed = self.screen.query("#compared, #figures").remove()
        self.arrange()

    def go_to(self, context: Context | str) -> None:
        """Focus a region. The table of actions names it by the value of its context."""
        context = Context(context)
        if context in BODY:
            self.show(context)
        elif self.only is None:
            self._tab = Context.CONVERSATION  # shown with the composer if the terminal becomes narrow
        # No scrolling into view: all regions are visible, and the animation would move the screen.
        self.screen.set_focus(self._widgets[context], scroll_visible=False)

    @property
    def _read(self) -> "LinePane":
        """The pane that scroll keys affect while the input has the focus: the conversation, if visible."""
        hidden_by = {Context.SERVERS: self.servers, Context.TRACE: self.trace}
        return hidden_by.get(self.only or Context.CONVERSATION, self.conversation)

    def scroll_page(self, direction: int) -> None:
        """Scroll this pane by a page; its selection stays."""
        self._read.scroll_relative(y=direction * self._read.page, animate=False)

    def scroll_to_end(self, direction: int) -> None:
        """Scroll this pane to its start (-1) or its end (1), which it then follows."""
        if direction > 0:
            self._read.follow()
        else:
            self._read.scroll_to(y=0, animate=False)

    @property
    def is_narrow(self) -> bool:
        """Whether the body only has room for one region."""
        return self.screen.app.size.width < WIDE

    @property
    def is_short(self) -> bool:
        """Whether the header is part of the status line."""
        return self.screen.app.size.height < TALL

    @property
    def only(self) -> Context | None:
        """The only visible region of the body, or None if all are visible.

        Two conversations take the room of all.
        """
        is_one = self._is_maximized or self.is_narrow or self.compared is not None
        return self._tab if is_one else None

    def show(self, context: Context) -> None:
        """Show a region of the body without focusing it."""
        self._tab = context
        self.arrange()

    def maximize(self) -> None:
        context, self._is_maximized = self.focus_context, not self._is_maximized
        if self._is_maximized:
            self._tab = context if context in BODY else Context.CONVERSATION
        self.arrange()

    def arrange(self) -> None:
        """Lay out the regions for the size of the terminal, and connect the lines between them."""
        only, height = self.only, self.screen.app.size.height
        classes = {"-short": self.is_short, "-tiny": height < LOW, "-least": height < LOWEST}
        classes |= {f"-only-{context.name.lower()}": only is context for context in BODY}
        classes["-compares"] = self.compared is not None
        classes["-slim"] = self.compared is not None and self.screen.app.size.width < SLIM
        self.screen.update_classes(classes)
        self.composer.most_rows = (height - LOWEST) // 2
        self.composer.fit()
        keys = {context: self.key_of(f"focus.{context.name.lower()}") for context in BODY}
        has_tabs = self.is_narrow or self.compared is not None
        self.rule_top.tabs(BODY if has_tabs else (), only, keys)
        if self.has_panes:
            width = self.screen.app.size.width
            spare = min(width // 2, width - READ_COLUMNS)  # columns that the conversation cannot use
            self.side.styles.width = spare if only is None and spare > width * SIDE_SHARE else None
            self.fit_servers()
            self.screen.app.call_after_refresh(self._join_rules)

    def fit_servers(self) -> None:
        """Make the servers pane as high as its rows, but at most two fifths of the body."""
        if self.only is Context.SERVERS:
            self.servers.styles.height, self.servers.room = None, 0
            return
        self.servers.room = most = max(3, self.screen.app.size.height * 2 // 5)
        rows = min(most, max(2, self.servers.row_count()))
        height = self.servers.styles.inline.height
        if height is None or height.value != rows:
            self.servers.styles.height = rows

    def _join_rules(self) -> None:
        def joint(sign: str) -> dict[int, str]:
            return {self.servers.region.x: sign} if self.only is None else {}

        self.rule_top.join(partial(joint, "┬"))
        self.rule_composer.join(partial(joint, "┴"))
        self.rule_side.join(lambda: {0: "├"})

    def open_dialog(self, dialog: Screen[Any], done: Callable[[Any], None] | None = None) -> None:
        open_once(self.screen.app, dialog, done)

    def notify(self, message: str, **options: Any) -> None:
        self.screen.app.notify(message, **options)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start work of the screen as a task. Its `McptuiError` is shown, a defect in it ends the app."""
        return self._tasks.start(work, name)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, McptuiError):
            self.notify(clean_line(localized(error), 400), severity="error", timeout=8)
        elif isinstance(error, Exception) and self.screen.is_attached:  # otherwise its widgets are gone
            crash(self.screen.app, error)

    async def close(self) -> None:
        """Cancel what was started and still runs, and wait at most a second for it."""
        await self._tasks.cancel(1.0)


class BodyRule(Rule):
    """A plain line if all regions are visible; their names if only one is. `go_to` focuses a region."""

    def __init__(self, go_to: Callable[[Context], None]) -> None:
        super().__init__(id="rule-top")
        self._go_to = go_to
        self._tabs: tuple[Context, ...] = ()
        self._active: Context | None = None
        self._keys: dict[Context, str] = {}
        self._servers = ""

    def count(self, servers: str) -> None:
        """Show the number of running servers next to the region's name: the pane itself is hidden."""
        if servers != self._servers:
            self._servers = servers
            self.refresh()

    def tabs(self, tabs: tuple[Context, ...], active: Context | None, keys: dict[Context, str]) -> None:
        """Show the names of these regions with their keys; `active` is the visible one."""
        if (tabs, active, keys) != (self._tabs, self._active, self._keys):
            self._tabs, self._active, self._keys = tabs, active, keys
            self.refresh()

    def _parts(self) -> list[tuple[Context, Row]]:
        return [
            (
                tab,
                (
                    ("── ", "rule"),
                    (_(tab.value), "accent bold" if tab is self._active else "dim"),
                    (f" {self._keys.get(tab, '')} ", "dim"),
                    (f"{self._servers} " if tab is Context.SERVERS and self._servers else "", "dim"),
                ),
            )
            for tab in self._tabs
        ]

    def row(self, width: int) -> Row:
        if not self._tabs:
            return super().row(width)
        spans = [span for _, part in self._parts() for span in part]
        return (*spans, ("─" * max(0, width - width_of(tuple(spans))), "rule"))

    def on_click(self, event: events.Click) -> None:
        if (tab := part_at(self._parts(), event.x)) is not None:
            self._go_to(tab)
