"""Other hosts, and the paths of their configuration files on Linux and macOS. Reads nothing."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

USER, PLATFORM, PROJECT = "~", "platform", "."
"""The directory that a path is relative to: home, the platform's configuration, or the project."""


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host's display name, and its files, each with the directory that its path is relative to."""

    title: str
    files: tuple[tuple[str, str], ...]


def _vscode(folder: str) -> tuple[tuple[str, str], ...]:
    settings = ((PLATFORM, f"{folder}/User/mcp.json"), (PLATFORM, f"{folder}/User/settings.json"))
    return (*settings, (PROJECT, ".vscode/mcp.json"))


def _extension(path: str) -> tuple[tuple[str, str], ...]:
    return tuple((PLATFORM, f"{folder}/User/globalStorage/{path}") for folder in ("Code", "Code - Insiders"))


_DESKTOP = ((PLATFORM, "Claude/claude_desktop_config.json"),)
_CODE = ((USER, ".claude.json"), (PROJECT, ".mcp.json"))

HOSTS: Mapping[str, KnownHost] = {
    "claude": KnownHost("Claude", (*_DESKTOP, *_CODE)),
    "claude-desktop": KnownHost("Claude Desktop", _DESKTOP),
    "claude-code": KnownHost("Claude Code", _CODE),
    "cursor": KnownHost("Cursor", ((USER, ".cursor/mcp.json"), (PROJECT, ".cursor/mcp.json"))),
    "vscode": KnownHost("VS Code", _vscode("Code")),
    "vscode-insiders": KnownHost("VS Code Insiders", _vscode("Code - Insiders")),
    "windsurf": KnownHost("Windsurf", ((USER, ".codeium/windsurf/mcp_config.json"),)),
    "cline": KnownHost(
        "Cline",
        (
            *_extension("saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            (USER, ".cline/data/settings/cline_mcp_settings.json"),
        ),
    ),
    "roo": KnownHost(
        "Roo Code",
        (*_extension("rooveterinaryinc.roo-cline/settings/mcp_settings.json"), (PROJECT, ".roo/mcp.json")),
    ),
    "zed": KnownHost("Zed", ((USER, ".config/zed/settings.json"), (PROJECT, ".zed/settings.json"))),
    "gemini": KnownHost("Gemini CLI", ((USER, ".gemini/settings.json"), (PROJECT, ".gemini/settings.json"))),
}


def files_of(host: KnownHost, project: Path, env: Mapping[str, str]) -> list[Path]:
    """Return the paths of a host's files, which need not exist."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        platform = home / "Library/Application Support"
    else:
        platform = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    roots = {USER: home, PLATFORM: platform, PROJECT: project}
    return list(dict.fromkeys(roots[root] / path for root, path in host.files))
