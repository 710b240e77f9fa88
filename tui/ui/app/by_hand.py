"""The way to the workbench and back: the part of the app that opens it."""

from typing import TYPE_CHECKING, Any

from tui.ui.app.wire import Wire
from tui.ui.keys.actions import Context

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.traffic import Cause


class ByHand(Wire):
    """Opens the workbench of a server, and brings back what a person takes from it."""

    def action_servers_open(self) -> None:
        """Work with the selected server by hand."""
        if name := self.servers.selected:
            self.show_server(name)

    def open_form(self, server: str, name: str, arguments: Any, *, prompt: bool = False) -> None:
        """Open the workbench of a server with the form of a tool, or a prompt, and these arguments in it."""
        from tui.ui.workbench.calls import CallBook, Draft
        from tui.ui.workbench.items import key_of_prompt, key_of_tool

        if self.call_book is None:
            self.call_book = CallBook()
        key = key_of_prompt(name) if prompt else key_of_tool(name)
        self.call_book.drafts[server, key] = Draft(arguments)
        self.show_server(server, key)

    def show_server(self, name: str, item: str = "") -> None:
        """Open the workbench of a server, at one of its items if `item` is the key of one."""
        from tui.ui.workbench.calls import CallBook
        from tui.ui.workbench.screen import ServerScreen

        if not self.runtime.is_ready or any(isinstance(one, ServerScreen) for one in self.screen_stack):
            return
        if self.call_book is None:
            self.call_book = CallBook()
        self.push_screen(
            ServerScreen(
                self.runtime,
                name,
                self.overrides,
                self.call_book,
                hand_over=self.take_over,
                show_frames=self._frames_by_hand,
                item=item,
            )
        )

    def take_over(self, text: str) -> None:
        """Put text into the message to the model, behind what is written."""
        written = self.composer.text.rstrip("\n")
        self.composer.show("")
        self.composer.put_foreign(text)
        if written.strip():
            self.composer.show(f"{written}\n\n{self.composer.text}")
        self.go_to(Context.COMPOSER)

    def _frames_by_hand(self, filter: str) -> None:
        from tui.ui.traffic.screen import TrafficScreen
        from tui.ui.workbench.screen import ServerScreen

        def back(cause: "Cause | None") -> None:
            if cause is not None and isinstance(self.screen, ServerScreen):
                self.pop_screen()
            self._go_to_turn(cause)

        if isinstance(self.screen, ServerScreen):
            screen = TrafficScreen(self.runtime.recording, self.overrides, filter, live=self.live_run())
            self.push_screen(screen, back)
