"""`mcptui tap`: started by another host instead of an MCP server, it proxies and records that server.

The server is started before anything else is imported. The recording is made in its own thread.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from tui.commands.help_text import Parser, help_text, invalid, refuse_rest
from tui.commands.shared_options import fill_addon_flags, flags_of, option
from tui.core.addons import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tui.commands.tap.http_passthrough import HttpKeeper
    from tui.commands.tap.message_tap import Keeper, MessageTap
    from tui.host.frames.stage import Stage

NOT_FOUND, NOT_STARTED, USAGE = 127, 126, 2
"""Our exit codes. The first two are those that shells use for a command that cannot be run."""

SWITCH_SECONDS = 0.0002
"""How long the recording may hold the interpreter while bytes are waiting (Python's default: 5 ms)."""

_USAGE = """\
mcptui tap [--name NAME] -- COMMAND [ARG ...]
       mcptui tap --listen PORT --to URL"""
_ABOUT = """\
Proxy and record another host's MCP server. The host starts this command instead of the server. Bytes,
end of file, signals and the exit code are passed through unchanged, and recording never delays them.

{examples}  mcptui tap -- uvx mcp-server-time  the command that the host then runs
{notes}"""


class TapPart:
    """What an add-on adds to a tap: stages that messages pass, and what replaces the server.

    `keeps` makes the latter, given the tap and the environment of servers. `serves` is that over HTTP.
    """

    def __init__(
        self,
        stages: "Sequence[Stage]",
        keeps: "Callable[[MessageTap, Mapping[str, str]], Keeper] | None" = None,
        serves: "HttpKeeper | None" = None,
    ) -> None:
        self.stages = stages
        self.keeps = keeps
        self.serves = serves


def tap_texts() -> tuple[str, str]:
    """Return usage and description, with those of add-ons."""
    found = [*flags_of("tap")]
    examples, notes = "".join(one["examples"] for one in found), "".join(f"\n{one['notes']}" for one in found)
    usage = "\n       ".join((*(one["usage"] for one in found), _USAGE))
    return usage, _ABOUT.format(examples=examples, notes=notes)


def parse_tap(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of `mcptui tap` without building the whole command line.

    Everything after the first `--` is the server's command and is never parsed as our options.
    """
    usage, about = tap_texts()
    parser = Parser(prog="mcptui tap", usage=usage, description=about, formatter_class=help_text)
    fill_tap(parser)
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    args, rest = parser.parse_known_args(given[:cut])
    if rest:
        refuse_rest(parser, args, rest)
    args.server_command += given[cut + (0 if args.server_command else 1) :]
    return args


def fill_tap(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui tap`."""
    fill_addon_flags(parser, "tap")
    option(parser, "--name", "NAME", "server name in the recording")
    option(parser, "--listen", "PORT", "proxy HTTP: listen on 127.0.0.1:PORT", type=_port)
    option(parser, "--to", "URL", "proxy HTTP: the URL of the server")
    option(parser, "server_command", "COMMAND", "the server's command, after --", nargs=argparse.REMAINDER)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise invalid("a port from 0 to 65535 (0: any free port)", text)
    return int(text)


def tap(args: argparse.Namespace) -> int:
    """Run `mcptui tap`, and exit like the server."""
    wanted = [flags for flags in args.addon_flags if any(vars(args)[deed] for deed in flags["deeds"])]
    if alone := next((flags for flags in wanted if "run" in flags), None):
        if len(wanted) > 1:
            return refuse(f"--{' and --'.join(alone['deeds'])} cannot be combined with other options", USAGE)
        return int(load(alone["run"])(args))
    try:
        parts = [load(flags["part"])(args) for flags in wanted]
    except ValueError as error:
        return refuse(str(error), USAGE)
    stages = [stage for part in parts for stage in part.stages]
    keeps = next((part.keeps for part in parts if part.keeps), None)
    return _tap(args, TapPart(stages, keeps, next((part.serves for part in parts if part.serves), None)))


def _tap(args: argparse.Namespace, part: TapPart) -> int:
    if args.listen is not None or args.to is not None:
        if args.listen is None or args.to is None or (args.server_command and part.serves is None):
            return refuse("--listen PORT requires --to URL, and takes no command", USAGE)
        from tui.commands.tap.tap_http import tap_http

        return tap_http(args.listen, args.to, args.name, part.stages, part.serves)
    command = args.server_command[1:] if args.server_command[:1] == ["--"] else args.server_command
    if not command:
        return refuse("a command is required: mcptui tap -- COMMAND ARG ...", USAGE)
    if os.name != "posix":
        return refuse("tapping a stdio server requires Linux or macOS", USAGE)
    if part.stages:
        return _tap_messages(args.name or "", command, part)
    return _tap_process(args.name or "", command)


def refuse(text: str, code: int) -> int:
    """Print why the tap cannot run, and return the exit code."""
    print(f"mcptui tap: {text}", file=sys.stderr)
    return code


def _tap_process(name: str, command: list[str]) -> int:
    from tui.commands.tap.passthrough import Passthrough, end_like
    from tui.commands.tap.tap_recording import TapRecording
    from tui.host.process.guard import TapGuard

    sys.setswitchinterval(SWITCH_SECONDS)
    recording = TapRecording(name)
    guard = TapGuard(os.environ)
    passthrough = Passthrough(command, recording.seen, failed=recording.give_up)
    try:
        passthrough.start(guard.environment)
    except OSError as error:
        return _not_started(command, error)
    guard.start(passthrough.pid)
    recording.begin(command, passthrough.pid)
    code = passthrough.run()
    guard.end()
    recording.end(code)
    end_like(code)
    return code if code >= 0 else 128 - code


def _not_started(command: Sequence[str], error: OSError) -> int:
    from tui.core.errors import reason_of

    code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED
    return refuse(f"cannot start {command[0]}: {reason_of(error)}", code)


def _tap_messages(name: str, command: list[str], part: TapPart) -> int:
    import asyncio

    from tui.commands.tap.message_tap import MessageTap
    from tui.commands.tap.passthrough import end_like
    from tui.commands.tap.tap_recording import TapRecording, name_of
    from tui.host.process.guard import TapGuard

    recording, guard = TapRecording(name), TapGuard(os.environ)

    async def run() -> int:
        passing = MessageTap(name or name_of(command), part.stages, recording)
        keeps = nullcontext() if part.keeps is None else part.keeps(passing, guard.environment)
        async with keeps as passing.keeper:  # first: it notices what changes once the server has started
            passing.start(command, guard.environment)
            guard.start(passing.pid)
            recording.begin(command, passing.pid)
            return await passing.run()

    try:
        code = asyncio.run(run())
    except OSError as error:
        return _not_started(command, error)
    guard.end()
    recording.end(code)
    end_like(code)
    return code if code >= 0 else 128 - code
