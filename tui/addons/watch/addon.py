"""What this add-on brings: `mcptui dev`, and restarts when files change. Standard library only."""

import argparse

from tui.commands.shared_options import add_common, add_unconfigured, flag, option, repeatable

_USAGE = """\
mcptui dev URL [OPTION ...]
       mcptui dev [OPTION ...] -- COMMAND [ARG ...]"""
_ABOUT = """\
Develop a server: open its workbench, and restart it when its files change. Nothing is written to the
configuration.

  mcptui dev -- python server.py
  mcptui dev --watch 'src/**/*.ts' -- npx tsx src/index.ts
  mcptui dev http://localhost:8000/mcp

The old process runs until the new one answers, so a save that breaks the server costs nothing. After each
restart, a line says what changed in the definitions, and whether kept calls return what they did.
"""


def _fill(dev: argparse.ArgumentParser) -> None:
    option(dev, "words", "URL", argparse.SUPPRESS, nargs="*")
    text = (
        "files that restart the server (repeatable, default: those that the command names, and beside them)"
    )
    repeatable(dev, "--watch", "GLOB", text)
    text = "stop the old process before the new one starts, such as for a server with a fixed port"
    flag(dev, "--stop-first", text)
    add_unconfigured(dev)
    option(dev, "--theme", "NAME", "theme for this run")
    add_common(dev)


def _fill_tap(tap: argparse.ArgumentParser) -> None:
    text = "restart the server when its files change (default: those that the command names, and beside them)"
    option(tap, "--watch", "GLOB", text, nargs="?", const="", action="append")


BRINGS = {
    "command": {"dev": "tui.addons.watch.dev:dev"},
    "parser": {
        "dev": {
            "after": "list",
            "live": True,
            "fill": _fill,
            "help": "develop a server: its workbench, restarted when its files change",
            "usage": _USAGE,
            "description": _ABOUT,
        }
    },
    "flags": {
        "tap": {
            "fill": _fill_tap,
            "usage": "mcptui tap --watch [GLOB] [--listen PORT --to URL] -- COMMAND [ARG ...]",
            "examples": "  mcptui tap --watch -- python server.py  restart it on each save\n",
            "notes": "",
            "deeds": ("watch",),
            "part": "tui.addons.watch.tap_watch:tap_part",
        }
    },
    "key": {"watch": None},
    "service": {
        "watches": "tui.addons.watch.watches:Watches",
        "watch line": "tui.addons.watch.line:WatchStatus",
    },
}
