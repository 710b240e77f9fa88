"""Other hosts, and the paths of their configuration files on Linux and macOS. Reads no file."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui.core.errors import UsageError
from tui.core.text import capitalized, quoted_name
from tui.settings.problems import did_you_mean


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host's display name, and its files.

    A path begins with the directory that it is relative to: home (`~`), the platform's configuration (`+`),
    or the project (`.`).
    """

    title: str
    files: tuple[str, ...]


def _vscode(folder: str) -> tuple[str, ...]:
    return (f"+/{folder}/User/mcp.json", f"+/{folder}/User/settings.json", "./.vscode/mcp.json")


def _extension(path: str) -> tuple[str, ...]:
    return tuple(f"+/{folder}/User/globalStorage/{path}" for folder in ("Code", "Code - Insiders"))


_DESKTOP = ("+/Claude/claude_desktop_config.json",)
_CODE = ("~/.claude.json", "./.mcp.json")
_CLINE = _extension("saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
_ROO = _extension("rooveterinaryinc.roo-cline/settings/mcp_settings.json")

HOSTS: Mapping[str, KnownHost] = {
    "claude": KnownHost("Claude", (*_DESKTOP, *_CODE)),
    "claude-desktop": KnownHost("Claude Desktop", _DESKTOP),
    "claude-code": KnownHost("Claude Code", _CODE),
    "cursor": KnownHost("Cursor", ("~/.cursor/mcp.json", "./.cursor/mcp.json")),
    "vscode": KnownHost("VS Code", _vscode("Code")),
    "vscode-insiders": KnownHost("VS Code Insiders", _vscode("Code - Insiders")),
    "windsurf": KnownHost("Windsurf", ("~/.codeium/windsurf/mcp_config.json",)),
    "cline": KnownHost("Cline", (*_CLINE, "~/.cline/data/settings/cline_mcp_settings.json")),
    "roo": KnownHost("Roo Code", (*_ROO, "./.roo/mcp.json")),
    "zed": KnownHost("Zed", ("~/.config/zed/settings.json", "./.zed/settings.json")),
    "gemini": KnownHost("Gemini CLI", ("~/.gemini/settings.json", "./.gemini/settings.json")),
}


def files_of(host: KnownHost, project: Path, env: Mapping[str, str]) -> list[Path]:
    """Return the paths of a host's files, which need not exist."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        platform = home / "Library/Application Support"
    else:
        platform = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    roots = {"~": home, "+": platform, ".": project}
    return list(dict.fromkeys(roots[path[0]] / path[2:] for path in host.files))


def named_files(named: str, project: Path, env: Mapping[str, str]) -> tuple[KnownHost | None, list[Path]]:
    """Return a host and the paths of its files, or the given file. Raises UsageError."""
    if host := HOSTS.get(named.lower()):
        return host, files_of(host, project, env)
    path = Path(os.path.expanduser(named))
    if os.sep not in named and not named.endswith(".json") and not path.exists():
        known = f"Known hosts: {', '.join(HOSTS)}. For any other, give the path of its file."
        raise UsageError(
            f"unknown host {quoted_name(named)}",
            next_step=" ".join(filter(None, (capitalized(did_you_mean(named, HOSTS)), known))),
        )
    return None, [path.absolute()]
