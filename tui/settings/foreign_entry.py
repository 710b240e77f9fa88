"""Converts a server entry of another host to a common format, with notes on what is not imported. Pure.

Knows Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Zed, Gemini CLI, opencode and ollmcp.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from tui.core.text import clean_line, quoted_name
from tui.core.units import plural

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
