"""Finds the secret values of a configuration and hides them. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.secrets.commands_and_urls import masked as masked_text
from tui.core.secrets.commands_and_urls import masked_arguments, secrets_in, secrets_in_arguments
from tui.core.secrets.redact import Redactor
from tui.core.secrets.secret_names import ORDINARY_HEADERS, keychain_entry, may_be_secret
from tui.core.secrets.secret_shapes import is_common, is_ordinary, is_searched
from tui.core.secrets.walk import OMITTED, changed
from tui.settings.key_positions import KeyPath
from tui.settings.references import FILE, KEYCHAIN, expand, literal_part, without_defaults

MASK = "***"
MAX_DEPTH = 32
"""Deeper values cannot be part of a configuration and are ignored."""

_SCHEME = re.compile(r"\s*(?:bearer|basic|token|apikey)?\s*", re.IGNORECASE)


def leaves(tree: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield path and value of everything in `tree` that is neither a table nor a list."""
    if len(path) > MAX_DEPTH:
        return
    if not isinstance(tree, Mapping | list | tuple):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
        yield from leaves(value, (*path, key))


def is_secret(path: KeyPath, value: str) -> bool:
    """Return whether the value at `path` must be hidden: a key, a header, or a secret variable."""
    match path:
        case ("models", _, "api_key"):
            return not value.startswith(KEYCHAIN)
        case ("models" | "servers", _, "headers", str(name)) | ("telemetry", "headers", str(name)):
            return name.lower() not in ORDINARY_HEADERS and keychain_entry(value) is None
        case ("models", _, "extra_body", *names):
            return any(may_be_secret(str(name)) for name in names)
        case ("servers", _, "oauth", "client_secret" | "private_key") | (
            "identity_providers",
            _,
            "client_secret",
        ):
            return not value.startswith(KEYCHAIN)
        case ("servers", _, "env", str(name)):
            return keychain_entry(value) is None and (may_be_secret(name) or not is_ordinary(value))
        case _:
            return False


def literal_secret(path: KeyPath, raw: str) -> bool:
    """Return whether the file itself contains a secret at `path`, not just the name of a variable."""
    match path:
        case ("servers", _, "env", str(name)) if not may_be_secret(name):
            return False
        case _:
            is_reference = "${" in raw and bool(_SCHEME.fullmatch(literal_part(raw)))
            return is_secret(path, raw) and not is_reference


def shows_a_secret(path: KeyPath, raw: str) -> bool:
    """Return whether to warn that the file contains a secret at `path`.

    Every header is hidden in case it is one, but a header such as `X-Region: eu` deserves no warning.
    """
    match path:
        case ("models" | "servers", _, "headers", str(name)) | ("telemetry", "headers", str(name)) if (
            not may_be_secret(name) and is_ordinary(raw)
        ):
            return False
        case _:
            return literal_secret(path, raw)


def secret_values(raw: Mapping[str, Any], tree: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, str]:
    """Return every secret of a configuration, as written and as expanded, by displayable name.

    Includes only values that can be searched for in text, not values like `localhost` or a path.
    """
    found: dict[str, str] = {}
    for path, value in leaves(tree):
        if not isinstance(value, str) or not value:
            continue
        name = ".".join(str(part) for part in path)
        named = path[2:3] in (("headers",), ("env",)) or path[:2] == ("telemetry", "headers")
        if is_secret(path, value) and (is_searched(str(path[-1]), value) if named else not is_common(value)):
            found[name] = value
            # A server that echoes its token rarely includes the word "Bearer".
            scheme, _, bare = value.partition(" ")
            if bare.strip() and _SCHEME.fullmatch(scheme):
                found[f"{name}.value"] = bare.strip()
        match path:
            case ("servers", _, "env", *_):  # a server may print only the password of a connection string
                inside = [one for one in secrets_in(value) if one != value and not is_common(one)]
                found |= {f"{name}.{number}": one for number, one in enumerate(inside)}
            case ("models", _, "api_key_env") if env.get(value):
                found[value] = env[value]
            case ("servers", _, "url") | ("models", _, "base_url") | ("telemetry", "endpoint"):
                found |= {f"{name}.{number}": part for number, part in enumerate(secrets_in(value))}
    for _, value in leaves(raw):
        if isinstance(value, str) and "${" in value:
            names = expand(value, env).variables
            secret = [name for name in names if name.startswith(FILE) or may_be_secret(name)]
            found |= {name: env[name] for name in secret if not is_common(env[name])}
    _add_arguments(found, tree.get("servers"))
    return found


def _add_arguments(found: dict[str, str], servers: Any) -> None:
    for server, entry in servers.items() if isinstance(servers, Mapping) else ():
        arguments = entry.get("args") if isinstance(entry, Mapping) else None
        for number, value in secrets_in_arguments(_texts(arguments)):
            if is_common(value):
                continue
            name = f"servers.{server}.args.{number}"
            taken = sum(one == name or one.startswith(f"{name}.") for one in found)
            found[f"{name}.{taken}" if taken else name] = value


def _texts(arguments: Any) -> list[str]:
    """Return arguments with "" for each that is not a string, so that indexes stay the same."""
    listed = arguments if isinstance(arguments, list | tuple) else ()
    return [argument if isinstance(argument, str) else "" for argument in listed]


def masked(settings: Mapping[str, Any], raw: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, Any]:
    """Return `settings` as plain values without visible secrets.

    References to variables are shown instead of their values.
    """
    written = dict(leaves(raw))
    redactor = Redactor(secrets)
    short = [value for value in secrets.values() if value]

    def shown(path: KeyPath, value: Any) -> Any:
        if path and isinstance(path[-1], str) and (value is None or value in ({}, [])):
            return OMITTED
        if path[:1] == ("servers",) and path[2:] == ("args",) and isinstance(value, list | tuple):
            return masked_arguments(_texts([shown((*path, place), one) for place, one in enumerate(value)]))
        if not isinstance(value, str):
            return value
        source = written.get(path)
        if isinstance(source, str) and "${" in source:
            return MASK if literal_secret(path, source) else redactor.redact(without_defaults(source))
        if is_secret(path, value) or value in short:
            return MASK
        if path[-1:] in (("url",), ("base_url",)):
            value = masked_text(value)
        return redactor.redact(value)

    return dict(changed(settings, shown))
