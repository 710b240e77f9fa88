"""What this add-on brings: faults and breakpoints. Loads the standard library only."""

import argparse

from tui.commands.shared_options import repeatable

_TAP_NOTES = """\
--fault breaks messages on purpose, each marked in the recording. A rule is a filter, a fault, a rate and a
seed: 'tool:create_* lose=answer 1/3 seed=7'. Presets: flaky, slow, lost-answers, bad-network, expired-token.
"""


def _fill_tap(parser: argparse.ArgumentParser) -> None:
    repeatable(parser, "--fault", "RULE", "break messages on purpose: a rule or a preset (repeatable)")


BRINGS = {
    "flags": {
        "tap": {
            "fill": _fill_tap,
            "usage": "mcptui tap --fault RULE [OPTION ...] -- COMMAND [ARG ...]",
            "examples": "  mcptui tap --fault flaky -- uvx mcp-server-time\n",
            "notes": _TAP_NOTES,
            "deeds": ("fault",),
            "part": "tui.addons.faults.tap:tap_part",
        }
    },
    "service": {
        "fault rules": "tui.addons.faults.rules:parse_rules",
        "fault stages": "tui.addons.faults.fault_stage:stages",
    },
}
