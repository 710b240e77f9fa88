"""What tools share: the recording to read, and the secrets of the configuration as it is now."""

from contextlib import closing

from tests.unit.addons.agent.agent_stage import NAME, agent, files, keep
from tui.addons.agent.context import AgentContext
from tui.settings.locations import config_file


async def test_the_recording_of_the_command_line_is_read_by_default():
    keep(files(), "20260101T000000Z-1")
    keep(files(), "20260202T000000Z-2")
    async with agent("20260101") as ask:
        assert "in 20260101T000000Z-1" in await ask("find_entries")
        assert "in 20260202T000000Z-2" in await ask("find_entries", recording="20260202")


async def test_a_secret_that_is_configured_meanwhile_is_redacted():
    script = files()
    secret = "k3y-of-the-files-9x7"
    script.error(script.out("tools/call", {"name": "read"}), -32603, f"wrong key {secret}")
    keep(script)
    async with agent() as ask:
        assert secret in await ask("read_entry", entry=9)
        config_file().parent.mkdir(parents=True)
        config_file().write_text(f'[servers.a]\ncommand = "a"\nenv = {{ TOKEN = "{secret}" }}\n')
        assert "wrong key [redacted:servers.a.env.TOKEN]" in await ask("read_entry", entry=9)


async def test_a_recording_is_opened_once():
    keep(files())
    async with agent() as ask:
        await ask("find_entries")
        opened = await ask.context.reading(lambda: ask.context.traffic(None))
        assert opened is await ask.context.reading(lambda: ask.context.traffic(NAME))


async def test_nothing_is_left_if_nothing_was_read():
    with closing(AgentContext(None, None)) as context:
        assert await context.reading(lambda: 7) == 7


async def test_a_call_of_the_shell_is_read_by_default_if_it_is_the_newest():
    keep(files(), "20260101T000000Z-1", command="")
    later = files()
    later.wait(60_000)
    later.event("exit", code=0)
    keep(later, "20260101T000100Z-2", command="call")
    async with agent() as ask:
        assert "in 20260101T000100Z-2" in await ask("find_entries")
