"""What this add-on brings: `mcptui doctor`. Loads the standard library only."""

import argparse
from functools import partial

from tui.commands.shared_options import add_common, add_unconfigured, add_wide, flag, option, seconds

_USAGE = """\
mcptui doctor [SERVER|URL] [OPTION ...]
       mcptui doctor --host HOST [SERVER] [OPTION ...]
       mcptui doctor [OPTION ...] -- COMMAND [ARG ...]"""
_ABOUT = """\
Find out why a server does not work. mcptui starts it, checks it step by step, says what to do about the first
step that fails, and stops it. It never calls a tool. Without a server, all configured ones are checked.

  mcptui doctor                          all configured servers, shortly
  mcptui doctor weather                  every step of one
  mcptui doctor https://example.com/mcp
  mcptui doctor -- python server.py
  mcptui doctor --host cursor            what Cursor will do with its servers
"""
_EPILOG = """\
exit codes:
  0    nothing failed
  1    a step failed
  2    invalid usage or configuration
  130  interrupted
"""


def _fill(doctor: argparse.ArgumentParser) -> None:
    option(doctor, "words", "SERVER|URL", "a configured server, or a URL", nargs="*")
    option(
        doctor, "--host", "HOST", "check the servers of another host: claude, cursor, vscode, … or its file"
    )
    option(
        doctor,
        "--seconds",
        "N",
        "how long a server may take to start (default: as configured)",
        type=partial(seconds, most=3_600),
    )
    add_wide(doctor)
    flag(doctor, "--json", "print a JSON object, or an array for several servers")
    text = "write the report for an issue to FILE (default: to a file in the state folder, if a step fails)"
    option(doctor, "--report", "FILE", text)
    add_unconfigured(doctor.add_argument_group("for a URL or a command that is not configured"))
    add_common(doctor, model=False)


BRINGS = {
    "command": {"doctor": "tui.addons.doctor.command:doctor"},
    "parser": {
        "doctor": {
            "after": "list",
            "live": True,
            "fill": _fill,
            "help": "find out why a server does not work",
            "usage": _USAGE,
            "description": _ABOUT,
            "epilog": _EPILOG,
        }
    },
}
