"""Compares a server card with the configuration and with what the running server says. Pure.

Where they differ, the server is right and the card is out of date or wrong: nothing is decided by a card.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tui.addons.cards.card import PLACEHOLDER, Card
from tui.core.jsonrpc.protocol import MODERN
from tui.core.servers import EraChoice, ServerSpec, ServerStatus
from tui.core.text import clean_line
from tui.core.workbench import ServerIdentity

SHOWN = 120


class Difference(NamedTuple):
    """What the card and the server say about `what`, cleaned."""

    what: str
    card: str
    server: str

    def __str__(self) -> str:
        return f"{self.what}: the card says {self.card}, the server {self.server}"


def differences(card: Card, status: ServerStatus, identity: ServerIdentity) -> list[Difference]:
    """Return where a card and a running server differ. What the server has not said is not compared."""
    return [
        Difference(what, *(clean_line(text, SHOWN) for text in pair))
        for what, *pair in (
            *_name(card, identity),
            *_version(card, identity),
            *_place(card, status, identity),
        )
    ]


def _name(card: Card, identity: ServerIdentity) -> Iterator[tuple[str, str, str]]:
    """A card has the name of a registry, a server often only a title: one may contain the other."""
    said = [name for name in (identity.name, identity.title) if name]
    ours = [text for text in (card.name, card.name.rpartition("/")[2], card.title) if text]
    if said and not any(_alike(one, other) for one in said for other in ours):
        yield "name", card.name, said[0]


def _alike(one: str, other: str) -> bool:
    short, long = sorted((_letters(one), _letters(other)), key=len)
    return short in long if short else one == other


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _version(card: Card, identity: ServerIdentity) -> Iterator[tuple[str, str, str]]:
    if identity.version and identity.version != card.version:
        yield "version", card.version, identity.version


def _place(card: Card, status: ServerStatus, identity: ServerIdentity) -> Iterator[tuple[str, str, str]]:
    spec = status.spec
    here = [remote for remote in card.remotes if matches(remote.url, spec.url or "")]
    if not here:
        yield (
            "endpoint",
            _several(one.url for one in card.remotes) or "none",
            status.launch,
        )  # without secrets
        return
    transports = {remote.transport for remote in here}
    if spec.transport.value not in transports:
        yield "transport", _several(sorted(transports)), spec.transport.value
    versions = [version for remote in here for version in remote.versions]
    said = [one for one in (identity.protocol, *identity.versions) if one]
    if versions and said and _contradicts(versions, spec, said):
        yield "protocol versions", _several(versions), _several(said)


def _contradicts(versions: Sequence[str], spec: ServerSpec, said: Sequence[str]) -> bool:
    """Return whether the agreed version, the first of `said`, is not named, or a newer one is in vain.

    A server need not name versions up to 2025-11-25 in `server/discover`.
    """
    in_vain = spec.era is not EraChoice.LEGACY and any(one >= MODERN and one not in said for one in versions)
    return said[0] not in versions or in_vain


def _several(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def matches(template: str, url: str) -> bool:
    """Return whether a URL is one that the template of a card describes, with any values."""
    parts = PLACEHOLDER.split(template)
    if parts[0] == "" and len(parts) > 1:  # the card leaves the whole address to the user
        return True
    fixed = [re.escape(part.rstrip("/") if at == len(parts) - 1 else part) for at, part in enumerate(parts)]
    pattern = "".join(text if at % 2 == 0 else "[^?#]*" for at, text in enumerate(fixed))
    return re.fullmatch(pattern, url.rstrip("/")) is not None
