"""The file of `mcptui run --output FILE`: the answer, whole or not at all."""

import os
from pathlib import Path

from tui.core.atomic_write import atomic_write, is_replaceable
from tui.core.errors import UsageError


class AnswerFile:
    """Takes the answer when it is complete; what stood there before stays until then.

    Attributes:
        wanted: an answer is to be written at all.
    """

    def __init__(self, path: str | None) -> None:
        """Look whether it can be written, before anything is asked.

        Raises:
            UsageError: it cannot.
        """
        self.wanted = path is not None
        self._path = Path(os.path.expanduser(path or "."))
        if self.wanted and (why := _problem(self._path)):
            raise UsageError(f"the answer cannot be written there: {why}", where=str(path))

    def write(self, text: str) -> None:
        """Write the answer, if anybody wants it.

        Raises:
            UsageError: it cannot be written.
        """
        if not self.wanted:
            return
        body = text if text.endswith("\n") or not text else text + "\n"
        try:
            mask = os.umask(0)
            os.umask(mask)
            atomic_write(self._path, [body], mode=0o666 & ~mask, errors="replace")
        except OSError as error:
            raise UsageError(
                f"the answer cannot be written: {error.strerror}", where=str(self._path)
            ) from None


def _problem(path: Path) -> str:
    """Return why a file cannot be written, as far as that shows before it is, or ""."""
    try:
        if path.is_dir():
            return "Is a directory"
        written = Path(os.path.realpath(path)).parent if is_replaceable(path) else path
        os.stat(written)
    except OSError as error:
        return error.strerror or str(error)
    return "" if os.access(written, os.W_OK) else "Permission denied"
