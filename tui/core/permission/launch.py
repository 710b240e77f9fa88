"""The launch of a server: what would run, the hash that consent is stored under, and changes. Pure.

Hidden characters of a command line are made visible, so that the user sees all of it.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from tui.core.hidden_text.readable import in_numbers
from tui.core.language.translate import c_message, listed, message
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.secret_names import mark_of, names_a_key
from tui.core.servers import Grant, OAuthSpec, Reference, ServerSpec

_LOADERS = frozenset(
    "SHELLOPTS BASHOPTS PS4 HOME LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT"
    " NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP"
    " PYTHONUSERBASE PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT BASH_ENV ENV ZDOTDIR PROMPT_COMMAND"
    " SSH_ASKPASS CLASSPATH"
    " JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS DOTNET_STARTUP_HOOKS LUA_INIT PHPRC PHP_INI_SCAN_DIR"
    " R_PROFILE GCONV_PATH PATH".split()
)
_LOADER_STARTS = ("DYLD_", "GIT_", "CORECLR_", "COR_PROFILER")
SOURCE_STARTS = ("NPM_CONFIG_", "PIP_", "UV_", "BUN_CONFIG_")
PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"))
ENGINES = frozenset(("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "KUBECONFIG"))


def is_loader(name: str) -> bool:
    """Return whether a variable can make a program load other code."""
    upper = name.upper()
    return upper in _LOADERS or upper.startswith(_LOADER_STARTS)


_SPACES = re.compile(" {5,}")
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
)
"""Letters and marks that are not visible."""


def spelled(text: str) -> str:
    """Return `text` with hidden characters as code points, `[U+200B ×2]`, and runs of spaces as a count.

    Unlike in other texts, line ends and unusual blanks are made visible too.
    """
    if has_hidden(text):
        runs = ((hidden, "".join(run)) for hidden, run in groupby(text, _is_hidden))
        text = "".join(in_numbers(run) if hidden else run for hidden, run in runs)
    return _SPACES.sub(lambda found: f"[{len(found[0])} blanks]", text)


def _is_hidden(char: str) -> bool:
    is_selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return not char.isprintable() or char in _BLANK or is_selector


def has_hidden(text: str) -> bool:
    """Return whether any character of a text is invisible, or looks like a space without being one."""
    return not (text.isascii() and text.isprintable()) and any(map(_is_hidden, text))


MAX_SHOWN_CHANGE = 400

_GENERATED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+/=-]{16,}", re.ASCII)
"""Matches values that look like a key. Any other value stays visible in a command line."""

_SHOWN_FIRST = ("command", "cwd", "url", "args.", "env.", "headers.", "api_key")
"""References at places with these prefixes already have a line in the question."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that decides what runs when a server starts. Values of `env` and `headers` may be secret.

    Attributes:
        program: the absolute path that `command` resolves to now, or "" if there is none or it is not found.
        identity: the remaining facts, such as how to sign in, as JSON values.
        references: settings that use values from the environment, by place. The values are not shown. They
            are part of the hash only in the command, the folder, the URL and arguments, and only if they
            are not secret and not all of their variables are named like keys.
        links: real paths of the program, the folder and file arguments that are symbolic links, by place
            ("program", "cwd", "args.0").
        settings: further settings to show, by place: how to sign in, what a model is sent, what a test file
            calls. `identity` contains them too.
    """

    command: str
    program: str
    args: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    url: str
    headers: Mapping[str, str] = field(repr=False)
    transport: str
    identity: Sequence[Any] = field(repr=False)
    references: Mapping[str, Reference] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: ServerSpec, find: Callable[[ServerSpec], str]) -> "Launch":
        """Return what starting `spec` runs; `find` returns the path of its program, or ""."""
        oauth = spec.oauth
        return cls(
            spec.command,
            find(spec) if spec.command else "",
            spec.args,
            spec.cwd or "",
            dict(spec.env),
            spec.url or "",
            dict(spec.headers),
            spec.transport.value,
            [
                spec.sse_fallback,
                oauth.grant.value,
                oauth.client_id,
                _referred(oauth.client_secret, spec.references.get("oauth.client_secret"), by_value=False),
                list(oauth.scopes),
                oauth.client_metadata_url,
                oauth.issuer,
                _referred(oauth.private_key, spec.references.get("oauth.private_key"), by_value=False),
                oauth.private_key_algorithm,
                oauth.callback_port,
                *_provider_identity(spec),
                *([spec.used_by] if spec.used_by else []),
                *([list(spec.calls)] if spec.calls else []),
            ],
            dict(spec.references),
            settings=_sign_in(oauth) | ({"calls": ", ".join(spec.calls)} if spec.calls else {}),
        )

    @property
    def is_model(self) -> bool:
        return self.transport == "model"

    @property
    def length(self) -> int:
        """Approximate number of characters, which determines how long searching takes."""
        texts = (self.command, *self.args, self.cwd, self.url, *self.env, *self.headers)
        return sum(map(len, (*texts, *self.settings.values())))

    def shown(self, place: str, value: str) -> str:
        """Return `value` without values from the environment or of variables named like keys."""
        reference = self.references.get(place)
        text = value if reference is None else reference.text
        for name, secret in (*self.env.items(), *self.headers.items()):
            if secret in text and names_a_key(name) and _GENERATED.fullmatch(secret):
                text = text.replace(secret, mark_of(name))
        return text

    @property
    def shown_words(self) -> tuple[str, ...]:
        args = (self.shown(f"args.{number}", one) for number, one in enumerate(self.args))
        return (self.shown("command", self.command), *args)

    @property
    def other_references(self) -> dict[str, Reference]:
        """References to the environment that have no line of their own in the question."""
        found = self.references.items()
        return {place: one for place, one in found if not place.startswith(_SHOWN_FIRST)}

    @property
    def open_values(self) -> dict[str, str]:
        """Values to show: those of variables that load code, as `variable NAME`, and those of settings."""
        found = {
            f"variable {name}": self.shown(f"env.{name}", one)
            for name, one in self.env.items()
            if is_loader(name) and not names_a_key(name)
        }
        found |= {place: self.shown(place, one) for place, one in self.settings.items()}
        return {name: spelled(masked(one)) for name, one in found.items()}

    def digest(self) -> str:
        """Return the hash under which consent is stored: SHA-256 of canonical JSON."""

        def fact(place: str, value: str, *, by_value: bool = True) -> Any:
            return _referred(value, self.references.get(place), by_value=by_value)

        words = masked_arguments((self.command, *self.args))[1:]  # a masked argument is secret
        secret = [word != one for word, one in zip(words, self.args, strict=True)]

        facts = {
            "command": fact("command", self.command),
            "program": self.program,
            "args": [
                fact(f"args.{number}", one, by_value=not secret[number])
                for number, one in enumerate(self.args)
            ],
            "cwd": fact("cwd", self.cwd),
            "env": {name: fact(f"env.{name}", one, by_value=False) for name, one in self.env.items()},
            "url": fact("url", self.url, by_value=masked(self.url) == self.url),
            "headers": {
                name: fact(f"headers.{name}", one, by_value=False) for name, one in self.headers.items()
            },
            "transport": self.transport,
            "identity": list(self.identity),
        }
        if others := self.other_references:
            facts["references"] = {place: one.text for place, one in others.items()}
        if self.links:
            facts["links"] = dict(self.links)
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def summary(self, salt: str) -> dict[str, Any]:
        """Return the facts to store for showing later changes: hidden values as salted hashes, no secrets."""

        def marks(kind: str, values: Mapping[str, str]) -> dict[str, str]:
            texts = dict(values)
            for name in values:
                if (reference := self.references.get(f"{kind}.{name}")) is not None:
                    texts[name] = f"\0{reference.text}"
            return {name: _mark(salt, name, text) for name, text in texts.items()}

        shown, values = self.shown_links, self.open_values
        closed = {name: one for name, one in self.env.items() if f"variable {name}" not in values}
        return {
            "command": spelled(masked(self.shown("command", self.command))),
            "program": spelled(self.program),
            "args": [spelled(one) for one in masked_arguments(self.shown_words)[1:]],
            "cwd": spelled(self.shown("cwd", self.cwd)),
            "env": marks("env", closed),
            "url": spelled(masked(self.shown("url", self.url))),
            "headers": marks("headers", self.headers),
            "transport": self.transport,
            "values": values,
            "links": {
                place: shown.get(place) or {"": _mark(salt, place, target)}
                for place, target in self.links.items()
            },
        }

    @property
    def shown_links(self) -> dict[str, str]:
        """Targets of links by place, except for secret arguments and values from the environment."""
        words = masked_arguments(self.shown_words)[1:]
        open_places = {f"args.{number}" for number, one in enumerate(self.args) if words[number] == one}
        open_places |= {"program", *(() if "cwd" in self.references else ("cwd",))}
        return {place: spelled(target) for place, target in self.links.items() if place in open_places}

    def changes(self, before: Mapping[str, Any], salt: str) -> list[str]:
        """Return what differs from a `summary` made with `salt`, one line each; never empty."""
        return list(_changes(before, self.summary(salt))) or [message("a value that is not shown")]


def _sign_in(oauth: OAuthSpec) -> dict[str, str]:
    texts = {
        "grant": "" if oauth.grant is Grant.USER else oauth.grant.value,
        "client_id": oauth.client_id,
        "scopes": " ".join(oauth.scopes),
        "issuer": oauth.issuer,
        "client_metadata_url": oauth.client_metadata_url,
        "callback_port": str(oauth.callback_port or ""),
        "private_key_algorithm": oauth.private_key_algorithm if oauth.private_key else "",
    }
    if (provider := oauth.identity_provider) is not None:
        texts |= {
            "identity_provider": provider.name,
            "identity_provider.issuer": provider.issuer,
            "identity_provider.client_id": provider.client_id,
            "identity_provider.scopes": " ".join(provider.scopes),
            "identity_provider.callback_port": str(provider.callback_port or ""),
        }
    return {f"oauth.{name}": text for name, text in texts.items() if text}


def _provider_identity(spec: ServerSpec) -> list[Any]:
    """Return what an identity provider adds to the hashed values; nothing without one."""
    if (one := spec.oauth.identity_provider) is None:
        return []
    reference = spec.references.get("oauth.identity_provider.client_secret")
    secret = _referred(one.client_secret, reference, by_value=False)
    return [[one.name, one.issuer, one.client_id, secret, list(one.scopes), one.callback_port]]


def _referred(value: str, reference: Reference | None, *, by_value: bool) -> Any:
    """Return what a text adds to the hashed values: the text itself, or a list for a reference."""
    if reference is None:
        return value
    if by_value and not all(map(names_a_key, reference.names)):
        return [reference.text, value]
    return [reference.text]


def _mark(salt: str, name: str, value: str) -> str:
    text = f"{name}\0{value}".encode("utf-8", "replace")
    return hmac.new(salt.encode(), text, hashlib.sha256).hexdigest()[:16]


_KINDS = ("args", "values", "env", "headers", "links")
"""Members of a summary that list several facts."""


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs between two summaries; older files lack some of it."""
    names = {"cwd": message("folder"), "program": message("program on this computer")}
    for key in ("command", "program", "cwd", "url", "transport"):
        was, is_explained = before.get(key), key == "program" and before.get("command") != now["command"]
        if was != now[key] and isinstance(was, str) and not is_explained:
            yield message("{what}: {how}", what=names.get(key, key), how=_change(was, now[key]))
    for kind in _KINDS:
        old: Any = before.get(kind)
        new: Mapping[str, Any] = now[kind]
        if kind == "args":
            words = old if isinstance(old, list) else []
            old, new = ({str(number): one for number, one in enumerate(all_, 1)} for all_ in (words, new))
        is_known = isinstance(old, Mapping)
        listed = dict.fromkeys((*map(str, old if is_known else ()), *new))
        for name in listed if kind == "args" else sorted(listed):
            was, value = old.get(name) if is_known else None, new.get(name)
            # Older files list all variables in `env`.
            if was == value or (kind == "env" and f"variable {name}" in now["values"]):
                continue
            how = _how(kind, was, value, is_known=is_known)
            yield message("{what}: {how}", what=_fact(kind, name), how=how)


def _fact(kind: str, name: str) -> str:
    """Return the name of one of several facts in words."""
    if kind == "links":
        return message("link of {place}", place=in_words(name))
    shown = spelled(name)[:MAX_SHOWN_CHANGE]
    match kind:
        case "args":
            return message("argument {n}", n=shown)
        case "env":
            return message("variable {name}", name=shown)
        case "headers":
            return message("header {name}", name=shown)
    return shown


def _how(kind: str, was: Any, value: Any, *, is_known: bool) -> str:
    """Say how a fact has changed; `was` and `value` are None where there is none."""
    match kind:
        case "args" if was is None:
            return message("new, {value}", value=_is(value))
        case "args" if value is None:
            return message("removed, was {value}", value=_is(str(was)))
        case "env" | "headers":
            gone = message("removed") if value is None else message("value changed")
            return c_message("definition", "new") if was is None else gone
        case "links":
            return _how_a_link(was, value)
        case _ if is_known:
            return _change(str(was or ""), value or "")
        case _:
            return message("is now {value}", value=_is(value or ""))


def _how_a_link(was: Any, value: Any) -> str:
    found = []
    if isinstance(was, str):
        found.append(message("led to {target}", target=_is(was)))
    if isinstance(value, str):
        target = _is(value)
        now = message("leads now to {target}", target=target)
        found.append(now if was else message("leads to {target}", target=target))
    elif value is None:
        found.append(message("is no longer a link"))
    return listed(found) or message("target changed")  # a hidden target is a hash


def in_words(place: str) -> str:
    """Return the place of a link in words: "argument 1"."""
    kind, _, number = place.partition(".")
    if number.isdecimal():
        return message("argument {n}", n=int(number) + 1)
    return {"cwd": message("folder"), "program": message("program")}.get(kind, kind)


def _change(was: str, now: str) -> str:
    return message("was {before}, is now {after}", before=_is(was), after=_is(now))


def _is(text: str) -> str:
    return text[:MAX_SHOWN_CHANGE] if text else message("not set")
