"""A run killed during its calls can be continued with any model, and nothing is refused.

Real processes: the command, demo servers, and an endpoint that refuses what real ones refuse.
"""

import sys
from pathlib import Path

import pytest

from tests.endpoint import Endpoint, calls
from tests.protocol.command import mcptui, start
from tests.strict import FLAVOURS, Strict

SERVERS = Path(__file__).parents[2] / "sample_config" / "servers"
SLOW = ("slow__count_slowly", {"seconds": 500})
WEATHER = ("weather__get_weather", {"location": "Beijing"})
TRUSTED = ("--trust", "slow", "--trust", "weather")
"""Calls marked as read-only run in parallel if the servers are trusted."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def config(folder: Path, endpoint: Endpoint) -> str:
    lines = [
        f'[servers.{name}]\ncommand = "{sys.executable}"\nargs = ["{SERVERS / name}.py"]'
        for name in ("slow", "weather")
    ]
    lines += [
        f'[models.{name}]\nbase_url = "{endpoint.base_url}"\nmodel = "{model}"'
        for name, model in FLAVOURS.items()
    ]
    path = folder / "config.toml"
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


async def test_a_run_killed_during_its_calls_is_resumed_with_other_models(tmp_path: Path) -> None:
    strict = Strict(calls(SLOW, WEATHER, text="Let me look."))
    async with Endpoint([strict]) as endpoint:
        given = ("run", "--config", config(tmp_path, endpoint), "--approve", "all", "--json", *TRUSTED)
        asked = ("--model", "vllm", "--session", "trip", "What is the weather?")
        process = await start(*given, *asked, piped=False)
        assert process.stdout is not None
        async for line in process.stdout:
            if b'"tool_result"' in line:
                break
        process.kill()
        await process.communicate()
        for name in ("mistral", "template"):
            strict.then(calls(WEATHER))
            done = await mcptui(*given, "--model", name, "--session", "trip", "and now?")
            assert strict.refused == [] and done.code == 0, done.err
        told = endpoint.requests[-1].json["messages"]
    assert any("outcome unknown" in str(one["content"]) for one in told), told
