"""`mcptui tap`: started by another host instead of an MCP server, it proxies and records that server.

The server is started before anything else is imported. The recording is made in its own thread.
"""

import argparse
import os
import sys

from tui.commands.tap.recording import TapRecording
from tui.core.addons import load

NOT_FOUND, NOT_STARTED, USAGE = 127, 126, 2
"""Our exit codes. The first two are those that shells use for a command that cannot be run."""

SWITCH_SECONDS = 0.0002
"""How long the recording may hold the interpreter while bytes are waiting (Python's default: 5 ms)."""


def tap(args: argparse.Namespace) -> int:
    """Run `mcptui tap`, and exit like the server."""
    for flags in args.addon_flags:
        if any(vars(args)[deed] is not None for deed in flags["deeds"]):
            return int(load(flags["run"])(args))
    if args.listen is not None or args.to is not None:
        if args.listen is None or args.to is None or args.server_command:
            return _refuse("--listen PORT requires --to URL, and takes no command", USAGE)
        from tui.commands.tap.http import tap_http

        return tap_http(args.listen, args.to, args.name)
    command = args.server_command[1:] if args.server_command[:1] == ["--"] else args.server_command
    if not command:
        return _refuse("a command is required: mcptui tap -- COMMAND ARG ...", USAGE)
    return _tap_process(args.name or "", command)


def _refuse(text: str, code: int) -> int:
    print(f"mcptui tap: {text}", file=sys.stderr)
    return code


def _tap_process(name: str, command: list[str]) -> int:
    if os.name != "posix":
        return _refuse("tapping a stdio server requires Linux or macOS", USAGE)
    from tui.host.passthrough.passthrough import Passthrough, end_like
    from tui.host.process.guard import TapGuard

    sys.setswitchinterval(SWITCH_SECONDS)
    recording = TapRecording(name)
    guard = TapGuard(os.environ)
    passthrough = Passthrough(command, recording.seen, failed=recording.give_up)
    try:
        passthrough.start(guard.environment)
    except OSError as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED
        return _refuse(f"cannot start {command[0]}: {error.strerror}", code)
    guard.start(passthrough.pid)
    recording.begin(command, passthrough.pid)
    code = passthrough.run()
    guard.end()
    recording.end(code)
    end_like(code)
    return code if code >= 0 else 128 - code
