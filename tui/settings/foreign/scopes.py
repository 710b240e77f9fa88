"""Finds the servers in another host's file: in which tables they are, and which of them are switched off.

Most hosts have one table of servers. Claude Code also has one for each project, others have profiles. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from tui.core.text import object_in, text_in
from tui.settings.key_positions import KeyPath

ROOTS: tuple[KeyPath, ...] = (
    ("mcpServers",),
    ("servers",),
    ("context_servers",),
    ("mcp_servers",),
    ("mcp", "servers"),
    ("mcp", "mcpServers"),
    ("amp.mcpServers",),
    ("amp", "mcpServers"),
    ("mcp.servers",),
    ("mcp",),
)
"""The tables of servers at the top of a file. The last one only counts if there is no other (opencode)."""

_INNER = frozenset({"mcpServers", "mcp_servers", "context_servers", "modelContextProtocolServers"})
"""Tables of servers anywhere below, such as in a profile."""

_SERVER_KEYS = ("command", "url", "httpUrl", "serverUrl", "serverURL", "cmd", "baseUrl", "uri", "transport")
_DISABLED = (
    ("mcp", "excluded"),
    ("mcp", "disabled"),
    ("mcp", "disabledMcpServers"),
    ("excludeMCPServers",),
    ("disabledMcpServers",),
    ("disabled_mcp_servers",),
    ("disabledServers",),
    ("deniedMcpServers",),
)
_ALLOWED = (("mcp", "allowed"), ("allowMCPServers",), ("allowedMcpServers",))
MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Found:
    """A server of another host's file. `path` are the keys of its entry.

    It belongs to the folder `project`, and starts there (Claude Code). `place` says in words where it is if
    not in the file's main table, `off` why the rest of the file disables it; each may be "". `tools_off` are
    its tools that a setting elsewhere disables (opencode).
    """

    name: str
    path: KeyPath
    entry: Any
    project: str = ""
    place: str = ""
    off: str = ""
    tools_off: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The suffix of its name if another server has it."""
        return PurePath(self.project).name or self.place.rpartition(".")[2]


def servers_of(tree: Any) -> list[Found] | None:
    """Return all servers of a file, those of its main tables first; None if it has no table of servers."""
    if not isinstance(tree, Mapping):
        return None
    found: list[Found] = []
    is_table = False
    for root in ROOTS:
        value = _at(tree, root)
        if root == ("mcp",):  # of servers (opencode, Crush), not of settings (Gemini CLI)
            values = value.values() if isinstance(value, Mapping) else [None]
            if found or is_table or (values and not any(isinstance(one, Mapping) for one in values)):
                continue
        if isinstance(value, Mapping | list):
            is_table = True
            found += _entries(value, root)
    for path, project, value in _inner(tree, ()):
        inner = [one for one in _entries(value, path) if _is_server(one.entry)]
        is_table = is_table or bool(inner)
        place = "" if project else ".".join(map(str, path[:-1]))
        off = _names(_at(tree, (*path[:2], "disabledMcpServers"))) if project else frozenset()
        found += [
            replace(
                one,
                project=project,
                place=place,
                off="`disabledMcpServers` lists it" if one.name.casefold() in off else "",
            )
            for one in inner
        ]
    if not is_table:
        found = _bare(tree)
    return _switched(found, tree) if is_table or found else None


def _at(tree: Any, path: KeyPath) -> Any:
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def _is_server(entry: Any) -> bool:
    return isinstance(entry, Mapping) and any(entry.get(key) for key in _SERVER_KEYS)


def _entries(value: Any, root: KeyPath) -> list[Found]:
    if isinstance(value, Mapping):
        is_mcp = root == ("mcp",)
        return [
            Found(str(name), (*root, name), entry)
            for name, entry in value.items()
            if not is_mcp or isinstance(entry, Mapping)
        ]
    found = []
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        inner = entry if isinstance(entry, Mapping) else {}
        name = next((inner[key] for key in ("name", "id", "label", "title", "uuid") if inner.get(key)), "")
        found.append(Found(str(name) or f"server-{number + 1}", (*root, number), entry))
    return found


def _inner(tree: Any, path: KeyPath, project: str = "") -> Iterator[tuple[KeyPath, str, Any]]:
    if len(path) > MAX_DEPTH or not isinstance(tree, Mapping):
        return
    for key, value in tree.items():
        here = (*path, key)
        if here in ROOTS or any(here == root[: len(here)] for root in ROOTS):
            continue
        if key in _INNER and isinstance(value, Mapping | list):
            yield here, project, value
        elif key == "mcp" and isinstance(
            servers := _at(value, ("servers",)), Mapping
        ):  # VS Code, in others' files
            yield (*here, "servers"), project, servers
        elif isinstance(value, Mapping):
            yield from _inner(value, here, str(key) if path == ("projects",) else project)


def _bare(tree: Mapping[str, Any]) -> list[Found]:
    """Return the servers of a file that is one server, or a table of nothing else (Warp, plugins)."""
    if _is_server(tree):
        return [Found(text_in(tree, "name") or "server", (), tree)]
    entries = {name: one for name, one in tree.items() if not str(name).startswith("$")}
    if entries and all(_is_server(one) for one in entries.values()):
        return [Found(str(name), (name,), one) for name, one in entries.items()]
    return []


def _names(value: Any) -> frozenset[str]:
    listed = value if isinstance(value, list) else []
    names = [one.get("serverName") if isinstance(one, Mapping) else one for one in listed]
    return frozenset(name.strip().casefold() for name in names if isinstance(name, str))


def _switched(found: list[Found], tree: Mapping[str, Any]) -> list[Found]:
    """Return servers with what the file says elsewhere that disables them, or some of their tools."""
    disabled = {".".join(path): _names(_at(tree, path)) for path in _DISABLED}
    allowed = {".".join(path): _names(_at(tree, path)) for path in _ALLOWED}
    tools_off = [name for name, on in object_in(tree, "tools").items() if on is False]

    def applied(one: Found) -> Found:
        if one.project:
            return one
        name = one.name.strip().casefold()
        off = [f"`{place}` lists it" for place, names in disabled.items() if name in names]
        off += [
            f"`{place}` does not list it" for place, names in allowed.items() if names and name not in names
        ]
        patterns = tools_off if one.path[:1] == ("mcp",) else []
        found = tuple(filter(None, (_tool_of(one.name, pattern) for pattern in patterns)))
        return replace(one, off=off[0] if off else "", tools_off=found)

    return [applied(one) for one in found]


def _tool_of(server: str, pattern: Any) -> str:
    """Return the pattern of a server's tools in a pattern of names like `SERVER_TOOL`, or ""."""
    prefix = re.sub(r"[^A-Za-z0-9_-]", "_", server) + "_"
    text = pattern if isinstance(pattern, str) else ""
    if text.startswith(prefix):
        return text.removeprefix(prefix)
    return "*" if text.endswith("*") and prefix.startswith(text[:-1]) else ""
