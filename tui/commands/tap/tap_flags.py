"""Command-line options of `mcptui tap`. Loads the standard library only."""

import argparse
from collections.abc import Sequence

from tui.commands.addon_flags import fill_addon_flags, flags_of
from tui.commands.help_text import help_text, invalid

_USAGE = """\
mcptui tap [--name NAME] -- COMMAND [ARG ...]
       mcptui tap --listen PORT --to URL"""
_ABOUT = """\
Proxy and record another host's MCP server. The host starts this command instead of the server. Bytes,
end of file, signals and the exit code are passed through unchanged, and recording never delays them.

{examples}  mcptui tap -- uvx mcp-server-time  the command that the host then runs
{notes}"""


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
    parser = argparse.ArgumentParser(
        prog="mcptui tap", usage=usage, description=about, formatter_class=help_text
    )
    fill_tap(parser)
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:cut])
    args.server_command += given[cut + (0 if args.server_command else 1) :]
    return args


def fill_tap(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui tap`."""
    fill_addon_flags(parser, "tap")
    parser.add_argument("--name", metavar="NAME", help="server name in the recording")
    parser.add_argument("--listen", type=_port, metavar="PORT", help="proxy HTTP: listen on 127.0.0.1:PORT")
    parser.add_argument("--to", metavar="URL", help="proxy HTTP: the URL of the server")
    parser.add_argument(
        "server_command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the server's command, after --"
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise invalid("a port from 0 to 65535 (0: any free port)", text)
    return int(text)
