"""A server of another host in place of a configured one: `cursor:github`. Writes nothing."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tui.core.errors import ConfigError, UsageError, as_sentences, dotted
from tui.core.language.translate import message
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, mapping, quoted_name
from tui.core.units import and_more
from tui.settings.config_file import ConfigFile
from tui.settings.foreign.hosts import HOSTS, unknown_host
from tui.settings.locations import project_of, server_folder
from tui.settings.names import fitted_name, name_fault
from tui.settings.problems import Source, did_you_mean

_NOT_IMPORTED = re.compile(r" not imported\. (?:Copy|Use `headers`)")
"""Says that a value of an entry is left out without which its server may not work."""


def host_server(
    config: str | None,
    word: str,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    note: Callable[[str], None] | None = None,
) -> tuple[ServerSpec, Mapping[str, str]] | None:
    """Return the server that HOST:NAME means, with its secrets; None if the word means a configured one.

    `config` is the configuration file that the command line names. The server needs consent, as any of a file
    that is not the user's own. `env` and `folder` are those of the process that asks, this one if None.
    `note` is told what of its entry has no effect. Raises UsageError or ConfigError.
    """
    named, mark, name = word.partition(":")
    host = named.lower()
    if not (mark and name) or (host not in HOSTS and (len(host) < 3 or not did_you_mean(host, HOSTS))):
        return None
    variables, project = os.environ if env is None else env, folder or Path.cwd()
    loaded = ConfigFile(config, variables).read()
    if word in mapping(loaded.raw.get("servers")):
        return None
    if host not in HOSTS:
        raise unknown_host(named)
    return _found(host, name, project, variables, note or (lambda _: None))


def _found(
    host: str, name: str, project: Path, env: Mapping[str, str], note: Callable[[str], None]
) -> tuple[ServerSpec, Mapping[str, str]]:
    from tui.settings.host_files import host_files, no_server  # rarely needed
    from tui.settings.load import load_source
    from tui.settings.server_import import launch_of
    from tui.settings.specs import server_specs

    files, title = host_files(host, project, env), HOSTS[host].title
    local = f"is a server of the project {project}"  # which Claude Code prefers
    here = [one for one in files.servers if one.name == f"{name}-{project.name}" and local in one.notes]
    found = here or [one for one in files.servers if one.name == name]
    shown = quoted_name(name, 80)
    if not found:
        raise no_server(title, name, files)
    if len({launch_of(one.table, one.path) for one in found}) > 1:
        places = and_more([f"{clean_line(str(one.path), 200)}:{one.line}" for one in found], 6)
        raise UsageError(
            f"{shown} is in several files of {title}, and they differ: {places}",
            next_step="Name the file: mcptui … --config FILE NAME",
        )
    one = next((one for one in found if project_of(one.path) is not None), found[0])
    where = clean_line(str(one.path), 400) + (f":{one.line}" if one.line else "")
    if one.fault:
        raise ConfigError(f"{shown} cannot be used: {one.fault}.", where=where)
    if one.is_off:
        why = next((note for note in one.notes if note.startswith("is disabled: ")), "is disabled there")
        raise UsageError(f"{shown} {why}.", where=where, next_step="Enable it there, or import it.")
    ours = word if not name_fault(word := f"{host}:{name}") else f"{host}:{fitted_name(name) or 'server'}"
    loaded = load_source(Source({"servers": {ours: one.table}}, {}), one.path, env)
    if errors := [f"{dotted(one.keys[2:])}: {one.message}".lstrip(": ") for one in loaded.errors]:
        asked = [note for note in one.notes if " is read from the environment variable " in note]
        step = f"Set what is missing. {as_sentences(asked)}." if asked else "Set what is missing."
        raise ConfigError(f"{as_sentences(errors)}.", where=where, next_step=step)
    (spec,) = server_specs(loaded)
    for said in one.notes:
        if said.endswith(" is ignored") or _NOT_IMPORTED.search(said):
            note(said)
    # The folder of its plain name, as with --config, so that both need one consent.
    folder = str(server_folder(name)) if spec.folder else ""
    source = message("the file {path}", path=os.path.realpath(one.path))
    return replace(spec, folder=folder, source=source), loaded.secrets
