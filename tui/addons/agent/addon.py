"""What this add-on brings: `mcptui agent`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import RECORDING, add_common, option

_ABOUT = """\
Serve recordings to a coding agent, as an MCP server over stdio. The agent starts this command. It can list
and filter entries, read them, and find out what failed and where the time went. Texts of servers are marked
as foreign, and secrets are redacted.

  mcptui agent                           the newest recording, unless the agent names another
  mcptui agent --recording tests         the agent reads this one by default
"""
_EPILOG = """\
exit codes:
  0    the client closed the connection
  2    invalid usage, or unreadable recording
  130  interrupted
"""


def _fill(agent: argparse.ArgumentParser) -> None:
    option(agent, "--recording", "NAME", f"what the agent reads by default: {RECORDING}")
    add_common(agent, model=False, starts=False)


BRINGS = {
    "command": {"agent": "tui.addons.agent.command:agent"},
    "parser": {
        "agent": {
            "after": "traffic",
            "fill": _fill,
            "help": "serve recordings to a coding agent, as an MCP server",
            "description": _ABOUT,
            "epilog": _EPILOG,
        }
    },
}
