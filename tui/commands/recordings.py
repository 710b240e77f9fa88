"""Recordings as the commands need them: where they are, a new one, one that was named."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tui.core.errors import UsageError
from tui.core.redact import Redactor
from tui.trace.frames import Frames
from tui.trace.recorder import Recorder

SUFFIX = ".mcptrace"


def recordings_dir() -> Path:
    """Return the folder in which recordings are kept."""
    from tui.settings.locations import state_dir

    return state_dir() / "recordings"


def new_recording() -> Path:
    """Return a name for a new recording: when it began (UTC) and whose it is (process id)."""
    began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return recordings_dir() / f"{began}-{os.getpid()}{SUFFIX}"


def open_recorder(secrets: Mapping[str, str], meta: Mapping[str, str]) -> Recorder:
    """Return a recorder that has begun a recording of its own; what fails is said by its `problem`.

    Args:
        secrets: values that must not be stored, by name.
        meta: what is to be known of the recording as a whole.
    """
    from tui.storage.traffic_writer import RecordingWriter

    path = new_recording()
    recorder = Recorder(
        lambda: RecordingWriter(path, meta=meta), Frames(), redact=Redactor(secrets).redact_bytes
    )
    recorder.start()
    return recorder


def kept() -> list[Path]:
    """Return the recordings kept, newest first."""
    try:
        found = [path for path in recordings_dir().iterdir() if path.suffix == SUFFIX]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def named(text: str | None) -> Path:
    """Return the file that `text` names: a path, or the beginning or end of a kept recording's name.

    Args:
        text: what was typed; None for the newest recording.

    Raises:
        UsageError: there is none, or the name fits several.
    """
    if text is not None and (os.sep in text or Path(text).expanduser().exists()):
        path = Path(text).expanduser()
        if not path.is_file():
            raise UsageError("there is no such recording", where=text, next_step=_NEXT)
        return path
    recordings = kept()
    if not recordings:
        raise UsageError("nothing has been recorded yet", next_step="Record with: mcptui tap -- COMMAND")
    if text is None:
        return recordings[0]
    found = [path for path in recordings if path.stem.startswith(text) or path.stem.endswith(text)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} recordings are called so" if found else "there is no such recording",
            where=text,
            next_step=_NEXT,
        )
    return found[0]


_NEXT = "`mcptui trace --list` names those kept."
