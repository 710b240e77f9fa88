"""What this add-on brings: `mcptui --plain`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import flag


def _fill(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--plain", "lines of text instead of the full-screen app, also from and to a pipe")


BRINGS = {
    "flags": {"mcptui": {"fill": _fill, "usage": "", "examples": "", "notes": "", "deeds": ("plain",)}},
    "service": {"plain mode": "tui.addons.plain.start:start"},
}
