"""Starts plain mode: says at once that it is on and how to leave, then loads the rest."""

import sys

import tui
from tui.core.language.translate import _

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    import argparse


def start(args: "argparse.Namespace", switch: str) -> int:
    """Run plain mode and return the exit code. `switch` is what turned it on."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a narrow locale must not end a conversation
    told = _(
        "plain mode is on ({switch}), version {version}. /help lists the commands, /quit leaves.",
        version=tui.__version__,
        switch=switch,
    )
    print(f"mcptui: {told}", flush=True)
    from tui.core.library_imports import collector_paused

    with collector_paused():
        from tui.addons.plain.front import run
    return run(args)
