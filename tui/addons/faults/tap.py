"""`mcptui tap --fault` and `--hold`: a tap that breaks messages on purpose, and one that can hold them."""

import argparse

from tui.addons.faults.fault_stage import FaultStage
from tui.addons.faults.rules import parse_rules
from tui.commands.tap.tap import TapPart
from tui.host.frames.stage import Stage
from tui.runtime.local_socket import sockets_folder


def tap_part(args: argparse.Namespace) -> TapPart:
    """Return the stages that the command line asks for. Raises ValueError."""
    try:
        rules = parse_rules(args.fault or (), transport="stdio" if args.listen is None else "http")
    except ValueError as error:
        raise ValueError(f"--fault: {error}") from None
    stages: list[Stage] = []
    if args.hold or args.silent_hold:
        from tui.addons.faults.breakpoints_tap import TapStage

        stages.append(TapStage(sockets_folder("taps"), is_silent=args.silent_hold))
    if rules:
        stages.append(FaultStage(rules))
    return TapPart(stages)
