"""Named traffic filters: a small TOML file in the data directory."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui.settings.files import Unreadable, read_bounded

MAX_FILTERS = 500


def load_filters(path: Path) -> dict[str, str]:
    """Return the filters by name, none if the file is missing or unreadable."""
    try:
        found = tomllib.loads(read_bounded(path))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return _usable(found)


def change_filter(path: Path, name: str, text: str) -> dict[str, str]:
    """Save a filter, or remove it with "". Return all of them; raises `ConfigError`.

    Changes by other processes are kept. A damaged file is not overwritten.
    """
    from tui.settings.save import change_config

    found: dict[str, str] = {}

    def change(document: dict[str, Any]) -> None:
        document |= {name: text}
        if not text:
            del document[name]
        found.update(_usable(document))

    change_config(path, change, next_step="It was not changed. Correct it, or move it away.")
    return found


def _usable(found: Mapping[str, object]) -> dict[str, str]:
    good = {name: text for name, text in found.items() if isinstance(text, str) and text}
    return dict(list(good.items())[:MAX_FILTERS])
