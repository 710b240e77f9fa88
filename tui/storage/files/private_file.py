"""Files that a user asks for: complete or not there, and readable for nobody else."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from threading import Event

from tui.core.errors import StorageError, reason_of
from tui.core.files import atomic_write, new_file
from tui.core.language.translate import message


def write_whole(
    target: Path,
    pieces: Iterable[str],
    *,
    new: bool = False,
    wait: bool = True,
    stop: Event | None = None,
    links: bool = True,
) -> int:
    """Write a private file as `atomic_write` does, or raise `StorageError`. Return its size in bytes.

    With `new`, a file that exists is an error: the user did not agree to replace it.
    """
    try:
        with new_file(target) if new else nullcontext():
            return atomic_write(target, pieces, wait=wait, stop=stop, links=links)
    except OSError as error:
        raise StorageError(
            message("cannot write the file ({reason})", reason=reason_of(error)), where=str(target)
        ) from error
