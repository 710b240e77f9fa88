"""Command-line options of `mcptui tap`. Loads the standard library only."""

import argparse
from collections.abc import Sequence

from tui.commands.help_text import help_text, invalid

TAP_USAGE = """\
mcptui tap --into HOST SERVER [--yes | --dry-run]
       mcptui tap --out HOST SERVER [--yes | --dry-run]
       mcptui tap [--name NAME] -- COMMAND [ARG ...]
       mcptui tap --listen PORT --to URL"""
TAP_ABOUT = """\
Proxy and record another host's MCP server. The host starts this command instead of the server. Bytes,
end of file, signals and the exit code are passed through unchanged, and recording never delays them.

  mcptui tap --into claude time      Claude starts "time" through mcptui
  mcptui tap --out claude time       undo that
  mcptui tap -- uvx mcp-server-time  the command that the host then runs

--into shows the change and asks before it writes. Only the command and args of the server change. A copy of
the file is kept, and --out restores the entry even if other parts of the file have changed since.
"""


def parse_tap(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of `mcptui tap` without building the whole command line.

    Everything after the first `--` is the server's command and is never parsed as our options.
    """
    parser = argparse.ArgumentParser(
        prog="mcptui tap",
        usage=TAP_USAGE,
        description=TAP_ABOUT,
        formatter_class=help_text,
    )
    fill_tap(parser)
    given = list(argv)
    cut = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:cut])
    args.server_command += given[cut + (0 if args.server_command else 1) :]
    return args


def fill_tap(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui tap`."""
    hosts = "claude, cursor, vscode, windsurf, cline, zed, gemini, ... or the path of its file"
    parser.add_argument("--into", metavar="HOST", help=f"proxy a server of another host: {hosts}")
    parser.add_argument("--out", metavar="HOST", help="stop proxying it: restore its entry")
    parser.add_argument(
        "--yes", action="store_true", help="with --into or --out: do not ask for confirmation"
    )
    parser.add_argument("--dry-run", action="store_true", help="with --into or --out: only show the change")
    parser.add_argument("--name", metavar="NAME", help="server name in the recording")
    parser.add_argument("--listen", type=_port, metavar="PORT", help="proxy HTTP: listen on 127.0.0.1:PORT")
    parser.add_argument("--to", metavar="URL", help="proxy HTTP: the URL of the server")
    parser.add_argument(
        "server_command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the server's command, after --"
    )


def parse_trailing_options(args: argparse.Namespace) -> None:
    """Parse the options after the server of `--into` or `--out`."""
    words: list[str] = args.server_command
    if len(words) > 1:
        parser = argparse.ArgumentParser(prog="mcptui tap", usage=TAP_USAGE)
        fill_tap(parser)
        parser.parse_args(words[1:], namespace=args)
        args.server_command = [words[0], *args.server_command]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535):
        raise invalid("a port from 0 to 65535 (0: any free port)", text)
    return int(text)
