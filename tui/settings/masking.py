"""Which values of a configuration are secret, and how it is shown without them. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tui.core.redact import Redactor
from tui.settings.expand import KEYCHAIN, expand, literal_part, without_defaults
from tui.settings.places import KeyPath

MASK = "***"
MAX_DEPTH = 32
"""What lies deeper belongs to no configuration, and is not looked at."""

_SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|pwd|auth|credential|cookie|bearer|private|session|signature",
    re.IGNORECASE,
)
_OPEN_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent", "mcp-protocol-version"})
_SCHEME = re.compile(r"\s*(?:bearer|basic|token|apikey)?\s*", re.IGNORECASE)
_FLAG = re.compile(r"(?P<flag>--?[A-Za-z][\w-]*)(?:=(?P<value>.*))?", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z]+|[-+]?[\d.,:]+|(?:~|\.{0,2})/[^\0]*|[A-Za-z]:\\[^\0]*")
"""A word, a number, a path: what the value of a harmless variable looks like."""


def leaves(tree: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield path and value of everything in `tree` that is neither a table nor a list."""
    if len(path) > MAX_DEPTH:
        return
    match tree:
        case Mapping():
            for key, value in tree.items():
                yield from leaves(value, (*path, key))
        case list() | tuple():
            for index, value in enumerate(tree):
                yield from leaves(value, (*path, index))
        case _:
            yield path, tree


def is_secret(path: KeyPath, value: str) -> bool:
    """Return whether the value at `path` is to be hidden: a key, a header, a variable that is not plain."""
    match path:
        case ("models", _, "api_key"):
            return not value.startswith(KEYCHAIN)
        case ("models" | "servers", _, "headers", str(name)):
            return name.lower() not in _OPEN_HEADERS
        case ("servers", _, "env", str(name)):
            return bool(_SECRET_NAME.search(name)) or not _PLAIN.fullmatch(value)
        case _:
            return False


def literal_secret(path: KeyPath, raw: str) -> bool:
    """Return whether the file itself holds a secret at `path`, not just the name of a variable."""
    match path:
        case ("servers", _, "env", str(name)) if not _SECRET_NAME.search(name):
            return False
        case _:
            return is_secret(path, raw) and not _only_references(raw)


def _only_references(raw: str) -> bool:
    return "${" in raw and bool(_SCHEME.fullmatch(literal_part(raw)))


def _url_secrets(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password:
        yield parts.password
    for name, value in parse_qsl(parts.query):
        if _SECRET_NAME.search(name):
            yield value


def _argument_secrets(arguments: Any) -> Iterator[tuple[int, str]]:
    """Yield place and text of what follows a flag like `--api-key`, in the same argument or the next."""
    expected = False
    for number, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        if not isinstance(argument, str):
            continue
        flag = _FLAG.fullmatch(argument)
        if flag is None:
            if expected:
                yield number, argument
            expected = False
            continue
        expected = bool(_SECRET_NAME.search(flag["flag"]))
        if expected and flag["value"]:
            yield number, flag["value"]
            expected = False


def secret_values(raw: Mapping[str, Any], tree: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, str]:
    """Return every secret of a configuration by a name that may be shown.

    Args:
        raw: the file as it was written.
        tree: the same, expanded.
        env: the environment that it was expanded with.
    """
    found: dict[str, str] = {}
    for path, value in leaves(tree):
        if not isinstance(value, str) or not value:
            continue
        name = ".".join(str(part) for part in path)
        if is_secret(path, value):
            found[name] = value
            # A server that echoes its token rarely echoes the word "Bearer" before it.
            if (bare := value.partition(" ")[2].strip()) and _SCHEME.fullmatch(value.partition(" ")[0]):
                found[f"{name}.value"] = bare
        match path:
            case ("models", _, "api_key_env") if env.get(value):
                found[value] = env[value]
            case ("servers", _, "url") | ("models", _, "base_url"):
                found |= {f"{name}.{number}": part for number, part in enumerate(_url_secrets(value))}
    for _, value in leaves(raw):
        if isinstance(value, str) and "${" in value:
            names = expand(value, env).variables
            found |= {name: env[name] for name in names if _SECRET_NAME.search(name)}
    servers = tree.get("servers")
    for server, entry in servers.items() if isinstance(servers, Mapping) else ():
        arguments = entry.get("args") if isinstance(entry, Mapping) else None
        for number, value in _argument_secrets(arguments):
            found[f"servers.{server}.args.{number}"] = value
    return found


def masked(settings: Mapping[str, Any], raw: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, Any]:
    """Return `settings` as plain values in which no secret can be seen.

    Where the file refers to a variable, the reference is shown and not what it stands for.
    """
    written = dict(leaves(raw))
    redactor = Redactor(secrets)
    short = [value for value in secrets.values() if value]

    def shown(path: KeyPath, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        source = written.get(path)
        if isinstance(source, str) and "${" in source:
            return MASK if literal_secret(path, source) else redactor.redact(without_defaults(source))
        if is_secret(path, value) or value in short:
            return MASK
        return redactor.redact(value)

    def walk(value: Any, path: KeyPath) -> Any:
        match value:
            case Mapping():
                return {
                    key: walk(inner, (*path, key))
                    for key, inner in value.items()
                    if inner is not None and inner != {} and inner != []
                }
            case list() | tuple():
                return [walk(inner, (*path, index)) for index, inner in enumerate(value)]
            case _:
                return shown(path, value)

    result = walk(settings, ())
    return dict(result)
