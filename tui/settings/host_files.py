"""Reads the configuration files of the other hosts on this computer, with what one file says about another.

Reads only; a file that cannot be read is a problem, and the others count.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean_line, list_in, mapping, object_in, quoted_name
from tui.core.units import and_more
from tui.settings.files import Unreadable, read_bounded
from tui.settings.foreign.file import NO_SERVERS, Parsed, parse, read_parsed
from tui.settings.foreign.hosts import HOSTS, KnownHost, files_of
from tui.settings.new_server import present_servers
from tui.settings.problems import Problem, Source, hinted
from tui.settings.server_import import MAX_SOURCE_BYTES, HostServer, Plan, plan_servers, servers_in

_OF_MCP_JSON = "disabledMcpjsonServers"


@dataclass(slots=True)
class HostFiles:
    """The servers in the files of a host, the problems of these files, and all paths looked for.

    A problem that is a warning is about a file that was read, the others are about files that could not be.
    """

    looked_for: Sequence[Path]
    servers: list[HostServer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    host: str = ""


def host_files(name: str, project: Path, env: Mapping[str, str]) -> HostFiles:
    """Read the files of the host `name` of `HOSTS`, for the folder `project`. Blocks."""
    host = HOSTS[name]
    found = HostFiles(files_of(host, project, env), host=name)
    parsed = _parsed(found.looked_for, found.problems)
    lists = [
        one.tree for one in _parsed(files_of(host, project, env, settings=True), found.problems).values()
    ]
    lists += [one.tree for one in parsed.values()]
    lists += [object_in(mapping(one), "projects").get(str(project)) for one in lists]  # of Claude Code
    for path, one in parsed.items():
        others = [mapping(tree) for tree in lists if tree is not one.tree]
        is_shared = path.name == ".mcp.json"
        if not is_shared:
            others = [{key: tree[key] for key in tree if key != _OF_MCP_JSON} for tree in others]
        source = read_parsed(one, path, others)
        if isinstance(source, Problem):
            if source.message != NO_SERVERS:  # usual in a file of settings
                found.problems.append(replace(source, file=str(path)))
            continue
        source = _with_approval(host, source, others) if is_shared else source
        found.servers += servers_in(name, path, source)
        found.problems += [replace(one, file=str(path)) for one in source.problems if not one.keys]
    return found


def machine_files(project: Path, env: Mapping[str, str], names: Iterable[str]) -> list[HostFiles]:
    """Read the files of several hosts, a file of several with the first, without hosts that have none."""
    found, seen = [], set[Path]()
    for name in names:
        one = host_files(name, project, env)
        one.servers = [server for server in one.servers if server.path not in seen]
        one.problems = [problem for problem in one.problems if Path(problem.file) not in seen]
        seen |= {*(server.path for server in one.servers), *(Path(problem.file) for problem in one.problems)}
        found += [one] if one.servers or one.problems else []
    return found


def no_server(host: str, name: str, files: HostFiles) -> UsageError:
    """Return the error for a server that a host does not have, with those that it has, and broken files."""
    known = list(dict.fromkeys(one.name for one in files.servers))
    listed = and_more([clean_line(one, 60) for one in known], 20) or "none"
    broken = "".join(f" {clean_line(str(one), 300)}." for one in files.problems)
    return UsageError(
        hinted(f"{host} has no server {quoted_name(name, 80)}", name, known) + broken,
        next_step=f"Its servers: {listed}. All hosts: mcptui config hosts",
    )


def plan_host_import(host: str, names: Sequence[str], files: HostFiles, target: Path) -> Plan:
    """Plan the import of the servers of a host, or of the named ones. Raises UsageError or ConfigError."""
    present, plan = present_servers(target), Plan()
    known = [one.name for one in files.servers]
    if not files.servers and not files.problems:
        places = and_more([clean_line(str(path), 200) for path in files.looked_for], 4)
        raise ConfigError(f"no servers of {host} found.", next_step=f"Looked in {places}.")
    if unknown := [name for name in names if name not in known]:
        raise no_server(host, unknown[0], files)
    wanted = [one for one in files.servers if not names or one.name in names]
    plan_servers(plan, wanted, (one for one in files.problems if one.warning), present)
    for problem in (one for one in files.problems if not one.warning):
        plan.notes.append(f"skipped  {clean_line(str(problem), 800)}")
        plan.unusable.append(problem.file)
    return plan


def _parsed(paths: Iterable[Path], problems: list[Problem]) -> dict[Path, Parsed]:
    found: dict[Path, Parsed] = {}
    for path in paths:
        try:
            one = parse(read_bounded(path, MAX_SOURCE_BYTES), path)
        except FileNotFoundError:
            continue
        except Unreadable as error:
            one = Problem(str(error))
        if isinstance(one, Problem):
            problems.append(replace(one, file=str(path)))
        elif os.path.realpath(path) not in map(os.path.realpath, found):
            found[path] = one
    return found


def _with_approval(host: KnownHost, source: Source, lists: Sequence[Mapping[str, Any]]) -> Source:
    """Add a note to each server of `.mcp.json` that Claude Code asks about before it starts it."""
    if not host.settings or any(one.get("enableAllProjectMcpServers") is True for one in lists):
        return source
    approved = [name for one in lists for name in list_in(one, "enabledMcpjsonServers")]
    notes = [
        Problem(
            f"is not approved in {host.title}: `enabledMcpjsonServers` does not list it",
            ("servers", name),
            warning=True,
        )
        for name, table in source.tree["servers"].items()
        if name not in approved and mapping(table).get("disabled") is not True
    ]
    return replace(source, problems=(*source.problems, *notes))
