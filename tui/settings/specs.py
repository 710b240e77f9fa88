"""Converts checked settings to `ServerSpec` and `Rules`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import as_sentences, dotted, with_stop
from tui.core.language.translate import altered, message
from tui.core.permission.rules import Rules
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.servers import (
    EraChoice,
    Grant,
    OAuthSpec,
    SamplingRule,
    ServerSpec,
    Transport,
)
from tui.core.text import clean_line, list_in, mapping, object_in, text_in
from tui.settings.load import Loaded
from tui.settings.locations import base_folder, default_servers, project_of, server_folder
from tui.settings.schema import ApprovalSettings, Section, ServerSettings


def server_specs(loaded: Loaded, *, disabled: bool = False) -> tuple[ServerSpec, ...]:
    """Return the enabled servers of a configuration, in its order.

    With `disabled`, also servers that are only listed: those that are disabled or configured wrongly. A
    configuration without a `servers` table gives the shipped samples, one with an empty table none. A file
    that could not be read gives none, since it may configure servers.
    """
    if not loaded.readable:
        return ()
    if not loaded.names_servers:
        return default_servers()
    folder, project = base_folder(loaded.path), project_of(loaded.path)
    found = {
        name: _with_provider(
            replace(_spec(name, server, folder, project), references=loaded.references_of("servers", name)),
            server.oauth.identity_provider,
            loaded,
        )
        for name, server in loaded.settings.servers.items()
        if disabled or not server.disabled
    }
    if disabled:
        found |= {name: _unusable_spec(name, loaded, problems) for name, problems in left_out(loaded).items()}
    order = [name for name in loaded.raw.get("servers", {}) if name in found]
    return tuple(found[name] for name in dict.fromkeys((*order, *found)))


def _with_provider(spec: ServerSpec, name: str | None, loaded: Loaded) -> ServerSpec:
    """Return a server with its identity provider, and what the settings of that take from elsewhere."""
    if name is None:
        return spec
    provider = loaded.settings.identity_providers[name]
    found = IdentityProvider(name, **values_for(IdentityProvider, provider))
    references = {
        f"oauth.identity_provider.{place}": one
        for place, one in loaded.references_of("identity_providers", name).items()
    }
    oauth = replace(spec.oauth, identity_provider=found)
    return replace(spec, oauth=oauth, references={**spec.references, **references})


def _unusable_spec(name: str, loaded: Loaded, problems: Sequence[str]) -> ServerSpec:
    table = mapping(loaded.raw["servers"][name])
    url = table.get("url")
    prefix = dotted(("servers", name))

    def without_place(said: str) -> str:
        return said.partition(prefix)[2].lstrip(".: ：") or said

    said = as_sentences(altered(problem, without_place) for problem in problems)
    whole = with_stop(message("invalid configuration: {problem}", problem=said))
    return ServerSpec(
        name,
        text_in(table, "command"),
        tuple(map(str, list_in(table, "args"))),
        url=url if isinstance(url, str) else None,
        problem=clean_line(whole, 600),
    )


def left_out(loaded: Loaded, kind: str = "servers") -> dict[str, tuple[str, ...]]:
    """Return the configured servers (or `models`) that cannot be used, each with its problems, in order."""
    usable = loaded.settings.servers if kind == "servers" else loaded.settings.models
    found: dict[str, tuple[str, ...]] = {}
    for name, entry in object_in(loaded.raw, kind).items():
        if name in usable or (isinstance(entry, Mapping) and entry.get("disabled") is True):
            continue
        found[name] = tuple(str(one) for one in loaded.errors if one.keys[:2] == (kind, name))
    return found


_SOURCES = {
    "import": "the configuration of another host",
    "registry": "a registry",
    "bundle": "a bundle",
    "card": "a server card",
}
"""Where a server in the user's own configuration came from, in words."""


def _spec(name: str, server: ServerSettings, folder: Path, project: Path | None) -> ServerSpec:
    command, args = server.command or "", list(server.args)
    if server.cwd is None:
        command, *args = resolved([command, *args], folder)
    if command.startswith("~"):
        command = os.path.expanduser(command)
    cwd = str(folder / os.path.expanduser(server.cwd)) if server.cwd else None
    if project is not None and server.command and cwd is None:
        cwd = str(project)  # where its host starts it
    given = values_for(ServerSpec, server) | {
        "command": command,
        "args": tuple(args),
        "cwd": cwd,
        "folder": str(server_folder(name)) if server.command and not cwd else "",
        "transport": Transport(server.kind),
        "era": EraChoice(server.era),
        "pins": tuple(server.pin),
        "restart": server.restart is True,
        "stop_first": server.restart == "stop-first",
        "watch": tuple(os.path.join(cwd or folder, os.path.expanduser(one)) for one in server.watch),
        "is_own": bool(server.watch),
        "oauth": OAuthSpec(
            **values_for(OAuthSpec, server.oauth)
            | {"grant": Grant(server.oauth.grant), "identity_provider": None}
        ),
        "roots": tuple(os.path.normpath(folder / _local(root)) for root in server.roots),
        "sampling": SamplingRule(server.sampling),
        "source": _SOURCES[server.source] if server.source else "",
        "sse_fallback": server.transport is None and server.kind == "http",
    }
    return ServerSpec(name, **given)


def values_for(record: type, settings: Section) -> dict[str, Any]:
    """Return the settings that a record has by the same name. Those that are not set keep its defaults."""
    names = [one.name for one in fields(record) if one.name in type(settings).model_fields]
    found = {name: getattr(settings, name) for name in names}
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found.items()
        if value is not None
    }


def _local(root: str) -> str:
    if not root.startswith("file://"):
        return os.path.expanduser(root)
    from urllib.request import url2pathname  # loads the HTTP client of the standard library

    return url2pathname(urlsplit(root).path)


def resolved(words: Sequence[str], folder: Path) -> list[str]:
    """Return a command line where relative paths that exist in `folder` are absolute.

    Only words that look like a path are changed: `python -m server` means a module, even if a folder of that
    name exists.
    """

    def absolute(word: str) -> str:
        looks_like_path = "/" in word or os.sep in word or "." in word
        if not looks_like_path or word.startswith("-") or os.path.isabs(word) or "\0" in word:
            return word
        path = os.path.normpath(folder / word)
        return path if os.path.exists(path) else word

    return [absolute(word) for word in words]


def approval_rules(settings: ApprovalSettings) -> Rules:
    """Return the user's rules for tool calls."""
    return Rules.parsed(settings.rules, allow=settings.allow, ask=settings.ask, deny=settings.deny)
