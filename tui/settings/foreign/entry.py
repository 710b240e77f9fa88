"""One entry of another host's file, converted to the keys that all hosts have. Reads no file.

A note names what has no counterpart, is not imported, or would be dangerous.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tui.core.programs import command_line, is_command_line
from tui.core.secrets.commands_and_urls import masked_arguments
from tui.core.text import clean_line, list_in, quoted_name
from tui.core.units import plural
from tui.settings.foreign.texts import Note
from tui.settings.references import NAME

_TRUSTING = frozenset(
    {"alwaysAllow", "autoApprove", "always_allow", "alwaysAllowed", "trust", "autoApproveAll", "auto_approve"}
    | {"alwaysAllowTools", "autoAllow"}
)
"""Keys that let tools run without approval."""

_OFF = frozenset({"disabledTools", "excludeTools", "tools_off", "blockedTools", "disabled_tools"})
_ONLY = frozenset(
    {"includeTools", "enabledTools", "enabled_tools", "tools", "allowedTools", "allowed_tools"}
    | {"available_tools"}
)
_RUNNING = frozenset({"headersHelper", "headers_helper"})
"""Keys with a command that produces a value."""

_TOKENS = ("bearer_token", "bearerToken", "authorization_token", "authToken", "accessToken", "apiKey")
_TOKEN_VARIABLES = ("bearer_token_env_var", "bearerTokenEnvVar")
_ENV_FILES = frozenset({"envFile", "env_file", "dotenv"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})
_COMMAND_OPTIONS = frozenset({"-c", "-Command", "/c", "-lc"})
_CLIENT = {
    "clientid": "client_id",
    "clientsecret": "client_secret",
    "scopes": "scopes",
    "scope": "scopes",
    "oauthscopes": "scopes",
    "callbackport": "callback_port",
    "issuer": "issuer",
}
SAME = {
    **dict.fromkeys(("cmd", "executable"), "command"),
    **dict.fromkeys(("arguments", "argv"), "args"),
    **dict.fromkeys(("environment", "envs", "envVars"), "env"),
    **dict.fromkeys(("serverUrl", "serverURL", "server_url", "baseUrl", "uri", "endpoint"), "url"),
    **dict.fromkeys(("workingDirectory", "working_directory", "workingDir", "working_dir"), "cwd"),
    **dict.fromkeys(("http_headers", "httpHeaders", "customHeaders", "requestHeaders"), "headers"),
    **dict.fromkeys(("transport", "transportType", "transport_type"), "type"),
    **dict.fromkeys(("start_on_launch", "startOnLaunch", "autoStart", "auto_start"), "autostart"),
    **dict.fromkeys(("disable", "isDisabled"), "disabled"),
    **dict.fromkeys(("isActive", "active", "isEnabled", "is_active"), "enabled"),
}
"""Other names of a key. The usual one counts if an entry has both."""

_NESTED = ("command", "transport", "config", "requestInit", "requestOptions", "request_init", "stdio", "http")
"""Keys that may hold a table with some of the keys of the entry (Zed, Continue, JetBrains)."""

_INSIDE = ("builtin", "platform", "frontend", "inline_python", "inMemory")
"""Types of servers that run inside their host (goose)."""

_CONNECTED = ("sdk", "sse-ide", "ws-ide", "claudeai-proxy")
"""Types of servers that only Claude Code can connect to."""

_STATES = {"disabled": True, "off": True, "inactive": True, "enabled": False, "on": False, "active": False}


def in_common_format(entry: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return an entry with the keys that all hosts have, and note known keys that are not imported."""
    found = _flat(entry)
    _take_words(found, note)
    _take_pairs(found, note)
    if "httpUrl" in found:
        if found.pop("url", None) is not None:
            note("has a `url` and an `httpUrl`. `httpUrl` is used")
        found["url"] = found.pop("httpUrl")
        found.setdefault("type", "http")
    if str(found.get("type", "")).lower() == "remote":
        del found["type"]  # either HTTP transport, as for a `url` without a transport
    _take_switch(found)
    _choose_transport(found, note)
    _take_credentials(found, note)
    _take_command(found, note)
    _take_tools(found, note)
    _take_sign_in(found, note)
    return found


def _popped(found: dict[str, Any], keys: Collection[str]) -> Iterator[tuple[str, Any]]:
    for key in [key for key in found if key in keys]:
        yield key, found.pop(key)


def is_provided(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry only has settings of a server that its host provides (an extension of Zed)."""
    if entry.get("type") in _CONNECTED:
        return True
    kind = entry.get("source") == "extension" or _flat(entry).get("type") in _INSIDE
    return not _flat(entry).keys() & {"command", "url", "httpUrl"} and (
        kind
        or "uses" in entry  # a block of the hub of Continue
        or (bool(entry) and entry.keys() <= {"enabled", "disabled", "settings", "source"})
    )


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without nested tables, and with the usual names of its keys."""
    found = dict(entry)
    for key in _NESTED:
        if isinstance(inner := found.get(key), Mapping):
            del found[key]
            found = {
                **{("command" if name == "path" else name): value for name, value in inner.items()},
                **found,
            }
    for other, usual in SAME.items():
        if other in found and found.get(usual) is None:
            found[usual] = found.pop(other)
    return found


def _take_words(found: dict[str, Any], note: Note) -> None:
    if isinstance(words := found.get("command"), list):  # opencode
        found["command"] = words[0] if words else ""
        found["args"] = [*words[1:], *list_in(found, "args")]
        return
    command, args = found.get("command"), found.get("args")
    if not isinstance(command, str):
        return
    if isinstance(args, str):
        found["args"] = args = command_line(args) or ([args] if args else [])
        note("`args` is one string. It is split like a command line")
    words = command_line(command)
    if is_command_line(command) and words and (args is None or isinstance(args, list)):
        found["command"], found["args"] = words[0], [*words[1:], *(args or [])]
        note(f"`command` is a command line: it starts {quoted_name(words[0], 60)} with the rest as arguments")


def _take_pairs(found: dict[str, Any], note: Note) -> None:
    """Make `env` and `headers` tables: some hosts have lists of pairs or of lines."""
    for key, mark in (("env", "="), ("headers", ":")):
        value = found.get(key)
        lines = value.splitlines() if isinstance(value, str) else value
        if isinstance(lines, list):
            found[key] = dict(_pairs(key, lines, mark, note))


def _pairs(key: str, lines: list[Any], mark: str, note: Note) -> Iterator[tuple[str, Any]]:
    for line in lines:
        name = line.get("name", line.get("key")) if isinstance(line, Mapping) else None
        if isinstance(name, str) and "value" in line:
            yield name, line["value"]
        elif isinstance(line, str) and mark in line:
            name, _, value = line.partition(mark)
            yield name.strip(), value.strip() if mark == ":" else value
        elif line not in ("", None):
            note(f"an item of `{key}` is not a pair of name and value, and is ignored")


def _take_switch(found: dict[str, Any]) -> None:
    state = found.get("state", found.get("status"))
    if isinstance(state, str) and state.lower() in _STATES and "disabled" not in found:
        found["disabled"] = _STATES[state.lower()]
        dict(_popped(found, ("state", "status")))
    for key in ("disabled", "enabled", "autostart"):
        if isinstance(text := found.get(key), str) and text.lower() in ("true", "false"):
            found[key] = text.lower() == "true"
    if isinstance(found.get("enabled"), bool):
        is_on = found.pop("enabled")
        found["disabled"] = not is_on or found.get("disabled") is True
    if isinstance(inner := found.get("anythingllm"), Mapping):
        del found["anythingllm"]
        if isinstance(starts := inner.get("autoStart"), bool):
            found["autostart"] = starts


def _choose_transport(found: dict[str, Any], note: Note) -> None:
    """Keep one of a `command` and a `url` if the type says which counts."""
    if not (found.get("command") and found.get("url")) or not isinstance(kind := found.get("type"), str):
        return
    is_local = kind.lower() in ("stdio", "local")
    if is_local and "://" not in str(found["url"]) and not found.get("args"):  # Witsy
        found["args"] = command_line(str(found.pop("url")))
        return
    lost = "url" if is_local else "command"
    del found[lost]
    if lost == "command":
        found.pop("args", None)
    note(f"has a `command` and a `url`. Its type is {clean_line(kind, 40)}, so `{lost}` is ignored")


def _take_credentials(found: dict[str, Any], note: Note) -> None:
    """Convert the keys that name variables, and tokens, to `env` and `headers` (Codex, goose)."""
    env: dict[str, Any] = {}
    for key, names in _popped(found, ("env_vars", "env_keys", "envKeys", "inheritEnv")):
        words = [one.get("name") if isinstance(one, Mapping) else one for one in _listed(names)]
        good = [one for one in words if isinstance(one, str) and re.fullmatch(NAME, one)]
        env |= {name: f"${{{name}:-}}" for name in good}
        if good:
            place = "your environment" + (", not from the keychain of goose" if key == "env_keys" else "")
            note(f"`{key}`: {clean_line(', '.join(good), 120)} read from {place}, empty if not set")
    for name, more in (("env", env), ("headers", dict(_header_values(found)))):
        present = found.get(name) or {}
        if more and isinstance(present, Mapping):
            found[name] = {**more, **present}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _header_values(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from_env = found.pop("env_http_headers", None)
    for name, variable in from_env.items() if isinstance(from_env, Mapping) else ():
        if isinstance(variable, str) and variable:
            yield str(name), f"${{{variable}}}"
    tokens = [token for _, token in _popped(found, _TOKENS)]
    tokens += [f"${{{name}}}" for _, name in _popped(found, _TOKEN_VARIABLES) if isinstance(name, str)]
    auth = found.get("auth")
    if isinstance(auth, str):  # FastMCP
        tokens.append("" if auth == "oauth" else auth)
        del found["auth"]
    if isinstance(auth, Mapping) and str(auth.get("type", "bearer")).lower() in ("bearer", "token"):
        tokens.append(auth.get("token"))
        if isinstance(auth.get("token"), str):
            del found["auth"]
    for token in tokens:
        if isinstance(token, str) and token:
            yield "Authorization", f"Bearer {token}"


def _take_command(found: dict[str, Any], note: Note) -> None:
    command, args = found.get("command"), found.get("args")
    if not (isinstance(command, str) and isinstance(args, list) and all(isinstance(a, str) for a in args)):
        return
    program = os.path.basename(command).lower()
    if program in ("cmd", "cmd.exe") and len(args) > 1 and args[0].lower() == "/c" and os.name != "nt":
        found["command"], found["args"] = args[1], args[2:]
        note(f"`{clean_line(command, 20)} /c` (Windows) removed: it starts {clean_line(args[1], 60)}")
    elif runs_shell(command, args):
        shown = " ".join(masked_arguments([command, *args]))
        note(f"runs a shell: {clean_line(shown, 160)}")
    url = next((word for word in args if word.startswith(("http://", "https://"))), "")
    if url and _is_mcp_remote(args):
        note(f"uses mcp-remote. `url` = {clean_line(url.partition('?')[0], 120)} works without it")


def runs_shell(command: Any, args: Any) -> bool:
    """Return whether a command line passes a command to a shell."""
    program = os.path.basename(command).lower() if isinstance(command, str) else ""
    words = args if isinstance(args, list) else ()
    return program in SHELLS and any(isinstance(word, str) and word in _COMMAND_OPTIONS for word in words)


def own_variables(found: Mapping[str, Any]) -> frozenset[str]:
    """Return the variables of `env` that the program replaces in its arguments itself."""
    words, env = list_in(found, "args"), found.get("env")
    if not isinstance(env, Mapping) or not (runs_shell(found.get("command"), words) or _is_mcp_remote(words)):
        return frozenset()
    return frozenset(str(name) for name, value in env.items() if value is not None)


def _is_mcp_remote(args: list[Any]) -> bool:
    return any(isinstance(word, str) and re.fullmatch(r"mcp-remote(?:@[\w.-]+)?", word) for word in args)


def _take_tools(found: dict[str, Any], note: Note) -> None:
    for key, value in _popped(found, _TRUSTING):
        if value not in (False, [], None):
            is_some = isinstance(value, list) and "*" not in value
            what = plural(len(value), "tool") if is_some else "all its tools"
            note(f"`{key}` (run {what} without approval) not imported. Use `[approvals]`")
    off = [name for _, value in _popped(found, _OFF) for name in _listed(value)]
    for key, value in _popped(found, _ONLY):
        if isinstance(value, Mapping):  # each tool with a switch
            off += [name for name, one in value.items() if _is_off(one)]
            if any(isinstance(one, Mapping) and not _is_off(one) for one in value.values()):
                note(f"settings in `{key}` of single tools not imported. Use `[approvals]`")
        elif value == [] and key == "available_tools":
            continue  # goose: all of them
        elif value == [] and isinstance(value, list):
            off.append("*")
            note(f"`{key}` is empty: all its tools are disabled")
        elif value not in (["*"], "*", None):
            note(f"`{key}` not imported: all tools are offered. Disable tools in the workbench")
    if names := [name for name in off if isinstance(name, str)]:
        found["off"] = [*list_in(found, "off"), *names]
    for key, command in _popped(found, _RUNNING):
        note(f"`{key}` (runs {quoted_name(str(command), 80)}) not imported. Use `headers`")
    for key, file in _popped(found, _ENV_FILES):
        note(f"`{key}` not imported. Copy the variables of {clean_line(str(file), 80)} to `env`")


def _is_off(value: Any) -> bool:
    if isinstance(value, Mapping):
        return value.get("enabled") is False or value.get("disabled") is True
    return value is False


def _take_sign_in(found: dict[str, Any], note: Note) -> None:
    said = found.pop("oauth", None)
    if said is None and isinstance(found.get("auth"), Mapping):
        said = found.pop("auth")
    for _, scopes in _popped(found, ("scopes", "oauthScopes", "oauth_scopes")):
        if scopes is not None and said is not False:
            said = {"scopes": scopes, **(said if isinstance(said, Mapping) else {})}
    if isinstance(said, Mapping) and said.get("enabled") is not False and (ours := _client(said, note)):
        found["oauth"] = ours


def _client(said: Mapping[str, Any], note: Note) -> dict[str, Any]:
    ours: dict[str, Any] = {}
    for key, value in said.items():
        plain = re.sub(r"[^a-z]", "", str(key).lower())
        if plain in _CLIENT and value not in (None, "", []):
            ours[_CLIENT[plain]] = value
        elif plain == "redirecturi" and isinstance(value, str):
            ours |= _port_of(value, note)
        elif plain not in ("enabled", "type") and value not in (None, "", [], False):
            note(f"`oauth.{clean_line(key, 40)}` is not supported and is ignored")
    if isinstance(scopes := ours.get("scopes"), str):
        ours["scopes"] = scopes.replace(",", " ").split()
    if isinstance(port := ours.get("callback_port"), str) and port.isdecimal() and len(port) < 6:
        ours["callback_port"] = int(port)
    return ours


def _port_of(address: str, note: Note) -> dict[str, int]:
    found = re.fullmatch(r"(?:\w+://)?[^/:]+:(\d{1,5})(/[^?#]*)?.*", address)
    if found is None:
        return {}
    if found[2] != "/callback":
        note(f"`oauth.redirectUri` becomes http://127.0.0.1:{found[1]}/callback. Register that URL")
    return {"callback_port": int(found[1])}
