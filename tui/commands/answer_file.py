"""The file of `mcptui run --output FILE`: the answer, whole or not at all."""

import os
import tempfile
from pathlib import Path

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
        self._path = Path(path or ".").expanduser()
        if self.wanted and (
            self._path.is_dir()
            or not os.access(self._path if self._path.exists() else self._path.parent, os.W_OK)
        ):
            raise UsageError("the answer cannot be written there", where=str(path))

    def write(self, text: str) -> None:
        """Write the answer, if anybody wants it.

        Raises:
            UsageError: it cannot be written.
        """
        if not self.wanted:
            return
        body = text if text.endswith("\n") or not text else text + "\n"
        try:
            if self._path.exists() and not self._path.is_file():  # a pipe, a terminal
                self._path.write_text(body, "utf-8", "replace")
                return
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", errors="replace", dir=self._path.parent, delete=False
            ) as file:
                file.write(body)
            mask = os.umask(0)
            os.umask(mask)
            Path(file.name).chmod(0o666 & ~mask)
            Path(file.name).replace(self._path)
        except OSError as error:
            raise UsageError(
                f"the answer cannot be written: {error.strerror}", where=str(self._path)
            ) from None
