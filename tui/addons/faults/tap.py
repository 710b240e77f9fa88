"""`mcptui tap --fault`: a tap that breaks messages on purpose."""

import argparse

from tui.addons.faults.fault_stage import FaultStage
from tui.addons.faults.rules import parse_rules
from tui.commands.tap import TapPart


def tap_part(args: argparse.Namespace) -> TapPart:
    """Return the stage with the rules of the command line. Raises ValueError."""
    try:
        return TapPart([FaultStage(parse_rules(args.fault, is_http=args.listen is not None))])
    except ValueError as error:
        raise ValueError(f"--fault: {error}") from None
