"""Finds the server cards of a domain: its AI catalog, and the catalogs that this one names."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag, urlsplit

from tui.addons.cards.card import CARD_TYPE, Card, read_card
from tui.addons.cards.catalog import CATALOG_TYPE, Catalog, Entry, read_catalog
from tui.addons.cards.documents import ALL_SECONDS, Documents, NoDocument
from tui.core.errors import ServerError, UsageError
from tui.core.text import clean_line
from tui.core.units import plural
from tui.core.web import is_loopback

WELL_KNOWN = "/.well-known/ai-catalog.json"
MAX_DEPTH = 4
"""As the specification recommends; the catalog of the domain is the first."""

MAX_CARDS = 1000


@dataclass(slots=True)
class Found:
    """What the catalogs of a domain name. `notes` say what was left out, and why."""

    start: str
    cards: list[Entry] = field(default_factory=list)
    catalogs: list[str] = field(default_factory=list)
    others: int = 0
    notes: list[str] = field(default_factory=list)


def domain_of(url: str) -> str:
    """Return the origin of a URL that is only a domain: https, or http on this machine; else ""."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return ""
    is_usable = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    is_bare = not parts.path and not set("@?#") & set(url)
    return f"{parts.scheme}://{parts.netloc}" if is_usable and is_bare and parts.hostname else ""


async def discover(origin: str, documents: Documents) -> Found:
    """Return the cards that a domain names.

    Raises NoDocument if it has no catalog, ServerError or UsageError for one that cannot be used.
    """
    found = Found(origin + WELL_KNOWN)
    try:
        async with asyncio.timeout(ALL_SECONDS):
            await _read(found, found.start, documents, ())
    except TimeoutError:
        if not found.catalogs:
            raise ServerError(f"no complete response within {ALL_SECONDS:g} s.", where=found.start) from None
        found.notes.append(f"not all catalogs were read within {ALL_SECONDS:g} s")
    # A catalog elsewhere must not replace what the domain itself names.
    first = {entry.identifier: entry for entry in reversed(found.cards)}
    found.cards = list(first.values())[::-1][:MAX_CARDS]
    return found


async def _read(
    found: Found, url: str, documents: Documents, above: tuple[str, ...], data: Any = None
) -> None:
    document = await documents.get(url, CATALOG_TYPE) if data is None else data
    try:
        catalog = read_catalog(document, url)
    except UsageError as error:
        raise UsageError(error.message, where=clean_line(url, 300)) from None
    if data is None:
        found.catalogs.append(url)
    found.cards += catalog.cards
    found.others += catalog.others
    found.notes += _left_out(catalog)
    for entry in catalog.nested:
        shown = clean_line(entry.url, 200)
        if entry.data is None and _without_fragment(entry.url) in map(_without_fragment, found.catalogs):
            if entry.url in (*above, url):
                found.notes.append(f"the catalog {shown} names itself again")
        elif len(above) + 2 > MAX_DEPTH:
            found.notes.append(f"the catalog {shown} is nested too deeply")
        else:
            try:
                await _read(found, entry.url, documents, (*above, url), entry.data)
            except (ServerError, UsageError) as error:
                found.notes.append(f"a catalog was left out: {error}".removesuffix("."))


def _without_fragment(url: str) -> str:
    return urldefrag(url)[0]


def _left_out(catalog: Catalog) -> Iterator[str]:
    if catalog.broken:
        yield f"{plural(catalog.broken, 'invalid entry')} left out"
    if catalog.left:
        yield f"{plural(catalog.left, 'entry')} not read, because the catalog is too long"


async def load_card(entry: Entry, documents: Documents) -> Card:
    """Return the card of an entry. Raises ServerError or UsageError."""
    try:
        document = await documents.get(entry.url, CARD_TYPE) if entry.data is None else entry.data
    except NoDocument as error:  # unlike a domain without a catalog, this is an error
        raise ServerError(error.message, where=error.where) from error
    try:
        return read_card(document)
    except UsageError as error:
        raise UsageError(f"{error.message}", where=clean_line(entry.url, 300)) from None


async def load_address(address: str) -> Card:
    """Return the card at an address that `Entry.address` returned. Raises ServerError or UsageError."""
    url, identifier = urldefrag(address)
    documents = Documents(url)
    if not identifier:
        return await load_card(Entry("", url), documents)
    inline = read_catalog(await documents.get(url, CATALOG_TYPE), url).cards
    if (entry := next((one for one in inline if one.identifier == identifier), None)) is None:
        shown = clean_line(identifier, 120)
        raise UsageError(f"no longer has the card {shown}.", where=clean_line(url, 300))
    return await load_card(entry, documents)
