"""What decides which program or address a server is, the hash of that, and its changes. Pure."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.core.consent.visible import visible
from tui.core.secrets.places import masked, masked_arguments
from tui.core.servers import ServerSpec

MAX_SHOWN_CHANGE = 400


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything that decides what runs when a server starts. Values of `env` and `headers` may be secret.

    Attributes:
        program: the absolute path that `command` stands for now, or "" if there is none or it is not found.
        identity: the remaining facts, such as the transport and how to sign in, as JSON values.
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
                oauth.client_secret,
                list(oauth.scopes),
                oauth.client_metadata_url,
                oauth.issuer,
                oauth.private_key,
                oauth.private_key_algorithm,
                oauth.callback_port,
            ],
        )

    def digest(self) -> str:
        """Return the hash under which consent is kept: SHA-256 of a canonical JSON."""
        facts = {
            "command": self.command,
            "program": self.program,
            "args": list(self.args),
            "cwd": self.cwd,
            "env": dict(self.env),
            "url": self.url,
            "headers": dict(self.headers),
            "transport": self.transport,
            "identity": list(self.identity),
        }
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def summary(self, salt: str) -> dict[str, Any]:
        """Return what is kept to show later changes: no secret, and of other values a salted hash."""

        def marks(values: Mapping[str, str]) -> dict[str, str]:
            return {name: _mark(salt, name, value) for name, value in values.items()}

        return {
            "command": visible(masked(self.command)),
            "program": visible(self.program),
            "args": [visible(one) for one in _shown_arguments(self)],
            "cwd": visible(self.cwd),
            "env": marks(self.env),
            "url": visible(masked(self.url)),
            "headers": marks(self.headers),
            "transport": self.transport,
        }

    def changes(self, before: Mapping[str, Any], salt: str) -> list[str]:
        """Return what differs from a `summary` that was made with `salt`: never empty, a line for each."""
        now = self.summary(salt)
        found = [*_text_changes(before, now), *_argument_changes(before.get("args"), now["args"])]
        found += _value_changes("variable", before.get("env"), now["env"])
        found += _value_changes("header", before.get("headers"), now["headers"])
        return found or ["a value that is not shown here"]


def _shown_arguments(launch: Launch) -> list[str]:
    return masked_arguments((launch.command, *launch.args))[1:]


def _mark(salt: str, name: str, value: str) -> str:
    text = f"{name}\0{value}".encode("utf-8", "replace")
    return hmac.new(salt.encode(), text, hashlib.sha256).hexdigest()[:16]


def _text_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    names = {"cwd": "folder", "program": "program on this computer"}
    for key in ("command", "program", "cwd", "url", "transport"):
        old = before.get(key)
        if old != now[key] and isinstance(old, str):
            if key == "program" and before.get("command") != now["command"]:
                continue  # the change of the command says it
            yield f"{names.get(key, key)}: {_was(old)}, is now {_is(now[key])}"


def _argument_changes(before: Any, now: Sequence[str]) -> Iterator[str]:
    old = [str(one) for one in before] if isinstance(before, list) else []
    for number in range(max(len(old), len(now))):
        if number >= len(old):
            yield f"argument {number + 1}: new, {_is(now[number])}"
        elif number >= len(now):
            yield f"argument {number + 1}: removed, {_was(old[number])}"
        elif old[number] != now[number]:
            yield f"argument {number + 1}: {_was(old[number])}, is now {_is(now[number])}"


def _value_changes(what: str, before: Any, now: Mapping[str, str]) -> Iterator[str]:
    old = before if isinstance(before, Mapping) else {}
    for name in sorted({*map(str, old), *now}):
        shown = visible(name)[:MAX_SHOWN_CHANGE]
        if name not in old:
            yield f"{what} {shown}: new"
        elif name not in now:
            yield f"{what} {shown}: removed"
        elif old[name] != now[name]:
            yield f"{what} {shown}: another value"


def _was(text: str) -> str:
    return f"was {text[:MAX_SHOWN_CHANGE]}" if text else "was not set"


def _is(text: str) -> str:
    return text[:MAX_SHOWN_CHANGE] if text else "not set"
