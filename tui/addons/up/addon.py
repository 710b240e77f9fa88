"""What this add-on brings: `mcptui up`, and the door of a running mcptui. Standard library only."""

import argparse

from tui.commands.help_text import invalid
from tui.commands.shared_options import (
    add_common,
    add_question_options,
    add_unconfigured,
    add_wide,
    flag,
    option,
)

_USAGE = """\
mcptui up [SERVER ...] [--idle TIME] [OPTION ...]
       mcptui up [OPTION ...] -- COMMAND [ARG ...]
       mcptui up --list [--json]
       mcptui up --stop [SERVER ...]"""
_ABOUT = """\
Keep servers up, so that other commands use them instead of starting their own. Without SERVER: those that
start automatically. One that is not configured is a URL, HOST:NAME or the command after --. A running app
keeps its servers up in the same way.

  mcptui up files github        keep two servers up until ctrl+c
  mcptui up --idle 10m &        end after ten minutes without a command
  mcptui call files read_text_file path=README.md

A command uses a server only if it would start the same one: command, arguments, environment, folder and
protocol era. It says so, and --own starts one of its own. mcptui test always does.
"""
_EPILOG = """\
exit codes:
  0    ended as requested
  1    a server of --stop is not up
  2    invalid usage or configuration
  5    no server could be started
"""
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def _fill(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--own", "start a server of its own, also if a running mcptui has this one up")


def _time(text: str) -> float:
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _SECONDS else (text, "s")
    try:
        found = float(number) * _SECONDS[unit]
    except ValueError:
        found = 0.0
    if not 0 < found <= 7 * 86_400:
        raise invalid("a time such as 90s, 10m or 2h", text)
    return found


def _fill_up(up: argparse.ArgumentParser) -> None:
    option(up, "words", "SERVER", "servers to keep up (default: those that start automatically)", nargs="*")
    flag(up, "--list", "list what is up, where, and what is attached")
    flag(up, "--stop", "end each mcptui up, or stop the servers that are named")
    option(up, "--idle", "TIME", "end after this time without a command, such as 10m", type=_time)
    add_wide(up)
    flag(up, "--json", "with --list: print one JSON object per line")
    add_unconfigured(up.add_argument_group("for a URL or a command that is not configured"))
    add_question_options(up)
    add_common(up, model=False)


_OWN = {"fill": _fill, "usage": "", "examples": "", "notes": "", "deeds": ()}

BRINGS = {
    "command": {"up": "tui.addons.up.command:up"},
    "parser": {
        "up": {
            "after": "list",
            "live": True,
            "fill": _fill_up,
            "help": "leave servers running for other commands",
            "usage": _USAGE,
            "description": _ABOUT,
            "epilog": _EPILOG,
        }
    },
    "door": {
        "servers": "tui.addons.up.methods:servers",
        "log": "tui.addons.up.methods:log",
        "up.find": "tui.addons.up.requests:find",
        "up.run": "tui.addons.up.requests:run",
        "up.stop": "tui.addons.up.requests:stop",
    },
    "flags": dict.fromkeys(("call", "read", "prompt", "list", "skill"), _OWN),
    "service": {
        "attached command": "tui.addons.up.attach:attached",
        "door": "tui.addons.up.door:Door",
        "running": "tui.addons.up.running:running",
    },
    "setting": {"up": None},
}
