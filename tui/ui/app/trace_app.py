"""The app of `mcptui traffic FILE`: the traffic screen over a recording, and nothing else."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from tui.core.errors import McptuiError
from tui.settings.locations import themes_dir
from tui.settings.themes import all_themes
from tui.traffic.record.entry_columns import Recording
from tui.ui.app.shell import Shell
from tui.ui.keys.actions import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.traffic.screen import TrafficScreen

_OURS = ("app.quit", "app.help", "app.theme")


def _bindings() -> Iterable[BindingType]:
    return (binding for binding in bindings_of(Context.ANYWHERE) if getattr(binding, "id", "") in _OURS)


class TraceApp(Shell):
    """Shows a recording until the person leaves it.

    Args:
        recording: what is shown.
        theme: name of the theme to wear.
        keys: the person's own keys.
        save_theme: keeps another theme; may raise McptuiError.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = list(_bindings())

    def __init__(
        self,
        recording: Recording,
        *,
        theme: str,
        keys: Mapping[str, str | Sequence[str]],
        save_theme: Callable[[str], None],
    ) -> None:
        super().__init__(theme, KeyOverrides(keys.items()))
        self.set_keymap(self.overrides.keymap())
        self._recording = recording
        self._save_theme = save_theme

    def compose(self) -> ComposeResult:
        """Build nothing: the traffic screen stands over it."""
        return ()

    def on_mount(self) -> None:
        """Show the recording."""
        self.push_screen(TrafficScreen(self._recording, self.overrides), lambda cause: self.exit(0))

    def arrange(self) -> None:
        """Arrange nothing: there are no regions."""

    def on_resize(self, event: events.Resize) -> None:
        """Leave it to the screen."""

    async def close(self) -> None:
        """Let go of nothing: whoever opened the recording closes it."""

    def action_app_quit(self) -> None:
        """Leave."""
        self.exit(0)

    def action_app_help(self) -> None:
        """Show every key."""
        from tui.ui.dialogs.help import HelpScreen

        if isinstance(self.screen, TrafficScreen):
            self.push_screen(HelpScreen(self.overrides, TrafficScreen.CONTEXTS))

    def action_app_theme(self) -> None:
        """Choose another theme, seen as it is chosen."""
        from tui.ui.dialogs.picker import ThemePicker

        if isinstance(self.screen, TrafficScreen):
            specs, _ = all_themes(themes_dir())
            self.push_screen(ThemePicker(specs, self.theme), self._theme_chosen)

    def _theme_chosen(self, name: str | None) -> None:
        if name is not None:
            self.run_worker(self._keep_theme(name), name="save the theme")

    async def _keep_theme(self, name: str) -> None:
        try:
            await asyncio.to_thread(self._save_theme, name)
        except McptuiError as error:
            self.notify(str(error), title="The theme is on, but was not saved", severity="warning")
