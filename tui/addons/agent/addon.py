"""What this add-on brings: `mcptui agent`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import RECORDING, add_common, flag, option

_ABOUT = """\
Serve recordings to a coding agent, as an MCP server over stdio. The agent starts this command. It can list
and filter entries, read them, and find out what failed and where the time went. Texts of servers are marked
as foreign, and secrets are redacted.

  mcptui agent                        reads the newest recording by default
  mcptui agent --recording NAME       reads this one by default
  mcptui agent --install claude-code  Claude Code starts it (undo: --uninstall)
  mcptui agent --skill install        teach Claude Code the commands of mcptui

The agent may also call tools, restart servers, and keep and run tests, if a rule allows it or you answer yes
in a running mcptui.
"""
_EPILOG = """\
exit codes:
  0    the client closed the connection
  2    invalid usage, unreadable configuration, or no such recording
  130  interrupted
  141  the client closed the output
"""


def _fill(agent: argparse.ArgumentParser) -> None:
    option(agent, "--recording", "NAME", f"what the agent reads by default: {RECORDING}")
    add_common(agent, model=False, starts=False)
    written = agent.add_argument_group("instead of serving: add mcptui to a coding agent")
    either = written.add_mutually_exclusive_group()
    hosts = "claude-code, cursor, vscode, codex, gemini, windsurf, zed, ... or its file"
    option(either, "--install", "HOST", f"add mcptui to the servers of a host: {hosts}")
    option(either, "--uninstall", "HOST", "remove it from them")
    text = "print the skill that teaches an agent mcptui, or install it: install [claude-code|codex|FOLDER]"
    option(either, "--skill", "install", text, nargs="*")
    flag(written, "--yes", "do not ask for confirmation")
    flag(written, "--dry-run", "only show the change")


BRINGS = {
    "command": {"agent": "tui.addons.agent.command:agent"},
    "door": {
        "agent.permit": "tui.addons.agent.door:permit",
        "agent.tools": "tui.addons.agent.door:tools",
        "agent.call_tool": "tui.addons.agent.door:call_tool",
        "agent.restart_server": "tui.addons.agent.door:restart_server",
    },
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
