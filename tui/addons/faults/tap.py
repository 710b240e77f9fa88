"""`mcptui tap --fault` and `--hold`: a tap that breaks messages on purpose, and one that can hold them."""

import argparse

from tui.addons.faults.fault_stage import FaultStage
from tui.addons.faults.rules import parse_rules
from tui.commands.tap import USAGE, refuse, tap_through
from tui.host.frames.stage import Stage
from tui.settings.locations import state_dir


def tap(args: argparse.Namespace) -> int:
    """Run the tap, and exit like the server."""
    if vars(args).get("into") or vars(args).get("out"):
        return refuse("--fault and --hold cannot be combined with --into and --out", USAGE)
    try:
        rules = parse_rules(args.fault or (), transport="stdio" if args.listen is None else "http")
    except ValueError as error:
        return refuse(f"--fault: {error}", USAGE)
    stages: list[Stage] = []
    if args.hold or args.silent_hold:
        from tui.addons.faults.breakpoints_tap import TapStage

        stages.append(TapStage(state_dir() / "taps", is_silent=args.silent_hold))
    if rules:
        stages.append(FaultStage(rules))
    return tap_through(args, stages)
