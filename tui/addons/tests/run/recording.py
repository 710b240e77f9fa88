"""The copy of a run's recording that `--record FILE` keeps."""

import os
import shutil
from pathlib import Path

from tui.commands.headless import write_problem
from tui.core.errors import UsageError, reason_of
from tui.core.text import clean_line

_DATABASE = b"SQLite format 3\0"


class RecordedCopy:
    """A file that gets the recording of a run, `source`, once that is complete. None: nothing is recorded.

    `is_off`: the settings say so.
    """

    def __init__(self, name: str) -> None:
        """Raises UsageError if the file cannot be written."""
        self.path = Path(os.path.expanduser(name))
        self.source: Path | None = None
        self.is_off = False
        if self.path.suffix != ".mcptrace":
            raise UsageError(
                "the name of a recording ends in .mcptrace.",
                where=f"--record {clean_line(name, 400)}",
                next_step=f"For example: --record {clean_line(str(self.path.with_suffix('.mcptrace')), 400)}",
            )
        if _is_other(self.path):
            raise UsageError(
                "this file is not a recording, so it is not replaced.",
                where=f"--record {clean_line(name, 400)}",
                next_step="Name another file.",
            )
        if why := write_problem(self.path):
            raise UsageError(f"cannot write the recording: {why}.", where=clean_line(name, 400))

    def write(self) -> str:
        """Copy the recording; return what failed, or ""."""
        where = clean_line(str(self.path), 400)
        if self.source is None:
            return (
                f"{where}: nothing was recorded.{' Set record = true in [traffic].' if self.is_off else ''}"
            )
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            try:
                shutil.copyfile(self.source, part)
                os.replace(part, self.path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            return f"{where}: cannot write the recording: {reason_of(error)}."
        return ""


def _is_other(path: Path) -> bool:
    """Return whether something is in a file that is not a database, as a recording is."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(len(_DATABASE))
    except OSError:
        return False
    return bool(start) and start != _DATABASE
