"""The app of `mcptui traffic FILE`: the traffic screen over a recording, and nothing else."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar

from textual.await_complete import AwaitComplete
from textual.binding import BindingType

from tui.core.language.translate import localized
from tui.core.text import clean_line
from tui.traffic.record.open_recording import Recording
from tui.ui.app.base import BaseApp
from tui.ui.keys.action_table import ACTIONS, OF_TRAFFIC, Action, Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.platform.textual_internals import terminal_of
from tui.ui.traffic.screen import TrafficScreen

if TYPE_CHECKING:
    from tui.ui.app.command_palette import Command

_ACTIONS = ("app.quit", "app.suspend", "app.help", "app.theme", "app.palette")


class TrafficApp(BaseApp):
    """Shows a recording until the user quits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings_of(Context.ANYWHERE) if getattr(binding, "id", "") in _ACTIONS
    ]

    IN_HELP = OF_TRAFFIC

    def __init__(
        self,
        recording: Recording,
        *,
        theme: str,
        keys: Mapping[str, str | Sequence[str]],
        save_theme: Callable[[str], Awaitable[None]],
        painted: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(theme=theme, keys=keys, save_theme=save_theme)
        self._recording = recording
        self._painted = painted

    def get_default_screen(self) -> TrafficScreen:
        return TrafficScreen(self._recording, self.overrides, place=("", self._recording.opens_at))

    def on_mount(self) -> None:
        if (terminal := terminal_of(self)) is not None:
            terminal.show_title(clean_line(localized(self._recording.title), 60))
        self.screen.call_after_refresh(self._painted)

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top; leaving the last one quits."""
        if len(self.screen_stack) <= 1:
            self.exit(0)
        return super().pop_screen()

    def commands(self) -> "Sequence[Command]":
        from tui.ui.app.command_palette import action_commands

        def run(found: Action) -> None:
            self.call_later(self.run_action, found.method)

        here = [found for found in ACTIONS if found.context in self.contexts or found.id in _ACTIONS]
        return list(action_commands(attrgetter("when"), self.overrides, run, self.contexts, here))

    def action_app_quit(self) -> None:
        self.exit(0)

    async def close(self) -> None:
        """Nothing to close: the caller closes the recording."""
