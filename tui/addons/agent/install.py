"""`mcptui agent --install` and `--uninstall`: add mcptui to another host's servers, and remove it."""

import argparse
import json
import os
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.commands.config.host_files import (
    agreed,
    backup_of,
    change_file,
    launcher,
    launcher_note,
    parsed,
    read_text,
    shown,
)
from tui.core.errors import ConfigError, UsageError, reason_of
from tui.core.text import clean_line, mapping, quoted_name
from tui.settings.foreign.edits import HostFile
from tui.settings.foreign.hosts import HOSTS, files_of
from tui.settings.foreign.scopes import ROOTS
from tui.settings.problems import hinted
from tui.settings.save import edited

NAME = "mcptui"
SECONDS = 330
"""How long a host should wait for a tool: as long as a user may take to answer, and the call itself."""

_STDIO, _WAITS = {"type": "stdio"}, {"timeout": SECONDS}

ENTRIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "claude-code": ("mcpServers", _STDIO),
    "claude-desktop": ("mcpServers", {}),
    "cursor": ("mcpServers", {}),
    "vscode": ("servers", _STDIO),
    "vscode-insiders": ("servers", _STDIO),
    "codex": ("mcp_servers", {"tool_timeout_sec": SECONDS}),
    "gemini": ("mcpServers", {}),
    "windsurf": ("mcpServers", {}),
    "zed": ("context_servers", {"source": "custom", "env": {}}),
    "cline": ("mcpServers", _WAITS),
    "roo": ("mcpServers", _WAITS),
    "opencode": ("mcp", {"type": "local", "enabled": True}),
    "amp": ("amp.mcpServers", {}),
    "copilot": ("mcpServers", {"type": "local", "tools": ["*"]}),
    "qwen": ("mcpServers", {}),
}
"""The key of the table of servers, and what an entry has beside its command line, by name of the host."""


def entry_of(host: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the entry of a command line. A `host` that is not known is a file."""
    if host == "opencode":
        return {**ENTRIES[host][1], "command": list(words)}
    return {**ENTRIES.get(host, ("", {}))[1], "command": words[0], "args": list(words[1:])}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the entry of mcptui is in a host's file, whose text is "" if it does not exist."""

    title: str
    path: Path
    text: str
    table: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.table, NAME)

    @property
    def tree(self) -> Mapping[str, Any]:
        """What the file has. Raises ConfigError."""
        if self.path.suffix == ".toml":
            try:
                return tomllib.loads(self.text)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"is not TOML: {reason_of(error)}.", where=shown(self.path)) from error
        if not isinstance(tree := self.file.tree, Mapping):
            raise ConfigError("is not a JSON object.", where=shown(self.path))
        return tree

    @property
    def file(self) -> HostFile:
        return parsed(self.text if self.text.strip() else "{}\n", self.path)

    def at(self, keys: Sequence[str]) -> Any:
        """Return the value at `keys`, None if there is none."""
        value: Any = self.tree
        for key in keys:
            value = mapping(value).get(key)
        return value


def install(args: argparse.Namespace) -> int:
    """Add mcptui to a host, or remove it, after a preview. Returns the exit code."""
    adds = args.install is not None
    named = args.install if adds else args.uninstall
    place = _place(named)
    config: str | None = vars(args).get("config")
    start = [*launcher(), "agent", *(["--config", os.path.abspath(config)] if config else [])]
    wanted, present = entry_of(named.lower(), start), place.at(place.keys)
    undo = f"mcptui agent --uninstall {shlex.quote(clean_line(named, 400))}"
    where, title = f"{shown(place.path)} ({place.title})", place.title
    if adds and present is not None:
        if present == wanted:
            print(f"{NAME} is already a server of {title}: {shown(place.path)}")
            return 0
        raise UsageError(
            f"{title} has another server named {NAME} in {shown(place.path)}.",
            next_step=f"Remove it first: {undo}",
        )
    if not adds and present is None:
        print(f"{NAME} is not a server of {where}")
        return 0
    backup = backup_of(place.path, *place.keys)

    def change(text: str) -> str:
        now = replace(place, text=text)
        return _added(now, wanted) if adds else _removed(now, backup)

    after = change(place.text)
    print(f"{where}{'' if place.path.exists() else ', a new file'}")
    if os.path.realpath(place.path) != str(place.path):
        print(f"a symbolic link to {shown(Path(os.path.realpath(place.path)))}")
    value = json.dumps(wanted if adds else present, ensure_ascii=False)
    print(f"{'+' if adds else '-'} {'.'.join(place.keys)}: {clean_line(value, 2_000)}")
    print("nothing else changes" if after else "the file is then empty, and deleted")
    if adds and (note := launcher_note(start)):
        print(f"note: {note}")
    if not agreed(args, place.path):
        return 0
    change_file(place.path, change, backup, create=adds)
    print(f"{'wrote' if after else 'deleted'} {shown(place.path)}")
    if place.text:
        print(f"backup: {shown(backup)}")
    print(f"restart {title} to apply it")
    if adds:
        print(f"undo: {undo}")
    return 0


def _place(named: str) -> Place:
    """Return where mcptui belongs in a host's file, or in the given file. Raises McptuiError."""
    host = named.lower()
    if host in ENTRIES:
        files = files_of(HOSTS[host], Path.cwd(), os.environ)
        own = [one for one in files if not one.is_relative_to(Path.cwd())] or files
        alike = [one for one in own if one.stem == own[0].stem]  # such as .jsonc; others have other tables
        path = next((one for one in alike if one.exists()), own[0])
    else:
        path = Path(os.path.expanduser(named)).absolute()
        if os.sep not in named and path.suffix not in (".json", ".jsonc", ".toml"):
            raise UsageError(
                hinted(f"unknown host {quoted_name(named)}", named, ENTRIES),
                next_step=f"Known hosts: {', '.join(ENTRIES)}. For any other, give the path of its file.",
            )
    text = ""
    with suppress(FileNotFoundError):
        text = read_text(path)
    if host in ENTRIES:
        return Place(HOSTS[host].title, path, text, (ENTRIES[host][0],))
    return replace(found := Place("the host", path, text), table=_table_of(found))


def _table_of(place: Place) -> tuple[str, ...]:
    """Return the table of servers of a file that is given by its path: the one it has, or the usual one."""
    if place.path.suffix == ".toml":
        return ("mcp_servers",)
    roots = (tuple(map(str, root)) for root in ROOTS if root != ("mcp",))
    usual = ("servers",) if place.path.parent.name == ".vscode" else ("mcpServers",)
    return next((root for root in roots if isinstance(place.at(root), Mapping)), usual)


def _added(place: Place, entry: Mapping[str, Any]) -> str:
    """Return the text with the entry. Raises ConfigError."""
    return _changed(
        place,
        lambda table: table.update({NAME: dict(entry)}),
        lambda file: file.with_member(place.keys, entry),
    )


def _removed(place: Place, backup: Path) -> str:
    """Return the text without the entry: as it was before, if nothing else has changed since."""
    if (present := place.at(place.keys)) is None:
        raise ConfigError("changed meanwhile. Nothing was written.", where=shown(place.path))
    readers: tuple[Callable[[], str], ...] = (lambda: read_text(backup), str)
    for read in readers:
        with suppress(FileNotFoundError, ConfigError):
            if _added(replace(place, text=(before := read())), present) == place.text:
                return before
    return _changed(place, lambda table: table.pop(NAME), lambda file: file.without_member(place.keys))


def _changed(
    place: Place, toml: Callable[[dict[str, Any]], object], member: Callable[[HostFile], HostFile]
) -> str:
    def change(table: dict[str, Any]) -> None:
        for key in place.table:
            table = table.setdefault(key, {})
        toml(table)

    try:
        return edited(place.text, change) if place.path.suffix == ".toml" else member(place.file).text
    except (ConfigError, ValueError) as error:
        why = error.message if isinstance(error, ConfigError) else f"cannot be changed: {reason_of(error)}."
        raise ConfigError(why, where=shown(place.path)) from error
    except AttributeError as error:
        what = f"`{'.'.join(place.table)}` is not what mcptui expects there."
        raise ConfigError(what, where=shown(place.path)) from error
