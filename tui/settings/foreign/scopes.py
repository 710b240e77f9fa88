"""Finds the servers in another host's file: in which tables they are, and which of them are switched off.

Most hosts have one table of servers. Claude Code also has one for each project, others have profiles. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from tui.core.text import list_in, mapping, object_in, text_in
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
    ("extensions",),
)
"""The tables of servers at the top of a file. The last two count if there is no other (opencode, goose)."""

_INNER = frozenset({"mcpServers", "mcp_servers", "context_servers", "modelContextProtocolServers"})
"""Tables of servers anywhere below, such as in a profile."""

_NAMES = ("name", "id", "label", "title", "uuid", "uses")
_SERVER_KEYS = ("command", "url", "httpUrl", "serverUrl", "serverURL", "cmd", "baseUrl", "uri", "transport")
_EXTENSION_KINDS = frozenset("stdio sse streamable_http builtin platform frontend inline_python".split())
_DISABLED = (
    ("mcp", "excluded"),
    ("mcp", "disabled"),
    ("mcp", "disabledMcpServers"),
    ("excludeMCPServers",),
    ("disabledMcpServers",),
    ("disabled_mcp_servers",),
    ("disabledServers",),
    ("deniedMcpServers",),
    ("disabledMcpjsonServers",),
)
_ALLOWED = (("mcp", "allowed"), ("allowMCPServers",), ("allowedMcpServers",))
_DENIED = (("permissions", "deny"), ("amp.tools.disable",))
"""Lists of tools with names such as `mcp__SERVER__TOOL` (Claude Code, Amp)."""

_POLICIES = ("deniedMcpServers", "allowedMcpServers")
"""Lists that count for servers of projects too, which have lists of their own otherwise."""

_OFF = {"chat.mcp.access": "none", "chat.mcp.enabled": False}
"""Settings of VS Code that turn off all servers."""
MAX_DEPTH = 6
MAX_STARS = 8
"""Maximum wildcards of a pattern. One with more matches nothing."""


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


def servers_of(tree: Any, others: Sequence[Any] = ()) -> list[Found] | None:
    """Return all servers of a file, those of its main tables first; None if it has no table of servers.

    `others` are other files of the host, or parts of them, whose lists disable servers too.
    """
    if not isinstance(tree, Mapping):
        return None
    found: list[Found] = []
    is_table = False
    for root in ROOTS:
        value = _at(tree, root)
        if root == ("extensions",) and (found or is_table or not _is_goose(value)):
            continue
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
        off = _Listed.of(tree if project else None, (*path[:2], "disabledMcpServers"))
        found += [
            replace(
                one,
                project=project,
                place=place,
                off="`disabledMcpServers` lists it" if off.has(one) else "",
            )
            for one in inner
        ]
    if not is_table:
        found = _bare(tree)
    return _switched(found, (tree, *others)) if is_table or found else None


def _is_goose(value: Any) -> bool:
    entries = list(value.values()) if isinstance(value, Mapping) else value
    inner = [object_in(one, "config") or one for one in list_of(entries) if isinstance(one, Mapping)]
    return any(text_in(one, "type") in _EXTENSION_KINDS for one in inner)


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
        name = next((inner[key] for key in _NAMES if inner.get(key)), "")
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


@dataclass(frozen=True, slots=True)
class _Listed:
    """A list of servers: their names, and objects that mean some by name, command line or URL (Claude)."""

    place: str
    names: frozenset[str]
    objects: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, tree: Any, path: KeyPath) -> "_Listed":
        items = list_of(_at(tree, path))
        names = frozenset(one.strip().casefold() for one in items if isinstance(one, str))
        return cls(".".join(map(str, path)), names, [one for one in items if isinstance(one, Mapping)])

    def has(self, one: Found) -> bool:
        name = one.name.strip().casefold()
        return name in self.names or any(_means(item, one, name) for item in self.objects)

    def allows(self, one: Found) -> bool:
        """Return whether it has a server; a name is not enough if it has commands or URLs."""
        key = "serverCommand" if mapping(one.entry).get("command") else "serverUrl"
        strict = [item for item in self.objects if key in item]
        return any(_means(item, one, "") for item in strict) if strict else self.has(one)


def _means(item: Mapping[str, Any], one: Found, name: str) -> bool:
    if isinstance(command := item.get("serverCommand"), list):
        return bool(command == [mapping(one.entry).get("command"), *list_in(mapping(one.entry), "args")])
    if isinstance(url := item.get("serverUrl"), str):
        return _is_like(text_in(mapping(one.entry), "url"), url)
    return bool(name) and text_in(item, "serverName").strip().casefold() == name


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern in which `*` is any text."""
    if pattern.count("*") > MAX_STARS:
        return False
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text[:4096], re.DOTALL) is not None


def _is_rejected(one: Found, rules: Sequence[Any]) -> bool:
    """Return whether the first rule of Amp that matches a server rejects it."""
    entry = mapping(one.entry)
    command, words = text_in(entry, "command"), " ".join(map(str, list_in(entry, "args")))
    texts = {"command": (command, f"{command} {words}"), "args": (words,), "url": (text_in(entry, "url"),)}
    for rule in rules:
        wanted = object_in(mapping(rule), "matches")
        if wanted and all(
            any(text and _is_like(text, str(pattern)) for text in texts.get(key, ()))
            for key, pattern in wanted.items()
        ):
            return mapping(rule).get("action") == "reject"
    return False


def _switched(found: list[Found], trees: Sequence[Any]) -> list[Found]:
    """Return servers with what their host says elsewhere that disables them, or some of their tools."""
    disabled = [_Listed.of(tree, path) for tree in trees for path in _DISABLED]
    # An empty list allows none (Claude Code), or says nothing (Gemini CLI).
    allowed = [
        _Listed.of(tree, path)
        for tree in trees
        for path in _ALLOWED
        if isinstance(items := _at(tree, path), list) and (items or path == ("allowedMcpServers",))
    ]
    everything = [
        f"`{key}` is {str(value).lower()}"
        for tree in trees
        for key, value in _OFF.items()
        if isinstance(tree, Mapping) and key in tree and tree[key] == value
    ]
    permissions = [list_of(_at(tree, ("amp.mcpPermissions",))) for tree in trees]
    tools_off = [name for name, on in object_in(trees[0], "tools").items() if on is False]
    rules = object_in(trees[0], "permission")  # of opencode, which replace `tools`
    tools_off += [name for name, rule in rules.items() if rule == "deny" and name != "*"]
    denied = [name for tree in trees for path in _DENIED for name in list_of(_at(tree, path))]
    denied = [name for name in denied if isinstance(name, str) and name.startswith("mcp__")]
    of_zed = object_in(object_in(object_in(trees[0], "agent"), "tool_permissions"), "tools")
    denied += [
        f"mcp__{_plain(names[1])}__{names[2]}"  # of mcp:SERVER:TOOL
        for key, rule in of_zed.items()
        if mapping(rule).get("default") == "deny"
        and (names := str(key).split(":", 2))[0] == "mcp"
        and names[2:]
    ]

    def applied(one: Found) -> Found:
        lists = [named for named in disabled if not one.project or named.place in _POLICIES]
        off = [one.off, *(f"`{named.place}` lists it" for named in lists if named.has(one))]
        off += [f"`{named.place}` does not list it" for named in allowed if not named.allows(one)]
        off += everything
        off += ["`amp.mcpPermissions` rejects it" for rules in permissions if _is_rejected(one, rules)]
        patterns = [*(tools_off if one.path[:1] == ("mcp",) else ()), *denied]
        found = tuple(filter(None, (_tool_of(one.name, pattern) for pattern in patterns)))
        return replace(one, off=next(filter(None, off), ""), tools_off=found)

    return [applied(one) for one in found]


def list_of(value: Any) -> list[Any]:
    """Return a list, [] for anything else."""
    return value if isinstance(value, list) else []


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _tool_of(server: str, pattern: Any) -> str:
    """Return the pattern of a server's tools in `SERVER_TOOL` or `mcp__SERVER__TOOL`, or ""."""
    plain = _plain(server)
    text = pattern if isinstance(pattern, str) else ""
    if text.startswith("mcp__"):
        name, _, tool = text.removeprefix("mcp__").partition("__")
        return (tool or "*") if name == plain else ""
    if text.startswith(f"{plain}_"):
        return text.removeprefix(f"{plain}_")
    return "*" if text.endswith("*") and f"{plain}_".startswith(text[:-1]) else ""
