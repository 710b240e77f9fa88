"""A file of answers or other state that outlives a run: private JSON that several processes may change.

A damaged file counts as empty, and is copied before it is replaced.
"""

import json
import logging
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from tui.core.background import report_failure
from tui.core.errors import ConfigError, reason_of, without_stop
from tui.core.files import atomic_write, open_private
from tui.core.language.translate import N_, message, sentences
from tui.core.text import clean_line
from tui.settings.files import Unopened, Unreadable, locked, read_bounded
from tui.settings.save import save_file

OTHER_VERSION = message("was written by another version of mcptui")
FORMAT = 1

Content = Mapping[str, Any]
Key = TypeVar("Key")
Value = TypeVar("Value")

_log = logging.getLogger(__name__)


class WriteThread:
    """Changes files one after another, in a thread that starts with the first change."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, self._name)
        self._thread.submit(work).add_done_callback(self._check)

    def _check(self, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            report_failure(self._name, error)

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


@dataclass(eq=False)
class StateFile:
    """The file, which need not exist. `what` says in the log what is in it.

    `problem_of` returns why a content is not valid, or "". The oldest entries of the list `forgets` are
    dropped if the text would be too large to read. With `keeps_damaged`, a damaged file is never replaced.
    `indent` is None for deep values, whose size it would multiply. A `thread` may write several files.
    """

    path: Path
    what: str
    max_bytes: int
    problem_of: Callable[[Content], str] = lambda content: ""
    forgets: str = ""
    keeps_damaged: bool = False
    indent: int | None = 1
    thread: WriteThread | None = None

    def __post_init__(self) -> None:
        self._thread = self.thread or WriteThread(self.path.stem)
        self.close = self._thread.close

    def look(self) -> tuple[Content, str]:
        """Return the content, empty if the file is missing or damaged, and a damage as sentences. Blocks.

        The sentences say why the file cannot be read, and whether it will be copied.
        """
        try:
            return self._content(), ""
        except Unreadable as error:
            why = without_stop(clean_line(str(error), 200))
            copy = "" if isinstance(error, Unopened) else self.copy
            said = message("{path} {problem}.", path=clean_line(str(self.path), 400), problem=why)
            return {}, sentences(said, copy)

    @property
    def copy(self) -> str:
        """A sentence about the copy of a damaged file."""
        name = self.path.with_suffix(".damaged").name
        return message("Before it is replaced, it is copied to {name}.", name=name)

    def change(self, change: Callable[[Content], Content]) -> None:
        """Replace the content; `change` takes the one that is then in the file. Blocks.

        Raises ConfigError if that fails, or if the system refuses to read the file now: its content may be
        valid and must not be replaced. If `change` returns the same content, nothing is written.
        """
        with locked(self.path):
            try:
                before = self._content()
            except Unreadable as error:
                if self.keeps_damaged or isinstance(error, Unopened):
                    move = message("It was not changed. Move it away to start over.")
                    step = move if self.keeps_damaged else ""
                    raise ConfigError(
                        message("{text}.", text=str(error)), where=str(self.path), next_step=step
                    ) from error
                keep_damaged(self.path)
                before = {}
            after = change(before)
            if after != before:
                save_file(self.path, self._text(after), links=False)

    def change_later(self, change: Callable[[Content], Content]) -> None:
        """Change the file in the thread. A failure is only logged."""
        self._thread.submit(partial(self.try_to_change, change))

    def try_to_change(self, change: Callable[[Content], Content]) -> None:
        """Change the file. A failure is only logged. Blocks."""
        try:
            self.change(change)
        except (ConfigError, OSError, ValueError) as error:
            _log.warning("cannot save %s: %s", self.what, error)

    def _content(self) -> Content:
        """Return the content, empty if the file is missing. Raises Unreadable if it is damaged."""
        from tui.core.jsonrpc.reader import loads  # not needed for the first frame

        try:
            found = loads(read_bounded(self.path, self.max_bytes, links=False))
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as error:
            raise Unreadable(message("is not JSON: {why}", why=reason_of(error))) from error
        if not isinstance(found, Mapping) or found.get("format") != FORMAT:
            raise Unreadable(OTHER_VERSION)
        if problem := self.problem_of(found):
            raise Unreadable(problem)
        return {name: value for name, value in found.items() if name != "format"}

    def _text(self, content: Content) -> str:
        while True:
            text = f"{json.dumps({'format': FORMAT, **content}, indent=self.indent)}\n"
            if len(text) <= self.max_bytes:
                return text
            droppable = entries(content, self.forgets)
            if len(droppable) <= 1:
                raise ConfigError(
                    message("more than {limit} bytes.", limit=self.max_bytes), where=str(self.path)
                )
            content = {**content, self.forgets: droppable[len(droppable) // 2 :]}


def entries(content: Content, name: str) -> list[Any]:
    """Return the list `name`, without entries if it is missing or no list."""
    found = content.get(name)
    return found if isinstance(found, list) else []


@dataclass(eq=False)
class KeyedList(Generic[Key, Value]):
    """A `tui.core.ports.KeyedStore`: the list `name` in a file of its own, with one entry for each key.

    `_read` returns key and value of an entry, None if it is invalid or has expired; `_write` returns the
    entry. The newest is the last. The oldest are dropped for new ones.
    """

    path: Path
    what: str
    name: str
    _read: Callable[[Any], tuple[Key, Value] | None]
    _write: Callable[[Key, Value], dict[str, Any]]
    max_entries: int
    max_bytes: int = 1024 * 1024

    def __post_init__(self) -> None:
        self.file = StateFile(self.path, self.what, max_bytes=self.max_bytes, forgets=self.name)
        self.close = self.file.close

    def of(self, content: Content) -> dict[Key, Value]:
        """Return the valid entries of a content."""
        return dict(filter(None, map(self._read, entries(content, self.name))))

    def read(self) -> dict[Key, Value]:
        """Return the valid entries, none if the file is missing or damaged. Blocks."""
        return self.of(self.file.look()[0])

    def change_later(self, put: Mapping[Key, Value], dropped: Collection[Key] = ()) -> None:
        """Put and drop entries in the file's thread. A failure is only logged."""
        self.file.change_later(self.change(put, dropped))

    def change(self, put: Mapping[Key, Value], dropped: Collection[Key] = ()) -> Callable[[Content], Content]:
        """Return the change of the file that puts and drops entries."""

        def change(content: Content) -> Content:
            others = {key: value for key, value in self.of(content).items() if key not in (*put, *dropped)}
            last = list({**others, **put}.items())[-self.max_entries :]
            return {self.name: [self._write(key, value) for key, value in last]}

        return change


def keep_damaged(path: Path) -> None:
    """Link or copy a damaged file to a second name, so that it survives its replacement.

    Raises ConfigError if neither works: then it must not be replaced.
    """
    copy = path.with_suffix(".damaged")
    try:
        copy.unlink(missing_ok=True)
        try:
            os.link(path, copy, follow_symlinks=False)
        except OSError:  # the file system has no links
            handle = open_private(path, os.O_RDONLY)
            with open(handle, encoding="utf-8", errors="surrogateescape", newline="") as source:
                pieces = iter(partial(source.read, 65_536), "")
                atomic_write(copy, pieces, errors="surrogateescape", links=False)
    except OSError as error:
        lost = N_("is damaged and cannot be copied to {name} ({reason}), so it is not replaced.")
        why = message(lost, name=copy.name, reason=reason_of(error))
        step = message("Move it away so that mcptui can write a new one.")
        raise ConfigError(why, where=str(path), next_step=step) from error
