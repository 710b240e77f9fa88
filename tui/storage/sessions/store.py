"""All sessions: start, resume, list, search, rename, delete, export, import.

Blocking work runs in a thread. A session that is open here is written only by its journal. One that is open
in another process is only read.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from tui.core.conversation.conversation import SessionMeta
from tui.core.conversation.sessions import ExportKind, Imported, Reopened, SessionInfo, SessionMatch
from tui.core.errors import StorageError, reason_of
from tui.core.language.translate import message
from tui.core.matching import has_words, search_words
from tui.core.secrets.redact import Redactor
from tui.core.units import size
from tui.storage.exports.contents import WHOLE, Choice, Review, chosen, review_of
from tui.storage.exports.session import SessionTranscript, TrafficOfTurn, TurnTraffic, session_document
from tui.storage.exports.shapes import session_with_shapes
from tui.storage.files.foreign_file import in_reading_thread, until_set
from tui.storage.files.live_lock import InUse, LiveLock
from tui.storage.files.private_file import write_whole
from tui.storage.files.sqlite_file import on_error
from tui.storage.sessions.file import (
    SUFFIX,
    folder_problem,
    is_sound,
    new_id,
    open_for_writing,
    session_errors,
    why_not,
)
from tui.storage.sessions.folder import SessionFolder
from tui.storage.sessions.journal import SessionJournal, SessionWriter
from tui.storage.sessions.json import MOST_BYTES, json_pieces, parsed
from tui.storage.sessions.rewrite import branch_of, write_again, write_repaired, write_session
from tui.storage.sessions.search import places_of
from tui.storage.sessions.stored_session import read_info, read_stored, reopened, transcript
from tui.storage.sessions.tables import Op, SessionTables

Opened = tuple[Reopened, LiveLock | None, str]
"""A session that was opened to be continued; see `SessionStore._reopen`."""


T = TypeVar("T")

TrafficOf = Callable[[SessionTranscript, Choice, Redactor], AbstractContextManager[TrafficOfTurn]]
"""Returns the recorded traffic of a session by turn, as a page shows it. Used in one thread."""


def no_traffic(
    shown: SessionTranscript, choice: Choice, redactor: Redactor
) -> AbstractContextManager[TrafficOfTurn]:
    """Return the traffic of a session that was not recorded."""
    return nullcontext(lambda place: TurnTraffic())


class SessionStore:
    """All sessions, in a folder that is created with the first one.

    Every method raises `McptuiError` with a sentence if the file does not exist, cannot be read or written,
    or is in use by another process.
    """

    def __init__(self, folder: Path, redact: Callable[[], Redactor]) -> None:
        self.files = SessionFolder(folder)
        self._redact = redact
        self._open: dict[str, SessionJournal] = {}
        self._reading: dict[str, asyncio.Task[Opened]] = {}
        self._purged = False

    async def check(self) -> str:
        """Return why no session can be saved now, or ""."""
        return await in_reading_thread(folder_problem, self.files.folder)

    async def begin(self, *, parent: str = "", upto: int = 0) -> SessionJournal:
        """Start a session, or with `parent` a branch with the parent's messages before `upto`."""
        first: Op | None = None
        if parent:
            await self._settle(parent)

            def branch() -> Op:
                stored = read_stored(self.files.existing(parent))
                return branch_of(parent, stored, reopened(parent, stored).conversation, upto)

            first = await in_reading_thread(branch)
        return self._journal(new_id(), is_new=True, first=first)

    async def reopen(self, session: str) -> tuple[Reopened, SessionJournal]:
        """Open a session to continue it. Calls without a result get one, which is stored.

        Cancelling releases the lock as soon as the thread has read the file.
        """
        await self._wait_until_released(session)
        if session in self._open:
            raise InUse(message("the session is already open"), where=session)
        stop = Event()

        def read() -> Opened:
            with until_set(stop):
                return self._reopen(session)

        reading = asyncio.create_task(in_reading_thread(read), name="open a session")
        self._reading[session] = reading
        try:
            found, lock, problem = await asyncio.shield(reading)
        except asyncio.CancelledError:
            stop.set()
            reading.add_done_callback(lambda task: self._release(session, task))  # the thread may have a lock
            raise
        except BaseException:
            del self._reading[session]
            raise
        journal = self._journal(session, is_new=False, lock=lock, problem=problem)
        del self._reading[session]
        return found, journal

    def _release(self, session: str, reading: asyncio.Task[Opened]) -> None:
        """Release the lock of a session whose opening was cancelled."""
        if not reading.cancelled() and reading.exception() is None:
            if (lock := reading.result()[1]) is not None:
                lock.close()
        del self._reading[session]

    async def read(self, session: str) -> Reopened:
        """Read a session without continuing it."""
        await self._settle(session)
        return await in_reading_thread(lambda: reopened(session, read_stored(self.files.existing(session))))

    async def _wait_until_released(self, session: str) -> None:
        """Wait until this process has finished reading or closing a session."""
        if (reading := self._reading.get(session)) is not None:
            await asyncio.wait({reading})
        if (journal := self._open.get(session)) is not None and journal.is_closing:
            await journal.close()

    async def _settle(self, session: str) -> None:
        journal = self._open.get(session)
        if journal is not None:
            journal.begin_branch()
            await journal.settled()

    def _journal(self, ident: str, *, first: Op | None = None, **more: Any) -> SessionJournal:
        """Return the journal of a session; `more` is for its writer."""
        writer = SessionWriter(self.files.folder / f"{ident}{SUFFIX}", self._redact, **more)
        journal = SessionJournal(writer, lambda: self._open.pop(ident, None), first=first)
        self._open[ident] = journal
        return journal

    def _reopen(self, session: str) -> Opened:
        """Return the repaired session, its lock, and the write problem or ""."""
        path = self.files.existing(session)
        try:
            lock = self.files.lock(path)
        except OSError as error:
            return reopened(session, read_stored(path, all_results=False)), None, why_not(error, path)
        with on_error(lock.close):
            stored = read_stored(path, all_results=False)
            if stored.damaged or not is_sound(path):  # everything must be written again
                stored = read_stored(path)
                stored.damaged = True
            found = reopened(session, stored)
            try:
                if stored.damaged:
                    damaged = write_again(path, stored.repaired(found.conversation), self._redact)
                    problem = message(
                        "{problem}. The damaged file is kept as {damaged}",
                        problem=stored.problem,
                        damaged=damaged,
                    )
                    found = replace(found, info=replace(found.info, problem=problem))
                else:
                    write_repaired(path, stored, found.conversation.messages, self._redact)
            except (sqlite3.Error, OSError) as error:
                return found, lock, why_not(error, path)
        return found, lock, ""

    async def list(self, text: str = "", *, limit: int = 200) -> Sequence[SessionInfo]:
        """Return sessions whose title contains the words of `text`, most recently changed first."""
        found = await in_reading_thread(self._list)
        return [info for info in found if has_words(info.title, text)][:limit]

    def _list(self) -> Sequence[SessionInfo]:
        if not self._purged:
            self._purged = True
            self.files.purge()
        return self.files.list(own={*self._open, *self._reading})

    async def rename(self, session: str, title: str) -> None:
        named = SessionMeta(title=title)
        await self._wait_until_released(session)  # the journal accepts nothing more
        journal = self._open.get(session)
        if journal is not None:
            journal.describe(named)
            await journal.settled()
            return
        await in_reading_thread(self._describe, session, named)

    def _describe(self, session: str, meta: SessionMeta) -> None:
        path = self.files.existing(session)
        with (
            session_errors(path),
            closing(self.files.lock(path)),
            closing(open_for_writing(path)) as connection,
        ):
            tables = SessionTables(connection, self._redact)
            tables.load()
            tables.begin()
            tables.describe(meta)
            tables.commit()
            connection.execute("PRAGMA journal_mode = DELETE")

    async def delete(self, session: str) -> None:
        """Delete a session. `restore` undoes that for thirty days."""
        await self._wait_until_released(session)
        if session in self._open:
            raise InUse(message("the session is open"), where=session, next_step=message("Close it first."))
        await in_reading_thread(self.files.delete, session)

    async def restore(self, session: str) -> None:
        await in_reading_thread(self.files.restore, session)

    async def deleted(self) -> Sequence[SessionInfo]:
        """Return the sessions that can be restored, most recently deleted first."""
        return await in_reading_thread(self.files.deleted)

    async def search(self, text: str) -> AsyncGenerator[SessionMatch, None]:
        """Yield matches for `text`, in the most recently changed sessions first.

        Closing it ends the search.
        """
        words = search_words(text)
        if not words:
            return
        for journal in list(self._open.values()):
            await journal.settled()
        for info in await in_reading_thread(self._list):
            places: list[tuple[int, str]] = []
            with suppress(StorageError):  # damaged, or deleted since: search the others
                path = self.files.path_of(info.id)
                places = await in_reading_thread(places_of, path, words)
            for place, excerpt in places:
                yield SessionMatch(info, place, excerpt)

    async def export(
        self,
        session: str,
        kind: ExportKind,
        path: Path,
        *,
        new: bool = False,
        wait: bool = False,
        choice: Choice = WHOLE,
        traffic: TrafficOf = no_traffic,
    ) -> str:
        """Write a session to a file atomically and without secrets. Return a summary of its contents.

        With `new`, a file that exists is an error. With `wait`, wait until a FIFO has a reader. `traffic` is
        part of an HTML page.
        """
        stop = Event()

        review = choice.review or Review()
        counted = replace(choice, review=review)

        def write(shown: SessionTranscript) -> str:
            with traffic(shown, choice, self._redact()) as traffic_of_turn:
                pieces = _pieces(kind, shown, counted, traffic_of_turn)
                written = write_whole(path, pieces, new=new, wait=wait, stop=stop)
            return f"{review.words()}, {size(written)}"

        try:
            return await self._of_shown(session, write)
        finally:
            stop.set()  # the thread ends when nothing waits for it

    async def review(self, session: str, traffic: TrafficOf = no_traffic) -> Review:
        """Return what an export of a session contains, an HTML page with its `traffic`."""

        def review(shown: SessionTranscript) -> Review:
            with traffic(shown, WHOLE, self._redact()) as traffic_of_turn:
                return review_of(session_document(shown, traffic_of_turn))

        return await self._of_shown(session, review)

    async def exported(
        self, session: str, kind: ExportKind, choice: Choice = WHOLE, traffic: TrafficOf = no_traffic
    ) -> str:
        """Return an export as `export` writes it."""

        def text(shown: SessionTranscript) -> str:
            with traffic(shown, choice, self._redact()) as traffic_of_turn:
                return "".join(_pieces(kind, shown, choice, traffic_of_turn))

        return await self._of_shown(session, text)

    async def _of_shown(self, session: str, use: Callable[[SessionTranscript], T]) -> T:
        def read() -> T:
            stored = read_stored(self.files.existing(session))
            return use(transcript(stored, reopened(session, stored), self._redact()))

        await self._settle(session)
        return await in_reading_thread(read)

    async def import_json(self, path: Path, *, keep_system: bool = False) -> Imported:
        """Import a JSON export as a new session, which is marked as imported."""
        return await in_reading_thread(self._import, path, keep_system)

    def _import(self, source: Path, keep_system: bool) -> Imported:
        try:
            with source.open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise StorageError(
                message("cannot be read: {reason}", reason=reason_of(error)), where=str(source)
            ) from error
        whole = parsed(raw, str(source))
        system = str(whole.meta.get("system", ""))
        whole.meta["imported"] = True
        whole.meta.pop("profile", None)  # an import must not choose a profile of this computer
        remarks = whole.rows["remarks"]
        remarks[:] = [(at, body | {"imported": True}) for at, body in remarks]
        if not keep_system:
            whole.meta.pop("system", None)
        path = self.files.path_of(new_id())
        with session_errors(path):
            os.replace(write_session(path, whole, self._redact), path)
        return Imported(read_info(path), system)


def _pieces(
    kind: ExportKind, shown: SessionTranscript, choice: Choice, traffic_of_turn: TrafficOfTurn
) -> Iterator[str]:
    shaped = session_with_shapes(shown) if choice.shapes else shown
    match kind:
        case "markdown":
            from tui.storage.exports.markdown import markdown

            return markdown(chosen(session_document(shaped), choice))
        case "html":
            from tui.storage.exports.html import html

            return html(chosen(session_document(shaped, traffic_of_turn), choice))
        case "json":
            review_of(session_document(shown), choice)
            return json_pieces(shaped)
