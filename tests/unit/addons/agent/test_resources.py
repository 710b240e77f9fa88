"""Recordings, entries and sessions as resources."""

import pytest

from tests.unit.addons.agent.agent_stage import NAME, Agent, agent, files, keep
from tui.addons.agent.answer import rendered
from tui.addons.agent.resources import MOST_LISTED, resource, resources, templates
from tui.core.errors import McptuiError


async def read(ask: Agent, uri: str) -> str:
    return rendered(await resource(ask.context, uri))


async def test_the_newest_recordings_are_listed_but_not_those_of_agents():
    for number in range(MOST_LISTED + 3):
        keep(files(), f"2026{number:04}T000000Z-1")
    keep(files(), "20270101T000000Z-1", command="agent")
    async with agent() as ask:
        listed = [one["uri"] for one in await resources(ask.context)]
        assert len(listed) == MOST_LISTED + 2
        assert "mcptui://recordings/20270101T000000Z-1" not in listed
        assert "tap" not in str(await resources(ask.context))


async def test_everything_that_is_listed_can_be_read():
    keep(files(), tap="weather")
    async with agent() as ask:
        for one in await resources(ask.context):
            assert await read(ask, one["uri"])


async def test_a_recording_and_an_entry_are_read_by_name():
    keep(files())
    async with agent() as ask:
        assert f"{NAME}: 7 entries" in await read(ask, f"mcptui://recordings/{NAME}")
        assert "text 0" in await read(ask, "mcptui://recordings/newest/entries/7")


@pytest.mark.parametrize(
    "uri",
    [
        *("mcptui://recordings/nope", "mcptui://recordings/newest/entries/99", "mcptui://sessions/nope"),
        *("mcptui://sessions/..%2F..%2Fetc", "mcptui://x", "file:///etc/passwd", ""),
    ],
)
async def test_what_does_not_exist_is_an_error(uri: str):
    keep(files())
    async with agent() as ask:
        with pytest.raises(McptuiError):
            await resource(ask.context, uri)


def test_templates_have_unique_names():
    assert len({one["name"] for one in templates()}) == 3
