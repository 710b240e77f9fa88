"""Asks a running server for all that it offers, for a comparison."""

import asyncio
from typing import TYPE_CHECKING

from tui.core.comparison.offers import KINDS, Offer
from tui.core.language.translate import message
from tui.core.servers import ServerState, not_configured
from tui.core.text import quoted_name

if TYPE_CHECKING:
    from tui.host.host import Host


OFFER_SECONDS = 60.0
"""How long to wait for all that a server offers, which may have to start again."""


async def offer_of(host: "Host", server: str, seconds: float = OFFER_SECONDS) -> Offer:
    """Return what a server offers now, once what a switch has changed is asked for again.

    A list that cannot be read, or not in time, is a problem of the offer.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _offer(host, server)
    except TimeoutError:
        return Offer(
            problems=(message("The server did not list everything within {seconds:g} s.", seconds=seconds),)
        )


async def _offer(host: "Host", server: str) -> Offer:
    if (supervisor := host.servers.get(server)) is None:
        return Offer(problems=(not_configured(server),))
    await supervisor.reoffered()
    if supervisor.state is not ServerState.RUNNING:
        return Offer(problems=(message("The server {server} is not running.", server=quoted_name(server)),))
    capabilities = (await host.workbench.identity(server)).capabilities
    lists, problems = {}, list[str]()
    for kind in KINDS:
        if ("resources" if kind == "resourceTemplates" else kind) in capabilities:
            lists[kind], problem = await host.workbench.entries(server, kind)
            problems += filter(None, [problem])
    return Offer(capabilities, lists, tuple(problems))
