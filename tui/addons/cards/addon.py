"""What this add-on brings: a domain for `mcptui add`, and the comparison of servers with their cards.

Loads the standard library only.
"""

import argparse

from tui.commands.shared_options import flag, option


def _fill_add(parser: argparse.ArgumentParser) -> None:
    option(parser, "--card", "NAME", "the server to add, if a domain names several")


def _fill_check(parser: argparse.ArgumentParser) -> None:
    text = "connect to the servers that have a server card, and print how they differ from it"
    flag(parser, "--cards", text)


BRINGS = {
    "flags": {
        "add": {
            "fill": _fill_add,
            "usage": "mcptui add [OPTION ...] https://DOMAIN",
            "examples": "  mcptui add https://example.com                (what a domain offers)\n",
            "notes": ", a domain",
        },
        "check": {"fill": _fill_check},
    },
    "key": {"card": None},
    "service": {
        "domain": "tui.addons.cards.add:domain",
        "card check": "tui.addons.cards.check:check",
        "card facts": "tui.addons.cards.check:CardFacts",
    },
}
