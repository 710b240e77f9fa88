"""A recording of 10,000 entries: every answer is quick and small by default."""

import time
from typing import Any

from tests.unit.addons.agent.agent_stage import agent, files, keep
from tests.unit.traffic.traffic_script import Script
from tui.core.context.context_meter import estimate
from tui.core.traffic import Cause

MOST_TOKENS = 4_000
MOST_SECONDS = 0.2
"""Each answer, of several tries the quickest, in time of the processor: other tests run at the same time."""


def large() -> Script:
    script = files()
    for number in range(5_000):
        given = {
            "name": f"tool_{number % 300}",
            "arguments": {"path": f"/tmp/file{number}.txt", "n": "y" * 80},
        }
        known = script.out("tools/call", given, Cause(number // 20 + 1, 1, f"call_{number}"))
        if number % 50:
            block = {"type": "text", "text": "result " * 300}
            script.result(known, {"content": [block], "isError": number % 77 == 0})
        else:
            script.error(known, -32603, "it failed " * 100)
    return script


CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("recordings", {}), ("find_entries", {}), ("find_entries", {"filter": "status:failed"})),
    *(("find_entries", {"filter": "body:file77"}), ("find_entries", {"filter": "lint:any"})),
    *(("read_entry", {"entry": 9}), ("explain", {}), ("explain", {"entry": 9}), ("lint", {})),
    *(("statistics", {}), ("slowest", {}), ("turn", {}), ("turn", {"turn": 3})),
    ("compare", {"entry": 8, "other": 10}),
]


async def test_every_answer_is_small_and_quick():
    keep(large())
    async with agent() as ask:
        await ask("find_entries")
        await ask("lint")
        for name, given in CALLS:
            took = []
            for _ in range(3):
                began = time.process_time()
                said = await ask(name, **given)
                took.append(time.process_time() - began)
            assert estimate(said) <= MOST_TOKENS, (name, given)
            assert min(took) < MOST_SECONDS, (name, given, took)
