"""What a running server lists."""

from tests.unit.addons.tests.contract.listed_server import runtime
from tui.addons.tests.contract.listing import Kind
from tui.addons.tests.contract.live import live_listing


async def test_everything_that_the_server_supports_is_listed():
    found, problem = await live_listing(runtime(prompts={}), "calc")
    assert problem == ""
    assert found.entries(Kind.TOOL) == {"add": {"description": "Adds.", "inputSchema": {"type": "object"}}}
    assert found.lists[Kind.PROMPT] == {} and found.lists[Kind.RESOURCE] == {}
    assert (found.instructions, found.capabilities) == ("Use calc.", {"tools": {}, "prompts": {}})
    assert found.protocol == "2025-11-25"


async def test_an_incomplete_list_is_a_problem():
    _, problem = await live_listing(runtime(problem="Some tools are missing: page 2 failed."), "calc")
    assert problem == "Some tools are missing: page 2 failed."
