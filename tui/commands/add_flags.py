"""Command-line flags of `mcptui add`. Loads the standard library only."""

import argparse

from tui.commands.addon_flags import fill_addon_flags, flags_of
from tui.commands.shared_options import add_common, add_unconfigured

_USAGE = """\
mcptui add [OPTION ...] URL
       mcptui add [OPTION ...] COMMAND [ARG ...]"""
_ABOUT = """\
Add a server to the configuration: a URL, a command{kinds}.

  mcptui add https://example.com/mcp
  mcptui add https://example.com/mcp --header 'Authorization: Bearer ${{TOKEN}}'
  mcptui add npx -y @modelcontextprotocol/server-everything
  mcptui add --name files --env LOG=debug -- python server.py --verbose
{examples}
Options of mcptui go before the command. Everything after the command belongs to it. mcptui shows what it
writes.
"""


def add_texts() -> tuple[str, str]:
    """Return usage and description, with those of add-ons."""
    found = [*flags_of("add")]
    usage = "\n       ".join((_USAGE, *(one["usage"] for one in found)))
    kinds, examples = "".join(one["notes"] for one in found), "".join(one["examples"] for one in found)
    return usage, _ABOUT.format(kinds=kinds, examples=examples)


def fill_add(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui add`."""
    parser.add_argument("--name", metavar="NAME", help="server name (default: from its URL or package)")
    add_unconfigured(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written without writing it"
    )
    fill_addon_flags(parser, "add")
    add_common(parser, model=False, starts=False)
    parser.add_argument(
        "target", nargs=argparse.REMAINDER, metavar="URL|COMMAND|NAME|FILE", help="what to add"
    )
