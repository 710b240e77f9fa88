"""The SDK's client with real servers: directly, through `mcptui tap`, and with `mcptui mock` of that run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests import programs
from tests.protocol.test_tap import recorded, recordings
from tests.real.installed import EVERYTHING, TIME, needs
from tui.core.traffic import Direction, Kind

pytestmark = needs(EVERYTHING, TIME)

ROOT = str(Path(__file__).parents[2])


async def session(command: str, *args: str) -> list[Any]:
    """Do what clients do and return the responses."""
    env = {**os.environ, "PYTHONPATH": ROOT}
    told: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230
        transport = stdio_client(StdioServerParameters(command=command, args=list(args), env=env), nowhere)
        async with Client(transport) as client:
            tools = await client.list_tools()
            found: list[Any] = [tools]
            found.append(await client.list_prompts())
            found.append(await client.list_resources())
            names = {tool.name for tool in tools.tools}
            calls = {
                "echo": {"message": "hello ⚡"},
                "get-sum": {"a": 2, "b": 3},
                "trigger-long-running-operation": {"duration": 0.3, "steps": 3},
                "get_current_time": {"timezone": "no/where"},
            }
            for name, arguments in calls.items():
                if name in names:
                    found.append(await client.call_tool(name, arguments, progress_callback=progress))
    return [json.loads(one.model_dump_json(exclude={"meta"})) for one in found] + [told]


@pytest.mark.parametrize("server", [EVERYTHING, TIME], ids=["2025-11-25", "2026-07-28"])
async def test_a_client_sees_no_difference_through_the_tap_or_with_the_mock(server: Path):
    alone = await session(str(server))
    mcptui = programs.command("-m", "tui")
    tapped = await session(*mcptui, "tap", "--", str(server))
    assert tapped == alone
    answered = [entry for entry, _ in recorded() if entry.kind is Kind.RESPONSE and entry.pair]
    assert len([one for one in answered if one.direction is Direction.IN]) >= len(alone) - 1
    mocked = await session(*mcptui, "mock", str(recordings()[0]))
    assert mocked == alone
