"""`mcptui dev`: the app at the workbench of one server, which is restarted when its files change."""

import argparse
import os
import sys
from dataclasses import replace

from tui.addons.watch.globs import folder_of, guessed
from tui.commands.call.request import unconfigured
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.config_file import quick_ui
from tui.ui.app.terminal import run_app


def dev(args: argparse.Namespace) -> int:
    """Run the command and return its exit code. Raises UsageError or ConfigError."""
    words = list(args.words)
    if len(words) + bool(args.live_command) != 1:
        raise UsageError(
            "expected a URL, or a command after --.",
            next_step="For example: mcptui dev -- python server.py",
        )
    found = unconfigured(args, words[0] if words else None)
    if found is None:
        raise UsageError(
            f"{quoted_name(words[0], 80)} is not a URL.",
            next_step=f"A command goes after --: mcptui dev -- {clean_line(words[0], 80)}",
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("stdin and stdout must be a terminal.")
    if os.environ.get("TERM") == "dumb":
        raise UsageError("needs a screen, and TERM is dumb.", next_step="Use plain mode: mcptui --plain")
    spec, secrets = found
    spec = replace(spec, watch=_patterns(spec, args), stop_first=args.stop_first, is_own=True)
    # For everything else it is the app, not a command.
    options = Options.from_args(argparse.Namespace(**{**vars(args), "command": None}))
    options = replace(options.with_server(spec, secrets), opens=spec.name)
    quick = quick_ui(vars(args).get("config"), os.environ, trust=bool(vars(args).get("trust_config")))
    theme = args.theme or quick.theme
    return run_app(lambda: Runtime(options, os.environ), theme=theme, keys=quick.keys)


def _patterns(spec: ServerSpec, args: argparse.Namespace) -> tuple[str, ...]:
    folder = folder_of(spec)
    return tuple(os.path.normpath(os.path.join(folder, one)) for one in args.watch or guessed(spec))
