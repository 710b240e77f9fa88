"""The chat screen: the content of the first frame, loading the rest, and the events of its widgets."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from tui.core.errors import McptuiError
from tui.core.language.translate import _
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.regions import Regions
from tui.ui.chat.status_line import LOADING, Status
from tui.ui.keys.action_table import MAIN, Context
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.keys.footer import in_footer
from tui.ui.platform.memory import GcPauses, return_freed_memory
from tui.ui.widgets.bar import Box

if TYPE_CHECKING:  # not needed for the first frame
    from tui.runtime.runtime import Runtime
    from tui.settings.problems import Problem
    from tui.ui.chat.parts import ChatParts
    from tui.ui.chat.transcript.transcript import Transcript

_LOADED_LATER = (
    "tui.ui.chat.transcript.transcript",
    "tui.ui.chat.side_panes",
    "tui.ui.chat.parts",
    "tui.ui.app.command_palette",
)
"""Modules that are imported in a thread after the first frame, including their imports."""


class ChatScreen(Screen[None]):
    """The main screen; `parts` are the objects behind it, None until they are loaded.

    `make_runtime` is called once, in a thread, after the first frame, because its import takes time.
    `loaded` is called once the runtime is ready or has failed.
    """

    CONTEXTS = MAIN

    def __init__(
        self,
        make_runtime: "Callable[[], Runtime]",
        overrides: KeyOverrides,
        *,
        theme_problem: "Problem | None",
        loaded: Callable[[], object],
    ) -> None:
        super().__init__(id="chat")
        self._make_runtime = make_runtime
        self._overrides = overrides
        self._theme_problem = theme_problem
        self.collecting = GcPauses()
        self._when_loaded = loaded
        self.regions = Regions(self, overrides)
        self.composer = self.regions.composer
        self.parts: ChatParts | None = None
        self._sent_early: list[Composer.Sent] = []
        self._load_task: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        yield from self.regions.compose()

    def show_loading(self) -> None:
        """Let the user type at once; everything else is loaded after the first frame."""
        regions = self.regions
        regions.header.show("", "", _("loading…"), "")
        regions.status_line.show(Status(activity=_(LOADING)))
        regions.footer.show(in_footer(Context.COMPOSER, attrgetter("when"), self._overrides))
        regions.go_to(Context.COMPOSER)

    def load(self) -> None:
        self._load_task = self.regions.start(self._load(), "load the runtime")

    async def _load(self) -> None:
        with self.collecting.importing(self.app):
            await asyncio.to_thread(return_freed_memory)
            for name in _LOADED_LATER:
                await asyncio.to_thread(import_module, name)
            from tui.ui.chat.parts import ChatParts

            runtime = await asyncio.to_thread(self._make_runtime)
            await self.regions.mount_panes()
            self.parts = parts = ChatParts(runtime, self.regions)
            sent, self._sent_early = self._sent_early, []
            for event in sent:
                parts.outbox.put(event)
            self.regions.ticker.tick()
            try:
                await runtime.ready()
            except McptuiError as error:
                self.regions.conversation.add_note(str(error), "bad")
                return
            finally:
                self._when_loaded()
            told = [*filter(None, (self._theme_problem, *self._overrides.problems))]
            await parts.begin(runtime.configuration.located(told) if told else ())
            await asyncio.to_thread(self.regions.conversation.warm)

    async def close(self) -> None:
        """Stop everything that is still running; called by the owner of the app, after it has ended."""
        self.regions.ticker.stop()
        if self._load_task is not None:
            self._load_task.cancel()
            await asyncio.wait({self._load_task})
        if self.parts is not None:
            await self.parts.close()

    def on_key(self, event: events.Key) -> None:
        """Handle a letter that is no command of the focused pane.

        While a tool call waits for approval, it is text typed without looking. In a burst, later letters
        arrive here too, although the focus has already moved.
        """
        parts, regions = self.parts, self.regions
        if parts is None or not event.is_printable or not event.character:
            return
        if parts.approvals.has_keys and self.focused in (regions.conversation, self.composer):
            parts.approvals.keys.text(event.character)
            event.stop()
        elif self.focused is regions.marked:
            parts.explain_letter(event.key)
            event.stop()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the composer, whichever pane has the focus."""
        if self.composer is self.focused:
            return
        if self.parts is not None:
            self.parts.approvals.paste(event)
        else:
            self.regions.go_to(Context.COMPOSER)
            self.composer.post_message(event)

    def on_screen_resume(self) -> None:
        if self.parts is not None:
            self.parts.approvals.came_back()

    def on_descendant_focus(self) -> None:
        self.regions.ticker.wake()
        if self.parts is not None and self.focused is self.regions.servers:
            self.parts.navigator.expect_server()

    def on_text_area_changed(self) -> None:
        if self.parts is not None:
            self.parts.approvals.composer_changed()

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if self.parts is None:
            self._sent_early.append(event)
        else:
            self.parts.outbox.put(event)
            self.parts.approvals.give_back()

    def on_box_chosen(self, event: Box.Chosen) -> None:
        if event.box is not self.regions.held_box:
            self.composer.choose(event.index)
        elif self.parts is not None:
            self.parts.outbox.take_back()

    def on_transcript_chosen(self, event: "Transcript.Chosen") -> None:
        if self.parts is not None:
            self.parts.choose(event.what)
