"""Where mcptui keeps things: the platform's directories for configuration, data and state.

Only names of places are worked out here; nothing is created or read.
"""

from collections.abc import Mapping
from pathlib import Path

APP = "mcptui"
CONFIG_VARIABLE = "MCPTUI_CONFIG"


def config_dir() -> Path:
    """Return the directory of `config.toml` and of the user's themes."""
    # Imported when asked: the first frame of `--help` needs no directory.
    from platformdirs import user_config_path

    return user_config_path(APP, appauthor=False)


def config_file() -> Path:
    """Return the configuration file that is read when nothing else is named."""
    return config_dir() / "config.toml"


def config_path(named: str | None, env: Mapping[str, str]) -> tuple[Path, bool]:
    """Return the file to read, and whether someone named it, so that it has to be there.

    Args:
        named: the value of `--config`, or None.
        env: the environment; `MCPTUI_CONFIG` names a file if `--config` does not.
    """
    if chosen := named or env.get(CONFIG_VARIABLE):
        return Path(chosen).expanduser(), True
    return config_file(), False


def themes_dir() -> Path:
    """Return the directory of the user's own themes."""
    return config_dir() / "themes"


def data_dir() -> Path:
    """Return the directory for what must not be lost: sessions, the sample notes."""
    from platformdirs import user_data_path

    return user_data_path(APP, appauthor=False)


def state_dir() -> Path:
    """Return the directory for what may be lost: logs, history."""
    from platformdirs import user_state_path

    return user_state_path(APP, appauthor=False)


def learned_file() -> Path:
    """Return the file of what endpoints have taught about what they refuse."""
    return state_dir() / "learned.json"
