"""Named filters of the traffic: a small TOML file of the person's, beside the other data."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tui.settings.files import Unreadable, read_bounded

MAX_FILTERS = 500


def load_filters(path: Path) -> dict[str, str]:
    """Return the filters by name; none if there is no such file or it cannot be read."""
    try:
        found = tomllib.loads(read_bounded(path))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    good = {name: text for name, text in found.items() if isinstance(text, str) and text}
    return dict(list(good.items())[:MAX_FILTERS])


def save_filters(path: Path, filters: Mapping[str, str]) -> None:
    """Keep the filters.

    Raises:
        ConfigError: they cannot be written.
    """
    import tomli_w

    from tui.settings.save import write_private

    write_private(path, tomli_w.dumps(dict(filters)))
