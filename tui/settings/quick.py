"""Reads from the configuration what the first frame needs, before anything heavy is imported.

Says nothing about what is wrong: `load` does, a moment later.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tui.settings.expand import expand
from tui.settings.files import Unreadable, read_bounded
from tui.settings.keymap import flat_keys
from tui.settings.locations import config_path
from tui.settings.themes import DEFAULT_THEME

DEFAULT_MB = 512


class QuickTraffic(NamedTuple):
    """The `[traffic]` table as far as a tap needs it and it can be used."""

    keep_all: bool
    recording_bytes: int


class QuickUi(NamedTuple):
    """The `[ui]` table as far as it can be used; actions and keys are not checked yet."""

    theme: str
    keys: Mapping[str, tuple[str, ...]]


def quick_ui(named: str | None, env: Mapping[str, str]) -> QuickUi:
    """Return theme and keys of the configuration, the defaults for whatever cannot be read.

    Args:
        named: the value of `--config`, or None.
        env: the environment, for `MCPTUI_CONFIG` and references.
    """
    table = _table(named, env, "ui")
    theme, keys = table.get("theme"), table.get("keys")
    return QuickUi(
        expand(theme, env).text if isinstance(theme, str) else DEFAULT_THEME,
        {
            action: tuple(expand(key, env).text for key in keys_of if isinstance(key, str))
            for action, keys_of in flat_keys(keys).items()
        },
    )


def quick_traffic(env: Mapping[str, str]) -> QuickTraffic:
    """Return what the configuration says of recordings, the defaults for whatever cannot be read."""
    table = _table(None, env, "traffic")
    size: Any = table.get("recording_mb", DEFAULT_MB)
    usable = type(size) is int and 1 <= size <= 1_000_000
    return QuickTraffic(table.get("keep_all") is True, (size if usable else DEFAULT_MB) * 1024 * 1024)


def _table(named: str | None, env: Mapping[str, str], name: str) -> Mapping[str, Any]:
    import tomllib

    path, _ = config_path(named, env)
    try:
        found: Any = tomllib.loads(read_bounded(path)).get(name)
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
