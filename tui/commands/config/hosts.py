"""`mcptui config hosts`: the servers of the other hosts on this computer, and which are the same."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tui.commands.streams import on_terminal, width
from tui.commands.table import TEXT_CELLS, Columns, lines_at
from tui.core.errors import ConfigError
from tui.core.files import short_path
from tui.core.hidden_text.readable import readable_line
from tui.core.text import cells_of, clean_line, mapping
from tui.core.units import and_more, plural
from tui.settings.foreign.hosts import ALIASES, HOSTS, host_of, unknown_host
from tui.settings.host_files import HostFiles, machine_files
from tui.settings.new_server import masked_table, present_servers
from tui.settings.server_import import HostServer, Launch, launch_differences, launch_of, placed_table

OK, BROKEN = 0, 2
_HEAD = ("server", "command or URL")
_MOST_NAMED = 4
_NAME_CELLS = 24


def config_hosts(config: Path, named: str | None, *, as_json: bool) -> int:
    """Print the servers of all hosts, or of the host `named`; return 2 if a file is broken, otherwise 0.

    Raises UsageError for an unknown host.
    """
    if named is not None and host_of(named) is None:
        raise unknown_host(named)
    hosts = [name for name in HOSTS if name not in ALIASES]
    wanted = hosts if named is None else [named.lower()]
    every = machine_files(Path.cwd(), os.environ, dict.fromkeys((*wanted, *hosts)))
    shown = [one for one in every if one.host in wanted]
    comparison = _Comparison([server for one in every for server in one.servers], _configured(config))
    if as_json:
        objects = [comparison.as_object(one) for files in shown for one in files.servers]
        print(json.dumps(objects, indent=2))
        for problem in _problems(shown):
            print(f"mcptui: {problem}", file=sys.stderr)
    elif not shown:
        _print_nothing(named)
    else:
        cells = width()
        lines = [*_lines(shown, comparison, cells, with_notes=named is not None)]
        lines += [line for text in _ending(shown, comparison) for line in lines_at(text, cells)]
        print("\n".join(lines))
    return BROKEN if any(not problem.warning for one in shown for problem in one.problems) else OK


def _configured(config: Path) -> dict[Launch, str]:
    """Return the names of the servers of the user's own configuration, by what they run."""
    try:
        return {launch_of(table, config): name for name, table in present_servers(config).items()}
    except ConfigError:  # `config check` says why
        return {}


class _Comparison:
    """What is the same and what differs among servers that can be used, and which are configured."""

    def __init__(self, servers: Sequence[HostServer], configured: Mapping[Launch, str]) -> None:
        self._configured = configured
        self._same: dict[Launch, list[HostServer]] = {}
        self._named: dict[str, dict[Launch, list[HostServer]]] = {}
        for one in servers:
            if not one.fault:
                launch = launch_of(one.table, one.path)
                self._same.setdefault(launch, []).append(one)
                self._named.setdefault(one.name.casefold(), {}).setdefault(launch, []).append(one)

    def of(self, one: HostServer) -> tuple[list[str], dict[str, list[str]], str]:
        """Return what runs the same, what has its name and differs in which keys, and what it is here."""
        if one.fault:
            return [], {}, ""
        mine = launch_of(one.table, one.path)
        launches = self._named[one.name.casefold()].items()
        others = ((other, launch) for launch, found in launches if launch != mine for other in found)
        differing = {other.id: launch_differences(mine, launch) for other, launch in others}
        same = [other.id for other in self._same[mine] if other is not one]
        imported = launch_of(placed_table(one.table, one.path), one.path)
        return same, differing, self._configured.get(imported) or self._configured.get(mine, "")

    def as_object(self, one: HostServer) -> dict[str, Any]:
        """Return the `--json` object of a server."""
        shown = masked_table(one.name, one.table) if not one.fault else {}
        same, differing, ours = self.of(one)
        return {
            "host": one.host,
            "name": one.name,
            "id": one.id,
            "file": str(one.path),
            "line": one.line,
            "command": shown.get("command"),
            "args": shown.get("args", []) if "command" in shown else None,
            "url": shown.get("url"),
            "cwd": shown.get("cwd"),
            "env": sorted(map(str, mapping(one.table.get("env")))),
            "headers": sorted(map(str, mapping(one.table.get("headers")))),
            "disabled": one.is_off,
            "unusable": one.fault or None,
            "notes": [clean_line(note, 400) for note in one.notes],
            "same_as": same,
            "differs_from": [{"id": other, "in": keys} for other, keys in differing.items()],
            "configured_as": ours or None,
        }


def _lines(
    shown: Sequence[HostFiles], comparison: _Comparison, cells: int, *, with_notes: bool
) -> Iterator[str]:
    names = max((cells_of(_name(one)) for files in shown for one in files.servers), default=0)
    widths = (max(len(_HEAD[0]), min(names, _NAME_CELLS)), TEXT_CELLS)
    columns = Columns(widths, (0, 1), cells, head=_HEAD, indent="  ")
    yield from columns.heading() if on_terminal() else ()
    for files in shown:
        title, before = HOSTS[files.host].title, None
        for one in files.servers:
            if one.path != before:
                before = one.path
                yield from lines_at(f"{title}  {_short(one.path)}", cells)
            yield from columns.lines((_name(one), _launch(one)))
            for said in _said(one, comparison, with_notes):
                yield from columns.lines(("", said))
        for problem in _problems([files]):
            yield from lines_at(f"{title}  {problem}", cells)
        yield ""


def _name(one: HostServer) -> str:
    return readable_line(one.name, 64)


def _short(path: Path) -> str:
    """Return a path relative to the project or to home."""
    inside = path.is_relative_to(Path.cwd())
    return clean_line(f"./{path.relative_to(Path.cwd())}" if inside else short_path(str(path)), 400)


def _launch(one: HostServer) -> str:
    if one.fault:
        return f"not usable: {clean_line(one.fault, 200)}"
    shown = masked_table(one.name, one.table)
    if "command" not in shown:
        return readable_line(str(shown.get("url", "")), 400)
    return readable_line(shlex.join([str(shown["command"]), *map(str, shown.get("args", []))]), 400)


def _said(one: HostServer, comparison: _Comparison, with_notes: bool) -> Iterator[str]:
    same, differing, ours = comparison.of(one)
    if ours:
        yield f"configured as {clean_line(ours, 64)}"
    if same:
        yield f"same as {clean_line(and_more(same, _MOST_NAMED), 300)}"
    for other, keys in list(differing.items())[:_MOST_NAMED]:
        yield f"differs from {clean_line(other, 80)}: {', '.join(keys)}"
    why = [note for note in one.notes if note.startswith(("is disabled", "is not approved"))]
    if one.is_off and not why:
        yield "disabled"
    yield from (clean_line(note, 300) for note in (one.notes if with_notes else why) if note != one.fault)


def _problems(shown: Sequence[HostFiles]) -> Iterator[str]:
    for problem in (problem for one in shown for problem in one.problems):
        place = f"{_short(Path(problem.file))}{f':{problem.line}' if problem.line else ''}"
        yield f"{place}: {clean_line(problem.message, 300)}"


def _ending(shown: Sequence[HostFiles], comparison: _Comparison) -> Iterator[str]:
    if not (servers := [one for files in shown for one in files.servers]):
        return
    hosts = plural(sum(bool(one.servers) for one in shown), "host")
    ours = sum(bool(comparison.of(one)[2]) for one in servers)
    usable = [one for one in servers if not one.fault]
    different = len(servers) - len(usable) + len({launch_of(one.table, one.path) for one in usable})
    yield f"{plural(len(servers), 'server')} of {hosts}, {different:,} different, {ours:,} configured"
    for one in [one for one in usable if not one.is_off][:1]:
        yield f"use one: mcptui list {shlex.quote(clean_line(one.id, 80))}"
        yield f"import:  mcptui config import --from {one.host}"


def _print_nothing(named: str | None) -> None:
    if named is not None:
        print(f"no servers of {HOSTS[named.lower()].title} found")
        return
    print("no servers of other hosts found on this computer")
    print(f"looked for: {', '.join(host.title for name, host in HOSTS.items() if name not in ALIASES)}")
    print("any other file: mcptui config import FILE. A new server: mcptui add")
