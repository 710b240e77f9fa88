"""What this add-on brings: `mcptui search`, and registry entries and bundles for `mcptui add`.

Loads the standard library only.
"""

import argparse

from tui.commands.shared_options import count, flag, option, repeatable

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


def _fill_search(parser: argparse.ArgumentParser) -> None:
    option(parser, "words", "WORD", "words to find (all must match)", nargs="+")
    flag(parser, "--json", "print a JSON array")
    option(parser, "--limit", "N", "maximum number of servers (default: 30)", type=count, default=30)
    option(parser, "--registry", "URL", _REGISTRY)
    option(parser, "--config", "FILE", "configuration file", default=argparse.SUPPRESS)


def _fill_add(parser: argparse.ArgumentParser) -> None:
    packed = parser.add_argument_group("for a registry entry, a bundle or a domain")
    repeatable(packed, "--set", "NAME=VALUE", "a value that the server requires")
    kinds, text = ("npm", "pypi", "oci", "remote"), "package type, if there are several"
    option(packed, "--as", None, text, dest="kind", choices=kinds)
    option(packed, "--registry", "URL", _REGISTRY)
    option(packed, "--sha256", "HEX", "expected SHA-256 of the bundle")
    packed.add_argument("--yes", "-y", action="store_true", help="add without confirmation")


BRINGS = {
    "command": {"search": "tui.addons.packages.registry:search"},
    "parser": {
        "search": {
            "after": "servers",
            "fill": _fill_search,
            "help": "search a registry of servers",
            "description": _ABOUT,
            "epilog": _EXIT_CODES,
        }
    },
    "flags": {
        "add": {
            "fill": _fill_add,
            "usage": "mcptui add [OPTION ...] NAME|FILE.mcpb",
            "examples": """\
  mcptui add io.github.example/weather          (a name from mcptui search)
  mcptui add weather.mcpb --set units=metric --sha256 HEX
""",
            "notes": ", the name of a registry entry, or a bundle",
        }
    },
    "service": {
        "is package": "tui.addons.packages.package:is_package",
        "package": "tui.addons.packages.package:package",
        "server entry": "tui.addons.packages.registry:entry_server",
        "leftovers": "tui.addons.packages.server_inputs:delete_leftovers",
    },
    "setting": {"registry": None},
}
