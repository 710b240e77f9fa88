"""A list of entries in a private JSON file, changed in a thread. Other processes may change it as well."""

import json
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.daemon_thread import report_failure
from tui.core.errors import ConfigError
from tui.settings.files import locked, read_state, state_damage
from tui.settings.save import write_state

FORMAT = 1

_log = logging.getLogger(__name__)


class WriteThread:
    """Changes files one after another, in a thread that starts with the first change."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: ThreadPoolExecutor | None = None

    def change(self, path: Path, write: Callable[[], None], what: str) -> None:
        """Call `write` in the thread while the file is locked. If it fails, log that `what` is not saved."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, self._name)
        self._thread.submit(_locked_write, path, write, what).add_done_callback(self._check)

    def _check(self, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            report_failure(self._name, error)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


def _locked_write(path: Path, write: Callable[[], None], what: str) -> None:
    try:
        with locked(path):
            write()
    except (ConfigError, OSError, ValueError) as error:
        _log.warning("cannot save %s: %s", what, error)


class ListFile:
    """The file, which need not exist. `name` is the key of its list, `what` says in the log what is in it."""

    def __init__(self, path: Path, name: str, what: str, *, max_bytes: int) -> None:
        self._path = path
        self._name = name
        self._what = what
        self._max_bytes = max_bytes
        self._thread = WriteThread(name)

    def read(self) -> list[Any]:
        """Return the entries, none if the file is missing or damaged. Blocks while it reads."""
        return self._entries()

    def damage(self) -> str:
        """Return why the file cannot be read, with its path, or "" if it is valid or missing."""
        return state_damage(self._path, self._max_bytes, form=FORMAT)

    def change(self, change: Callable[[list[Any]], Iterable[Any]]) -> None:
        """Replace the entries in the thread: `change` takes those that are then in the file."""
        self._thread.change(self._path, partial(self._change, change), self._what)

    def close(self) -> None:
        """Wait until everything is written."""
        self._thread.close()

    def _entries(self, *, to_change: bool = False) -> list[Any]:
        found = read_state(self._path, self._max_bytes, form=FORMAT, to_change=to_change).get(self._name)
        return found if isinstance(found, list) else []

    def _change(self, change: Callable[[list[Any]], Iterable[Any]]) -> None:
        entries = list(change(self._entries(to_change=True)))
        text = json.dumps({"format": FORMAT, self._name: entries}, indent=1) + "\n"
        if len(text) > self._max_bytes:
            raise ConfigError(f"more than {self._max_bytes} bytes.", where=str(self._path))
        write_state(self._path, text)
