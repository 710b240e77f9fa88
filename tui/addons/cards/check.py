"""Compares the servers that were added from a card with their cards: `config check --cards`, the workbench.

Only these servers are connected to, and only if they have consent, as for `mcptui servers`.
"""

import argparse
import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

from tui.addons.cards.card import Card
from tui.addons.cards.comparison import differences
from tui.addons.cards.discovery import load_address
from tui.commands.progress import progress
from tui.core.errors import McptuiError
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean, clean_line
from tui.core.units import plural
from tui.core.workbench import ServerIdentity


def check(args: argparse.Namespace) -> int:
    """Print how each server and its card differ. Return the exit code; a difference is no error."""
    from tui.commands.headless import headless
    from tui.runtime.options import Options

    return headless(Options.from_args(args), lambda runtime, _: _check(runtime))


async def _check(runtime: Any) -> int:
    await runtime.ready(start=False, model=False, record=False)
    names = [status.name for status in runtime.host.statuses() if status.spec.card]
    if not names:
        print("cards: nothing to compare")
        return 0
    cards = asyncio.gather(*(_card(runtime.host.status(name).spec.card) for name in names))
    with progress(f"comparing {plural(len(names), 'server card')}"):
        await runtime.host.start_all(names, lambda name: None)
        found = await cards
    for name, card in zip(names, found, strict=True):
        status, identity = runtime.host.status(name), await runtime.workbench.identity(name)
        for line in _lines(card, status, identity):
            print(clean(f"{clean_line(name, 64)}: {line}"))
    return 0


async def _card(address: str) -> Card | str:
    try:
        return await load_address(address)
    except McptuiError as error:
        return str(error)


def _lines(card: Card | str, status: ServerStatus, identity: ServerIdentity) -> Iterator[str]:
    if isinstance(card, str):
        yield f"its card cannot be read: {card}"
    elif status.state is not ServerState.RUNNING:
        yield f"not compared with its card: it is {status.state.value}. Run `mcptui servers` to see why"
    elif found := differences(card, status, identity):
        yield f"differs from its card in {plural(len(found), 'point')}:"
        yield from (f"  {one}" for one in found)
    else:
        yield "OK: its card says the same"


class CardFacts:
    """The facts of the overview about the card of a server, which is read once, when they are first shown."""

    def __init__(self, start: Any) -> None:
        """`start` runs a coroutine in the background: `Tasks.start`."""
        self._start = start
        self._address = ""
        self._card: Card | str | None = None

    def of(self, status: ServerStatus, identity: ServerIdentity) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and style of each fact."""
        address = status.spec.card
        if not address or status.state is not ServerState.RUNNING or not identity.protocol:
            return
        if address != self._address:
            self._address, self._card = address, None
            reading: Coroutine[Any, Any, None] = self._read(address)
            self._start(reading, "server card")
        yield "address", clean_line(address, 400), "text"
        match self._card:
            case None:
                yield "compared", "reading the card", "dim"
            case str(problem):
                yield "compared", clean_line(problem, 300), "warn"
            case card:
                found = differences(card, status, identity)
                if not found:
                    yield "compared", "the card says the same as the server", "text"
                for one in found:
                    yield one.what, f"the card says {one.card}, the server {one.server}", "warn"

    async def _read(self, address: str) -> None:
        card = await _card(address)
        if address == self._address:
            self._card = card
