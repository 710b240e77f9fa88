"""`mcptui tap`: started by another host in place of an MCP server, it passes everything on and records it.

The server is started before anything else is even imported; the recording follows in a thread of its own.
"""

import argparse
import os
import sys

from tui.commands.tap_recording import TapRecording

NOT_FOUND, NOT_STARTED, USAGE = 127, 126, 2
"""Exit codes of our own: the first two are those of shells for a command that cannot be run."""

SWITCH_SECONDS = 0.0002
"""How long the recording may keep the interpreter while bytes wait to go on (Python's own: 5 ms)."""


def tap(args: argparse.Namespace) -> int:
    """Carry out `mcptui tap`; ends as the server ends."""
    if args.listen is not None or args.to is not None:
        if args.listen is None or args.to is None or args.server_command:
            return _refuse("--listen PORT and --to URL belong together, and take no command", USAGE)
        from tui.commands.tap_http import tap_http

        return tap_http(args.listen, args.to, args.name)
    command = args.server_command[1:] if args.server_command[:1] == ["--"] else args.server_command
    if not command:
        return _refuse("say which server to start: mcptui tap -- COMMAND ARG ...", USAGE)
    return _tap_process(args.name or "", command)


def _refuse(text: str, code: int) -> int:
    print(f"mcptui tap: {text}", file=sys.stderr)
    return code


def _tap_process(name: str, command: list[str]) -> int:
    if os.name != "posix":
        return _refuse("a server that is a process can only be tapped on Linux and macOS so far", USAGE)
    from tui.host.passthrough.passthrough import Passthrough, end_like

    sys.setswitchinterval(SWITCH_SECONDS)
    recording = TapRecording(name)
    passthrough = Passthrough(command, recording.seen, failed=recording.give_up)
    try:
        passthrough.start(os.environ)
    except OSError as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED
        return _refuse(f"{command[0]} cannot be started: {error.strerror}", code)
    recording.begin(command, passthrough.pid)
    code = passthrough.run()
    recording.end(code)
    end_like(code)
    return code if code >= 0 else 128 - code


def _open_words(command: list[str]) -> list[str]:
    """Return the arguments of a command line that hold no secret."""
    from tui.core.secrets.secret_places import places_in_arguments

    places = places_in_arguments(command)
    return [word for word, found in zip(command[1:], places[1:], strict=True) if not found]


def name_of(command: list[str]) -> str:
    """Return a name for a server that was given none: what it runs, not the launcher that runs it."""
    words = [word for word in _open_words(command) if not word.startswith("-")]
    launcher = os.path.basename(command[0]).partition(".")[0]
    known = ("npx", "uvx", "node", "deno", "bun", "bunx", "uv", "docker", "podman", "pipx", "sh", "bash")
    if launcher.startswith("python") or launcher in known:
        words = [word for word in words if word not in ("run", "exec", "tool")]
        launcher = words[0] if words else launcher
    last = os.path.basename(launcher.rstrip("/")) or launcher
    return os.path.splitext(last.partition("@")[0] or last)[0][:64] or "server"
