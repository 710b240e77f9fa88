"""What this add-on brings: `mcptui up`, and the door of a running mcptui. Standard library only."""

import argparse

from tui.commands.shared_options import flag


def _fill(parser: argparse.ArgumentParser) -> None:
    flag(parser, "--own", "start a server of its own, also if a running mcptui has this one up")


_OWN = {"fill": _fill, "usage": "", "examples": "", "notes": "", "deeds": ()}

BRINGS = {
    "door": {
        "servers": "tui.addons.up.methods:servers",
        "log": "tui.addons.up.methods:log",
        "up.find": "tui.addons.up.requests:find",
        "up.run": "tui.addons.up.requests:run",
        "up.stop": "tui.addons.up.requests:stop",
    },
    "flags": dict.fromkeys(("call", "read", "prompt", "list", "skill"), _OWN),
    "service": {
        "attached command": "tui.addons.up.attach:attached",
        "door": "tui.addons.up.door:Door",
        "running": "tui.addons.up.running:running",
    },
    "setting": {"up": None},
}
