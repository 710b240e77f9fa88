"""Plans the import of another host's servers. Overwrites nothing, writes nothing."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.language.translate import message
from tui.core.servers import Transport
from tui.core.text import capitalized, clean_line, list_in, mapping, quoted_name
from tui.settings.config_secrets import leaves, shows_a_secret
from tui.settings.files import Unreadable, read_bounded
from tui.settings.foreign.file import read_foreign
from tui.settings.key_positions import line_of
from tui.settings.locations import base_folder, project_of
from tui.settings.names import MAX_NAME, fitted_name, name_fault
from tui.settings.new_server import first_fault, is_same, present_servers
from tui.settings.problems import Problem, Source
from tui.settings.save import table_block
from tui.settings.specs import resolved

MAX_SOURCE_BYTES = 64 * 1024 * 1024
"""Large, because Claude Code keeps its history in the same file."""


@dataclass(slots=True)
class Plan:
    """Changes that an import would make. `renamed` maps new names to old ones.

    `skipped` are servers with the reasons; `unusable` names the invalid ones among them.
    """

    new: dict[str, dict[str, Any]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)

    def done(self) -> list[str]:
        """Return a line for each server of the other file."""
        lines = []
        for name in self.new:
            old = self.renamed.get(name)
            state = " (disabled)" if self.new[name].get("disabled") is True else ""
            lines.append(
                f"renamed  {clean_line(old, 64)} -> {name}{state}" if old else f"added    {name}{state}"
            )
        lines += [f"skipped  {clean_line(name, 64)}: {why}" for name, why in self.skipped.items()]
        return lines


def plan_import(source: Path, target: Path) -> Plan:
    """Plan the import of the servers of `source` into `target`, or raise `ConfigError`.

    A server that `target` already has with the same definition is skipped. A server whose name is taken by
    another definition gets a new name. Paths that are relative to `source` become absolute.
    """
    shown = clean_line(str(source), 400)
    present = present_servers(target)
    try:
        found = read_foreign(read_bounded(source, MAX_SOURCE_BYTES), source)
    except FileNotFoundError as error:
        raise ConfigError(
            message("file not found."), where=shown, next_step=message("Check the path.")
        ) from error
    except Unreadable as error:
        raise ConfigError(f"{error}.", where=shown) from error
    if isinstance(found, Problem):
        where = f"{shown}:{found.line}" if found.line else shown
        raise ConfigError(f"{found.message}.", where=where, next_step=capitalized(found.suggestion))
    plan = Plan()
    plan_servers(
        plan, servers_in("", source, found), [one for one in found.problems if not one.keys], present
    )
    return plan


@dataclass(frozen=True, slots=True)
class HostServer:
    """A server of another host: its unvalidated table by our keys, and what was noted about it.

    `host` is the name of the host in `HOSTS`, `name` is unique in the file `path`. `fault` says why it cannot
    be used, or is "". `is_provided`: only its host can start it, or its entry was not read.
    """

    host: str
    path: Path
    name: str
    table: Mapping[str, Any]
    line: int = 0
    notes: Sequence[str] = ()
    fault: str = ""
    is_provided: bool = False

    @property
    def id(self) -> str:
        """What a command calls it: `cursor:github`."""
        return f"{self.host}:{self.name}"

    @property
    def is_off(self) -> bool:
        """Whether its host does not start it."""
        return self.table.get("disabled") is True


def servers_in(host: str, path: Path, source: Source) -> list[HostServer]:
    """Return the servers of a file in order, then those that only its host can start."""
    tables: Mapping[str, Any] = source.tree["servers"]
    notes: dict[str, list[str]] = {name: [] for name in tables}
    for problem in source.problems:
        if problem.keys:
            notes.setdefault(str(problem.keys[1]), []).append(problem.message)
    found = []
    for name, said in notes.items():
        table, line = mapping(tables.get(name)), line_of(source.places, ("servers", name))
        fault = table_fault(tables[name]) if name in tables else said[0]
        found.append(HostServer(host, path, name, table, line, said, fault, name not in tables))
    return found


def plan_servers(
    plan: Plan, servers: Iterable[HostServer], warnings: Iterable[Problem], present: Mapping[str, Any]
) -> None:
    """Add servers of other hosts to a plan, and what was noted about their files."""
    plan.notes += [f"note     {warning.message}" for warning in warnings]
    for one in servers:
        shown = clean_line(one.name, 64)
        plan.notes += [f"note     {shown}: {text}" for text in one.notes]
        if one.fault and not one.is_provided:
            plan.skipped[one.name] = one.fault
            plan.unusable.append(one.name)
        elif not one.fault:
            plan.notes += [f"note     {shown}: {text}" for text in _copied_secrets(one.name, one.table)]
            table = absolute_table(one.table, base_folder(one.path))
            placed = placed_table(one.table, one.path)
            _take(plan, one.name, {**placed, "source": "import"}, {**table, "source": "import"}, present)


def table_fault(table: Any) -> str:
    """Return why a server cannot be used, or "": its entry cannot be converted, or our check refuses it.

    An import must not make the file invalid.
    """
    if not isinstance(table, dict) or not (table.get("command") or table.get("url")):
        return message("no command and no url")
    if (kind := table.get("transport")) is not None and kind not in list(Transport):
        names = ", ".join(f'"{known}"' for known in Transport)
        shown = quoted_name(str(kind), 40)
        return message("unknown type {type}. Use one of {names}, or remove it", type=shown, names=names)
    sample = dict(table)
    if isinstance(url := table.get("url"), str) and url.startswith("${"):
        sample["url"] = f"{'wss' if kind == 'websocket' else 'https'}://{url}"
    for key, value in sample.items():
        try:
            table_block(("servers", "server"), {"key": value}).encode()
        except (TypeError, UnicodeError):
            return message("`{name}` has a value that is not text", name=key)
    return " ".join(filter(None, first_fault("server", sample, Path("import.toml"), {})))


def _copied_secrets(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    for path, value in leaves(table, ("servers", name)):
        if isinstance(value, str) and value and shows_a_secret(path, value):
            shown = clean_line(".".join(map(str, path[2:])), 80)
            yield message(
                "`{name}` is copied with its secret. Use `${{VAR}}` or `keyring:SERVICE/NAME` to keep it out "
                "of the file",
                name=shown,
            )


def placed_table(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the table of a server of the file `path` for another file: one of a project starts there."""
    found = absolute_table(table, base_folder(path))
    if (project := project_of(path)) is not None and "command" in found:
        found.setdefault("cwd", str(project))
    return found


def _take(
    plan: Plan, name: str, table: dict[str, Any], as_written: dict[str, Any], present: Mapping[str, Any]
) -> None:
    """Add a server, unless it is there, also without the folder of its project."""
    base = (fitted_name(name) or "server") if name_fault(name) else name
    candidate, number = base, 1
    while (there := present.get(candidate, plan.new.get(candidate))) is not None:
        if is_same(there, table) or is_same(there, as_written):
            plan.skipped[name] = message("{name} is already configured", name=candidate)
            return
        number += 1
        candidate = f"{base[: MAX_NAME - 4]}-{number}"
    plan.new[candidate] = table
    if candidate != name:
        plan.renamed[candidate] = name


Launch = tuple[str, ...]
_LAUNCH = ("command", "args", "cwd", "url", "env", "headers", "transport", "oauth")


def launch_of(table: Any, path: Path) -> Launch:
    """Return what a server of the file `path` runs or connects to; equal if two are the same."""
    found = absolute_table(table, base_folder(path)) if isinstance(table, Mapping) else {}
    if "command" in found or found.get("transport") == "http":
        found.pop("transport", None)  # the default, written or not
    return tuple(json.dumps(found.get(key) or None, sort_keys=True, default=str) for key in _LAUNCH)


def launch_differences(one: Launch, other: Launch) -> list[str]:
    """Return the keys in which two launches differ."""
    return [key for key, left, right in zip(_LAUNCH, one, other, strict=True) if left != right]


def absolute_table(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table of a server with absolute paths. Relative ones are relative to `folder`."""
    result = dict(table)
    if isinstance(cwd := table.get("cwd"), str):
        result["cwd"] = cwd if cwd.startswith(("~", "$")) else os.path.normpath(folder / cwd)
        return result
    words = [table.get("command", ""), *list_in(table, "args")]
    if all(isinstance(word, str) for word in words):
        command, *args = resolved(words, folder)
        result |= {"command": command} if command else {}
        result |= {"args": args} if args else {}
    return result
