"""Named traffic filters: a small TOML file in the data directory."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tui.core.errors import ConfigError
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
    import tomli_w

    from tui.settings.files import locked
    from tui.settings.save import write_private

    with locked(path):
        try:
            found = tomllib.loads(read_bounded(path))
        except FileNotFoundError:
            found = {}
        except (Unreadable, ValueError, RecursionError) as error:
            why = f"{error}." if isinstance(error, Unreadable) else "is not TOML."
            step = "It was not changed. Correct it, or move it away."
            raise ConfigError(why, where=str(path), next_step=step) from error
        after = {key: value for key, value in found.items() if key != name}
        if text:
            after[name] = text
        if after != found:
            write_private(path, tomli_w.dumps(after))
    return _usable(after)


def _usable(found: Mapping[str, object]) -> dict[str, str]:
    good = {name: text for name, text in found.items() if isinstance(text, str) and text}
    return dict(list(good.items())[:MAX_FILTERS])
