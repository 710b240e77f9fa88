"""The doing of every action in the table: what a key, the palette or a click sets going."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.screen import Screen

from tui.core.errors import McptuiError
from tui.settings.locations import themes_dir
from tui.settings.themes import all_themes
from tui.ui.app.speaking import Speaking
from tui.ui.chat.composer.token_area import Written
from tui.ui.keys.actions import ACTIONS, Context, of_context
from tui.ui.keys.answer_debounce import AnswerKeys

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.runtime.runtime import Runtime
    from tui.ui.app.command_palette import Command
    from tui.ui.chat.approvals import Approvals
    from tui.ui.chat.bridge import Bridge
    from tui.ui.chat.conversation import ConversationPane
    from tui.ui.chat.status import ChatStatus
    from tui.ui.chat.turn_queue import TurnQueue

Given = TypeVar("Given")

EARLY = ("app_quit", "quit", "help_quit")
"""What can be done before the panes are there, besides writing."""


ON_MAIN = frozenset(
    found.method.removeprefix("app.")
    for found in ACTIONS
    if found.context is Context.ANYWHERE and found.id.startswith(("chat.", "focus.", "pane."))
)
"""Actions of the main screen, whose keys mean something else, or nothing, on a screen over it."""


class Doing(Speaking):
    """An `action_` method for each row of the table; the app supplies what they act on."""

    runtime: "Runtime"
    approvals: "Approvals"
    answer_keys: AnswerKeys
    bridge: "Bridge"
    chat: "TurnQueue"
    glance: "ChatStatus"
    took_focus: bool
    """The visible question took the focus from the composer and gives it back."""

    def wake(self) -> None:
        """Show at once what changed."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a key pass that does nothing now, so that another pane or the composer may have it."""
        if not self.furnished:
            return action in EARLY
        if action in ON_MAIN and self.screen is not self.main:
            return False
        if action in getattr(self.screen, "TAKES", ()):
            return False
        if action not in EARLY and self._palette_is_open:
            return False  # it has one name; Textual would end the app at the second
        if action.startswith("question_"):
            return self.approvals.current is not None
        return super().check_action(action, parameters)

    @property
    def _palette_is_open(self) -> bool:
        return any(isinstance(screen, CommandPalette) for screen in self.screen_stack)

    # ---- answering a tool call ----

    def _answer(self, answer: str) -> None:
        if self.approvals.ripe:
            self.answer_keys.answer(answer)

    def action_question_once(self) -> None:
        """Allow this call."""
        self._answer("once")

    def action_question_session(self) -> None:
        """Allow this tool until mcptui ends."""
        self._answer("session")

    def action_question_always(self) -> None:
        """Always allow this tool as it is now."""
        self._answer("always")

    def action_question_no(self) -> None:
        """Refuse this call."""
        self._answer("no")

    def action_question_why(self) -> None:
        """Refuse this call and say why."""
        from tui.ui.dialogs.text_dialogs import SayWhy

        request = self.approvals.current
        if request is None or not self.approvals.ripe:
            return

        def refuse(reason: str | None) -> None:
            if reason is not None and self.approvals.current is request:
                self.approvals.answer("no", reason)

        self._open(SayWhy(request.tool.server, request.tool.name), refuse)

    # ---- the chat ----

    def on_transcript_example_chosen(self, event: "ConversationPane.ExampleChosen") -> None:
        """Send one of the example questions."""
        self.go_to(Context.COMPOSER)
        self.chat.send(Written(event.text, event.text))

    def action_chat_cancel(self) -> None:
        """Close a list, stop a command, stop the turn; with nothing of it, go back to the message."""
        if self.composer.has_focus and self.composer.leave():
            return
        if self.stop_asking():
            return
        if self.chat.running or self.chat.reading:
            if held := self.chat.cancel():
                self.composer.put_back(held)
        else:
            self.go_to(Context.COMPOSER)

    def action_chat_continue(self) -> None:
        """Go on after a limit."""
        if self.says_unavailable("chat.continue"):
            return
        if problem := self.busy():
            self.notify(problem)
        else:
            self.chat.go_on()

    # ---- servers ----

    def action_servers_toggle(self) -> None:
        """Start or stop the selected server."""
        self.says_unavailable("servers.toggle")
        self.servers.toggle_selected()
        self.wake()

    def action_servers_restart(self) -> None:
        """Restart the selected server."""
        self.says_unavailable("servers.restart")
        self.servers.restart_selected()
        self.wake()

    def action_servers_log(self) -> None:
        """Show the selected server's stderr."""
        self.says_unavailable("servers.log")
        if name := self.servers.selected:
            self.show_log(name)

    def show_log(self, name: str) -> None:
        """Show a server's stderr."""
        from tui.ui.workbench.log import LogScreen

        self._open(LogScreen(self.runtime.host, name))

    # ---- regions and dialogs ----

    def _open(self, screen: Screen[Given], done: Callable[[Given | None], None] | None = None) -> None:
        """Put a dialog on the screen, unless one of its kind is there already; keys get pressed twice."""
        if not any(type(other) is type(screen) for other in self.screen_stack):
            self.push_screen(screen, done)

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top; with none left to leave, nothing happens.

        Keys that come in one burst can leave a dialog twice: enter takes a choice and escape closes the
        list before the choice has come to its dialog. Textual would end the app for it.
        """
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def action_focus_composer(self) -> None:
        """Go to the message."""
        self.go_to(Context.COMPOSER)

    def action_focus_conversation(self) -> None:
        """Go to the conversation."""
        self.took_focus = False
        self.go_to(Context.CONVERSATION)

    def action_focus_servers(self) -> None:
        """Go to the servers."""
        self.go_to(Context.SERVERS)

    def action_focus_trace(self) -> None:
        """Go to the trace."""
        self.go_to(Context.TRACE)

    def leave_list(self, key: str) -> bool:
        """Close a list over the screen for a key that leads to a region; return False for any other key.

        Textual keeps the keys of the app from a dialog.
        """
        if not getattr(self.screen, "YIELDS", False):
            return False
        for found in of_context(Context.ANYWHERE):
            if found.id.startswith("focus.") and key in self.overrides.keys_of(found).split(","):
                self.screen.dismiss(None)
                self.call_later(self.run_action, found.method)
                return True
        return False

    def action_pane_maximise(self) -> None:
        """Give the pane the whole body, or take it back."""
        self.maximise()

    def action_app_help(self) -> None:
        """Show every key."""
        from tui.ui.dialogs.help import MAIN, HelpScreen

        self._open(HelpScreen(self.overrides, getattr(self.screen, "CONTEXTS", MAIN)))

    def action_app_theme(self) -> None:
        """Choose another theme, seen as it is chosen."""
        from tui.ui.dialogs.picker import ThemePicker

        specs, _ = all_themes(themes_dir())
        self._open(ThemePicker(specs, self.theme), self._theme_chosen)

    def _theme_chosen(self, name: str | None) -> None:
        if name is not None:
            self.run_worker(self._keep_theme(name), name="save the theme")

    async def _keep_theme(self, name: str) -> None:
        try:
            await asyncio.to_thread(self.runtime.save_theme, name)
        except McptuiError as error:
            self.notify(str(error), title="The theme is on, but was not saved", severity="warning")

    async def action_quit(self) -> None:
        """Leave; whatever of Textual asks for it takes the same road."""
        self.action_app_quit()

    def action_app_quit(self) -> None:
        """Leave; asks first if a turn runs."""
        if not (self.furnished and self.chat.running):
            self.exit(0)
            return
        from tui.ui.dialogs.confirm import ConfirmQuit

        self._open(ConfirmQuit(lambda: self.chat.running), lambda leave: self.exit(0) if leave else None)

    def action_help_quit(self) -> None:
        """Say how to leave: ctrl+c copies here, as in every editor."""
        stop, leave = self.key_of("chat.cancel"), self.key_of("app.quit")
        running = self.furnished and self.chat.running
        self.notify(f"{stop} stops the turn, {leave} leaves." if running else f"{leave} leaves.")

    def commands(self) -> "Sequence[Command]":
        """Return everything that the palette offers now."""
        from tui.ui.app.command_palette import Command, action_commands, server_commands

        under = [screen for screen in self.screen_stack if not isinstance(screen, CommandPalette)]
        contexts = getattr(under[-1], "CONTEXTS", ())
        situation = self.glance.situation(self.focus_context)
        found = list(action_commands(situation, self.overrides, self._run_later, contexts))
        if self.runtime.is_ready:
            if under[-1] is self.main:
                found += [Command(*entry) for entry in self.written_commands()]
            found += server_commands(self.runtime.host, self.show_log, self.show_server)
        return found

    def _run_later(self, method: str) -> None:
        self.call_later(self.run_action, method)
