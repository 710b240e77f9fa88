"""Command-line options of `mcptui add` and `mcptui search`. Loads the standard library only."""

import argparse

from tui.commands.help_text import invalid
from tui.commands.shared_options import add_common, add_era

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ADD_USAGE = """\
mcptui add [OPTION ...] URL
       mcptui add [OPTION ...] COMMAND [ARG ...]
       mcptui add [OPTION ...] NAME|FILE.mcpb"""
ADD_ABOUT = """\
Add a server to the configuration: a URL, a command, the name of a registry entry, or a bundle.

  mcptui add https://example.com/mcp
  mcptui add https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  mcptui add npx -y @modelcontextprotocol/server-everything
  mcptui add --name files --env LOG=debug -- python server.py --verbose
  mcptui add io.github.example/weather          (a name from mcptui search)
  mcptui add weather.mcpb --set units=metric --sha256 HEX

Options of mcptui go before the command. Everything after the command belongs to it. mcptui shows what it
writes.
"""
_ABOUT = """\
Search a registry of MCP servers. mcptui contacts it only for this command and for mcptui add.

  mcptui search weather
  mcptui search error tracking --limit 5
  mcptui add io.github.example/weather      show its command, confirm, add it

The registry is [registry] url in the configuration (default:
https://registry.modelcontextprotocol.io). Any registry with the same API (v0.1)
works.
"""
_EXIT_CODES = """\
exit codes:
  0    found
  1    nothing found, or the registry failed
  2    invalid usage
  130  interrupted
"""
_REGISTRY = "registry URL (default: from the configuration)"


def add_search(add: "Callable[..., None]") -> None:
    """Add `mcptui search` with `add(name, fill, help=…, …)`."""
    add("search", _fill_search, help="search a registry of servers", description=_ABOUT, epilog=_EXIT_CODES)


def _fill_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="words to find (all must match)")
    parser.add_argument("--json", action="store_true", help="print a JSON array")
    parser.add_argument(
        "--limit", type=_count, default=30, metavar="N", help="maximum number of servers (default: 30)"
    )
    parser.add_argument("--registry", metavar="URL", help=_REGISTRY)
    parser.add_argument("--config", metavar="FILE", default=argparse.SUPPRESS, help="configuration file")


def fill_add(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui add`."""
    parser.add_argument("--name", metavar="NAME", help="server name (default: from its URL or package)")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an environment variable for a command",
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar="NAME: VALUE", help="an HTTP header for a URL"
    )
    parser.add_argument(
        "--transport",
        choices=("stdio", "http", "sse", "websocket", "lines"),
        help="transport (default: stdio for a command, http for a URL)",
    )
    add_era(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be written without writing it"
    )
    _add_packed_options(parser)
    add_common(parser, model=False, starts=False)
    parser.add_argument(
        "target", nargs=argparse.REMAINDER, metavar="URL|COMMAND|NAME|FILE", help="what to add"
    )


def _add_packed_options(parser: argparse.ArgumentParser) -> None:
    packed = parser.add_argument_group("for a registry entry or a bundle")
    packed.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a value that the server requires"
    )
    packed.add_argument(
        "--as",
        dest="kind",
        choices=("npm", "pypi", "oci", "remote"),
        help="package type, if there are several",
    )
    packed.add_argument("--registry", metavar="URL", help=_REGISTRY)
    packed.add_argument("--sha256", metavar="HEX", help="expected SHA-256 of the bundle")
    packed.add_argument("--yes", "-y", action="store_true", help="add without confirmation")


def _count(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 2_000:
        raise invalid("an integer from 1 to 2000", text)
    return int(text)
