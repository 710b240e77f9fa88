"""The app of `mcptui traffic FILE`: the traffic screen over a recording, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType

from tui.traffic.record.entry_columns import Recording
from tui.ui.app.base import BaseApp
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.traffic.screen import TrafficScreen

_ACTIONS = ("app.quit", "app.help", "app.theme")


class TrafficApp(BaseApp):
    """Shows a recording until the user quits."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings_of(Context.ANYWHERE) if getattr(binding, "id", "") in _ACTIONS
    ]

    def __init__(
        self,
        recording: Recording,
        *,
        theme: str,
        keys: Mapping[str, str | Sequence[str]],
        save_theme: Callable[[str], None],
        painted: Callable[[], None] = lambda: None,
    ) -> None:
        """Create the app; `painted` is called after the first painting."""
        super().__init__(theme=theme, keys=keys, save_theme=save_theme)
        self._recording = recording
        self._painted = painted

    def on_mount(self) -> None:
        screen = TrafficScreen(self._recording, self.overrides)
        self.push_screen(screen, lambda cause: self.exit(0))
        screen.call_after_refresh(self._painted)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in ("app_help", "app_theme") or isinstance(self.screen, TrafficScreen)

    def action_app_quit(self) -> None:
        self.exit(0)

    async def close(self) -> None:
        """Nothing to close: whoever opened the recording closes it."""
