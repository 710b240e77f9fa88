"""`mcptui tap --into` and `--out`: change another host's configuration to use the tap, and restore it."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tui.addons.tap_hosts import hosts
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
from tui.commands.shared_options import parse_trailing
from tui.commands.tap.tap import fill_tap, tap_texts
from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.redact import Redactor
from tui.core.text import clean, clean_line, quoted_name
from tui.settings.config_secrets import is_secret
from tui.settings.foreign.edits import Edit, HostFile, Keys, url_of
from tui.settings.foreign.hosts import KnownHost, named_files

USAGE = 2


@dataclass(frozen=True, slots=True)
class HostServer:
    """A server of another host: its file as read, and the name of its entry."""

    path: Path
    file: HostFile
    keys: Keys

    @property
    def words(self) -> list[str]:
        return hosts.argv_of(self.file, self.keys)

    @property
    def length(self) -> int:
        return hosts.tap_length(self.words)

    @property
    def place(self) -> str:
        return f"{shown(self.path)}:{self.file.line(self.keys)}"


@dataclass(frozen=True, slots=True)
class Change:
    """A change to another host's file: the edits, the command before and after, and warnings."""

    edits: Sequence[Edit]
    words: list[str]
    note: str = ""


def change_host(args: argparse.Namespace) -> int:
    """Run `mcptui tap --into` or `--out`, and return the exit code."""
    if os.name != "posix":
        print("mcptui: tapping a stdio server requires Linux or macOS", file=sys.stderr)
        return USAGE
    try:
        return _change(args)
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return USAGE


def _change(args: argparse.Namespace) -> int:
    if len(args.server_command) > 1:
        parse_trailing(args, "server_command", fill_tap, prog="mcptui tap", usage=tap_texts()[0])
    if args.into is not None and args.out is not None:
        raise UsageError("--into and --out cannot be combined.")
    into, named = args.into is not None, args.into if args.into is not None else args.out
    host, files = named_files(named, Path.cwd(), os.environ)
    found = _found(host, files, args.server_command, into=into)
    server = found.keys[-1]
    name = clean_line(server, 64)
    if into is bool(found.length):
        print(f"{name} {'already goes' if into else 'does not go'} through the tap: {found.place}")
        return 0
    change = _into(found, args.name or server) if into else _out(found)
    hosts.checked(found.file, found.keys, change.edits, change.words)
    _preview(found, host, change)
    if not agreed(args, found.path):
        return 0
    backup = _write(found, change)
    print(f"wrote {shown(found.path)}\nbackup: {shown(backup)}")
    print(f"restart {host.title if host else 'the host'} to apply it")
    if into:
        print("watch: mcptui, then f4. Later: mcptui traffic")
        print(f"undo: mcptui tap --out {shlex.quote(clean_line(named, 400))} {shlex.quote(name)}")
    return 0


def _read(path: Path) -> HostFile:
    return parsed(read_text(path), path)


def _found(host: KnownHost | None, files: Sequence[Path], words: Sequence[str], *, into: bool) -> HostServer:
    """Return the server that the words name, in one of the files that exist."""
    problems: list[ConfigError] = []
    every: list[HostServer] = []
    for path in files:
        try:
            file = _read(path)
        except FileNotFoundError:
            continue
        except ConfigError as error:
            problems.append(error)
        else:
            every += (HostServer(path, file, keys) for keys in file.servers(str(Path.cwd())))
    title = host.title if host else shown(files[0])
    names = ", ".join(dict.fromkeys(clean_line(one.keys[-1], 64) for one in every)) or "none"
    if len(words) != 1:
        raise UsageError(
            "one server is required: mcptui tap --into HOST SERVER",
            next_step=f"Servers of {title}: {names}.",
        )
    server = words[0]
    by_file = {os.path.realpath(one.path): one for one in reversed(every) if one.keys[-1] == server}
    matching = list(by_file.values())
    if not into:
        matching = [one for one in matching if one.length] or matching
    if len(matching) == 1:
        return matching[0]
    if matching:
        places = ", ".join(one.place for one in matching)
        raise UsageError(
            f"{clean_line(server, 64)} is in several files of {title}: {places}",
            next_step=f"Name one of them instead of {title}.",
        )
    if problems:
        raise problems[0]
    if not any(path.exists() for path in files):
        places = ", ".join(map(shown, files))
        raise UsageError(
            f"no configuration of {title} found (looked for {places}).",
            next_step="Give the path of its file instead of its name.",
        )
    raise UsageError(f"{title} has no server {quoted_name(server)}.", next_step=f"Its servers: {names}.")


def _into(found: HostServer, name: str) -> Change:
    words = found.words
    entry = found.file.at(found.keys)
    if not words and (url := url_of(entry)):
        raise UsageError(
            f"{clean_line(found.keys[-1], 64)} is a remote server, so it has no command to replace.",
            next_step=f"Run mcptui tap --listen 8766 --to {clean_line(masked(url), 400)} and set the url at "
            f"{found.place} to the URL that mcptui prints.",
        )
    if not words:
        raise ConfigError("its command or args cannot be read.", where=found.place)
    start = launcher()
    tap = [*start, "tap", *([f"--name={name}"] if name.startswith("-") else ["--name", name]), "--"]
    return Change(hosts.tapped(found.file, found.keys, tap), [*tap, *words], launcher_note(start))


def _out(found: HostServer) -> Change:
    tap, original = found.words[: found.length], found.words[found.length :]
    before: list[str] = []
    with suppress(ConfigError, FileNotFoundError):
        backup = _read(_backup(found))
        before = hosts.argv_of(backup, found.keys)
    if not before or hosts.tap_length(before):
        note = "mcptui has no record of the original entry, and derives it from the current one"
        return Change(hosts.untapped(found.file, found.keys), original, note)
    if original != before:
        raise ConfigError(
            "its command or args changed since --into, so nothing was written.",
            where=found.place,
            next_step="Remove everything up to and including -- by hand. "
            f"Backup of the file before --into: {shown(_backup(found))}",
        )
    edits = [Edit(one.keys, one.after, one.before) for one in hosts.tapped(backup, found.keys, tap)]
    with suppress(ConfigError):
        hosts.checked(found.file, found.keys, edits, original)
        return Change(edits, original)
    return Change(hosts.untapped(found.file, found.keys), original)  # the file was formatted by hand


def _preview(found: HostServer, host: KnownHost | None, change: Change) -> None:
    real = Path(os.path.realpath(found.path))
    project = f", project {clean_line(found.keys[1], 400)}" if found.keys[0] == "projects" else ""
    print(f"{found.place} ({host.title if host else 'file'}{project})")
    if real != found.path:
        print(f"a symbolic link to {shown(real)}")
    print(f"- {_masked(found, found.words)}\n+ {_masked(found, change.words)}")
    print("only its command and args change")
    if change.note:
        print(f"note: {change.note}")
    is_shared = Path.cwd() != Path.home() and found.path.is_relative_to(Path.cwd())
    if is_shared and hosts.tap_length(change.words):
        print("note: this file belongs to the project. ", end="")
        print("Do not commit the change: its path is only valid on this machine")


def _masked(found: HostServer, words: Sequence[str]) -> str:
    entry = found.file.at(found.keys)
    env = entry.get("env") or entry.get("environment")
    values = {
        str(name): value
        for name, value in (env.items() if isinstance(env, dict) else ())
        if isinstance(value, str) and is_secret(("servers", "", "env", str(name)), value)
    }
    return clean_line(Redactor(values).redact(shlex.join(masked_arguments(words))), 20_000)


def _write(found: HostServer, change: Change) -> Path:
    """Apply the change to the current file, and store a backup, from which --out restores the entry."""

    def changed(text: str) -> str:
        now = parsed(text, found.path)
        if hosts.argv_of(now, found.keys) != found.words:
            raise ConfigError("changed meanwhile. Nothing was written.", where=found.place)
        try:
            return hosts.checked(now, found.keys, change.edits, change.words).text
        except ConfigError as error:
            raise ConfigError(f"{error.message} Nothing was written.", where=found.place) from error

    change_file(found.path, changed, backup := _backup(found))
    return backup


def _backup(found: HostServer) -> Path:
    return backup_of(found.path, *found.keys)
