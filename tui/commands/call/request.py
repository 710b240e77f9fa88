"""Starts `mcptui call`, `read`, `prompt` and `list`: what they were asked for, and who does it.

A server that is up answers in 100 ms, of which Python takes most. So this loads the standard library only,
and everything else where it is needed.
"""

import argparse
import gc
import sys

from tui.commands.shared_options import usage
from tui.core.addons import every, load, missing, service

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tui.core.errors import UsageError
    from tui.core.servers import ServerSpec

KINDS = ("tools", "resources", "prompts")
MAX_ARGUMENT_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a file or of stdin for `--args`, and characters of its text."""


def kinds() -> tuple[str, ...]:
    """Return what can be listed: kinds of the house, and those of add-ons."""
    return (*KINDS, *(name for name, _ in every("listing")))


def call(args: argparse.Namespace) -> int:
    """Run one of the four commands and return its exit code."""
    named, words = request_of(args)
    given = given_json(args) if args.command == "call" else None
    searches = vars(args).get("search") is not None
    if not searches and (code := attached(args, named, words, given)) is not None:
        return code
    from tui.core.library_imports import collector_paused

    with collector_paused():  # as for each command, since this loads most of one
        call_own: Callable[..., int] = load("tui.commands.call.call:call_own")
        gc.freeze()
    return call_own(args, named, words, given)


def attached(
    args: argparse.Namespace, named: str | None, words: "tuple[str, ...]", given: str | None = None
) -> int | None:
    """Have a running mcptui do it, if this server is up there; return the exit code, or None if it is not."""
    attach = service("attached command")
    return None if attach is None else attach(args, named, words, given)


def request_of(args: argparse.Namespace) -> tuple[str | None, tuple[str, ...]]:
    """Return the server (None: the command after `--`) and the other words. Raises UsageError."""
    least, most = {"call": (1, None), "read": (1, 1), "prompt": (1, None), "list": (0, 1)}[args.command]
    what = {"call": "the tool", "read": "the URI", "prompt": "the name of the prompt"}
    named, rest = server_and_words(args, usage(args.command), least, most, what.get(args.command, ""))
    if args.command == "list" and rest and rest[0] not in kinds():
        from tui.core.errors import UsageError
        from tui.core.text import quoted_name

        if absent := missing("listing", rest[0]):
            raise UsageError(f"{absent}.")
        step = f"Choose one of {', '.join(kinds())}."
        raise UsageError(f"cannot list {quoted_name(rest[0], 80)}.", next_step=step)
    return named, rest


def server_and_words(
    args: argparse.Namespace, usage: str, least: int, most: int | None, what: str = ""
) -> tuple[str | None, tuple[str, ...]]:
    """Return the server (None: the command after `--`) and the other words, `least` to `most`.

    Raises UsageError with the `usage`; `what` names the first of these words.
    """
    words, named = tuple(args.words), not args.live_command
    rest = words[1:] if named else words
    if named and not words and vars(args).get("search") is not None:
        return None, ()
    if named and not words:
        raise _misused(usage, "SERVER is required")
    if len(rest) < least:
        raise _misused(usage, f"{what} is required")
    if most is not None and len(rest) > most:
        from tui.core.text import quoted_name

        raise _misused(usage, f"unexpected argument: {quoted_name(rest[most], 80)}")
    return words[0] if named else None, rest


def _misused(usage: str, problem: str) -> "UsageError":
    from tui.core.errors import UsageError

    forms = " or ".join(line.strip() for line in usage.splitlines())
    return UsageError(f"{problem}.", next_step=f"Usage: {forms}")


def given_json(args: argparse.Namespace) -> str | None:
    """Return the text of `--args`; raises UsageError if it cannot be read."""
    text: str | None = args.args
    if text is None and not vars(args).get("unchecked"):
        return None
    from tui.commands.run_input import read_bounded
    from tui.core.errors import UsageError, reason_of
    from tui.core.files import NotText, read_limited, text_of
    from tui.core.text import clean_line

    if text is None:
        raise UsageError("--unchecked requires --args.")
    try:
        if text == "-":
            data = read_limited(sys.stdin.buffer, MAX_ARGUMENT_BYTES)
        elif text.startswith("@"):
            data = read_bounded(text[1:], MAX_ARGUMENT_BYTES)
        else:
            return text
        return text_of(data)
    except NotText as error:
        reason = f"it {error}"
    except (OSError, ValueError) as error:
        reason = reason_of(error)
    raise UsageError(f"cannot read the arguments: {reason}.", where=f"--args {clean_line(text, 400)}")


def unconfigured(
    args: argparse.Namespace, server: str | None
) -> "tuple[ServerSpec, Mapping[str, str]] | None":
    """Return the server of a URL, a command or another host, with its secrets.

    None for a configured one, or all of them.
    """
    return unconfigured_in(args, server, None, None)


def _note(text: str) -> None:
    from tui.core.text import clean_line

    print(f"· {clean_line(text, 300)}", file=sys.stderr)


def unconfigured_in(
    args: argparse.Namespace, server: str | None, env: "Mapping[str, str] | None", folder: "Path | None"
) -> "tuple[ServerSpec, Mapping[str, str]] | None":
    """Return it as it is for a process with this environment in this folder; None for this process."""
    from tui.core.errors import UsageError
    from tui.core.text import clean_line
    from tui.settings.new_server import is_address, pairs, unconfigured_server

    if (server is not None and not is_address(server)) or (server is None and not args.live_command):
        if args.header or args.env or args.transport:
            raise UsageError(
                "--header, --env and --transport require a URL or a command.",
                next_step="For a configured server, set them in the configuration.",
            )
        if args.era:
            raise UsageError(
                "--era requires a URL or a command.",
                next_step="For a configured server, set era in the configuration.",
            )
        if server is None or ":" not in server:
            return None
        from tui.settings.host_server import host_server

        note = _note if env is None else None
        return host_server(vars(args).get("config"), server, env, folder, note)
    if server is None and is_address(args.live_command[0]):
        address = clean_line(args.live_command[0], 200)
        raise UsageError(
            "expected a command after --, not a URL.",
            next_step=f"Put the URL first: mcptui {args.command} {address}",
        )
    return unconfigured_server(
        args.live_command if server is None else [server],
        dict(pairs(args.env)),
        dict(pairs(args.header, colon=True)),
        args.transport or "",
        args.era or "",
        variables=env,
        folder=folder,
    )
