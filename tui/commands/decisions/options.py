"""Command-line options of `mcptui decisions`. Loads the standard library only."""

import argparse

DECISIONS_ABOUT = """\
List what was allowed and denied, oldest first: tool calls, forms, URLs, and requests to the model. Each line
names what decided (a key, a rule, an option, a default, a limit) and who requested it. Arguments are not
recorded, only their digest: equal arguments have equal digests.

  mcptui decisions --since 7d --denied    what was denied in the last week
"""


def fill_decisions(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mcptui decisions`."""
    parser.add_argument(
        "--since", metavar="TIME", help="only decisions since a time: 1h, 7d, 14:05, 2026-11-20"
    )
    parser.add_argument("--server", metavar="NAME", help="only decisions about this server")
    parser.add_argument("--denied", action="store_true", help="only what was denied")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
