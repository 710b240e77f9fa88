"""Locations of mcptui's files: the platform's config, data and state directories, and shipped files.

Only computes paths; creates and reads nothing. hatchling's force-include puts `themes/` and `sample_config/`
into the wheel under `tui/_shipped/`. In an editable install they are next to the package.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tui

if TYPE_CHECKING:  # not needed for the first frame, which loads its theme from here
    from tui.core.servers import ServerSpec

APP = "mcptui"
CONFIG_VARIABLE = "MCPTUI_CONFIG"
_IN_PROJECTS = frozenset(
    ".vscode .cursor .windsurf .roo .claude .gemini .qwen .kiro .junie .amazonq .opencode .crush .zed .github"
    " .continue .trae .cline .kilocode .factory .augment .vs .idea".split()
)
"""Folders where other hosts keep project configurations, in them or in a folder below."""


_FOREIGN = frozenset({".json", ".jsonc", ".json5", ".code-workspace", ".yaml", ".yml"})


def is_foreign(path: Path) -> bool:
    """Return whether `path` is another host's file, by its suffix."""
    return path.suffix.lower() in _FOREIGN


def is_codex(tree: Mapping[str, Any], path: Path) -> bool:
    """Return whether a parsed TOML file is the configuration of Codex."""
    servers = tree.get("mcp_servers")
    if not isinstance(servers, Mapping) or "servers" in tree:
        return False
    has_server = any(isinstance(one, Mapping) and one.keys() & {"command", "url"} for one in servers.values())
    return has_server and path.absolute() != config_file().absolute()


def config_dir() -> Path:
    """Return the directory of `config.toml` and of the user's themes."""
    # Imported late: `--help` needs no directory.
    from platformdirs import user_config_path

    return user_config_path(APP, appauthor=False)


def config_file() -> Path:
    """Return the default configuration file."""
    return config_dir() / "config.toml"


def config_path(named: str | None, env: Mapping[str, str]) -> tuple[Path, bool]:
    """Return the file to read, and whether `--config` or the environment named it, so that it must exist."""
    if chosen := named or env.get(CONFIG_VARIABLE):
        return Path(os.path.expanduser(chosen)), True
    return config_file(), False


def themes_dir() -> Path:
    """Return the directory of the user's own themes."""
    return config_dir() / "themes"


def data_dir() -> Path:
    """Return the directory for data that must not be lost: sessions, the sample notes."""
    from platformdirs import user_data_path

    return user_data_path(APP, appauthor=False)


def bundles_dir() -> Path:
    """Return the directory of unpacked bundles, with a folder for each."""
    return data_dir() / "bundles"


def state_dir() -> Path:
    """Return the directory for disposable state: logs, history."""
    from platformdirs import user_state_path

    return user_state_path(APP, appauthor=False)


def base_folder(path: Path) -> Path:
    """Return the base of relative paths in a configuration file: the project of `.vscode/mcp.json`."""
    folder = path.absolute().parent
    if path.suffix == ".toml":
        return folder
    inside = next((place for place in (folder, folder.parent) if place.name in _IN_PROJECTS), None)
    return folder if inside is None else inside.parent


def project_of(path: Path) -> Path | None:
    """Return the project whose file of servers `path` is; None for another, such as the user's own."""
    folder = base_folder(path)
    is_of_project = path.name == ".mcp.json" or folder != path.absolute().parent
    return folder if is_of_project and folder != Path(os.path.expanduser("~")) else None


def secrets_dir() -> Path:
    """Return the directory of secrets of servers, with a file for each."""
    return state_dir() / "secrets"


def server_folder(name: str) -> Path:
    """Return the folder that the server `name` starts in if its configuration names none.

    File systems may not distinguish case or Unicode forms, so the folder of an unusual name gets a hash.
    """
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:40]
    if plain != name:
        import hashlib  # not needed for the first frame

        plain = f"{plain or 'server'}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return state_dir() / "servers" / plain


def decisions_file() -> Path:
    """Return the path of the record of decisions."""
    return state_dir() / "decisions.jsonl"


def shipped_dir(name: str) -> Path:
    """Return a directory that ships with mcptui, such as "themes"; raises `FileNotFoundError`."""
    package = Path(tui.__file__).parent
    for place in (package / "_shipped" / name, package.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"{name}: not found next to {package}. Reinstall mcptui")


_NOTES_FILE = "MCPTUI_NOTES_FILE"
_SAMPLES = ("weather", "notes", "slow")


def sample_server(name: str) -> Path:
    """Return the script of the sample server `name` ("weather", "notes", "slow")."""
    return shipped_dir("sample_config") / "servers" / f"{name}.py"


def is_sample(spec: "ServerSpec") -> bool:
    """Return whether a server is a shipped sample, by what it runs, not its name.

    It may only be told where its notes are.
    """
    if spec.command != sys.executable or len(spec.args) != 1 or spec.url or spec.env.keys() - {_NOTES_FILE}:
        return False
    try:
        return os.path.realpath(spec.args[0]) in (os.path.realpath(sample_server(one)) for one in _SAMPLES)
    except (OSError, ValueError):
        return False


def notes_settings() -> dict[str, str]:
    """Return the environment of the sample server "notes"."""
    return {_NOTES_FILE: str(data_dir() / "notes.json")}


def default_servers() -> "tuple[ServerSpec, ...]":
    """Return the servers without a configuration: the samples, run with mcptui's own Python."""
    from tui.core.servers import ServerSpec

    def sample(name: str, *, env: dict[str, str] | None = None, autostart: bool = True) -> ServerSpec:
        script = str(sample_server(name))
        folder = str(server_folder(name))
        return ServerSpec(name, sys.executable, (script,), env=env or {}, folder=folder, autostart=autostart)

    return (
        sample("weather"),
        sample("notes", env=notes_settings()),
        sample("slow", autostart=False),
    )
