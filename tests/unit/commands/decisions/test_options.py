"""The options of `mcptui decisions`."""

import argparse

from tui.commands.decisions.options import fill_decisions


def test_all_decisions_are_listed_without_options() -> None:
    parser = argparse.ArgumentParser()
    fill_decisions(parser)
    args = parser.parse_args([])
    assert (args.since, args.server, args.denied, args.json) == (None, None, False, False)
