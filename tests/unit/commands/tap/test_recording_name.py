"""The default name of a tapped server."""

import pytest

from tui.commands.tap.recording import name_of


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["uvx", "mcp-server-time"], "mcp-server-time"),
        (["npx", "-y", "@scope/server@1.2"], "server"),
        (["npx", "--token", "hunter2", "@scope/server@1.2"], "server"),
        (["node", "API_KEY=hunter2", "/srv/notes.js"], "notes"),
        (["docker", "run", "-e", "API_KEY=hunter2", "mcp/notes"], "notes"),
    ],
)
def test_the_recording_is_named_after_the_program_and_never_after_a_secret(command: list[str], name: str):
    assert name_of(command) == name
