"""Reads server cards (SEP-2127, schema v1). Pure; a card is untrusted text of whoever controls its address.

A card without the fields that identify a server is refused. One that only breaks a bound of the schema can be
used, and `notes` says so. Unknown fields are ignored.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tui.core.errors import UsageError
from tui.core.text import clean_line, list_in, object_in, quoted_name, text_in

CARD_TYPE = "application/mcp-server-card+json"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
MAX_REMOTES = 16
MAX_HEADERS = 50
MAX_VERSIONS = 16
MAX_VERSION = 255
PLACEHOLDER = re.compile(r"\{([^{}]{1,100})\}")

_SCHEMA = re.compile(r"https://static\.modelcontextprotocol\.io/schemas/v(\d{1,9})/server-card\.schema\.json")
_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_NAME_LENGTH = range(3, 201)
_URL = re.compile(r"https?://[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*")
_RANGE = re.compile(r"[\^~<>=].*|.*[*|].*|.*\.[xX](?:\..*)?|.* - .*")
_TEXTS = {"title": 100, "description": 100}
"""Maximum characters of the texts that are shown, as in the schema."""

_TRANSPORTS = {"streamable-http": "http", "sse": "sse"}


@dataclass(frozen=True, slots=True)
class Remote:
    """One endpoint of a card: `url` may have `{variables}`, `transport` is as in the configuration.

    `raw` is the endpoint in the form of a registry entry.
    """

    url: str
    transport: str
    versions: tuple[str, ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Card:
    """What a card says about a server, not cleaned. `notes` say in which points it breaks the schema."""

    name: str
    version: str
    title: str = ""
    description: str = ""
    website: str = ""
    repository: str = ""
    remotes: tuple[Remote, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The domain that its name claims: example.com for com.example/weather. "" for a single word."""
        labels = self.name.partition("/")[0].lower().split(".")
        return ".".join(reversed(labels)) if len(labels) > 1 and all(labels) else ""

    @property
    def versions(self) -> tuple[str, ...]:
        """The protocol versions that its endpoints are said to support."""
        return tuple(dict.fromkeys(version for remote in self.remotes for version in remote.versions))


def read_card(document: Any) -> Card:
    """Return the card of a JSON document. Raises UsageError if it is none, or cannot be used."""
    if not isinstance(document, Mapping):
        raise UsageError("is not a server card: it is no JSON object.")
    if (schema := text_in(document, "$schema")) != SCHEMA:
        if (found := _SCHEMA.fullmatch(schema)) and int(found[1]) > 1:
            raise UsageError(f"is a server card of version {found[1]}. mcptui reads version 1.")
        raise UsageError(f"is not a server card of version 1: its $schema is {_shown(schema)}.")
    name, version = text_in(document, "name"), text_in(document, "version")
    if len(name) not in _NAME_LENGTH or not _NAME.fullmatch(name):
        raise UsageError(f"has no valid name like com.example/weather: {_shown(name)}.")
    if not version or len(version) > MAX_VERSION:
        raise UsageError("has no version." if not version else "has a version that is too long.")
    remotes, notes = [], list(_notes(document, version))
    for one in list_in(document, "remotes")[:MAX_REMOTES]:
        if problem := _remote_problem(one):
            notes.append(f"an endpoint was left out: {problem}")
        else:
            remotes.append(_remote(one))
    remotes.sort(key=lambda one: one.transport != "http")  # HTTP+SSE is deprecated
    return Card(
        name,
        version,
        title=text_in(document, "title"),
        description=text_in(document, "description"),
        website=text_in(document, "websiteUrl"),
        repository=text_in(object_in(document, "repository"), "url"),
        remotes=tuple(remotes),
        notes=tuple(notes),
    )


def host_of_template(url: str) -> str:
    """Return the host in a URL that may have `{variables}`, which stay in it; "" if there is none."""
    scheme, mark, rest = url.partition("://")
    place = re.split(r"[/?#]", rest if mark else scheme, maxsplit=1)[0].rpartition("@")[2]
    try:
        return place if "{" in place else (urlsplit(f"//{place}").hostname or "")
    except ValueError:
        return ""


def _shown(text: str) -> str:
    return quoted_name(text, 120) if text else "not set"


def _notes(document: Mapping[str, Any], version: str) -> Iterator[str]:
    if _RANGE.fullmatch(version):
        yield f"its version {quoted_name(version, 40)} is a range"
    for key, most in _TEXTS.items():
        if len(text := text_in(document, key)) > most:
            yield f"its {key} has {len(text):,} characters, more than {most}"
    if not text_in(document, "description"):
        yield "it has no description"
    if (left := len(list_in(document, "remotes")) - MAX_REMOTES) > 0:
        yield f"{left:,} of its endpoints were left out"


def _remote_problem(remote: Any) -> str:
    """Return why an endpoint cannot be used, or ""."""
    if not isinstance(remote, Mapping):
        return "it is no JSON object"
    url, kind = text_in(remote, "url"), text_in(remote, "type")
    if kind not in _TRANSPORTS:
        return f"its transport is {_shown(clean_line(kind, 40))}"
    if len(url) > 2048 or not _URL.fullmatch(url):
        return f"{_shown(url)} is not a URL"
    headers = list_in(remote, "headers")
    if len(headers) > MAX_HEADERS:
        return f"it has {len(headers):,} headers"
    for header in headers:
        if not isinstance(header, Mapping):
            return "one of its headers is no JSON object"
        if missing := _undefined(text_in(header, "value"), header):
            return f"the header {_shown(text_in(header, 'name'))} has {_shown(missing)} without a definition"
    if missing := _undefined(url, remote):
        return f"{_shown(url)} has {_shown(missing)} without a definition"
    return ""


def _undefined(template: str, holder: Mapping[str, Any]) -> str:
    known = object_in(holder, "variables")
    found = PLACEHOLDER.findall(template[:8192])
    return next((f"{{{name}}}" for name in found if not isinstance(known.get(name), Mapping)), "")


def _remote(remote: Mapping[str, Any]) -> Remote:
    named = [one for one in list_in(remote, "supportedProtocolVersions") if isinstance(one, str)]
    versions = tuple(clean_line(one, 40) for one in named[:MAX_VERSIONS])
    url = text_in(remote, "url")
    return Remote(url, _TRANSPORTS[text_in(remote, "type")], versions, remote)
