"""The app: stores in, panes out, and the doing of every action in the table. Wiring only."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.command import Provider

from tui.core.errors import McptuiError
from tui.ui.app.doing import Doing
from tui.ui.chat.status_line import LOADING, Status
from tui.ui.keys.actions import Context
from tui.ui.keys.answer_debounce import AnswerKeys
from tui.ui.keys.bindings import bindings_anywhere
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.keys.situation import Situation, in_footer
from tui.ui.platform.memory import GcPauses

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.events import Event
    from tui.runtime.runtime import Runtime

FAST = 1 / 30
SLOW = 1 / 4
"""Seconds between two looks at the stores, while something moves and while nothing does."""

TYPING_SECONDS = 1.5
"""A key so recently pressed in the composer means that the person is typing."""


_WORKINGS = (
    "chat.conversation",
    "chat.side",
    "chat.approvals",
    "chat.bridge",
    "chat.turn_queue",
    "chat.status",
    "app.command_palette",
    "chat.composer.suggestions",
    "chat.composer.attachments",
    "chat.composer.history_file",
    "chat.composer.one_by_one",
)


def _everything() -> type[Provider]:
    from tui.ui.app.command_palette import Everything

    return Everything


class McptuiApp(Doing):
    """The full-screen app.

    Args:
        make_runtime: gives what is behind the screens; called once, in a thread, after the first frame,
            because even its import takes time. The app uses it and does not own it.
        theme: name of the theme to wear.
        keys: the person's own keys, action id to one or several.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_anywhere()
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_everything}

    def __init__(
        self,
        make_runtime: "Callable[[], Runtime]",
        *,
        theme: str,
        keys: Mapping[str, str | Sequence[str]],
    ) -> None:
        super().__init__(theme, KeyOverrides(keys.items()))
        self._make_runtime = make_runtime
        self.set_keymap(self.overrides.keymap())
        self.early = []
        self._loading: asyncio.Task[None] | None = None
        self._look_again: asyncio.TimerHandle | None = None
        self._seen: tuple[int, int] | None = None
        self._told = 0
        self._faults_told: set[str] = set()
        self.took_focus = False
        self.answer_keys = AnswerKeys(self.settle, self._write, self.set_timer)
        self._typed_at = -TYPING_SECONDS
        self.collecting = GcPauses()

    # ---- life ----

    def on_mount(self) -> None:
        """Let the person write at once; everything else comes after the first frame."""
        self.header.show((), "loading…", "")
        self.status_line.show(Status(activity=LOADING))
        self.footer.show(in_footer(Situation(Context.COMPOSER), self.overrides))
        self.go_to(Context.COMPOSER)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        self._loading = asyncio.create_task(self._load(), name="load the runtime")
        self._loading.add_done_callback(self._loaded)

    async def _load(self) -> None:
        with self.collecting.gently(self):
            await asyncio.to_thread(_thrift)
            for name in _WORKINGS:
                await asyncio.to_thread(import_module, f"tui.ui.{name}")
            self.runtime = await asyncio.to_thread(self._make_runtime)
            await self.furnish()
            self._set_going()
            try:
                await self.runtime.ready()
            except McptuiError as error:
                self.conversation.add_note(str(error), "bad")
                return
            runtime = self.runtime
            self.servers.show_host(runtime.host, runtime.redactor, mistakes=bool(runtime.problems))
            if runtime.conversations.messages:  # the command line named a saved one
                self.show_conversation()
                self._told = 0  # it took the place of whatever was told before
            self.shown = runtime.conversations.opened
            for problem in filter(None, (self.theme_problem, *self.overrides.problems)):
                self.conversation.add_note(problem, "bad")
            self._tell_problems()
            self.sources.runtime = runtime
            self.chat.flush()
            self.wake()
            await self.remember()
            await asyncio.to_thread(self.conversation.warm)

    def _set_going(self) -> None:
        """Connect the panes with what works behind them."""
        from tui.traffic.spans.spans import Spans
        from tui.ui.chat.approvals import Approvals
        from tui.ui.chat.bridge import Bridge
        from tui.ui.chat.status import ChatStatus
        from tui.ui.chat.turn_queue import TurnQueue

        runtime = self.runtime
        self.spans = Spans()
        self.trace.show(self.spans)
        self.approvals = Approvals(self._question_changed, time.monotonic)
        self.bridge = Bridge(
            self.conversation,
            notice=lambda: runtime.model_notice,
            key=self.key_of,
        )
        self.chat = TurnQueue(
            runtime,
            self.approvals,
            self.bridge,
            self.conversation,
            read=self.read_attachments,
            give_back=self.give_back,
            record=self._record,
            clock=lambda: time.strftime("%H:%M"),
            on_change=self.wake,
        )
        self.glance = ChatStatus(
            runtime, self.chat, self.bridge, self.approvals, self.overrides, parent=lambda: self.branched_from
        )
        self.begin_speaking()
        self._tick()

    def _loaded(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.fail(error)

    async def close(self) -> None:
        """Stop the turn; for the owner of the app, after the app has left the screen."""
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again = None
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait({self._loading})
        await self.stop_speaking()
        await self.stop_changing()
        if self.furnished:
            await self.chat.close()

    # ---- looking at the stores ----

    def _tick(self) -> None:
        """Look, and look again soon: often while something moves, seldom while nothing does."""
        if self._look_again is not None:
            self._look_again.cancel()
        if not self.is_running:
            return
        try:
            self.look()
        except Exception as error:
            # Called by the event loop, which would only log it: the screen would stand still for ever.
            self.fail(error)
        else:
            pause = FAST if self.glance.moving else SLOW
            self._look_again = asyncio.get_running_loop().call_later(pause, self._tick)

    def wake(self) -> None:
        """Something changed that should be seen now."""
        if self._look_again is not None:
            self._tick()

    def look(self) -> None:
        """Show what changed in the stores; cheap if nothing did."""
        focus = self.focus_context
        self.servers.tick()
        self.trace.tick()
        self.show_held()
        self.fit_servers()
        self.light_focus(focus)
        self.header.show(self.glance.running, self.glance.model, self.glance.step)
        self.status_line.show(self.glance.status(focus, folded=not self.header.display))
        self.footer.show(in_footer(self.glance.situation(focus), self.overrides))
        if self.runtime.is_ready:
            self.follow_chats()
            self.chat.flush()
            self._tell_faults()
            seen = (self.runtime.host.revision, self.runtime.revision)
            if seen != self._seen:
                self._seen = seen
                self._tell_problems()
                self.conversation.welcome(
                    self.runtime.model_label,
                    self.runtime.examples(),
                    is_demo=bool(self.runtime.model_notice),
                )

    def _tell_problems(self) -> None:
        """Put what is newly wrong into the conversation; some of it shows only while the app runs."""
        problems = self.runtime.problems
        for problem in problems[self._told :]:
            self.conversation.add_note(problem, "bad")
        self._told = len(problems)

    def _tell_faults(self) -> None:
        """Explain once why something is not saved; the mark in the status line stays as long as it is so."""
        runtime = self.runtime
        for what, why in (
            ("This conversation is not saved", runtime.unsaved),
            ("The traffic is not recorded", runtime.unrecorded),
        ):
            if why and why not in self._faults_told:
                self._faults_told.add(why)
                self.conversation.add_note(f"{what}: {why}.", "bad")

    def _record(self, event: "Event") -> None:
        self.spans.apply(event, time.monotonic_ns())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now."""
        self.wake()

    # ---- questions of tool calls ----

    def _question_changed(self) -> None:
        request = self.approvals.current
        self.bridge.question(request)
        if request is not None:
            self.show_region(Context.CONVERSATION)
            typing = time.monotonic() - self._typed_at < TYPING_SECONDS
            if self.composer.has_focus and self.composer.is_blank and not typing:
                self.took_focus = True
                self.go_to(Context.CONVERSATION)
        else:
            begun = self.took_focus or not self.composer.is_blank
            self.took_focus = False
            if begun and self.conversation.has_focus:
                self.go_to(Context.COMPOSER)
        self.wake()

    async def on_event(self, event: events.Event) -> None:
        """Let no letter of a text that somebody writes become the answer to a question."""
        if isinstance(event, events.Key):
            self.collecting.key()
        if isinstance(event, events.Key) and self.furnished and self.screen is self.main:
            letter = event.character if event.is_printable and event.character else ""
            if self.answer_keys.key(letter):
                return
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Write what is no command while the conversation has the focus."""
        if self.screen is not self.main:
            self.leave_list(event.key)
        elif event.is_printable and event.character and self.furnished:
            # In a burst the letters behind the first come here too, although the focus has moved on.
            begins = self.focused is self.conversation
            if begins or self.focused is self.composer:
                event.stop()
                if not (begins and self.command_unavailable(event.key, event.character)):
                    self.answer_keys.text(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Give the composer what was pasted over a pane."""
        if self.screen is self.main and self.composer is not self.focused:
            self.go_to(Context.COMPOSER)
            self.composer.post_message(event)

    def _write(self, letters: str) -> None:
        self.took_focus = False
        self.go_to(Context.COMPOSER)
        self.composer.insert(letters)

    def on_text_area_changed(self) -> None:
        """Remember when the person typed last; once a message is sent, nobody is typing it any more."""
        self._typed_at = -TYPING_SECONDS if self.composer.is_blank else time.monotonic()

    def forget(self) -> None:
        """Begin with an empty screen."""
        self.conversation.clear()
        self._seen = None


def _thrift() -> None:
    from tui.ui.platform.memory import return_freed_memory

    return_freed_memory()
