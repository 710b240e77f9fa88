"""`mcptui add https://DOMAIN`: the server of a card that the domain names, shown with all hosts involved."""

import argparse
import asyncio
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from tui.addons.cards.card import PLACEHOLDER, Card, host_of_template
from tui.addons.cards.catalog import Entry, wanted
from tui.addons.cards.discovery import Found, discover, domain_of, load_card
from tui.addons.cards.documents import Documents, NoDocument
from tui.commands.add import FoundServer
from tui.commands.permission.terminal_approver import is_terminal, typed_answer
from tui.commands.progress import progress
from tui.core.addons import missing, service
from tui.core.errors import ServerError, UsageError
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line, object_in, quoted_name, text_in
from tui.core.units import plural
from tui.core.web import host_of, web_address
from tui.settings.references import escaped

MAX_LISTED = 40
MAX_NOTES = 12
UNVERIFIED = "Nothing above is verified. Check the host of the server before you add it."
_UNNAMED = ("mcp", "server", "mcp-server", "api")
"""Last parts of names that say nothing about a server."""


def domain(args: argparse.Namespace) -> FoundServer | None:
    """Return the server of a card that a domain names; None if the target is no domain, or it has no catalog.

    Raises UsageError or ServerError if the catalog or card cannot be used.
    """
    origin = domain_of(args.target[0]) if len(args.target) == 1 else ""
    if not origin or args.env or args.header or args.transport:
        if args.card:
            raise UsageError("--card requires a domain, such as https://example.com.")
        return None
    here = f"If the server is at this address, write {clean_line(origin, 200)}/"
    host = clean_line(urlsplit(origin).netloc, 200)
    print(f"· asking {host} for its AI catalog", file=sys.stderr, flush=True)
    try:
        with progress(f"asking {host}"):
            found = asyncio.run(discover(origin, Documents(origin)))
    except NoDocument as error:
        if args.card:
            raise
        print(f"· {error} Adding the address as the URL of a server.", file=sys.stderr)
        return None
    except ServerError as error:
        step = f"{error.next_step} {here}".strip()
        raise ServerError(error.message, where=error.where, next_step=step) from error
    entry = _chosen(found, args.card or "", origin)
    with progress("reading its server card"):
        card = asyncio.run(load_card(entry, Documents(origin)))
    if lacks := missing("service", "server entry"):
        raise UsageError(lacks)
    if not card.remotes:
        reasons = "; ".join(clean_line(note, 300) for note in card.notes)
        what = f"it has no endpoint that can be used ({reasons})" if reasons else "it names no endpoint"
        raise UsageError(f"{clean_line(card.name, 200)} cannot be added: {what}.", where=_where(entry))
    if not (usable := [one.raw for one in card.remotes if not one.url.startswith("{")]):
        raise UsageError(
            f"{clean_line(card.name, 200)} cannot be added: its card leaves the whole address to you.",
            where=_where(entry),
            next_step="Add the address that its operator gave you: mcptui add URL",
        )
    make = service("server entry")
    assert make is not None  # checked above
    raw = {"name": card.name, "remotes": usable}
    server: FoundServer = make(args, raw, [*told(origin, found, entry, card)], _where(entry))
    refuse_address(str(server.table.get("url", "")), card, origin)
    proposed = "" if server.name in _UNNAMED else server.name
    kept = {"card": escaped(entry.address)}  # what a publisher writes is never a reference to a variable
    table, shown = server.table | kept, (server.shown or server.table) | kept
    return replace(server, name=proposed, source="card", table=table, shown=shown)


def _chosen(found: Found, name: str, origin: str) -> Entry:
    """Return the card that is named, the only one, or the one that the user selects."""
    host = clean_line(urlsplit(origin).netloc, 200)
    others = f" ({plural(found.others, 'entry')} of other types)" if found.others else ""
    if not found.cards:
        notes = "".join(f"\n  {clean_line(note, 300)}" for note in found.notes[:MAX_NOTES])
        raise UsageError(f"the catalog of {host} names no server cards{others}.{notes}")
    fitting = wanted(found.cards, name) if name else found.cards
    if len(fitting) == 1:
        return fitting[0]
    lines = [f"  {one.line}" for one in (fitting or found.cards)[:MAX_LISTED]]
    left = len(fitting or found.cards) - len(lines)
    more = f"\n  and {left:,} more" if left else ""
    shown = "\n".join(lines) + more
    if not fitting:
        raise UsageError(f"{host} names no server {quoted_name(name, 80)}. It names:\n{shown}")
    head = f"{host} names {plural(len(fitting), 'server')}{others}"
    if not is_terminal():
        raise UsageError(f"{head}. Choose one with --card NAME:\n{shown}")
    print("\n".join((f"{head}:", *(f"{number:3}{line}" for number, line in enumerate(lines, 1)))) + more)
    typed = typed_answer("Which one? Its number or name: ") or ""
    if typed and len(chosen := wanted(fitting, typed)) == 1:
        return chosen[0]
    if typed.isdecimal() and len(typed) < 5 and 1 <= int(typed) <= len(fitting):
        return fitting[int(typed) - 1]
    raise UsageError("nothing was chosen.", next_step=f"mcptui add {shlex.quote(origin)} --card NAME")


def told(origin: str, found: Found, entry: Entry, card: Card) -> Iterator[str]:
    """Yield the lines that say what the card claims, which hosts are involved, and what is odd."""
    title = clean_line(entry.display or card.title or card.name, 100)
    yield f"{title} {clean_line(card.version, 60)} ({clean_line(card.name, 200)})"
    for name, text in (("", card.description), ("website ", card.website), ("source ", card.repository)):
        if text:
            yield f"  {name}{clean_line(text, 200)}"
    if card.versions:
        yield f"  protocol versions: {', '.join(card.versions)}"
    yield "hosts:"
    places = [("typed by you", origin), *(("catalog", one) for one in found.catalogs)]
    places += [("card", entry.url)] if entry.data is None else []
    places += [("server", one.url) for one in card.remotes]
    warned: dict[str, None] = {}
    for what, url in places:
        shown_host = _host(url)
        mark = "" if _is_under(shown_host, host_of(origin)) else "   ! another domain"
        yield f"  {what:12}  {clean_line(shown_host, 100)}{mark}   {clean_line(url, 300)}"
        if "{" not in url:
            warned |= dict.fromkeys(f"{shown_host}: {warning}" for warning in web_address(url).warnings)
    hosts = [_host(url) for _, url in places]
    if (claim := card.domain) and not any(_is_under(one, claim) or _is_under(claim, one) for one in hosts):
        yield f"! Its name claims {clean_line(claim, 200)}. None of these hosts belongs to it."
    notes = [*found.notes, *card.notes]
    if entry.version and entry.version != card.version:
        notes.append(f"the catalog names version {quoted_name(entry.version, 60)}")
    for line in (*warned, *(f"The card or catalog: {note}" for note in notes[:MAX_NOTES])):
        yield f"! {clean_line(line, 400)}"
    yield UNVERIFIED


def _host(url: str) -> str:
    return host_of_template(url) if "{" in url else host_of(url)


def _is_under(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _where(entry: Entry) -> str:
    return clean_line(entry.address, 300)


def refuse_address(url: str, card: Card, origin: str) -> None:
    """Raise UsageError if a card of a public domain names a private or unencrypted server.

    A host that the user has filled in is the user's own choice.
    """
    named = {host_of(PLACEHOLDER.sub(partial(_default, one.raw), one.url)) for one in card.remotes}
    if host_of(url) in named and (fault := Documents(origin).fault(url)):
        shown = clean_line(masked(url), 300)
        where = clean_line(host_of(origin), 200)
        raise UsageError(f"the card names a server whose address {fault}: {shown}", where=where)


def _default(remote: Mapping[str, Any], found: re.Match[str]) -> str:
    return text_in(object_in(object_in(remote, "variables"), found[1]), "default")
