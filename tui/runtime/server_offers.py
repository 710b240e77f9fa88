"""Asks a running server for all that it offers, for a comparison."""

from typing import TYPE_CHECKING

from tui.core.comparison.offers import KINDS, Offer
from tui.core.servers import ServerState, not_configured
from tui.core.text import quoted_name

if TYPE_CHECKING:
    from tui.host.host import Host


async def offer_of(host: "Host", server: str) -> Offer:
    """Return what a server offers now, once what a switch has changed is asked for again.

    A list that cannot be read is a problem of the offer.
    """
    if (supervisor := host.servers.get(server)) is None:
        return Offer(problems=(not_configured(server),))
    await supervisor.reoffered()
    if supervisor.state is not ServerState.RUNNING:
        return Offer(problems=(f"The server {quoted_name(server)} is not running.",))
    capabilities = (await host.workbench.identity(server)).capabilities
    lists, problems = {}, list[str]()
    for kind in KINDS:
        if ("resources" if kind == "resourceTemplates" else kind) in capabilities:
            lists[kind], problem = await host.workbench.entries(server, kind)
            problems += filter(None, [problem])
    return Offer(capabilities, lists, tuple(problems))
