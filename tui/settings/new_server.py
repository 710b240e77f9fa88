"""Builds the table and the name of a new server from an address or command line that the user typed. Pure."""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import ConfigError, UsageError, dotted, reason_of
from tui.core.language.translate import message
from tui.core.programs import command_line, is_command, launched
from tui.core.secrets.commands_and_urls import blanked_arguments
from tui.core.servers import ServerSpec
from tui.core.text import capitalized, clean_line, quoted_name
from tui.settings.config_secrets import masked, secret_values
from tui.settings.files import Unreadable, read_bounded
from tui.settings.load import load_text
from tui.settings.names import fitted_name, name_fault
from tui.settings.references import NAME, escaped
from tui.settings.save import table_block
from tui.settings.server_warnings import server_warnings
from tui.settings.specs import server_specs
from tui.settings.validate import UNKNOWN_KEY

SCHEMES = ("http", "https", "ws", "wss")

Table = Mapping[str, Any]
Pairs = Mapping[str, str] | None
"""Environment variables or HTTP headers, None for none."""

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BARE_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/\S*)?")
_FILE = re.compile(r"(?<!\$)\$\{file:[^${}]+\}")
_REFERENCE = re.compile(rf"\$\{{({NAME})\}}")
_USUAL_LABELS = frozenset({"www", "mcp", "api", "server", "app"})
_USUAL_FILES = frozenset({"server", "main", "index", "__main__", "app", "cli", "dist", "build", "src", "bin"})
"""Names of files and folders that most packages have."""

_AFFIXES = re.compile(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-server-mcp|-mcp|-server)$")
_SAYS_NOTHING = _USUAL_FILES | {"mcp", "mcp-server", "js", "py"}
_VERSION = re.compile(r"(?<=.)[@:=<>~\[][^/]*$")
_PROGRAM_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|sh)$", re.IGNORECASE)
_COUNTRY_SUFFIXES = frozenset({"ac", "co", "com", "edu", "gov", "net", "org"})
"""Second labels of domains of a country that say nothing, as in `example.co.uk`."""

_BRIDGES = frozenset({"remote", "proxy", "supergateway"})
"""Names of packages that only connect to the URL among their arguments."""

_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")


def is_address(word: str) -> bool:
    """Return whether a word is an address rather than a command."""
    return _ADDRESS.match(word) is not None


def server_table(
    words: Sequence[str],
    *,
    env: Pairs = None,
    headers: Pairs = None,
    transport: str = "",
    known: Callable[[str], bool] = is_command,
) -> dict[str, Any]:
    """Return the table of a server, as under `[servers.NAME]`; `known` says whether a command exists.

    Raises UsageError if the words are neither an address nor a command, or contradict the options.
    """
    if not words or not words[0].strip():
        raise UsageError(
            message("a URL or a command is required."),
            next_step=message("For example: mcptui add npx -y PACKAGE"),
        )
    first = words[0].strip()
    if is_address(first):
        return _remote(first, words[1:], env, headers, transport)
    if headers:
        raise UsageError(
            message("headers require a URL, and this is a command."),
            next_step=message("Use --env for its environment."),
        )
    command = list(words)
    if len(command) == 1 and not known(first):
        command = line_words(first)
    if not known(command[0]):
        shown, step = quoted_name(command[0], 100), message("Check the spelling, or use its path.")
        if len(words) == 1 and _BARE_ADDRESS.fullmatch(first):
            step = message("If it is a URL, write https://{first}", first=clean_line(first, 100))
        elif os.path.isdir(command[0]):
            raise UsageError(
                message("{shown} is a folder, not a command.", shown=shown),
                next_step=message("Use the path of a program."),
            )
        elif words[1:] and known(words[1]):
            step = message(
                "If it is the name of the server, write --name {name}", name=clean_line(first, 100)
            )
        raise UsageError(message("command {shown} not found on PATH.", shown=shown), next_step=step)
    table: dict[str, Any] = {"command": command[0]}
    table |= {"args": command[1:]} if command[1:] else {}
    table |= {"env": dict(env)} if env else {}
    return table | ({"transport": transport} if transport and transport != "stdio" else {})


def _remote(address: str, rest: Sequence[str], env: Pairs, headers: Pairs, transport: str) -> dict[str, Any]:
    scheme = address.partition(":")[0].lower()
    if scheme not in SCHEMES:
        raise UsageError(
            message("{scheme}:// is not a server URL.", scheme=scheme),
            next_step=message("Use http, https, ws or wss."),
        )
    if rest:
        raise UsageError(message("a URL takes no arguments: {rest}", rest=clean_line(" ".join(rest), 100)))
    if env:
        raise UsageError(
            message("environment variables require a command, and this is a URL."),
            next_step=message("Use --header for its HTTP headers."),
        )
    transport = transport or ("websocket" if scheme in ("ws", "wss") else "")
    table: dict[str, Any] = {"url": address} | ({"transport": transport} if transport else {})
    return table | ({"headers": dict(headers)} if headers else {})


def line_words(line: str) -> list[str]:
    """Return the words of a typed line: an address as it is, a command as a shell would split it.

    Raises UsageError.
    """
    if not line or is_address(line):
        return [line]
    if words := command_line(line):
        return words
    raise UsageError(
        message("invalid command line: too long, or quotes not closed."),
        next_step=message("Close the quotes."),
    )


def pairs(texts: Iterable[str], *, colon: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of `NAME=VALUE`, or with `colon` also `NAME: VALUE`; raises InvalidPair."""
    found: list[tuple[str, str]] = []
    for number, text in enumerate(texts, 1):
        marks = [mark for mark in ("=", ":") if mark in text and (colon or mark == "=")]
        mark = min(marks, key=text.index, default="")
        name, _, value = text.partition(mark) if mark else ("", "", "")
        if not name.strip() or any(char.isspace() for char in name.strip()):
            # The value may be a secret.
            shown = quoted_name(f"{clean_line(name, 60)}{mark}…" if mark else text, 60)
            shown = f"header {number}" if colon and not mark else shown
            raise InvalidPair(
                message("{shown} is not {form}.", shown=shown, form="NAME: VALUE" if colon else "NAME=VALUE")
            )
        found.append((name.strip(), value.strip() if mark == ":" else value))
    return found


def server_name(table: Table) -> str:
    """Return a name for a server, from its address or package: "everything", "linear", "server"."""
    if isinstance(url := table.get("url"), str):
        return _fitted(_name_of_host(url))
    return _fitted(_name_of_command([str(table.get("command", "")), *map(str, table.get("args", ()))]))


def named_after(package: str) -> str:
    """Return a name for a server from that of its package: "everything" for "mcp-server-everything".

    If that says no more than "mcp" or "server", its publisher is the name: "playwright" for
    "@playwright/mcp".
    """
    return _fitted(_name_of_package(package))


def _fitted(found: str) -> str:
    return fitted_name(found.lower()) or "server"


def _name_of_host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if host == "localhost" or re.fullmatch(r"[\d.]+|.*:.*", host):
        return f"local-{port}" if port else "local"
    labels = host.split(".")
    country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _COUNTRY_SUFFIXES
    kept = [one for one in labels[: -2 if country else -1] if one not in _USUAL_LABELS] or labels[:1]
    return "-".join(kept)


def _name_of_command(words: Sequence[str]) -> str:
    found = launched(blanked_arguments(words))
    path = Path(found)
    if path.suffix in _SCRIPTS:
        stem = path.stem
        if stem not in _USUAL_FILES:
            return _stripped(stem)
        folders = (folder.name for folder in path.absolute().parents)
        return _stripped(next((name for name in folders if name not in _USUAL_FILES), ""))
    name = _name_of_package(found)
    urls = (word for word in words if name in _BRIDGES and is_address(word))
    return next(filter(None, map(_name_of_host, urls)), name)


def _name_of_package(package: str) -> str:
    """Return the last part of a package, image or module that says something, without affixes."""
    path = [part for part in _PROGRAM_SUFFIX.sub("", _VERSION.sub("", package)).split("/") if part]
    if len(path) > 1 and "." in path[0]:  # the registry of an image
        del path[0]
    parts = [part.removeprefix("@") for part in ".".join(path).split(".") if part]
    names = (_stripped(part) for part in reversed(parts))
    return next((name for name in names if name not in _SAYS_NOTHING), parts[-1] if parts else "")


def _stripped(name: str) -> str:
    kept = name.replace("_", "-")
    while (shorter := _AFFIXES.sub("", kept)) and shorter != kept:
        kept = shorter
    return name if kept == name.replace("_", "-") else kept


def as_toml(name: str, table: Table) -> str:
    """Return a server as TOML, with its secrets masked."""
    return table_block(("servers", name), masked_table(name, table))


def masked_table(name: str, table: Table) -> dict[str, Any]:
    """Return the table of a server with its secrets masked."""
    tree = {"servers": {name: dict(table)}}
    secrets = {key: value for key, value in secret_values(tree, tree, {}).items() if "${" not in value}
    found: dict[str, Any] = masked(tree, tree, secrets)["servers"][name]
    return found


def first_fault(
    name: str, table: Table, path: Path, env: Mapping[str, str], kind: str = "servers"
) -> tuple[str, str]:
    """Return the first key of a server or model (`kind`) that is invalid, and why, or "" twice.

    Variables count as set, because they can be set later, and files as readable.
    """
    text = table_block((kind, name), table)
    variables = dict.fromkeys(_REFERENCE.findall(text), "x")
    for problem in load_text(_FILE.sub("x", text), path, variables | dict(env)).errors:
        return dotted(problem.keys[2:]), problem.message
    return "", ""


_OTHER_NAME = message("Choose another name.")


def check_new(
    name: str, table: Table, path: Path, env: Mapping[str, str], *, kind: str = "servers", created: str = ""
) -> list[str]:
    """Return notes on a valid server, such as variables that are not set. Raises ConfigError.

    `kind` is "models" for a model profile. `created` is a folder that does not exist yet, but will.
    """
    if fault := name_fault(name):
        raise InvalidName(message("the name {name} {fault}.", name=quoted_name(name), fault=fault))
    key, fault = first_fault(name, table, path, env, kind)
    if fault:
        raise InvalidKey(key, fault, where=clean_line(name, 64))
    loaded = load_text(table_block((kind, name), table), path, env)
    warnings = server_warnings(loaded, created=created) if kind == "servers" else []
    notes = [problem.message for problem in loaded.problems]
    for problem in warnings:
        key = dotted(problem.keys[2:])
        head = "" if problem.message.startswith(f"{key} ") else f"{key}: "
        step = f". {capitalized(problem.suggestion)}" if problem.suggestion else ""
        notes.append(f"{head.lstrip(': ')}{problem.message}{step}")
    return notes


def present_servers(path: Path) -> dict[str, Any]:
    """Return the servers of a configuration file, as written in it. Raises ConfigError if it is damaged."""
    try:
        servers = tomllib.loads(read_bounded(path)).get("servers", {})
    except FileNotFoundError:
        return {}
    except Unreadable as error:
        raise ConfigError(message("{error}. Nothing was changed.", error=error), where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            message("cannot be read: {reason}. Nothing was changed.", reason=reason_of(error)),
            where=str(path),
        ) from error
    return servers if isinstance(servers, dict) else {}


class InvalidKey(ConfigError):
    """The value of a server's `key` is invalid, or there is no such key."""

    def __init__(self, key: str, fault: str, *, where: str) -> None:
        unknown = fault == UNKNOWN_KEY
        said = message("the key `{key}` is unknown", key=key) if unknown else f"{key} {fault}".lstrip()
        super().__init__(f"{said}.", where=where)
        self.key = key


class InvalidPair(UsageError):
    """A line of an environment or of headers is no name with a value."""


class InvalidName(ConfigError):
    """A server cannot have this name."""


def refuse_duplicate(
    name: str, table: Table, present: Mapping[str, Any], next_step: str = _OTHER_NAME
) -> None:
    """Raise ConfigError if another name already has the same server, InvalidName if the name is taken."""
    if name in present:
        raise InvalidName(
            message("a server named {name} is already configured.", name=quoted_name(name)),
            next_step=next_step,
        )
    for known, there in present.items():
        if is_same(there, table):
            raise ConfigError(
                message("this server is already configured as {known}.", known=quoted_name(known))
            )


def is_same(there: object, table: Table) -> bool:
    """Return whether two tables are one server. Its `source` and `card` do not make it another one."""
    no = {"source": "", "card": ""}
    return isinstance(there, Mapping) and {**there, **no} == {**table, **no}


def unconfigured_server(
    words: Sequence[str],
    env: Pairs = None,
    headers: Pairs = None,
    transport: str = "",
    era: str = "",
    *,
    variables: Pairs = None,
    folder: Path | None = None,
) -> tuple[ServerSpec, Mapping[str, str]]:
    """Return the server of an address or a command line, and its secrets by displayable name.

    `${VAR}` is replaced in `env` and `headers`, not in the words. A command runs in the current folder, as in
    a shell. `variables` and `folder` are those of another process. Raises UsageError or ConfigError if the
    words are neither.
    """
    table = server_table(words, env=env, headers=headers, transport=transport)
    table |= {"era": era} if era else {}
    name = server_name(table)
    texts: dict[str, Any] = {key: escaped(table[key]) for key in ("command", "url") if key in table}
    texts |= {"args": [escaped(word) for word in table["args"]]} if "args" in table else {}
    place = (folder or Path.cwd()) / "mcptui.toml"
    loaded = load_text(
        table_block(("servers", name), table | texts), place, os.environ if variables is None else variables
    )
    for problem in loaded.errors:
        key = dotted(problem.keys[2:])
        raise ConfigError(f"{f'{key} ' if key else ''}{problem.message}.", where="the server")
    (spec,) = server_specs(loaded)
    return replace(spec, folder=""), loaded.secrets
