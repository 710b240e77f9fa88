"""Command-line options of `mcptui search`, and those of `mcptui add` for packaged servers.

Loads the standard library only.
"""

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ABOUT = """\
Search a registry of MCP servers. It is asked for nothing until you ask.

  mcptui search weather
  mcptui search error tracking --limit 5
  mcptui add io.github.example/weather      shows how it is run, asks, adds it

The registry is [registry] url of the configuration, if not set
https://registry.modelcontextprotocol.io. Any other with its API (v0.1) will do.
"""
_EXIT_CODES = "exit codes: 0 found; 1 nothing found, or the registry failed; 2 usage; 130 interrupted"
_REGISTRY = "ask this registry, if not the configured one"


def add_search(add: "Callable[..., None]") -> None:
    """Add `mcptui search` with `add(name, fill, help=…, …)`."""
    add("search", _fill_search, help="search a registry of servers", description=_ABOUT, epilog=_EXIT_CODES)


def _fill_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="words that all have to be found")
    parser.add_argument("--json", action="store_true", help="print the entries as one JSON array")
    parser.add_argument("--limit", type=_count, default=30, metavar="N", help="this many at most (30)")
    parser.add_argument("--registry", metavar="URL", help=_REGISTRY)
    parser.add_argument(
        "--config", metavar="FILE", default=argparse.SUPPRESS, help="configuration that names the registry"
    )


def add_packed_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui add` for what a registry describes."""
    packed = parser.add_argument_group("for a name in a registry, or a bundle")
    packed.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a value that the server asks for"
    )
    packed.add_argument(
        "--as",
        dest="kind",
        choices=("npm", "pypi", "oci", "remote"),
        help="how to run it, if there are several ways",
    )
    packed.add_argument("--registry", metavar="URL", help=_REGISTRY)
    packed.add_argument("--sha256", metavar="HEX", help="what the SHA-256 of a bundle has to be")
    packed.add_argument("--yes", "-y", action="store_true", help="add it without asking")


def _count(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 2_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 2000, not {text!r}")
    return int(text)
