"""Lists everything that a running server offers, all pages, without configured secrets."""

from typing import TYPE_CHECKING

from tui.addons.tests.contract.listing import LISTS, Entries, Kind, ServerListing, capabilities_of, entries_of

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


async def live_listing(runtime: "Runtime", server: str) -> tuple[ServerListing, str]:
    """Return what a running server lists, and why that is not everything, or "".

    A kind that the server does not support is empty.
    """
    workbench = runtime.workbench
    identity = await workbench.identity(server)
    lists: dict[Kind, Entries] = {}
    notes: list[str] = []
    for kind, one in LISTS.items():
        if identity.capabilities.get(one.capability) in (None, False):
            lists[kind] = {}
            continue
        items, problem = await workbench.entries(server, one.member)
        if problem:
            return ServerListing(lists), problem
        lists[kind], left_out = entries_of(kind, items)
        notes += left_out
    capabilities = capabilities_of(identity.capabilities)
    return ServerListing(lists, identity.instructions, capabilities, identity.protocol, tuple(notes)), ""
