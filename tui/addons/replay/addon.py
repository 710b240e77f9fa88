"""What this add-on brings: `mcptui mock`, and `mcptui traffic --replay`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import RECORDING, add_trust, flag, option

_MOCK_ABOUT = """\
Act as a recorded server over stdio, for clients of every protocol revision. Recordings of revisions up to
2025-11-25 are translated for clients of 2026-07-28, and vice versa. A recorded request gets its recorded
response. Any other request gets an error that lists what was recorded, and is reported on stderr.
"""
_MOCK_EPILOG = """\
exit codes:
  0    success
  1    a request could not be answered
  2    invalid usage, unreadable recording, or unwritable output
  141  the client closed the output
"""


def _fill_mock(mock: argparse.ArgumentParser) -> None:
    option(mock, "recording", "RECORDING", RECORDING)
    option(mock, "--server", "NAME", "which server, if the recording has several")
    flag(mock, "--timing", "reproduce the recorded latencies")


def _fill_traffic(traffic: argparse.ArgumentParser) -> None:
    text = (
        "resend the requests to a configured server (or -- COMMAND ARG ...) and print the differences. "
        "Prints the requests and asks before it sends them"
    )
    option(traffic, "--replay", "SERVER", text, nargs="?", const="")
    text = "with --replay: send without asking, including calls that a rule asks about"
    option(traffic, "--approve", None, text, choices=("all",))
    add_trust(traffic)
    option(traffic, "--server", "NAME", "with --replay: which server of the recording")
    text = "with --replay: ignore differences in this value, e.g. $.time"
    option(traffic, "--mask", "PATH", text, action="append")
    option(traffic, "--config", "FILE", "configuration file that defines SERVER", default=argparse.SUPPRESS)


def _check(args: argparse.Namespace) -> None:
    import shlex

    from tui.core.errors import UsageError
    from tui.core.text import quoted_name

    if (args.server or args.mask or args.approve or args.live_command) and args.replay is None:
        raise UsageError(
            "--server, --mask, --approve and a command after -- require --replay",
            next_step=f"To filter by server: --filter {shlex.quote(f'server:{args.server}')}."
            if args.server
            else "",
        )
    if args.replay and args.live_command:
        right = f"mcptui traffic {shlex.quote(args.replay)} --replay -- COMMAND"
        raise UsageError(
            f"--replay {quoted_name(args.replay)} cannot be combined with a command after --",
            next_step="Omit one of them."
            if args.recording
            else f"If it is the recording, name it first: {right}.",
        )


BRINGS = {
    "command": {"mock": "tui.addons.replay.mock:mock"},
    "parser": {
        "mock": {
            "after": "traffic",
            "fill": _fill_mock,
            "help": "act as a recorded server over stdio",
            "description": _MOCK_ABOUT,
            "epilog": _MOCK_EPILOG,
        }
    },
    "flags": {
        "traffic": {
            "fill": _fill_traffic,
            "deeds": ("replay",),
            "check": _check,
            "run": "tui.addons.replay.replay:replay",
        }
    },
}
