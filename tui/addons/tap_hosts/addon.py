"""What this add-on brings: `mcptui tap --into` and `--out`. Loads the standard library only."""

import argparse

from tui.commands.shared_options import flag, option


def _fill_tap(parser: argparse.ArgumentParser) -> None:
    hosts = "claude, cursor, vscode, windsurf, cline, zed, gemini, ... or the path of its file"
    option(parser, "--into", "HOST", f"proxy a server of another host: {hosts}")
    option(parser, "--out", "HOST", "stop proxying it: restore its entry")
    flag(parser, "--yes", "with --into or --out: do not ask for confirmation")
    flag(parser, "--dry-run", "with --into or --out: only show the change")


BRINGS = {
    "flags": {
        "tap": {
            "fill": _fill_tap,
            "usage": """\
mcptui tap --into HOST SERVER [--yes | --dry-run]
       mcptui tap --out HOST SERVER [--yes | --dry-run]""",
            "examples": """\
  mcptui tap --into claude time      Claude starts "time" through mcptui
  mcptui tap --out claude time       undo that
""",
            "notes": """\
--into shows the change and asks before it writes. Only the command and args of the server change. A copy of
the file is kept, and --out restores the entry even if other parts of the file have changed since.
""",
            "deeds": ("into", "out"),
            "run": "tui.addons.tap_hosts.into:change_host",
        }
    }
}
