"""Other hosts, and the paths of their configuration files on Linux, macOS and Windows. Reads no file."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui.core.errors import UsageError
from tui.core.text import capitalized, quoted_name
from tui.settings.locations import is_foreign
from tui.settings.problems import did_you_mean

MOST_FILES = 50
"""Maximum files of one pattern, such as those of the profiles of VS Code."""


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host's display name, and its files.

    A path begins with the directory that it is relative to: home (`~`), the platform's configuration (`+`),
    the configuration of XDG on every platform (`^`), the project (`.`), or the computer (`/`). It may have a
    `*`. `settings` are files without servers whose lists say which are used. `moved` is the variable that
    names another place of the folder that follows it.
    """

    title: str
    files: tuple[str, ...]
    settings: tuple[str, ...] = ()
    moved: tuple[str, str] = ("", "")


def _in(places: str, *files: str) -> tuple[str, ...]:
    """Return each file in each of the places, which are separated by commas."""
    return tuple(f"{place}/{file}" for place in places.split(",") for file in files)


def _vscode(folder: str) -> tuple[str, ...]:
    user = _in(f"+/{folder}/User", "mcp.json", "settings.json", "profiles/*/mcp.json")
    return (*user, "./.vscode/mcp.json", "./.vscode/settings.json", "./.devcontainer/devcontainer.json")


def _extension(path: str) -> tuple[str, ...]:
    return _in("+/Code,+/Code - Insiders,+/VSCodium,+/Cursor,+/Windsurf", f"User/globalStorage/{path}")


_HERE = "~,."
_DESKTOP = ("+/Claude/claude_desktop_config.json",)
_MANAGED = "/etc/claude-code,/Library/Application Support/ClaudeCode"
_CODE = ("~/.claude.json", "./.mcp.json", *_in(_MANAGED, "managed-mcp.json"))
_CODE_SETTINGS = (
    *("~/.claude/settings.json", *_in("./.claude", "settings.json", "settings.local.json")),
    *_in(_MANAGED, "managed-settings.json"),
)
_CODEX = (*_in(_HERE, ".codex/config.toml"), "~/.codex/*.config.toml")
_GEMINI = (*_in(_HERE, ".gemini/settings.json"), "~/.gemini/extensions/*/gemini-extension.json")
_OPENCODE = _in("^/opencode,.,./.opencode", "opencode.json", "opencode.jsonc")
_CONTINUE = (*_in("~/.continue,./.continue", "config.yaml", "mcpServers/*"), "~/.continue/config.json")
_COPILOT = ("~/.copilot/mcp-config.json", "^/mcp-config.json", "./.github/mcp.json")
_COPILOT_MOVED = ("COPILOT_HOME", "~/.copilot")
_AMAZON_Q = _in("~/.aws/amazonq,./.amazonq", "mcp.json", "default.json", "cli-agents/*.json")
_ANYTHING = ("+/anythingllm-desktop/storage/plugins/anythingllm_mcp_servers.json",)
_CLINE = _extension("saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
_ROO = _extension("rooveterinaryinc.roo-cline/settings/mcp_settings.json")
_KILO = _extension("kilocode.kilo-code/settings/mcp_settings.json")

HOSTS: Mapping[str, KnownHost] = {
    "claude": KnownHost("Claude", (*_DESKTOP, *_CODE), _CODE_SETTINGS),
    "claude-desktop": KnownHost("Claude Desktop", _DESKTOP),
    "claude-code": KnownHost("Claude Code", _CODE, _CODE_SETTINGS, ("CLAUDE_CONFIG_DIR", "~")),
    "cursor": KnownHost("Cursor", _in(_HERE, ".cursor/mcp.json")),
    "vscode": KnownHost("VS Code", _vscode("Code")),
    "vscode-insiders": KnownHost("VS Code Insiders", _vscode("Code - Insiders")),
    "vscodium": KnownHost("VSCodium", _vscode("VSCodium")),
    "windsurf": KnownHost("Windsurf", _in("~/.codeium", "windsurf/mcp_config.json", "mcp_config.json")),
    "cline": KnownHost("Cline", (*_CLINE, "~/.cline/data/settings/cline_mcp_settings.json")),
    "roo": KnownHost("Roo Code", (*_ROO, "./.roo/mcp.json")),
    "kilo": KnownHost("Kilo Code", (*_KILO, "./.kilocode/mcp.json")),
    "zed": KnownHost("Zed", ("^/zed/settings.json", "+/Zed/settings.json", "./.zed/settings.json")),
    "codex": KnownHost("Codex", _CODEX, moved=("CODEX_HOME", "~/.codex")),
    "gemini": KnownHost("Gemini CLI", _GEMINI),
    "antigravity": KnownHost("Antigravity", ("~/.gemini/antigravity/mcp_config.json",)),
    "qwen": KnownHost("Qwen Code", _in(_HERE, ".qwen/settings.json")),
    "opencode": KnownHost("opencode", _OPENCODE, moved=("OPENCODE_CONFIG_DIR", "^/opencode")),
    "goose": KnownHost("goose", ("^/goose/config.yaml", "+/Block/goose/config/config.yaml")),
    "continue": KnownHost("Continue", _CONTINUE),
    "amp": KnownHost("Amp", _in("^/amp,./.amp", "settings.json", "settings.jsonc")),
    "crush": KnownHost("Crush", ("^/crush/crush.json", "./crush.json", "./.crush.json")),
    "copilot": KnownHost("Copilot CLI", _COPILOT, ("~/.copilot/config.json",), _COPILOT_MOVED),
    "copilot-jetbrains": KnownHost("Copilot for JetBrains", ("^/github-copilot/intellij/mcp.json",)),
    "junie": KnownHost("Junie", _in(_HERE, ".junie/mcp/mcp.json")),
    "kiro": KnownHost("Kiro", _in("~/.kiro,./.kiro", "settings/mcp.json", "agents/*.json")),
    "amazon-q": KnownHost("Amazon Q", _AMAZON_Q),
    "lmstudio": KnownHost("LM Studio", ("~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json")),
    "warp": KnownHost("Warp", _in(_HERE, ".warp/.mcp.json")),
    "factory": KnownHost("Factory Droid", _in(_HERE, ".factory/mcp.json")),
    "augment": KnownHost("Augment", _in(_HERE, ".augment/settings.json")),
    "trae": KnownHost("Trae", ("+/Trae/User/mcp.json", "./.trae/mcp.json")),
    "visual-studio": KnownHost("Visual Studio", ("~/.mcp.json", "./.vs/mcp.json")),
    "witsy": KnownHost("Witsy", ("+/Witsy/settings.json",)),
    "anythingllm": KnownHost("AnythingLLM", _ANYTHING),
}

ALIASES = frozenset({"claude"})
"""Names of several hosts together, which are left out of lists of all hosts."""


def files_of(host: KnownHost, project: Path, env: Mapping[str, str], *, settings: bool = False) -> list[Path]:
    """Return the paths of a host's files, or of those of its `settings`, which need not exist."""
    home = Path(os.path.expanduser("~"))
    xdg = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    platform = {"darwin": home / "Library/Application Support", "win32": Path(env.get("APPDATA") or home)}
    roots = {"~": home, "+": platform.get(sys.platform, xdg), "^": xdg, ".": project, "/": Path("/")}
    variable, folder = host.moved
    found: dict[Path, None] = {}
    for name in host.settings if settings else host.files:
        root, rest = roots[name[0]], name[1:].lstrip("/")
        if (moved := env.get(variable)) and name.startswith(f"{folder}/"):
            root, rest = Path(os.path.expanduser(moved)), name[len(folder) + 1 :]
        if "*" in rest:
            paths = [path for path in sorted(root.glob(rest)) if is_foreign(path) or rest.endswith(".toml")]
            found |= dict.fromkeys(paths[:MOST_FILES])
        else:
            places = _up_to_repository(project) if name[0] == "." else [root]
            found[next((place / rest for place in places if (place / rest).exists()), root / rest)] = None
    return list(found)


def _up_to_repository(project: Path) -> list[Path]:
    """Return a folder and those above it up to the root of its repository, if it is in one."""
    above = [project, *project.parents]
    root = next((number for number, place in enumerate(above) if (place / ".git").exists()), 0)
    return above[: root + 1]


def host_of(named: str) -> KnownHost | None:
    """Return the host of this name, in any case."""
    return HOSTS.get(named.lower())


def named_files(named: str, project: Path, env: Mapping[str, str]) -> tuple[KnownHost | None, list[Path]]:
    """Return a host and the paths of its files, or the given file. Raises UsageError."""
    if host := host_of(named):
        return host, files_of(host, project, env)
    path = Path(os.path.expanduser(named))
    if os.sep not in named and not named.endswith(".json") and not path.exists():
        raise unknown_host(named, "For any other, give the path of its file.")
    return None, [path.absolute()]


def unknown_host(named: str, otherwise: str = "") -> UsageError:
    """Return the error for a host that is not in the table."""
    step = (capitalized(did_you_mean(named, HOSTS)), f"Known hosts: {', '.join(HOSTS)}.", otherwise)
    return UsageError(f"unknown host {quoted_name(named)}", next_step=" ".join(filter(None, step)))
