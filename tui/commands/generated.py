"""`mcptui completion SHELL` and `mcptui man`: what is generated from the options of the command line."""

import argparse
from collections.abc import Iterator

import tui
from tui.commands.command_line import build_parser

_FILES = ("FILE", "PATH", "RECORDING", "TEXT|@FILE")


def completion(args: argparse.Namespace) -> int:
    """Print the script that completes commands, options and file names in `args.shell`."""
    import shtab

    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab looks for it
    print(shtab.complete(parser, args.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def man(_: argparse.Namespace) -> int:
    """Print the manual page in roff."""
    from argparse_manpage.manpage import Manpage

    about = {
        "project_name": "mcptui",
        "description": "terminal host for the Model Context Protocol",
        "version": tui.__version__,
        "manual_title": "mcptui manual",
        "manual_section": "1",
    }
    print(Manpage(build_parser(), about))
    return 0
