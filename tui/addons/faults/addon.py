"""What this add-on brings: faults and breakpoints. Loads the standard library only."""

import argparse

from tui.commands.shared_options import flag, repeatable

_TAP_NOTES = """\
--hold lets a running mcptui set breakpoints (I on the traffic screen), which hold messages. Without one, and
when it ends, everything passes.

--fault breaks messages on purpose, each marked in the recording. A rule is a filter, a fault, a rate and a
seed: 'tool:create_* lose=answer 1/3 seed=7'. Presets: flaky, slow, lost-answers, bad-network, expired-token.
"""


def _fill_tap(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--hold", "let a running mcptui set breakpoints here, and hold messages")
    flag(parser, "--silent-hold", "as --hold, but send no progress to the side that waits")
    repeatable(parser, "--fault", "RULE", "break messages on purpose: a rule or a preset (repeatable)")


def _fill_test(parser: argparse.ArgumentParser) -> None:
    repeatable(parser, "--fault", "RULE", "run under faults: flaky, slow, lost-answers, … (repeatable)")


BRINGS = {
    "flags": {
        "test": {"fill": _fill_test},
        "tap": {
            "fill": _fill_tap,
            "usage": "mcptui tap [--hold] [--fault RULE] [OPTION ...] -- COMMAND [ARG ...]",
            "examples": "  mcptui tap --fault flaky -- uvx mcp-server-time\n",
            "notes": _TAP_NOTES,
            "deeds": ("fault", "hold", "silent_hold"),
            "part": "tui.addons.faults.tap:tap_part",
        },
    },
    "service": {
        "breakpoints": "tui.addons.faults.tray:Tray",
        "held messages": "tui.addons.faults.tray_pane:TrayPane",
        "fault rules": "tui.addons.faults.rules:parse_rules",
        "fault stages": "tui.addons.faults.fault_stage:stages",
    },
}
