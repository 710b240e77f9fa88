"""`mcptui add` and `mcptui remove`: servers of the configuration, without an editor.

Importing this loads only the standard library.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.text import clean, clean_line

USAGE = 2


def add(args: argparse.Namespace) -> int:
    """Run `mcptui add` and return its exit code."""
    try:
        return _add(args)
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return USAGE


def remove(args: argparse.Namespace) -> int:
    """Run `mcptui remove` and return its exit code."""
    from tui.settings.save import remove_server

    path = _path(args)
    try:
        present = _present(path)
        if args.server not in present:
            known = ", ".join(clean_line(name, 64) for name in present) or "none"
            raise UsageError(
                f"there is no server {clean_line(args.server, 64)!r} in {clean_line(str(path), 4096)}.",
                next_step=f"Configured servers: {known}.",
            )
        remove_server(path, args.server)
    except McptuiError as error:
        print(f"mcptui: {clean(str(error))}", file=sys.stderr)
        return USAGE
    print(f"removed {clean_line(args.server, 64)} from {clean_line(str(path), 4096)}")
    return 0


def _path(args: argparse.Namespace) -> Path:
    from tui.settings.locations import config_path

    return config_path(vars(args).get("config"), os.environ)[0]


def _with_options_behind(args: argparse.Namespace) -> None:
    """Take options that stand behind an address; behind a command they are the command's."""
    from tui.commands.command_line import add_options

    words: list[str] = args.target
    if "://" in "".join(words[:1]) and len(words) > 1:
        add_options(argparse.ArgumentParser(prog="mcptui add")).parse_args(words[1:], namespace=args)
        args.target = [words[0], *args.target]
    elif words[:1] == ["--"]:
        args.target = words[1:]


def _add(args: argparse.Namespace) -> int:
    from tui.settings.new_server import as_toml, check_new, pairs, refuse_duplicate, server_name, server_table
    from tui.settings.save import add_servers, refuse_foreign
    from tui.settings.specs import resolved

    _with_options_behind(args)
    path = _path(args)
    refuse_foreign(path)
    table = server_table(
        args.target,
        env=pairs(args.env),
        headers=pairs(args.header, colon=True),
        transport=args.transport or "",
        known=is_command,
    )
    if "command" in table:  # what is here must be found from anywhere
        table["command"], *arguments = resolved([table["command"], *table.get("args", ())], Path.cwd())
        table |= {"args": arguments} if arguments else {}
    present = _present(path)
    proposed = args.name or server_name(table)
    refuse_duplicate(proposed if args.name else "", table, present)
    name = args.name or _asked_name(proposed)
    refuse_duplicate(name, table, present)
    notes = check_new(name, table, path, os.environ)
    print(clean(as_toml(name, table)))
    for note in notes:
        print(f"note: {clean(note)}")
    shown = clean_line(str(path), 4096)
    if args.dry_run:
        print(f"nothing was written; without --dry-run this goes into {shown}")
        return 0
    add_servers(path, {name: table})
    print(f"wrote {shown}")
    if not present:
        print("the sample servers no longer start: the configuration names a server now")
    print("mcptui starts it; `mcptui servers` checks that it answers")
    return 0


def is_command(word: str) -> bool:
    """Return whether a word is a command that can be started."""
    if "${" in word:
        return True
    expanded = os.path.expanduser(word)
    return shutil.which(expanded) is not None or (os.sep in expanded and os.path.isfile(expanded))


def _present(path: Path) -> Mapping[str, Any]:
    from tui.settings.files import Unreadable, read_bounded
    from tui.settings.new_server import configured

    try:
        return configured(read_bounded(path))
    except FileNotFoundError:
        return {}
    except Unreadable as error:
        raise ConfigError(f"{error}.", where=str(path)) from error


def _asked_name(proposed: str) -> str:
    """Return the name that the person types, or the proposed one; nobody is asked without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return proposed
    try:
        return input(f"Name [{proposed}]: ").strip() or proposed
    except EOFError:
        return proposed
