"""Tells other hosts' files from ours, by suffix and content. Reads nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui.settings.locations import config_file

_SUFFIXES = frozenset({".json", ".jsonc", ".json5", ".code-workspace", ".yaml", ".yml"})


def is_foreign(path: Path) -> bool:
    """Return whether `path` is another host's file, by its suffix."""
    return path.suffix.lower() in _SUFFIXES


def is_codex(tree: Mapping[str, Any], path: Path) -> bool:
    """Return whether a parsed TOML file is the configuration of Codex."""
    servers = tree.get("mcp_servers")
    if not isinstance(servers, Mapping) or "servers" in tree:
        return False
    has_server = any(isinstance(one, Mapping) and one.keys() & {"command", "url"} for one in servers.values())
    return has_server and path.absolute() != config_file().absolute()
