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
    ) -> None:
        super().__init__(theme=theme, keys=keys, save_theme=save_theme)
        self._recording = recording

    def on_mount(self) -> None:
        self.push_screen(TrafficScreen(self._recording, self.overrides), lambda cause: self.exit(0))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action not in ("app_help", "app_theme") or isinstance(self.screen, TrafficScreen)

    def action_app_quit(self) -> None:
        self.exit(0)

    async def close(self) -> None:
        """Nothing to close: whoever opened the recording closes it."""
