"""`mcptui search`, and `mcptui add NAME` for registry entries."""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.addons.packages.found_server import ask_for, entry_text, secret_places
from tui.addons.packages.registry_client import Registry
from tui.addons.packages.registry_entry import KINDS, LaunchOption, launch_options, variable_name
from tui.addons.packages.server_inputs import refuse_borrowed_secrets, values_of
from tui.commands.add import FoundServer
from tui.commands.permission.terminal_approver import is_terminal
from tui.core.errors import ConfigError, McptuiError, ServerError, UsageError
from tui.core.files.programs import find_program
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean, clean_line
from tui.settings.new_server import named_after, pair_list

FOUND, NOTHING, USAGE = 0, 1, 2
OFFICIAL = "io.modelcontextprotocol.registry/official"
_INSTALL = {
    "npx": "it comes with Node.js",
    "bunx": "it comes with Bun",
    "uvx": "it comes with uv",
    "docker": "it comes with Docker",
    "podman": "it comes with Podman",
}


def search(args: argparse.Namespace) -> int:
    """Run `mcptui search` and return its exit code."""
    try:
        url, shown = _registry_url(args)
        print(f"· asking {clean_line(shown, 200)}", file=sys.stderr, flush=True)
        registry = Registry(url, shown)
        found = asyncio.run(registry.search(args.words, args.limit))
    except ServerError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return NOTHING
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return USAGE
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        for item in found:
            print("\n".join(_lines(item)))
    if registry.is_cut:
        print("mcptui: the registry sent too many entries. Not all were searched.", file=sys.stderr)
    if not found:
        print("mcptui: nothing found. The registry searches names only. Try one short word.", file=sys.stderr)
    elif not args.json and is_terminal():
        print("\nAdd one: mcptui add NAME", file=sys.stderr)
    return FOUND if found else NOTHING


def _lines(item: Mapping[str, Any]) -> list[str]:
    entry = item["server"]
    kinds = dict.fromkeys(clean_line(way.kind, 20) for way in launch_options(entry))
    head = (entry_text(entry, "name"), entry_text(entry, "version", 40), ", ".join(kinds), _status(item))
    about = entry_text(entry, "description")
    return ["  ".join(filter(None, head)), *([f"    {about}"] if about else [])]


def _status(item: Mapping[str, Any]) -> str:
    meta = item.get("_meta")
    official = meta.get(OFFICIAL) if isinstance(meta, Mapping) else None
    status = entry_text(official, "status", 20) if isinstance(official, Mapping) else ""
    return "" if status == "active" else status


def _registry_url(args: argparse.Namespace) -> tuple[str, str]:
    """Return the URL of the registry, and a masked form to show.

    Raises ConfigError if the configuration cannot be read, UsageError if it is not the user's own and its
    registry is on another computer or contains environment variables.
    """
    from tui.runtime.permission.subjects import is_here
    from tui.settings.config_file import ConfigFile
    from tui.settings.schema import RegistrySettings

    if args.registry:
        if not re.match(r"https?://[^/\s]+", args.registry):
            raise UsageError("not a URL like https://host.", where=f"--registry {args.registry}")
        return str(args.registry), masked(args.registry)
    file = ConfigFile(vars(args).get("config"), os.environ)
    loaded = file.read()
    for problem in loaded.errors:
        is_missing = not loaded.exists and args.command != "search"
        if (not problem.path and not is_missing) or problem.path.startswith("registry"):
            raise ConfigError(str(problem))
    url, reference = loaded.settings.registry.url, loaded.references.get(("registry", "url"))
    shown = masked(reference.text if reference is not None else url)
    is_default = url == RegistrySettings().url
    if file.source and not is_default and (reference is not None or not is_here(url)):
        raise UsageError(
            f"{clean_line(file.source, 300)} is not your own configuration, so its registry is not used.",
            where=clean_line(shown, 200),
            next_step="If you trust that address, add it as --registry URL.",
        )
    return url, shown


def from_registry(args: argparse.Namespace, word: str) -> FoundServer:
    """Return the server of that name in the registry, as it would be configured.

    Raises ServerError if the registry does not respond, UsageError if it has no such server or no usable way
    to run it.
    """
    if args.env or args.header or args.transport:
        raise UsageError(
            "--env, --header and --transport require a command or a URL.",
            next_step="Use --set NAME=VALUE for the values of a registry entry.",
        )
    url, address = _registry_url(args)
    name, _, version = word.partition("@")
    print(f"· looking up {clean_line(name, 200)} in {clean_line(address, 200)}", file=sys.stderr, flush=True)
    shown = clean_line(name, 100)
    meant = f"If it is a URL, write https://{shown}"
    try:
        item = asyncio.run(Registry(url, address).server(name, version or "latest"))
    except ServerError as error:
        step = f"{error.next_step} {meant}".strip()
        raise ServerError(error.message, where=error.where, next_step=step) from error
    if item is None:
        raise UsageError(
            f"server {shown}{f' {clean_line(version, 40)}' if version else ''} not found in the registry.",
            where=clean_line(address, 200),
            next_step=f"Use `mcptui search` to find names. {meant}",
        )
    entry = item["server"]
    if (status := _status(item)) == "deleted":
        raise UsageError(
            f"{clean_line(name, 100)} was deleted from the registry.", where=clean_line(address, 200)
        )
    way = _chosen(launch_options(entry), args.kind, clean_line(name, 100))
    print(f"{entry_text(entry, 'name')} {entry_text(entry, 'version', 40)}{f', {status}' if status else ''}")
    for line in (entry_text(entry, "description"), _repository(entry)):
        if line:
            print(f"  {line}")
    print(
        f"  {way.kind}: {clean_line(way.what, 200)} (according to {clean_line(address, 200)})\n", flush=True
    )
    # A secret without a value is configured as a reference to an environment variable.
    inputs = [replace(one, required=False) if one.secret else one for one in way.inputs]
    given = pair_list(args.set)
    values = values_of(inputs, given, ask_for(secrets=False))
    table = way.table(values)
    refuse_borrowed_secrets(table, given)
    places = secret_places(way.inputs, values, way.table)
    lines = list(_asked_for(way, dict(given)))
    launcher = str(table.get("command", ""))
    if launcher and find_program(launcher) is None:
        lines.append(f"  {launcher} is not installed: {_INSTALL.get(launcher, 'install it')}")
    return FoundServer(
        table,
        named_after(name.rpartition("/")[2]),
        "registry",
        places.shown(),
        tuple(lines),
        store=places.stored,
    )


def _repository(entry: Mapping[str, Any]) -> str:
    repository = entry.get("repository")
    return entry_text(repository, "url") if isinstance(repository, Mapping) else ""


def _asked_for(way: LaunchOption, given: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each secret and each optional value that is not set yet."""
    for one in way.inputs:
        if one.name in given:
            continue
        if one.secret:
            yield f"  from the environment variable {variable_name(one.name)}: {one.about}"
        elif not one.required or one.default is not None:
            yield f"  --set {clean_line(one.name, 60)}=…  {one.about}"


def _chosen(found: Sequence[LaunchOption], kind: str | None, name: str) -> LaunchOption:
    """Return the way to run it: of the requested kind, the only one, or the one that the user selects."""
    fitting = [way for way in found if kind is None or way.kind == kind]
    usable = [way for way in fitting if not way.problem]
    if not usable:
        if not fitting and found:
            has = ", ".join(dict.fromkeys(way.kind for way in found))
            raise UsageError(f"{name} has no {kind}.", next_step=f"It has: {clean_line(has, 100)}.")
        reasons = list(dict.fromkeys(way.problem for way in fitting)) or ["no package and no URL"]
        lines = "".join(f"\n  {reason}" for reason in reasons)
        raise UsageError(f"{name} cannot be used:{lines if len(reasons) > 1 else f' {reasons[0]}.'}")
    if len(usable) == 1:
        return usable[0]
    shown = [f"{way.kind}: {clean_line(way.what, 200)}" for way in usable]
    if not is_terminal():
        kinds = list(dict.fromkeys(way.kind for way in usable))
        if len(kinds) == 1:
            return usable[0]
        choice = " or ".join(f"--as {kind}" for kind in KINDS if kind in kinds)
        head = f"{name} has {len(usable)} package types. Choose one with {choice}:"
        raise UsageError("\n  ".join((head, *shown)))
    print("\n".join(f"{number}  {line}" for number, line in enumerate(shown, 1)))
    try:
        typed = input(f"Which one? [1-{len(shown)}, default 1] ").strip() or "1"
    except EOFError:
        typed = ""
    if not typed.isdecimal() or not 1 <= int(typed) <= len(usable):
        raise UsageError("nothing was chosen.")
    return usable[int(typed) - 1]
