"""`mcptui search`, and `mcptui add NAME` for registry entries; a client for registries, API v0.1.

Requests are sent only when the user asks.
"""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2

from tui.addons.packages.registry_entry import KINDS, LaunchOption, launch_options, variable_name
from tui.addons.packages.server_inputs import entry_text, found_server, values_of
from tui.commands.add import FoundServer
from tui.commands.permission.terminal_approver import is_terminal, typed_answer
from tui.commands.progress import progress
from tui.core.errors import ConfigError, McptuiError, ServerError, UsageError, reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.matching import has_words
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean, clean_line, object_in, quoted_name, text_in
from tui.core.units import size
from tui.core.web import joined, proxy_problem
from tui.host.transports.http_client import RoutedTransport, open_client, redirect_target, send_within_origin
from tui.settings.new_server import named_after, pairs

FOUND, NOTHING, USAGE = 0, 1, 2
OFFICIAL = "io.modelcontextprotocol.registry/official"


def search(args: argparse.Namespace) -> int:
    """Run `mcptui search` and return its exit code."""
    try:
        url, shown = _registry_url(args)
        print(f"· asking {clean_line(shown, 200)}", file=sys.stderr, flush=True)
        registry = Registry(url, shown)
        with progress("searching"):
            found = asyncio.run(registry.search(args.words, args.limit))
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return NOTHING if isinstance(error, ServerError) else USAGE
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
    official = object_in(object_in(item, "_meta"), OFFICIAL)
    status = entry_text(official, "status", 20)
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
        with progress("looking it up"):
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
    head = f"{entry_text(entry, 'name')} {entry_text(entry, 'version', 40)}{f', {status}' if status else ''}"
    about = (entry_text(entry, "description"), entry_text(object_in(entry, "repository"), "url"))
    lines = [head, *(f"  {line}" for line in about if line)]
    return entry_server(args, {**entry, "name": name}, lines, clean_line(address, 200))


def entry_server(
    args: argparse.Namespace, entry: Mapping[str, Any], told: Sequence[str], where: str
) -> FoundServer:
    """Return the server of an entry, as it would be configured, after its missing values were asked for.

    `told` is printed before that; `where` is the address of the entry, cleaned. Raises UsageError if there
    is no usable way to run it.
    """
    name = text_in(entry, "name")
    way = _chosen(launch_options(entry), args.kind, clean_line(name, 100))
    print("\n".join(told))
    print(f"  {way.kind}: {clean_line(way.what, 200)} (according to {where})\n", flush=True)
    # A secret without a value is configured as a reference to an environment variable.
    inputs = [replace(one, required=False) if one.secret else one for one in way.inputs]
    given = pairs(args.set)
    values = values_of(inputs, given)
    lines = _asked_for(way, dict(given), str(way.table(values)))
    server = found_server(way.inputs, given, values, way.table, lines)
    domain, _, own = name.rpartition("/")  # the domain is reversed
    package = f"{domain.rpartition('.')[2]}/{own}"
    return replace(server, name=named_after(package), source="registry")


def _asked_for(way: LaunchOption, given: Mapping[str, str], table: str) -> Iterator[str]:
    """Yield a line for each secret and each optional value that is not set yet; `table` may refer to it."""
    for one in way.inputs:
        if one.name in given:
            continue
        if one.secret and f"${{{variable_name(one.name)}}}" in table:
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
    typed = typed_answer(f"Which one? [1-{len(shown)}, default 1] ")
    number = "1" if typed == "" else typed or ""
    if not number.isdecimal() or not 1 <= int(number) <= len(usable):
        raise UsageError("nothing was chosen.")
    return usable[int(number) - 1]


SECONDS = 30.0
MAX_BYTES = 16 * 1024 * 1024
MAX_PAGES = 20
PAGE = 100
MAX_ENTRIES = 5000
"""Maximum entries that a search reads. A registry may send more per page than it is asked for."""

NOT_FOUND = 404
MAX_NAME = 1000
MAX_TEXT = 10_000


class Registry:
    """One registry. Every method raises ServerError with one sentence if there is no usable answer.

    `shown` is its URL for errors. `is_cut` says whether the last search left entries out.
    """

    def __init__(self, url: str, shown: str = "") -> None:
        self._base = url.rstrip("/")
        self._where = clean_line(shown or url, 200)
        self.is_cut = False

    async def search(self, words: list[str], limit: int) -> list[Mapping[str, Any]]:
        """Return the newest version of each server that has all words in its name, title or description."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor = ""
        left = MAX_ENTRIES
        for _ in range(MAX_PAGES):
            query = {"search": words[0], "version": "latest", "limit": str(PAGE)}
            answer = await self._get("/v0.1/servers", query | ({"cursor": cursor} if cursor else {}))
            listed = answer.get("servers")
            if not isinstance(listed, list):
                raise ServerError("the response has no list of servers.", where=self._where)
            for item in listed[:left]:
                if isinstance(item, Mapping) and _has(item, " ".join(words)):
                    found.setdefault(str(item["server"].get("name"))[:MAX_NAME], item)
            after = object_in(answer, "metadata").get("nextCursor")
            left -= len(listed)
            if len(found) >= limit or left <= 0 or not isinstance(after, str) or after in ("", cursor):
                break
            cursor = after
        else:  # there are more pages
            left = -1
        self.is_cut = left < 0 and len(found) < limit
        return list(found.values())[:limit]

    async def server(self, name: str, version: str) -> Mapping[str, Any] | None:
        """Return the entry of a server, None if there is none with that name and version."""
        place = f"/v0.1/servers/{quote(name, safe='')}/versions/{quote(version, safe='')}"
        answer: Mapping[str, Any] | None = await self._get(place, {}, optional=True)
        if answer is None:
            return None
        entry = answer.get("server")
        if not isinstance(entry, Mapping):
            raise ServerError("the response describes no server.", where=self._where)
        asked = [("server", "name", name), ("version", "version", version)]
        for what, key, wanted in asked[: 1 if version == "latest" else 2]:
            if (found := text_in(entry, key)).casefold() != wanted.casefold():
                instead = f"{quoted_name(found, 100)} instead of {quoted_name(wanted, 100)}"
                raise ServerError(f"returned the {what} {instead}.", where=self._where)
        return answer

    async def _get(self, place: str, query: Mapping[str, str], *, optional: bool = False) -> Any:
        try:
            async with asyncio.timeout(SECONDS):
                return await self._answer(place, query, optional)
        except TimeoutError:
            raise ServerError(f"no response within {SECONDS:g} s.", where=self._where) from None
        except httpx2.HTTPError as error:
            through = proxy_problem(error, self._base, "the registry")
            problem, step = through or (
                f"cannot connect: {reason_of(error)}",
                "Check the URL in [registry] url or --registry.",
            )
            raise ServerError(f"{problem}.", where=self._where, next_step=step) from error
        except httpx2.InvalidURL:
            raise ServerError("is not a URL.", where=self._where) from None

    async def _answer(self, place: str, query: Mapping[str, str], optional: bool) -> Any:
        async with open_client(RoutedTransport(), {"accept": "application/json"}) as client:
            request = client.build_request("GET", self._base + place, params=dict(query))
            response = await send_within_origin(client, request)
            try:
                if optional and response.status_code == NOT_FOUND:
                    return None
                if onward := redirect_target(response):
                    raise ServerError(f"redirects to {clean_line(onward, 200)}.", where=self._where)
                if response.status_code != httpx2.codes.OK:
                    raise ServerError(f"returned HTTP {response.status_code}.", where=self._where)
                if (body := await joined(response.aiter_bytes(), MAX_BYTES)) is None:
                    raise ServerError(f"returned more than {size(MAX_BYTES)}.", where=self._where)
            finally:
                await response.aclose()
        answer = json_value(body)
        if not isinstance(answer, dict):
            raise ServerError("did not return a JSON object.", where=self._where)
        return answer


def _has(item: Mapping[str, Any], typed: str) -> bool:
    server = object_in(item, "server")
    texts = (text_in(server, key)[:MAX_TEXT] for key in ("name", "title", "description"))
    return bool(server) and has_words(" ".join(texts), typed)
