"""Reads AI catalogs (specVersion 0.9 and 1.x): which server cards a domain names. Pure.

Types of entries that are neither a server card nor another catalog are only counted. Signatures and trust
manifests are ignored: without an anchor of the user's own, they prove nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from tui.addons.cards.card import CARD_TYPE
from tui.core.errors import UsageError
from tui.core.text import clean_line, quoted_name, text_in
from tui.core.web import media_type

CATALOG_TYPE = "application/ai-catalog+json"
MAX_ENTRIES = 1000
MAX_IDENTIFIER = 500
MAX_URL = 2048
_MAJOR = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A server card that a catalog names, at `url`, or inline as `data` in the catalog at `url`.

    All texts are the publisher's, not cleaned. `display` and `version` are "" if the card has them.
    """

    identifier: str
    url: str
    data: Any = None
    display: str = ""
    version: str = ""
    updated: str = ""

    @property
    def short(self) -> str:
        """The last part of its identifier: "weather" for "urn:air:example.com:mcp:weather"."""
        return re.split(r"[:/]", self.identifier.rstrip(":/"))[-1] or self.identifier

    @property
    def address(self) -> str:
        """Where to find it again: its URL, for an inline one with its identifier as the fragment."""
        return self.url if self.data is None else f"{self.url.partition('#')[0]}#{self.identifier}"

    @property
    def line(self) -> str:
        """Its name, version and identifier on one clean line."""
        version = f" {clean_line(self.version, 40)}" if self.version else ""
        display = f"  {quoted_name(self.display, 80)}" if self.display else ""
        return f"{clean_line(self.short, 60)}{version}{display}  {clean_line(self.identifier, 120)}"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The cards and catalogs that one catalog names.

    `others` counts the entries of other types, `broken` those that violate the specification, `left` those
    that were not read.
    """

    cards: tuple[Entry, ...] = ()
    nested: tuple[Entry, ...] = ()
    others: int = 0
    broken: int = 0
    left: int = 0


def read_catalog(document: Any, url: str) -> Catalog:
    """Return the catalog of a JSON document from `url`. Raises UsageError if it is none, or too new."""
    entries = document.get("entries") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(entries, list):
        raise UsageError("is not an AI catalog: it has no entries.")
    version = text_in(document, "specVersion")
    major = re.fullmatch(r"(\d{1,9})\.\d{1,9}", version)
    if major is not None and int(major[1]) > _MAJOR:
        raise UsageError(f"is an AI catalog of version {version}. mcptui reads versions up to {_MAJOR}.")
    if not version:
        raise UsageError("is not an AI catalog: it has no specVersion.")
    cards, nested = [], []
    others = broken = 0
    for raw in entries[:MAX_ENTRIES]:
        if (entry := _entry(raw, url)) is None:
            broken += 1
        elif (kind := media_type(text_in(raw, "type"))) == CARD_TYPE:
            cards.append(entry)
        elif kind == CATALOG_TYPE:
            nested.append(entry)
        else:
            others += 1
    left = max(0, len(entries) - MAX_ENTRIES)
    return Catalog(tuple(newest(cards)), tuple(nested), others, broken, left)


def _entry(raw: Any, url: str) -> Entry | None:
    """Return an entry, None for an invalid one. A relative URL is relative to the catalog."""
    if not isinstance(raw, Mapping) or ("url" in raw) == ("data" in raw) or not text_in(raw, "type"):
        return None
    identifier, there = text_in(raw, "identifier"), text_in(raw, "url")
    if not 0 < len(identifier) <= MAX_IDENTIFIER or not identifier.isprintable():
        return None
    if "url" in raw:
        if not 0 < len(there) <= MAX_URL or not there.isprintable():
            return None
        try:
            there = urljoin(url, there)
        except ValueError:
            return None
    texts = (text_in(raw, key) for key in ("displayName", "version", "updatedAt"))
    return Entry(identifier, there or url, raw.get("data"), *texts)


def newest(entries: Iterable[Entry]) -> list[Entry]:
    """Return the newest version of each entry, in their order."""
    found: dict[str, Entry] = {}
    for entry in entries:
        known = found.get(entry.identifier)
        if known is None or _age(entry) > _age(known):
            found[entry.identifier] = entry
    return list(found.values())


def _age(entry: Entry) -> tuple[bool, tuple[int, ...], bool, str]:
    """Return a key that is larger for a newer version: a release is newer than its previews."""
    match = re.fullmatch(r"v?(\d{1,9}(?:\.\d{1,9}){0,3})([-+].*)?", entry.version)
    numbers = tuple(map(int, match[1].split("."))) if match else ()
    is_release = match is None or not (match[2] or "").startswith("-")
    return bool(match), numbers, is_release, entry.updated


def wanted(entries: Sequence[Entry], name: str) -> list[Entry]:
    """Return the entries that a name means: an identifier, its last part, or the name that is shown."""
    folded = name.casefold()
    exact = [one for one in entries if one.identifier == name]
    names = [(one, {one.short.casefold(), one.display.casefold()} - {""}) for one in entries]
    return exact or [one for one, known in names if folded in known]
