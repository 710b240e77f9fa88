"""The conversations of turn cases: saved apart from those of the user, and opened among them on request."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui.core.conversation.sessions import Reopened
from tui.core.errors import StorageError, reason_of
from tui.core.files import make_folder
from tui.core.language.translate import message
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line
from tui.settings.locations import state_dir
from tui.storage.files.sqlite_file import remove_files
from tui.storage.sessions.file import SUFFIX
from tui.storage.sessions.store import SessionStore

MOST_KEPT = 200
"""Maximum conversations to keep; the oldest are deleted."""


def folder() -> Path:
    """Return the folder of the conversations."""
    return state_dir() / "test-conversations"


def store(redactor: Callable[[], Redactor]) -> SessionStore:
    """Return the store of the conversations."""
    return SessionStore(folder(), redactor)


def make_room() -> None:
    """Delete the oldest conversations. Blocks; a failure is ignored, because the next run tries again."""
    with suppress(OSError):
        files = [Path(one.path) for one in os.scandir(folder()) if one.name.endswith(SUFFIX)]
        files.sort(key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - MOST_KEPT)]:
            remove_files(path)


async def read(session: str) -> Reopened:
    """Read a conversation. Raises StorageError if it was deleted meanwhile."""
    found = store(Redactor)
    if not found.files.path_of(session).is_file():
        raise _deleted()
    return await found.read(session)


def _deleted() -> StorageError:
    step = message("The last {n} are kept. Run the case again.", n=MOST_KEPT)
    return StorageError(message("the conversation was deleted"), next_step=step)


def take_over(session: str, into: SessionStore) -> None:
    """Copy a conversation to the sessions of the user, unless it is there. Blocks.

    Raises StorageError if it was deleted meanwhile, or cannot be copied.
    """
    target = into.files.path_of(session)
    if target.exists():
        return
    source = SessionStore(folder(), Redactor).files.path_of(session)
    try:
        make_folder(target.parent)
        shutil.copy(source, target)
    except FileNotFoundError:
        raise _deleted() from None
    except OSError as error:
        raise StorageError(
            message("cannot be copied: {why}", why=reason_of(error)), where=clean_line(str(target), 400)
        ) from error
