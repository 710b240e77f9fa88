"""Reads the server lists of other hosts, such as Claude, Cursor, VS Code, Zed and Gemini CLI.

All have an object of servers with command, args and env, or with url and headers, under `mcpServers` or a key
of their own. Each entry is converted to a common format, then to the table under `[servers.NAME]` in our
file.

Knows Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Zed, Gemini CLI, opencode and ollmcp.
A note names what has no counterpart, is not imported, or would be dangerous. References to variables are not
resolved.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import reason_of
from tui.core.text import clean_line, quoted_name
from tui.core.units import bounded, plural
from tui.settings.key_positions import KeyPath, Place, json_places
from tui.settings.locations import base_folder
from tui.settings.problems import did_you_mean
from tui.settings.references import NAME, escaped

Note = Callable[[str], None]

_TRUSTING = frozenset(
    {"alwaysAllow", "autoApprove", "always_allow", "alwaysAllowed", "trust", "autoApproveAll"}
)
"""Keys that let tools run without approval."""

_OFF = frozenset({"disabledTools", "excludeTools", "tools_off", "blockedTools"})
_ONLY = frozenset({"includeTools", "enabledTools", "enabled_tools", "tools"})
_RUNNING = frozenset({"headersHelper", "headers_helper"})
"""Keys with a command that produces a value."""

_ENV_FILES = frozenset({"envFile", "env_file", "dotenv"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})
_CLIENT = {
    "clientid": "client_id",
    "clientsecret": "client_secret",
    "scopes": "scopes",
    "scope": "scopes",
    "callbackport": "callback_port",
    "issuer": "issuer",
}
_FOUND_OUT = frozenset(
    {"authorizationurl", "tokenurl", "registrationurl", "authservermetadataurl", "audiences"}
)
_DOLLAR = re.compile(r"(?<![\w\\$])\$([A-Z_][A-Z0-9_]*)(?![\w{])")


def in_common_format(entry: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return an entry with the keys that all hosts have, and note known keys that are not imported."""
    found = dict(entry)
    for key in ("command", "transport"):
        if isinstance(inner := found.get(key), Mapping):  # Zed, Continue
            del found[key]
            found = {
                **{("command" if name == "path" else name): value for name, value in inner.items()},
                **found,
            }
    if isinstance(words := found.get("command"), list):  # opencode
        args = found.get("args")
        found["command"] = words[0] if words else ""
        found["args"] = [*words[1:], *(args if isinstance(args, list) else [])]
    if "environment" in found and "env" not in found:
        found["env"] = found.pop("environment")
    if "httpUrl" in found:
        if found.pop("url", None) is not None:
            note("has a `url` and an `httpUrl`. `httpUrl` is used")
        found["url"] = found.pop("httpUrl")
        found.setdefault("type", "http")
    if str(found.get("type", "")).lower() == "remote":
        del found["type"]  # either HTTP transport, as for a `url` without a transport
    _take_command(found, note)
    _take_tools(found, note)
    _take_sign_in(found, note)
    return found


def _take_command(found: dict[str, Any], note: Note) -> None:
    command, args = found.get("command"), found.get("args")
    if (
        not isinstance(command, str)
        or not isinstance(args, list)
        or not all(isinstance(a, str) for a in args)
    ):
        return
    program = os.path.basename(command).lower()
    if program in ("cmd", "cmd.exe") and len(args) > 1 and args[0].lower() == "/c" and os.name != "nt":
        found["command"], found["args"] = args[1], args[2:]
        note(f"`{clean_line(command, 20)} /c` (Windows) removed: it starts {clean_line(args[1], 60)}")
    elif program in _SHELLS and any(word in ("-c", "-Command", "/c", "-lc") for word in args):
        note(f"runs a shell: {clean_line(' '.join([command, *args]), 160)}")
    if "mcp-remote" in [re.sub(r"@[\w.-]+$", "", word) for word in args]:
        url = next((word for word in args if word.startswith(("http://", "https://"))), "")
        if url:
            note(f"uses mcp-remote. `url` = {clean_line(_shown(url), 120)} works without it")


def _shown(url: str) -> str:
    return url.partition("?")[0]


def _take_tools(found: dict[str, Any], note: Note) -> None:
    for key in [key for key in found if key in _TRUSTING]:
        value = found.pop(key)
        if value in (False, [], None):
            continue
        what = f"{plural(len(value), 'tool')}" if isinstance(value, list) else "all its tools"
        note(f"`{key}` (run {what} without approval) not imported. Use `[approvals]`")
    for key in [key for key in found if key in _OFF]:
        value = found.pop(key)
        if isinstance(value, list):
            found["off"] = [*found.get("off", []), *(name for name in value if isinstance(name, str))]
    for key in [key for key in found if key in _ONLY]:
        value = found.pop(key)
        if value not in ([], ["*"], None):
            note(f"`{key}` not imported: all tools are offered. Disable tools in the workbench")
    for key in [key for key in found if key in _RUNNING]:
        command = found.pop(key)
        note(f"`{key}` (runs {quoted_name(str(command), 80)}) not imported. Use `headers`")
    for key in [key for key in found if key in _ENV_FILES]:
        file = found.pop(key)
        note(f"`{key}` not imported. Copy the variables of {clean_line(str(file), 80)} to `env`")


def _take_sign_in(found: dict[str, Any], note: Note) -> None:
    if "authProviderType" in found:
        kind = clean_line(str(found.pop("authProviderType")), 40)
        if kind not in ("dynamic_discovery", ""):
            note(f"signs in with {kind}, which mcptui does not support")
    said = found.pop("oauth", None)
    if said is None and isinstance(found.get("auth"), Mapping):
        said = found.pop("auth")
    if not isinstance(said, Mapping) or said.get("enabled") is False:
        return
    ours: dict[str, Any] = {}
    for key, value in said.items():
        plain = re.sub(r"[^a-z]", "", key.lower())
        if plain in _CLIENT and value not in (None, "", []):
            ours[_CLIENT[plain]] = value.split() if plain == "scope" and isinstance(value, str) else value
        elif plain == "redirecturi" and isinstance(value, str):
            ours |= _port_of(value, note)
        elif plain in _FOUND_OUT:
            note(f"`oauth.{clean_line(key, 40)}` not imported: mcptui gets it from the server")
        elif plain != "enabled" and value not in (None, "", [], False):
            note(f"`oauth.{clean_line(key, 40)}` is not supported and is ignored")
    if isinstance(ours.get("scopes"), str):
        ours["scopes"] = ours["scopes"].split()
    if ours:
        found["oauth"] = ours


def _port_of(address: str, note: Note) -> dict[str, int]:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return {}
    if port is None:
        return {}
    if parts.path != "/callback":
        note(f"`oauth.redirectUri` becomes http://127.0.0.1:{port}/callback. Register that URL")
    return {"callback_port": port}


def with_braces(value: str, note: Note) -> str:
    """Return `$NAME` as the reference `${NAME}`, which is its meaning in Gemini CLI."""
    for name in dict.fromkeys(_DOLLAR.findall(value)):
        note(f"${name} is read from the environment variable {name}")
    return _DOLLAR.sub(r"${\1}", value)


def of_projects(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on servers of single projects (Claude Code), which are not imported."""
    projects = tree.get("projects")
    for path, project in projects.items() if isinstance(projects, Mapping) else ():
        servers = project.get("mcpServers") if isinstance(project, Mapping) else None
        if servers:
            yield (
                f"{plural(len(servers), 'server')} of the project {clean_line(str(path), 200)} "
                f"{'is' if len(servers) == 1 else 'are'} not imported"
            )


ROOTS: tuple[KeyPath, ...] = (
    ("mcpServers",),
    ("servers",),
    ("context_servers",),
    ("mcp", "servers"),
    ("mcp", "mcpServers"),
    ("amp.mcpServers",),
    ("mcp",),
)
_FIELDS = {
    "command": "command",
    "args": "args",
    "env": "env",
    "cwd": "cwd",
    "type": "transport",
    "transport": "transport",
    "transportType": "transport",
    "url": "url",
    "serverUrl": "url",
    "headers": "headers",
    "disabled": "disabled",
    "timeout": "tool_seconds",
    "off": "off",
    "oauth": "oauth",
    "era": "era",
}
_TRANSPORTS = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamablehttp": "http",
    "streamable": "http",
    "sse": "sse",
    "ws": "websocket",
    "websocket": "websocket",
    "lines": "lines",
}
_REFERENCE = re.compile(r"\$\{([^${}]*)\}")
_SWITCHES = frozenset({"enabled", "isActive"})
_SILENT = frozenset({"name", "description", "$schema", "version", "gallery", "source", "dev"})
MAX_TOOL_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class ImportNote:
    """A note on something that was not imported, or was converted."""

    server: str
    text: str


@dataclass(frozen=True, slots=True)
class NotReadable:
    """Why a file has no usable servers."""

    message: str
    suggestion: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """Another host's file: unvalidated tables as under `[servers.NAME]`, and places by our keys."""

    servers: dict[str, Any]
    notes: tuple[ImportNote, ...] = ()
    places: Mapping[KeyPath, Place] = field(default_factory=dict, repr=False)


def read_foreign(text: str, path: Path) -> ForeignFile | NotReadable:
    """Read another host's JSON, comments allowed; `${workspaceFolder}` is derived from `path`."""
    plain = without_comments(text)
    try:
        tree, twice = loads(plain)
    except json.JSONDecodeError as error:
        reason = reason_of(error).replace(f" at line {error.lineno}, column", " at column")
        return NotReadable(f"is not JSON: {reason}", line=error.lineno)
    except (ValueError, RecursionError) as error:
        return NotReadable(f"is not valid JSON: {reason_of(error)}")
    for root in ROOTS:
        found: Any = tree
        for key in root:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict):
            read = _Reader(found, root, path, json_places(plain)).read(twice)
            others = tuple(ImportNote("projects", text) for text in of_projects(tree))
            return replace(read, notes=(*read.notes, *others))
    hint = did_you_mean(next(iter(tree), ""), ["mcpServers"]) if isinstance(tree, dict) else ""
    return NotReadable("contains neither `mcpServers` nor `servers`", hint)


class _Reader:
    def __init__(
        self, found: Mapping[str, Any], root: KeyPath, path: Path, places: Mapping[KeyPath, Place]
    ) -> None:
        self._found = found
        self._root = root
        self._path = path
        self._places = places
        self._ours: dict[KeyPath, Place] = {}
        self._notes: list[ImportNote] = []

    def read(self, twice: tuple[str, ...]) -> ForeignFile:
        servers = {name: self._server(name, entry) for name, entry in self._found.items()}
        for name in twice:
            if name in servers:
                self._note(name, "is defined twice. The last one is used")
        return ForeignFile(servers, tuple(self._notes), self._ours)

    def _note(self, server: str, text: str) -> None:
        self._notes.append(ImportNote(server, text))

    def _server(self, name: str, entry: Any) -> Any:
        self._move((*self._root, name), ("servers", name))
        if not isinstance(entry, dict):
            return entry  # the validation of our tables reports the problem
        table: dict[str, Any] = {}
        for key, value in in_common_format(entry, lambda text: self._note(name, text)).items():
            if value is None or key in _SILENT:
                continue
            if key in _SWITCHES and isinstance(value, bool):
                table["disabled"] = not value
                continue
            if key not in _FIELDS:
                if value not in (False, [], {}, ""):
                    self._note(name, f"`{clean_line(key, 40)}` is not supported and is ignored")
                continue
            ours = _FIELDS[key]
            if key in entry:
                self._move((*self._root, name, key), ("servers", name, ours))
            table[ours] = self._field(name, ours, value)
        if table.get("tool_seconds", 0) is None:
            del table["tool_seconds"]
        return table

    def _move(self, theirs: KeyPath, ours: KeyPath) -> None:
        for path, place in self._below(theirs):
            self._ours.setdefault((*ours, *path), place)

    def _below(self, prefix: KeyPath) -> Iterator[tuple[KeyPath, Place]]:
        """Yield the key, and the direct members of lists and tables of plain values."""
        if prefix in self._places:
            yield (), self._places[prefix]
        value: Any = self._found
        for part in prefix[len(self._root) :]:
            value = value[part]
        inner = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
        for key in inner:
            if (place := self._places.get((*prefix, key))) is not None:
                yield (key,), place

    def _field(self, name: str, ours: str, value: Any) -> Any:
        match ours, value:
            case "transport", str():
                plain = re.sub(r"[^a-z]", "", value.lower())
                return _TRANSPORTS.get(plain, value)
            case "tool_seconds", int() | float() if not isinstance(value, bool):
                return self._seconds(name, value)
            case "env" | "headers", dict():
                known = {key: inner for key, inner in value.items() if inner is not None}
                return {key: self._word(name, self._braced(name, inner)) for key, inner in known.items()}
            case "oauth", dict():
                return {key: self._oauth(name, inner) for key, inner in value.items()}
            case _, dict():
                return {key: self._word(name, inner) for key, inner in value.items()}
            case _, list():
                return [self._word(name, inner) for inner in value]
            case _:
                return self._text(name, value)

    def _braced(self, name: str, value: Any) -> Any:
        return with_braces(value, lambda text: self._note(name, text)) if isinstance(value, str) else value

    def _oauth(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._text(name, inner) for inner in value]
        return self._text(name, self._braced(name, value))

    def _word(self, name: str, value: Any) -> Any:
        """Return one of several fixed texts; other hosts also accept a number for it."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self._text(name, value)

    def _seconds(self, name: str, value: float) -> float | None:
        """Return a timeout in seconds. Cline uses seconds, others milliseconds."""
        value = bounded(value) or 0.0
        if value >= 1000:
            self._note(name, f"`timeout` read as milliseconds: {value / 1000:g} s")
            value = value / 1000
        return float(value) if 0 < value <= MAX_TOOL_SECONDS else None

    def _text(self, name: str, value: Any) -> Any:
        if not isinstance(value, str) or "${" not in value:
            return value
        parts: list[str] = []
        position = 0
        for found in _REFERENCE.finditer(value):
            parts.append(escaped(value[position : found.start()]))
            parts.append(self._reference(name, found[1], found.group()))
            position = found.end()
        parts.append(escaped(value[position:]))
        return "".join(parts)

    def _reference(self, name: str, inside: str, whole: str) -> str:
        folder = base_folder(self._path)
        known = {
            "workspaceFolder": str(folder),
            "workspaceRoot": str(folder),
            "workspaceFolderBasename": folder.name,
            "userHome": str(Path.home()),
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        if inside in known:
            return escaped(known[inside])
        kind, _, rest = inside.partition(":")
        if kind == "env" and re.fullmatch(rf"{NAME}(:-.*)?", rest):
            return f"${{{rest}}}"
        if kind == "input" and rest:
            variable = re.sub(r"\W+", "_", rest, flags=re.ASCII).strip("_").upper()
            variable = variable if re.fullmatch(NAME, variable) else f"INPUT_{variable}"
            self._note(name, f"{clean_line(whole, 60)} is read from the environment variable {variable}")
            return f"${{{variable}}}"
        if re.fullmatch(rf"{NAME}(:-.*)?", inside):
            return whole
        self._note(name, f"{clean_line(whole, 60)} is not supported and not replaced")
        return escaped(whole)


# Strings first, so that their content is not taken for a comment.
_PIECE = re.compile(
    r'"(?:[^"\\\n]++|\\[^\n])*"?|(?P<line>//[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<comma>,)(?=[\s/]*[}\]])',
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Return `text` as plain JSON of the same length, so that every line keeps its number."""

    def blanked(found: re.Match[str]) -> str:
        if found.lastgroup is None:
            return found.group()
        return re.sub(r"[^\n]", " ", found.group())

    # Twice: a trailing comma is only recognized once the comment after it is gone.
    return _PIECE.sub(blanked, _PIECE.sub(blanked, text))


def loads(text: str) -> tuple[Any, tuple[str, ...]]:
    """Parse JSON without comments; return it and the names that occur twice in one object (the last counts).

    Raises `ValueError`, as `json.JSONDecodeError` where the place is known, or `RecursionError`.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            twice.extend(key for key, count in Counter(key for key, _ in items).items() if count > 1)
        return found

    return json.loads(text, object_pairs_hook=pairs), tuple(twice)
