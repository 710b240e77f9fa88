"""The options of `mcptui decisions`."""

import argparse

from tui.commands.decisions.options import fill_decisions


def test_everything_is_listed_unless_options_select() -> None:
    parser = argparse.ArgumentParser()
    fill_decisions(parser)
    args = parser.parse_args([])
    assert (args.since, args.server, args.denied, args.json) == (None, None, False, False)
