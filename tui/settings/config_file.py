"""The configuration file of this run: read as a whole, changed by functions over its values.

The settings for the first frame and for a tap are read quickly. `load` reports their problems a moment later.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.core.files import Stamp, stamp_of
from tui.core.language.translate import message
from tui.settings.files import Unreadable, read_bounded
from tui.settings.keymap import flat_keys
from tui.settings.locations import config_file, config_path
from tui.settings.references import expand
from tui.settings.themes import DEFAULT_THEME

if TYPE_CHECKING:
    from tui.settings.load import Loaded
    from tui.settings.save import Change

DEFAULT_MB = 512


class QuickUi(NamedTuple):
    """The usable part of `[ui]`. Actions and keys are not checked yet."""

    theme: str
    keys: Mapping[str, tuple[str, ...]]
    language: str = ""
    ambiguous_width: int | None = None


def quick_ui(named: str | None, env: Mapping[str, str], *, trust: bool = False) -> QuickUi:
    """Return `[ui]` of the configuration, with defaults for what cannot be read.

    A file that is not the user's own sets no keys without `trust`.
    """
    file = ConfigFile(named, env)
    table, counts = file.table("ui"), trust or not file.source
    theme, keys = table.get("theme"), table.get("keys") if counts else None
    language, width = table.get("language"), table.get("ambiguous_width")
    return QuickUi(
        expand(theme, env).text if isinstance(theme, str) else DEFAULT_THEME,
        {
            action: tuple(expand(key, env).text for key in keys_of if isinstance(key, str))
            for action, keys_of in flat_keys(keys).items()
        },
        language if isinstance(language, str) else "",
        width if width in (1, 2) else None,
    )


def quick_tap(env: Mapping[str, str], server: str) -> tuple[bool, int, list[str]]:
    """Return whether to keep all bodies, the bytes of a recording, and the secret arguments of a server.

    What cannot be read has its default.
    """
    file = ConfigFile(None, env)
    table, entry = file.table("traffic"), file.table("servers").get(server)
    size: Any = table.get("recording_mb", DEFAULT_MB)
    usable = type(size) is int and 1 <= size <= 1_000_000
    given: Any = entry.get("secret_arguments") if isinstance(entry, dict) else None
    secret = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]
    return table.get("keep_all") is True, (size if usable else DEFAULT_MB) * 1024 * 1024, secret


class ConfigFile:
    """The file that `--config` or the environment names, or the default one.

    With `trust`, all settings apply, even if the file is not the user's own.
    """

    def __init__(self, named: str | None, env: Mapping[str, str], *, trust: bool = False) -> None:
        self.path, self._is_named = config_path(named, env)
        self._env = env
        self._trust = trust

    def read(self) -> "Loaded":
        """Return its applicable settings, and all problems. Slow."""
        from tui.settings.load import load

        loaded = replace(load(self.path, self._env, required=self._is_named), source=self.source)
        if self._trust or not loaded.source:
            return loaded
        from tui.settings.foreign_settings import applicable_settings

        return applicable_settings(loaded)

    def stamp(self) -> Stamp:
        """Return a value that changes when the file changes. Takes microseconds."""
        return stamp_of(self.path)

    @property
    def source(self) -> str:
        """Description of the file if it is not the user's own, otherwise ""."""
        place = os.path.realpath(self.path)
        return "" if place == os.path.realpath(config_file()) else message("the file {path}", path=place)

    def begin(self) -> bool:
        """Write the starter file if there is no file; return whether it was written. Raises McptuiError."""
        from tui.settings.files import locked
        from tui.settings.save import save_file, starter

        with locked(self.path):
            if os.path.lexists(self.path):
                return False
            save_file(self.path, starter())
        return True

    def change(self, change: "Change") -> None:
        """Change its values and keep the rest of the file; raises `McptuiError`. Slow."""
        from tui.settings.save import change_config

        change_config(self.path, change)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table as the file has it now, such as `servers`, {} if it cannot be read."""
        import tomllib

        try:
            found: Any = tomllib.loads(read_bounded(self.path)).get(name)
        except (OSError, Unreadable, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
