"""The full-screen app: the stack of screens, the command palette, quitting. No feature lives here."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual import events
from textual.binding import BindingType

from tui.core.language.translate import N_, _
from tui.ui.app.base import EARLY, BaseApp
from tui.ui.chat.regions import STYLES
from tui.ui.chat.screen import ChatScreen
from tui.ui.keys.action_table import ACTIONS, Action, Context, action, of_context
from tui.ui.keys.bindings import NEED_RUNTIME, bindings_anywhere
from tui.ui.platform.key_order import EarlyKeys, open_once

if TYPE_CHECKING:  # not needed for the first frame
    from tui.runtime.runtime import Runtime
    from tui.ui.app.command_palette import Command

ON_MAIN = frozenset(
    found.id
    for found in ACTIONS
    if found.context is Context.ANYWHERE and found.id.startswith(("chat.", "focus.", "pane."))
)
"""Actions of the chat screen whose keys mean something else, or nothing, on a screen over it."""

LEADING = frozenset(found.id for found in ACTIONS if found.id.startswith("focus.")) | {
    "chat.sessions",
    "chat.models",
    "chat.system",
}
"""Actions of `ON_MAIN` whose keys first close the screens over the chat screen."""

IN_DIALOG = N_("A dialog is open. Press esc to close it first.")

NOT_WHILE_ASKED = ON_MAIN | {"traffic.open", "traffic.of_call"}
"""Actions that are unavailable until a server's question is answered; their keys say so."""


class McptuiApp(BaseApp):
    """The full-screen app. It uses the runtime, but does not own it.

    `make_runtime` is called once, in a thread, after the first frame. `main` is under every other screen.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_anywhere()
    CSS = STYLES + BaseApp.CSS

    def __init__(
        self, make_runtime: "Callable[[], Runtime]", *, theme: str, keys: Mapping[str, str | Sequence[str]]
    ) -> None:
        super().__init__(theme=theme, keys=keys, save_theme=self._save_theme_of_runtime)
        self._early_keys = EarlyKeys()
        self.main = ChatScreen(
            make_runtime,
            self.overrides,
            theme_problem=self.theme_problem,
            loaded=self._loaded,
        )

    def get_default_screen(self) -> ChatScreen:
        return self.main

    def on_mount(self) -> None:
        self.main.show_loading()
        self.call_after_refresh(self.main.load)

    async def close(self) -> None:
        """Stop what is still running. Called by the owner of the app after it has left the screen."""
        await self.main.close()

    async def _save_theme_of_runtime(self, name: str) -> None:
        if self.main.parts is not None:
            await self.main.parts.runtime.configuration.save_theme(name)

    async def action_act(self, action_id: str) -> None:
        if (parts := self.main.parts) is not None:
            act = partial(parts.act, action_id)
            if not parts.approvals.holds(action(action_id), act):
                await act()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a key of an unavailable action pass, so that a pane or the composer may use it."""
        name = str(parameters[0]) if action == "act" else action.replace("app_", "app.", 1)
        if self.main.parts is None:
            return name in EARLY
        if name in ON_MAIN and self.screen is not self.main:
            return False
        if name in NOT_WHILE_ASKED and self._server_asks:
            return False
        if name.startswith("question.") and self.main.parts.approvals.why_none():
            return False
        return super().check_action(action, parameters)

    async def on_event(self, event: events.Event) -> None:
        """Prevent letters of typed text from answering a question, and answers from acting as other keys."""
        if isinstance(event, events.Key):
            self.main.collecting.key()
            if self.main.parts is not None and self.main.parts.approvals.takes(event, self.focused):
                return
            if self.screen is self.main and self._keeps_early(event):
                return
        await super().on_event(event)

    def _keeps_early(self, event: events.Key) -> bool:
        """Store a key that needs what is not loaded yet; return whether it was stored."""
        found = None if self._early_keys.is_released else self._pressed(event)
        if event.key == "ctrl+c" or (found is not None and found.id in EARLY):
            return False
        name = found.id if found is not None and not event.is_printable else ""
        waits = bool(name) and (self.main.parts is None or name in NEED_RUNTIME)
        return self._early_keys.keep(event, starts=waits and name not in ("chat.cancel", "focus.composer"))

    def _loaded(self) -> None:
        if self.main.parts is not None:
            self.main.parts.runtime.configuration.apply_ui = self.apply_ui
        self.call_later(self._replay_early_keys)

    async def _replay_early_keys(self) -> None:
        """Handle the early keys, unless a question is open: they were not meant for it."""
        kept = self._early_keys.release()
        for event in kept if self.screen is self.main else ():
            if self.main.parts is not None and self.main.parts.approvals.first is None:
                await self.on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Handle keys of chat screen actions that are pressed on a screen over it.

        Keys that go to a region close lists and read-only screens. A server's question, or a screen whose
        content would be lost, stays open and says why.
        """
        name = found.id if (found := self._pressed(event)) is not None else ""
        if self._server_asks and name in NOT_WHILE_ASKED:
            cancel = self.overrides.first_of("ask.cancel")
            self.notify(_("Answer the question first, or press {key} to cancel it.", key=cancel))
        elif found is not None and self.screen is not self.main and name in LEADING:
            self._leave_for(partial(self.run_action, found.method))

    def _leave_for(self, then: Callable[[], object]) -> None:
        """Close the screens over the chat screen and call `then`, unless something would be lost.

        A read-only screen has `stays`, which returns why it cannot be closed now, or "".
        """
        over = self.screen_stack[1:]
        whys = [getattr(screen, "stays", lambda: IN_DIALOG)() for screen in reversed(over)]
        if why := next(filter(None, whys), ""):
            self.notify(_(why), timeout=4)
            return
        for screen in reversed(over):
            screen.dismiss(None)
        self.call_later(then)

    async def _run_command(self, found: Action) -> None:
        """Run an action that was selected in the palette."""
        if found.id in LEADING and self.screen is not self.main:
            self._leave_for(partial(self.run_action, found.method))
        else:
            await self.run_action(found.method)

    def _pressed(self, event: events.Key) -> Action | None:
        everywhere = of_context(Context.ANYWHERE)
        return next((one for one in everywhere if event.key in self.overrides.keys_of(one).split(",")), None)

    @property
    def focus_context(self) -> Context | None:
        return self.main.regions.focus_context if self.screen is self.main else None

    @property
    def _server_asks(self) -> bool:
        return Context.SERVER_QUESTION in getattr(self.screen, "CONTEXTS", ())

    def on_resize(self, event: events.Resize) -> None:
        self.call_next(self.main.regions.arrange)  # Textual learns the new size only after this handler

    def commands(self) -> "Sequence[Command]":
        from tui.ui.app.command_palette import action_commands, chat_commands, elsewhere, server_commands

        if (parts := self.main.parts) is None:
            return ()

        def open_screen(found: Action) -> None:
            self._leave_for(partial(parts.navigator.open_screen_of, found))

        contexts, run = self.contexts, partial(self.call_later, self._run_command)
        found = list(action_commands(parts.why_not, self.overrides, run, contexts))
        if parts.runtime.is_ready:
            found += chat_commands(parts) if self.under_palette is self.main else ()
            found += elsewhere(contexts, self.overrides, open_screen)
            found += server_commands(parts, self.under_palette)
        return found

    @property
    def _turn_runs(self) -> bool:
        return self.main.parts is not None and self.main.parts.turns.running

    async def action_quit(self) -> None:
        """Quit. Textual's own bindings also call this."""
        self.action_app_quit()

    def action_app_quit(self) -> None:
        from tui.ui.dialogs.confirm import ConfirmQuit
        from tui.ui.dialogs.dialog import Dialog

        dialogs = [screen for screen in self.screen_stack if isinstance(screen, Dialog)]
        if not all(one.may_leave(self.overrides.first_of("app.quit")) for one in dialogs):
            return
        if not self._turn_runs or isinstance(self.screen, ConfirmQuit):  # the key was pressed again
            self.exit(0)
            return
        question = ConfirmQuit()
        open_once(self, question, lambda leave: self.exit(0) if leave else None)

    def action_help_quit(self) -> None:
        """Clear the draft, or say how to quit: the last meaning of ctrl+c, if nothing is selected."""
        composer = self.main.composer
        if self.screen is self.main and composer.text:
            composer.clear()
            return
        key_of = self.main.regions.key_of
        stop, leave = key_of("chat.cancel"), key_of("app.quit")
        words = _("Press {key} to quit.", key=leave)
        if self._turn_runs:
            words = _("Press {key} to quit, {stop} to stop the turn.", key=leave, stop=stop)
        self.notify(words)

    @property
    def lends_terminal(self) -> bool:
        """Whether an editor is using the terminal."""
        return self.main.parts is not None and self.main.parts.editor.has_terminal

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave. An editor that uses the terminal is stopped first: the app cannot end before it.

        Held messages are sent on before their calls are cancelled.
        """
        if self.main.parts is not None and (held := self.main.parts.runtime.breakpoints) is not None:
            held.let_go()
        leave = partial(super().exit, result, return_code, message)
        if self.main.parts is None or not self.main.parts.editor.stop(leave):
            leave()
