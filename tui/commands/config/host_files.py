"""Files of other hosts: read, written with a backup, and what runs this mcptui from them."""

import argparse
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from tui.commands.permission.terminal_approver import confirm
from tui.core.errors import ConfigError, UsageError, reason_of
from tui.core.files import atomic_write, make_folder
from tui.core.text import clean_line
from tui.settings.files import Unreadable, locked, read_bounded
from tui.settings.foreign.edits import HostFile
from tui.settings.locations import state_dir
from tui.settings.server_import import MAX_SOURCE_BYTES

TRANSIENT = "this mcptui runs from a cache that may be cleared. Install it first: uv tool install mcptui-host"


def shown(path: Path) -> str:
    """Return a path for the terminal."""
    return clean_line(str(path), 4096)


def read_text(path: Path) -> str:
    """Return the text of a host's file. Raises FileNotFoundError or ConfigError."""
    try:
        return read_bounded(path, MAX_SOURCE_BYTES)
    except Unreadable as error:
        raise ConfigError(f"{error}.", where=shown(path)) from error


def parsed(text: str, path: Path) -> HostFile:
    """Return a host's file in JSON. Raises ConfigError with its line."""
    try:
        return HostFile(text)
    except json.JSONDecodeError as error:
        where = f"{shown(path)}:{error.lineno}"
        reason = reason_of(error).replace(f" at line {error.lineno}, column", " at column")
        raise ConfigError(f"is not JSON: {reason}.", where=where) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot be parsed as JSON: {reason_of(error)}.", where=shown(path)) from error


def launcher() -> list[str]:
    """Return an absolute command that runs this mcptui: hosts seldom have a shell's PATH."""
    program = shutil.which(sys.argv[0]) or sys.argv[0]
    if os.path.basename(program) in ("mcptui", "mcptui-host") and os.access(program, os.X_OK):
        return [os.path.abspath(program)]
    return [sys.executable, "-m", "tui"]


def launcher_note(launcher: list[str]) -> str:
    """Return a warning if the program may disappear, or ""."""
    return TRANSIENT if any(part in launcher[0] for part in ("/archive-v0/", "/.tmp", "/builds-v0/")) else ""


def refuse_link(path: Path) -> None:
    """Raise UsageError if a file would be changed through a symbolic link without a question."""
    if path.is_symlink() or path.parent.is_symlink():
        raise UsageError(
            f"{shown(path)} is a symbolic link, which --yes does not follow.",
            next_step=f"Name the file: {shown(Path(os.path.realpath(path)))}",
        )


def agreed(args: argparse.Namespace, path: Path, question: str = "Write it?") -> bool:
    """Return whether to write what was shown, by --dry-run, --yes or the user. Raises UsageError."""
    if args.dry_run:
        print("dry run, nothing written")
        return False
    if args.yes:
        refuse_link(path)
    if not confirm(question, yes=args.yes):
        print("nothing written")
        return False
    return True


def backup_of(path: Path, *keys: str) -> Path:
    """Return the place of the copy of a file before a change of its entry `keys`."""
    name = json.dumps([os.path.realpath(path), *keys])
    return state_dir() / "tapped" / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.backup"


def change_file(path: Path, change: Callable[[str], str], backup: Path, *, create: bool = False) -> None:
    """Replace the text of a host's file, under a lock and after a backup. Raises ConfigError.

    `change` gets its present text, "" for one that is created. One that it empties is deleted.
    """
    with locked(path):
        try:
            now: str | None = read_text(path)
        except FileNotFoundError as error:
            if not create:
                raise ConfigError("was removed meanwhile.", where=shown(path)) from error
            now = None
        after = change(now or "")
        try:
            mode, mark = 0o600, ""
            if now is not None:
                mark = "\ufeff" if path.read_bytes().startswith(b"\xef\xbb\xbf") else ""
                mode = stat.S_IMODE(os.stat(path).st_mode)
                make_folder(backup.parent)
                atomic_write(backup, [mark + now], links=False)
            if after:
                atomic_write(path, [mark + after], mode=mode)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be written: {reason_of(error)}.", where=shown(path)) from error
