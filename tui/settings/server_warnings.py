"""What will not work with a configured server, or not as meant, said before anything is started."""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

from tui.core.servers import ServerSpec, Transport
from tui.core.text import clean_line
from tui.settings.load import Loaded, dotted
from tui.settings.problems import Problem
from tui.settings.references import KEYCHAIN
from tui.settings.specs import server_specs

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AUTHORIZATION = "authorization"

Warnings = Iterator[tuple[str, str, str]]
"""Key of the server's table, what is wrong, what to do."""


def server_warnings(loaded: Loaded, which: Callable[[str], str | None] = shutil.which) -> list[Problem]:
    """Return a warning for each thing about the enabled servers that will not work; reads no file's content.

    `which` finds a command on PATH.
    """
    if not loaded.names_servers:
        return []
    found: list[Problem] = []
    known: dict[str, str] = {}
    for spec in server_specs(loaded):
        warnings = _of_address(spec) if spec.url else _of_command(spec, which)
        for key, message, step in (*warnings, *_of_both(spec)):
            path = dotted(("servers", spec.name, key) if key else ("servers", spec.name))
            found.append(loaded.located(Problem(message, path=path, suggestion=step, warning=True)))
        twin = known.setdefault(spec.digest(), spec.name)
        if twin != spec.name:
            message = f"is the same server as {clean_line(twin, 64)}"
            found.append(loaded.located(Problem(message, path=dotted(("servers", spec.name)), warning=True)))
    return found


def _of_command(spec: ServerSpec, which: Callable[[str], str | None]) -> Warnings:
    program = clean_line(spec.command, 80)
    if os.sep in spec.command:
        place = os.path.join(spec.cwd or "", spec.command)
        if not os.path.isfile(place):
            yield "command", f"there is no file {clean_line(place, 200)}", "check the path"
        elif not os.access(place, os.X_OK):
            yield "command", f"{clean_line(place, 200)} is not executable", "name its interpreter first"
    elif which(spec.command) is None:
        yield "command", f"there is no command {program} on PATH", "install it, or give its path"
    if spec.headers:
        yield (
            "headers",
            "are not sent: a server with a `command` is not reached over HTTP",
            "write them as `env`",
        )
    if spec.cwd is not None and not os.path.isdir(spec.cwd):
        yield "cwd", f"there is no directory {clean_line(spec.cwd, 200)}", "check the path"
    if spec.command == "npx" and not {"-y", "--yes"} & set(spec.args):
        yield "args", "npx may ask before it downloads, and nobody can answer", "add `-y` as the first one"
    if spec.transport is Transport.LINES and _looks_like_mcp(spec):
        step = 'remove `transport = "lines"`, unless it greets with a line of type "hello"'
        yield "transport", "looks like an MCP server, which does not speak the line dialect", step


def _looks_like_mcp(spec: ServerSpec) -> bool:
    words = " ".join((os.path.basename(spec.command), *spec.args)).lower()
    return "modelcontextprotocol" in words or "mcp-server" in words or "mcp_server" in words


def _of_address(spec: ServerSpec) -> Warnings:
    parts = urlsplit(spec.url or "")
    for key, value in (("args", spec.args), ("env", spec.env), ("cwd", spec.cwd)):
        if value:
            yield key, "is not used: a server with a `url` is not started by mcptui", "remove it"
    if parts.fragment:
        yield "url", "has a part after # that is never sent", "remove it"
    if parts.password is not None:
        step = 'write `headers = { Authorization = "Basic ${VAR}" }` instead'
        yield "url", "has a password in it, which belongs in a header", step
    last = parts.path.rstrip("/").rpartition("/")[2].lower()
    if spec.transport is Transport.HTTP and not spec.sse_fallback and last == "sse":
        step = 'leave `transport` out, or write "sse"'
        yield "transport", "looks like an address of HTTP+SSE, and `http` does not try that", step
    if spec.transport is Transport.SSE and last == "mcp":
        step = 'leave `transport` out, or write "http"'
        yield "transport", "looks like an address of Streamable HTTP, and `sse` does not try that", step
    names = {name.lower() for name in spec.headers}
    plain = parts.scheme in ("http", "ws") and (parts.hostname or "") not in _LOOPBACK
    if plain and (names & {_AUTHORIZATION, "cookie"} or any("key" in name for name in names)):
        yield "url", "headers with credentials are sent unencrypted", "write https:// or wss://"
    elif plain and parts.scheme == "ws":
        yield "url", "everything is sent unencrypted to another machine", "write wss://"
    if _AUTHORIZATION in names and spec.oauth.client_id:
        yield "oauth", "is not used: an Authorization header is set", "remove one of the two"


def _of_both(spec: ServerSpec) -> Warnings:
    for name, value in spec.headers.items():
        if not value.strip() or value.strip().lower() in ("bearer", "basic", "token"):
            yield "headers", f"the value of {clean_line(name, 60)} is empty", "is its variable set?"
    secrets = (*spec.headers.values(), *spec.env.values(), spec.oauth.client_secret, spec.oauth.private_key)
    if any(KEYCHAIN in value for value in secrets) and find_spec("keyring") is None:
        yield "", "needs the system's keychain", "pip install keyring"
