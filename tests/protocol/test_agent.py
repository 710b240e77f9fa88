"""An agent finds what is wrong with a server from the recording of a call, in one question."""

import sys
from pathlib import Path

import pytest

from tests.protocol import command
from tests.unit.addons.agent.agent_stage import agent
from tui.core.context.context_meter import estimate

SERVER = Path(__file__).with_name("broken_server.py")

DEFECTS = {
    "crash": "KeyError: 'n'\nat /srv/files.py:40 in read",
    "error": "KeyError: 'n'\nat /srv/files.py:40 in read",
    "hang": "It was cancelled",
    "stray output": "stray-output",
    "wrong id": "unknown-id",
    "output schema": "'three' is not of type 'integer'",
    "input schema": 'has the type "string" at its root',
    "tool error": "no folder /data",
}


@pytest.mark.parametrize("defect", DEFECTS)
async def test_one_question_finds_the_defect(defect: str):
    words = ("call", "read", "path=/x", "--seconds", "1", "--", sys.executable, str(SERVER), defect)
    process = await command.start(*words)
    await command.finish(process)
    async with agent() as ask:
        said = await ask("explain")
    assert DEFECTS[defect] in said
    assert estimate(said) < 2_000
