"""How other hosts write a server that they start: the file, its table, and the shape of an entry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tui.core.text import mapping
from tui.settings.foreign.hosts import HOSTS, KnownHost
from tui.settings.foreign.scopes import ROOTS

NAME = "mcptui"
SECONDS = 330
"""How long a host should wait for a tool: as long as a user may take to answer, and the call itself."""

Shape = Callable[[Sequence[str]], dict[str, Any]]


def _plain(words: Sequence[str]) -> dict[str, Any]:
    return {"command": words[0], "args": list(words[1:])}


@dataclass(frozen=True, slots=True)
class HostEntry:
    """A host, the keys of its table of servers, and how an entry is made of a command line."""

    host: KnownHost
    table: tuple[str, ...] = ("mcpServers",)
    entry: Shape = _plain

    @property
    def title(self) -> str:
        return self.host.title


ENTRIES: Mapping[str, HostEntry] = {
    "claude-code": HostEntry(HOSTS["claude-code"], entry=lambda words: {"type": "stdio", **_plain(words)}),
    "claude-desktop": HostEntry(HOSTS["claude-desktop"]),
    "cursor": HostEntry(HOSTS["cursor"]),
    "vscode": HostEntry(HOSTS["vscode"], ("servers",), lambda words: {"type": "stdio", **_plain(words)}),
    "vscode-insiders": HostEntry(
        HOSTS["vscode-insiders"], ("servers",), lambda words: {"type": "stdio", **_plain(words)}
    ),
    "codex": HostEntry(
        HOSTS["codex"],
        ("mcp_servers",),
        lambda words: {**_plain(words), "tool_timeout_sec": SECONDS},
    ),
    "gemini": HostEntry(HOSTS["gemini"]),
    "windsurf": HostEntry(HOSTS["windsurf"]),
    "zed": HostEntry(
        HOSTS["zed"], ("context_servers",), lambda words: {"source": "custom", **_plain(words), "env": {}}
    ),
    "cline": HostEntry(HOSTS["cline"], entry=lambda words: {**_plain(words), "timeout": SECONDS}),
    "roo": HostEntry(HOSTS["roo"], entry=lambda words: {**_plain(words), "timeout": SECONDS}),
    "opencode": HostEntry(
        HOSTS["opencode"],
        ("mcp",),
        lambda words: {"type": "local", "command": list(words), "enabled": True},
    ),
    "amp": HostEntry(HOSTS["amp"], ("amp.mcpServers",)),
    "copilot": HostEntry(
        HOSTS["copilot"],
        entry=lambda words: {"type": "local", **_plain(words), "tools": ["*"]},
    ),
    "qwen": HostEntry(HOSTS["qwen"]),
}
"""By the name for `--install`. The first file of a host is the user's own; a later one is used if only that
exists."""


def entry_for(path: Path, tree: Mapping[str, Any]) -> HostEntry:
    """Return how a file that is given by its path has servers: as it has them now, or as most do."""
    host = KnownHost("file", (str(path),))
    if path.suffix == ".toml":
        return HostEntry(host, ("mcp_servers",))
    for root in ROOTS:
        value: Any = tree
        for key in root:
            value = mapping(value).get(str(key))
        if isinstance(value, Mapping) and root != ("mcp",):
            return HostEntry(host, tuple(map(str, root)))
    return HostEntry(host, ("servers",) if path.parent.name == ".vscode" else ("mcpServers",))
