"""What a server offers, for a comparison; servers that run are in tests/protocol/test_extensions.py."""

import sys
from pathlib import Path

from tests.hosts import host_of, running
from tui.core.servers import ServerSpec
from tui.runtime.server_offers import offer_of

OFFERING = Path(__file__).parents[2] / "protocol" / "offering_server.py"


async def test_a_server_that_does_not_run_or_is_gone_offers_nothing_and_says_so():
    host = host_of(ServerSpec("srv", "x"))
    assert (await offer_of(host, "srv")).problems == ("The server “srv” is not running.",)
    assert (await offer_of(host, "gone")).problems == ("The server “gone” is no longer configured.",)


async def test_all_lists_of_a_server_are_asked_for():
    async with running(ServerSpec("srv", sys.executable, (str(OFFERING),))) as host:
        offer = await offer_of(host, "srv")
    assert {kind for kind, entries in offer.lists.items() if entries} >= {"tools", "resources", "prompts"}
    assert not offer.problems
