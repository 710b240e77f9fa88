"""The card in the overview of a server."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tests.card_server import card, card_server
from tui.addons.cards.check import CardFacts
from tui.core.servers import ServerSpec, ServerState, ServerStatus, Transport
from tui.core.workbench import ServerIdentity


async def test_the_card_is_read_once_and_its_differences_are_shown():
    started: list[asyncio.Task[Any]] = []

    def start(work: Coroutine[Any, Any, Any], name: str) -> None:
        started.append(asyncio.create_task(work, name=name))

    async with card_server() as server:
        server.documents["/card"] = card(f"{server.origin}/mcp")
        spec = ServerSpec(
            "weather", url=f"{server.origin}/mcp", transport=Transport.HTTP, card=f"{server.origin}/card"
        )
        status = ServerStatus("weather", spec, ServerState.RUNNING)
        facts, said = CardFacts(start), ServerIdentity("weather", "", "3.0\x1b", "2026-07-28")
        assert [*facts.of(ServerStatus("weather", spec), said)] == [] and not started
        assert [*facts.of(status, said)][1] == ("compared", "reading the card", "dim")
        await asyncio.gather(*started)
        assert [*facts.of(status, said)][1:] == [("version", "the card says 2.1.0, the server 3.0␛", "warn")]
        same = ServerIdentity("weather", "", "2.1.0", "2026-07-28")
        assert [*facts.of(status, same)][1] == ("compared", "the card says the same as the server", "text")
        assert len(server.asked) == len(started) == 1


async def test_a_card_that_cannot_be_read_is_explained():
    spec = ServerSpec("weather", url="https://h/mcp", transport=Transport.HTTP, card="https://h/#x\x1b")
    started: list[Coroutine[Any, Any, Any]] = []
    facts = CardFacts(lambda work, _: started.append(work))
    status, said = ServerStatus("weather", spec, ServerState.RUNNING), ServerIdentity(protocol="2026-07-28")
    [*facts.of(status, said)]
    facts._address = spec.card
    started[0].close()
    facts._card = "h: returned HTTP 404."
    assert [*facts.of(status, said)][1] == ("compared", "h: returned HTTP 404.", "warn")
