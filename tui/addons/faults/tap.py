"""`mcptui tap --fault`: a tap that breaks messages on purpose."""

import argparse

from tui.addons.faults.fault_stage import FaultStage
from tui.addons.faults.rules import parse_rules
from tui.commands.tap import USAGE, refuse, tap_through


def tap(args: argparse.Namespace) -> int:
    """Run the tap, and exit like the server."""
    try:
        rules = parse_rules(args.fault, is_http=args.listen is not None)
    except ValueError as error:
        return refuse(f"--fault: {error}", USAGE)
    return tap_through(args, [FaultStage(rules)])
