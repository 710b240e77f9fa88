"""From "my server fails" to its defect and a kept test: one routine, for servers with planted defects."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.configurations import table
from tests.unit.addons.agent import acting_stage
from tests.unit.addons.agent.acting_stage import Acting, acting, folder
from tui.settings.locations import config_file

__all__ = ["folder"]
pytestmark = pytest.mark.usefixtures("quick_python")

SERVER = Path(acting_stage.__file__).parent / "planted_server.py"
MOST_CALLS, MOST_TOKENS = 8, 20_000
CALL = {"server": "planted", "tool": "forecast", "arguments": {"city": "Oslo"}, "seconds": 2}

FOUND = {
    "crash at start": ["did not start", "RuntimeError: FORECAST_TOKEN is not set"],
    "crash in a call": ["ZeroDivisionError: no stations near this city"],
    "wrong schema type+error without text": ["'str'", "isError is true, and there is no text"],
    "slow": ["tools/call", "2 s"],
    "stray output+output schema mismatch": [
        *("DEBUG: forecast called", "warning stray-output"),
        *("outputSchema", "'warm' is not of type 'number'"),
    ],
    "lost answer": ["timeout", "2 s"],
    "wrong id": ["error id-type", "differ in type"],
}
"""What the answers must contain by the time the agent changes the server."""


async def routine(client: Acting, fix: Callable[[], None]) -> str:
    """Do what an agent does that knows only the name of the server; return what it has read until the fix."""
    await client.call("servers")
    said, _ = await client.result("call_tool", **CALL)
    if "did not start" in said:
        await client.call("log", server="planted")
    else:
        await client.call("explain")
    await client.call("lint")
    read = "\n".join(client.said)
    fix()
    assert "21" in await client.call("call_tool", **CALL)
    await client.call("keep_as_test", file="planted.mcp.toml")
    assert "1 of 1 test passed." in await client.call("run_tests")
    return read


@pytest.mark.parametrize("defect", FOUND)
async def test_the_defect_is_found_and_the_call_kept_in_at_most_eight_calls(defect: str, folder: Path):
    flag = folder / "broken"
    flag.touch()
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    words = [str(SERVER), defect, str(flag)]
    path.write_text(
        table("servers.planted", command=sys.executable, args=words, trusted=True, accept_changes=True)
        + table("approvals", rules=["allow planted/*", "allow mcptui/*"])
    )
    async with acting() as client:
        read = await routine(client, flag.unlink)
    assert [words for words in FOUND[defect] if words not in read] == [], read
    assert len(client.said) <= MOST_CALLS
    assert client.tokens < MOST_TOKENS
    print(f"{defect}: {len(client.said)} calls, {client.tokens} tokens")
