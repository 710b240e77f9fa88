"""The server and the request named by a `mcptui call`, `read`, `prompt` or `list` command line."""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui.commands.call.options import usage
from tui.commands.run_input import read_bounded
from tui.core.errors import UsageError
from tui.core.files.programs import is_command
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.settings.new_server import is_address, pairs, unconfigured_server

KINDS = ("tools", "resources", "prompts")
MAX_ARGUMENT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """The request of the command line: the server (None: the command after `--`) and the words."""

    server: str | None
    words: tuple[str, ...]

    @classmethod
    def of(cls, args: argparse.Namespace) -> "Request":
        """Raises UsageError if an argument is missing or unexpected."""
        words, named = tuple(args.words), not args.live_command
        least, most = {"call": (1, None), "read": (1, 1), "prompt": (1, None), "list": (0, 1)}[args.command]
        rest = words[1:] if named else words
        what = {"call": "the tool", "read": "the URI", "prompt": "the name of the prompt"}
        if named and not words:
            raise _misused(args, "SERVER is required")
        if len(rest) < least:
            raise _misused(args, f"{what[args.command]} is required")
        if most is not None and len(rest) > most:
            raise _misused(args, f"unexpected argument: {quoted_name(rest[most], 80)}")
        if args.command == "list" and rest and rest[0] not in KINDS:
            raise UsageError(
                f"cannot list {quoted_name(rest[0], 80)}.",
                next_step=f"Choose one of {', '.join(KINDS)}.",
            )
        return cls(words[0] if named else None, rest)


def _misused(args: argparse.Namespace, problem: str) -> UsageError:
    forms = " or ".join(line.strip() for line in usage(args.command).splitlines())
    return UsageError(f"{problem}.", next_step=f"Usage: {forms}")


def given_json(args: argparse.Namespace) -> str | None:
    """Return the text of `--args`; raises UsageError if it cannot be read."""
    text: str | None = args.args
    if text is None:
        if args.unchecked:
            raise UsageError("--unchecked requires --args.")
        return None
    try:
        if text == "-":
            data = sys.stdin.buffer.read(MAX_ARGUMENT_BYTES + 1)
            if len(data) > MAX_ARGUMENT_BYTES:
                raise ValueError(f"larger than {MAX_ARGUMENT_BYTES // 1024} KiB")
        elif text.startswith("@"):
            data = read_bounded(text[1:], MAX_ARGUMENT_BYTES)
        else:
            return text
        return data.decode()
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 (byte {error.start})"
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:
        reason = str(error)
    raise UsageError(f"cannot read the arguments: {reason}.", where=f"--args {clean_line(text, 400)}")


def unconfigured(args: argparse.Namespace, request: Request) -> tuple[ServerSpec, Mapping[str, str]] | None:
    """Return the server of a URL or a command, with its secrets, or None for a configured server."""
    if request.server is not None and not is_address(request.server):
        if args.header or args.env or args.transport:
            raise UsageError(
                "--header, --env and --transport require a URL or a command.",
                next_step="For a configured server, set them in the configuration.",
            )
        return None
    if request.server is None and is_address(args.live_command[0]):
        address = clean_line(args.live_command[0], 200)
        raise UsageError(
            "expected a command after --, not a URL.",
            next_step=f"Put the URL first: mcptui {args.command} {address}",
        )
    return unconfigured_server(
        args.live_command if request.server is None else [request.server],
        env=pairs(args.env),
        headers=pairs(args.header, colon=True),
        transport=args.transport or "",
        environment=os.environ,
        folder=Path.cwd(),
        known=is_command,
    )
