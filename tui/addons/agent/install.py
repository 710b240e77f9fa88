"""`mcptui agent --install` and `--uninstall`: add mcptui to another host's servers, and remove it."""

import argparse
import json
import os
import shlex
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tui.addons.agent.host_entries import ENTRIES, NAME, HostEntry, entry_for
from tui.commands.host_files import (
    backup_of,
    change_file,
    launcher,
    launcher_note,
    parsed,
    read_text,
    refuse_link,
    shown,
)
from tui.commands.permission.terminal_approver import confirm
from tui.core.errors import ConfigError, UsageError, reason_of
from tui.core.text import clean_line, mapping, quoted_name
from tui.settings.foreign.hosts import files_of
from tui.settings.problems import did_you_mean
from tui.settings.save import edited


@dataclass(frozen=True, slots=True)
class Place:
    """Where the entry of mcptui is in a host's file, whose text is "" if it does not exist."""

    host: HostEntry
    path: Path
    text: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.host.table, NAME)

    @property
    def present(self) -> Any:
        """The entry that the file has, None without one."""
        value: Any = _tree(self.text, self.path)
        for key in self.keys:
            value = mapping(value).get(key)
        return value


def install(args: argparse.Namespace) -> int:
    """Add mcptui to a host, or remove it, after a preview. Returns the exit code."""
    adds = args.install is not None
    place = _place(args.install if adds else args.uninstall)
    config: str | None = vars(args).get("config")
    start = [*launcher(), "agent", *(["--config", os.path.abspath(config)] if config else [])]
    wanted, present = place.host.entry(start), place.present
    undo = f"mcptui agent --uninstall {shlex.quote(clean_line(args.install or '', 400))}"
    where, title = f"{shown(place.path)} ({place.host.title})", place.host.title
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
    change: Callable[[str], str] = (
        (lambda text: _added(replace(place, text=text), wanted))
        if adds
        else (lambda text: _removed(replace(place, text=text), backup))
    )
    after = change(place.text)
    print(f"{where}{'' if place.text else ', a new file'}")
    if os.path.realpath(place.path) != str(place.path):
        print(f"a symbolic link to {shown(Path(os.path.realpath(place.path)))}")
    value = json.dumps(wanted if adds else present, ensure_ascii=False)
    print(f"{'+' if adds else '-'} {'.'.join(place.keys)}: {clean_line(value, 2_000)}")
    print("nothing else changes" if after else "the file is then empty, and deleted")
    if adds and (note := launcher_note(start)):
        print(f"note: {note}")
    if args.dry_run:
        print("dry run, nothing written")
        return 0
    if args.yes:
        refuse_link(place.path)
    if not confirm("Write it?", yes=args.yes):
        print("nothing written")
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
    if (host := ENTRIES.get(named.lower())) is not None:
        files = files_of(host.host, Path.cwd(), os.environ)
        own = [one for one in files if not one.is_relative_to(Path.cwd())] or files
        alike = (
            one for one in own if one.stem == own[0].stem
        )  # such as .jsonc; the others have other tables
        path = next((one for one in alike if one.exists()), own[0])
    else:
        path = Path(os.path.expanduser(named)).absolute()
        if os.sep not in named and path.suffix not in (".json", ".jsonc", ".toml"):
            hint = did_you_mean(named, ENTRIES)
            raise UsageError(
                f"unknown host {quoted_name(named)}{f', {hint}' if hint else '.'}",
                next_step=f"Known hosts: {', '.join(ENTRIES)}. For any other, give the path of its file.",
            )
    try:
        text = read_text(path)
    except FileNotFoundError:
        text = ""
    return Place(host or entry_for(path, _tree(text, path)), path, text)


def _tree(text: str, path: Path) -> Mapping[str, Any]:
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"is not TOML: {reason_of(error)}.", where=shown(path)) from error
    tree = parsed(text, path).tree if text.strip() else {}
    if not isinstance(tree, Mapping):
        raise ConfigError("is not a JSON object.", where=shown(path))
    return tree


def _added(place: Place, entry: Mapping[str, Any]) -> str:
    """Return the text with the entry. Raises ConfigError."""
    if place.path.suffix == ".toml":
        return _toml(place, lambda table: table.update({NAME: dict(entry)}))
    if not place.text.strip():
        tree: Any = entry
        for key in reversed(place.keys):
            tree = {key: tree}
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    try:
        return parsed(place.text, place.path).with_member(place.keys, entry).text
    except ConfigError as error:
        raise ConfigError(error.message, where=shown(place.path)) from error


def _removed(place: Place, backup: Path) -> str:
    """Return the text without the entry: as it was before, if nothing else has changed since."""
    if (present := place.present) is None:
        raise ConfigError("changed meanwhile. Nothing was written.", where=shown(place.path))
    readers: tuple[Callable[[], str], ...] = (lambda: read_text(backup), lambda: "")
    for read in readers:
        with suppress(FileNotFoundError, ConfigError):
            if _added(replace(place, text=(before := read())), present) == place.text:
                return before
    if place.path.suffix == ".toml":
        return _toml(place, lambda table: table.pop(NAME))
    try:
        return parsed(place.text, place.path).without_member(place.keys).text
    except ConfigError as error:
        raise ConfigError(error.message, where=shown(place.path)) from error


def _toml(place: Place, change: Callable[[dict[str, Any]], object]) -> str:
    def changed(document: dict[str, Any]) -> None:
        table = document
        for key in place.host.table:
            table = table.setdefault(key, {})
        change(table)

    try:
        return edited(place.text, changed)
    except (ValueError, AttributeError) as error:
        raise ConfigError(f"cannot be changed: {reason_of(error)}.", where=shown(place.path)) from error
