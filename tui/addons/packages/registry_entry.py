"""Converts a registry entry (server.json) to the ways its server can be run. Pure.

An entry is untrusted text of its publisher: launchers come from a short list, names and versions must be
well-formed, and no text is ever read as a reference to a variable of this machine.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from tui.addons.packages.server_inputs import MAX_TEXT, ServerInput, Values, checked_text, fill_template
from tui.core.errors import UsageError
from tui.core.text import clean_line, object_in, quoted_name, text_in
from tui.core.web import header_name_fault, url_fault
from tui.settings.references import escaped, is_reference

KINDS = ("npm", "pypi", "oci", "remote")
_LAUNCHERS = {"npm": ("npx", "bunx"), "pypi": ("uvx",), "oci": ("docker", "podman")}
_USUAL_PLACES = {
    "npm": ("registry.npmjs.org",),
    "pypi": ("pypi.org",),
    "oci": ("docker.io", "index.docker.io", "ghcr.io", "quay.io", "gcr.io", "mcr.microsoft.com"),
}
_PACKAGE = {
    "npm": re.compile(r"(?:@[\w.~][\w.~-]*/)?[\w.~][\w.~-]*", re.ASCII),
    "pypi": re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII),
    "oci": re.compile(
        r"[A-Za-z0-9][\w.-]*(?::\d+)?(?:/[\w][\w.-]*)*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?"
    ),
}
_VERSION = re.compile(r"[\w][\w.+!~-]*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(r"\{([^{}]{1,100})\}")
_REGISTRY_NAME = re.compile(
    r"(?P<space>[A-Za-z0-9][A-Za-z0-9.-]*)/[A-Za-z0-9][\w.-]*(?:@[\w.+-]+)?", re.ASCII
)
MAX_ITEMS = 200


def is_registry_name(word: str) -> bool:
    """Return whether a word looks like a name in a registry: a reversed domain, a slash, a name.

    For example `io.github.user/x` or `app.linear/linear`. A host with a path looks the same, unless it has a
    port or is an IP address. A URL must be written with https://.
    """
    found = _REGISTRY_NAME.fullmatch(word)
    return found is not None and "." in found["space"] and not found["space"].replace(".", "").isdigit()


@dataclass(frozen=True, slots=True)
class LaunchOption:
    """One way to run a server of a registry: `what` is the package or URL, `inputs` are required values.

    `kind` is one of `KINDS`, or the registry's name of an unsupported kind. `problem` is why mcptui cannot
    use it, or "".
    """

    kind: str
    what: str
    inputs: tuple[ServerInput, ...] = ()
    problem: str = ""
    source: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def table(self, values: Values) -> dict[str, Any]:
        """Return the server as a table of the configuration. Raises UsageError for an invalid value."""
        if self.kind == "remote":
            return _remote_table(self.source, values)
        return _package_table(self.kind, self.source, values)


def launch_options(entry: Mapping[str, Any]) -> list[LaunchOption]:
    """Return all ways to run the server, in the order of the entry, packages first."""
    found = [_package_way(one) for one in _objects(entry.get("packages"))]
    return found + [_remote_way(one) for one in _objects(entry.get("remotes"))]


def _package_way(package: Mapping[str, Any]) -> LaunchOption:
    kind = text_in(package, "registryType").lower()
    what = " ".join(filter(None, (text_in(package, "identifier"), text_in(package, "version"))))
    if problem := _package_problem(kind, package):
        return LaunchOption(kind, what, problem=problem, source=package)
    arguments = (*map(package.get, ("runtimeArguments", "packageArguments")),)
    named = [pair for one in arguments for pair in _named_arguments(one)]
    inputs = _inputs([*named, *_named_pairs(package.get("environmentVariables"))])
    return LaunchOption(kind, what, _distinct([*inputs]), source=package)


def _package_problem(kind: str, package: Mapping[str, Any]) -> str:
    if kind == "mcpb":
        return "it is a bundle. Download it, check its SHA-256, and add it with `mcptui add FILE.mcpb`"
    if kind not in _LAUNCHERS:
        return f"unsupported package type {quoted_name(clean_line(kind, 40) or 'unknown')}"
    transport = text_in(object_in(package, "transport"), "type") or "stdio"
    if transport != "stdio":
        return f"it uses the transport {clean_line(transport, 40)} on this machine instead of stdio"
    launcher = text_in(package, "runtimeHint")
    if launcher and launcher not in _LAUNCHERS[kind]:
        usual = " or ".join(_LAUNCHERS[kind])
        return f"it requires {quoted_name(launcher, 40)} instead of {usual}"
    if not _PACKAGE[kind].fullmatch(text_in(package, "identifier")):
        return f"{quoted_name(text_in(package, 'identifier'), 80)} is not a package name"
    version = text_in(package, "version")
    if version and not _VERSION.fullmatch(version):
        return f"{quoted_name(version, 80)} is not a version"
    base = text_in(package, "registryBaseUrl")
    if base and urlsplit(base).hostname not in _USUAL_PLACES[kind]:
        return f"its package is at {clean_line(base, 120)} instead of {_USUAL_PLACES[kind][0]}"
    for pair in _objects(package.get("environmentVariables")):
        if not _NAME.fullmatch(text_in(pair, "name")):
            return f"{quoted_name(text_in(pair, 'name'), 60)} is not a variable name"
    return ""


def _remote_way(remote: Mapping[str, Any]) -> LaunchOption:
    url, kind = text_in(remote, "url"), text_in(remote, "type")
    problem = ""
    names = (text_in(one, "name") for one in _objects(remote.get("headers")))
    invalid = next(filter(header_name_fault, names), None)
    is_url = url.startswith(("http://", "https://")) and url.isprintable()
    if kind not in ("streamable-http", "sse"):
        problem = f"its transport is {quoted_name(kind, 40)}"
    elif not is_url or url_fault(_PLACEHOLDER.sub("0", url)):
        problem = f"{quoted_name(url, 120)} is not a URL"
    elif invalid is not None:
        problem = f"its header {quoted_name(invalid, 60)} cannot be set"
    if problem:
        return LaunchOption("remote", url, problem=problem, source=remote)
    inputs = [*_variable_inputs(remote, url), *_inputs(_named_pairs(remote.get("headers")))]
    return LaunchOption("remote", url, _distinct(inputs), source=remote)


# ---- inputs to ask the user for --------------------------------------------------------------------------


def _inputs(named: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[ServerInput]:
    """Yield the inputs of arguments, variables or headers, given with their names."""
    for name, holder in named:
        if value := text_in(holder, "value"):
            yield from _variable_inputs(holder, value)
        elif name:
            yield _input(name, holder, several=holder.get("isRepeated") is True)


def _named_arguments(arguments: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, one in enumerate(_objects(arguments), 1):
        yield text_in(one, "name").lstrip("-") or text_in(one, "valueHint") or f"argument{number}", one


def _named_pairs(pairs: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((text_in(one, "name"), one) for one in _objects(pairs))


def _variable_inputs(holder: Mapping[str, Any], template: str) -> Iterator[ServerInput]:
    variables = object_in(holder, "variables")
    for name in dict.fromkeys(_PLACEHOLDER.findall(template[:MAX_TEXT])):
        if isinstance(variables.get(name), Mapping):
            yield _input(name, variables[name], needed=True)


def _input(name: str, said: Mapping[str, Any], *, several: bool = False, needed: bool = False) -> ServerInput:
    kinds = {"number": "number", "boolean": "boolean", "filepath": "file"}
    default, choices = said.get("default"), said.get("choices")
    return ServerInput(
        name,
        description=text_in(said, "description"),
        kind=kinds.get(text_in(said, "format"), "string"),
        required=needed or said.get("isRequired") is True,
        secret=said.get("isSecret") is True,
        default=(escaped(default),)
        if isinstance(default, str) and default.isprintable() and default
        else None,
        choices=tuple(one for one in choices if isinstance(one, str)) if isinstance(choices, list) else (),
        several=several,
    )


def _distinct(inputs: list[ServerInput]) -> tuple[ServerInput, ...]:
    return tuple({one.name: one for one in reversed(inputs)}.values())[::-1]


# ---- resulting configuration -----------------------------------------------------------------------------


def _package_table(kind: str, package: Mapping[str, Any], values: Values) -> dict[str, Any]:
    launcher = text_in(package, "runtimeHint") or _LAUNCHERS[kind][0]
    env = dict(_pairs(package.get("environmentVariables"), values))
    runtime = list(_arguments(package.get("runtimeArguments"), values))
    name = _reference_of(kind, package)
    if launcher == "npx":
        runtime = runtime if {"-y", "--yes"} & set(runtime) else ["-y", *runtime]
    elif kind == "oci":
        passed = [word for variable in env for word in ("-e", variable)]
        own = [word for word in runtime if word not in ("run", "-i", "--interactive", "--rm")]
        runtime = ["run", "-i", "--rm", *passed, *own]
    arguments = [*runtime, name, *_arguments(package.get("packageArguments"), values)]
    return {"command": launcher, "args": arguments} | ({"env": env} if env else {})


def _remote_table(remote: Mapping[str, Any], values: Values) -> dict[str, Any]:
    url = _filled(text_in(remote, "url"), remote, values, quoted=True)
    if fault := url_fault(url):
        raise UsageError(f"with these values its url is invalid: it {fault}.")
    table: dict[str, Any] = {"url": url}
    if text_in(remote, "type") == "sse":
        table["transport"] = "sse"
    headers = dict(_pairs(_sent_headers(remote, values), values))
    return table | ({"headers": headers} if headers else {})


def _sent_headers(remote: Mapping[str, Any], values: Values) -> list[Mapping[str, Any]]:
    """Return the headers of a remote without those that are optional and have no value.

    Such an `Authorization` would fail, where the server lets the user sign in.
    """

    def is_sent(header: Mapping[str, Any]) -> bool:
        required, template = header.get("isRequired"), text_in(header, "value")
        names = _PLACEHOLDER.findall(template[:MAX_TEXT]) if template else [text_in(header, "name")]
        is_optional = required is False if template else required is not True
        return not (is_optional and names and values.keys().isdisjoint(names))

    return [header for header in _objects(remote.get("headers")) if is_sent(header)]


def _arguments(arguments: Any, values: Values) -> Iterator[str]:
    for key, argument in _named_arguments(arguments):
        is_named = argument.get("type") == "named"
        name = escaped(checked_text(text_in(argument, "name"), "the entry")) if is_named else ""
        is_required = argument.get("isRequired") is True
        texts = _texts(key, argument, values, needs_secret=is_required)
        if not texts and name and "default" not in argument and is_required:
            yield name  # a flag
        for text in texts:
            yield from (name, text) if name else (text,)


def _pairs(pairs: Any, values: Values) -> Iterator[tuple[str, str]]:
    for name, pair in _named_pairs(pairs):
        for text in _texts(name, pair, values, needs_secret=True)[-1:]:
            yield name, text


def _texts(name: str, holder: Mapping[str, Any], values: Values, *, needs_secret: bool) -> tuple[str, ...]:
    """Return the texts of an argument, a variable or a header.

    A secret without a value becomes a reference to a variable with its name.
    """
    if fixed := text_in(holder, "value"):
        return (_filled(fixed, holder, values),)
    secret = (_variable(name),) if needs_secret and holder.get("isSecret") is True else ()
    return values.get(name) or secret


def _filled(template: str, holder: Mapping[str, Any], values: Values, *, quoted: bool = False) -> str:
    """Return a template with its `{variables}` filled in; everything else is literal."""
    variables = object_in(holder, "variables")

    def value(name: str) -> str | None:
        known = isinstance(variables.get(name), Mapping)
        if not known or not (texts := values.get(name)):
            return _variable(name) if known else None
        is_plain = quoted and not is_reference(texts[-1])
        return quote(texts[-1], safe="${}:-.") if is_plain else texts[-1]

    return fill_template(_PLACEHOLDER, checked_text(template, "the entry"), value, escaped)


def variable_name(name: str) -> str:
    """Return the environment variable for a secret of that name: "API_TOKEN" for "api-token"."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").upper() or "VALUE"


def _variable(name: str) -> str:
    return f"${{{variable_name(name)}}}"


def _reference_of(kind: str, package: Mapping[str, Any]) -> str:
    name, version = text_in(package, "identifier"), text_in(package, "version")
    if kind == "oci":
        host = urlsplit(text_in(package, "registryBaseUrl")).hostname or ""
        if host and "docker.io" not in host and not name.startswith(f"{host}/"):
            name = f"{host}/{name}"
        has_tag = ":" in name.rpartition("/")[2]
        return name if has_tag or not version else f"{name}:{version}"
    return f"{name}@{version}" if version else name


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value[:MAX_ITEMS] if isinstance(one, Mapping)] if isinstance(value, list) else []
