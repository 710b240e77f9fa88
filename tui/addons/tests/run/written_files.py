"""The files that a run writes: reports, and a copy of its recording. None is one that the user needs."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from tui.addons.tests.suite.case import ENDING
from tui.commands.headless import write_problem
from tui.core.errors import UsageError, reason_of
from tui.core.text import clean_line

RECORDING = ".mcptrace"
RECORD = "--record"
_DATABASE = b"SQLite format 3\0"


def require_own_files(written: Sequence[tuple[str, str]], suites: Iterable[Path]) -> None:
    """Raise UsageError for a file that cannot be written, that the user needs, or that is named twice.

    `written` are options with the file as it was typed: ("--report", "out.xml").
    """
    taken: dict[str, str] = {}
    tests = {os.path.realpath(path) for path in suites}
    for option, typed in written:
        path = Path(os.path.expanduser(typed))
        real, where = os.path.realpath(path), f"{option} {clean_line(typed, 400)}"
        if option == RECORD and path.suffix != RECORDING:
            example = clean_line(str(path.with_suffix(RECORDING)), 400)
            step = f"For example: {RECORD} {example}"
            raise UsageError(f"the name of a recording ends in {RECORDING}.", where=where, next_step=step)
        if what := _needed(option, path, real, is_test=real in tests):
            step = "Name another file."
            raise UsageError(f"this is {what}, which is not overwritten.", where=where, next_step=step)
        if why := write_problem(path):
            what = "recording" if option == RECORD else "report"
            raise UsageError(f"cannot write the {what}: {why}.", where=where)
        is_device = os.path.exists(real) and not os.path.isfile(real)
        if real in taken and not is_device:
            step = "Give each a file of its own."
            raise UsageError(f"the same file as {taken[real]}.", where=where, next_step=step)
        taken[real] = where


def _needed(option: str, path: Path, real: str, *, is_test: bool) -> str:
    """Return what a file is that is not overwritten, or ""."""
    from tui.addons.tests.contract.lock import is_lock

    if is_test or any(name.lower().endswith(ENDING) for name in (path.name, real)):
        return "a test file"
    if path.is_file() and is_lock(path):  # a pipe is not read
        return "the lock of a contract"
    if option != RECORD:
        return "a recording" if real.endswith(RECORDING) else ""
    return "not a recording" if path.is_file() and not _is_recording(path) else ""


def _is_recording(path: Path) -> bool:
    """Return whether a file is a database, as a recording is, or may be written for another reason."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_DATABASE))
    except OSError:
        return True
    return start in (b"", _DATABASE)


def copy_recording(source: Path | None, path: Path, *, is_off: bool) -> str:
    """Copy the complete recording of a run, None if there is none; return what failed, or "".

    `is_off`: the settings say so.
    """
    where = clean_line(str(path), 400)
    if source is None:
        return f"{where}: nothing was recorded.{' Set record = true in [traffic].' if is_off else ''}"
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            shutil.copyfile(source, part)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        return f"{where}: cannot write the recording: {reason_of(error)}."
    return ""
