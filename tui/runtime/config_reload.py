"""Reloads the configuration while mcptui runs. Unchanged servers keep running, an unchanged model stays."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.core.errors import ConfigError, McptuiError
from tui.runtime.active_model import ActiveModel
from tui.settings.config_file import ConfigFile

if TYPE_CHECKING:
    from tui.settings.load import Loaded
    from tui.settings.problems import Problem
    from tui.settings.schema import UiSettings


@dataclass(frozen=True, slots=True)
class Reloaded:
    """A configuration that was read again. If it has `errors`, nothing is applied."""

    ui: "UiSettings"
    errors: Sequence[str] = ()
    notes: Sequence[str] = ()


class ConfigReload:
    """Reads and applies the configuration `file` again.

    `loaded` returns the current configuration, `follow` applies the servers of a new one, `take_over` its
    rules and limits.
    """

    def __init__(
        self,
        file: ConfigFile,
        loaded: "Callable[[], Loaded | None]",
        follow: "Callable[[Loaded], Awaitable[None]]",
        take_over: "Callable[[Loaded], None]",
        active_model: ActiveModel,
    ) -> None:
        self.file = file
        self._loaded = loaded
        self._follow = follow
        self._take_over = take_over
        self._active_model = active_model

    def located(self, problems: "Iterable[Problem]") -> list[str]:
        """Return problems as sentences, with the name of the file and the lines of their keys."""
        loaded = self._loaded()
        return [str(one if loaded is None else loaded.located(one)) for one in problems]

    async def reload(self) -> Reloaded:
        """Apply the current file, unless it has new errors."""
        loaded, before = await asyncio.to_thread(self.file.read), self._loaded()
        known = {(one.path, one.message) for one in (before.errors if before is not None else ())}
        if errors := [one for one in loaded.errors if (one.path, one.message) not in known]:
            return Reloaded(loaded.settings.ui, [str(one) for one in errors])
        notes = [str(one) for one in loaded.problems if one.warning]
        if before is not None and _recording_settings(loaded) != _recording_settings(before):
            notes.append("[traffic] takes effect after a restart.")
        self._take_over(loaded)  # rules first: a server may take seconds to stop
        await self._follow(loaded)
        try:
            await self._active_model.reload(loaded)
        except McptuiError as error:
            notes.append(str(error))
        return Reloaded(loaded.settings.ui, notes=notes)

    async def reload_or_raise(self) -> None:
        """Like `reload`, but raises ConfigError with the first error."""
        if errors := (await self.reload()).errors:
            raise ConfigError(errors[0])


def _recording_settings(loaded: "Loaded") -> object:
    """Return the settings of the current recording."""
    traffic = loaded.settings.traffic
    return (traffic.record, traffic.keep_all, traffic.recording_mb, traffic.total_mb)
