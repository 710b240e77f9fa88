"""The sessions screen: find a saved conversation, and resume, branch, rename, delete or export it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType

from tui.core.conversation.sessions import SessionInfo, SessionMatch
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized, n_
from tui.core.matching import has_words
from tui.core.text import cells_of, clean_line
from tui.ui.dialogs.dialog import heading
from tui.ui.keys.action_table import Action, Context
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.lists.finder import FinderScreen
from tui.ui.lists.items import (
    LEAST_CELLS,
    LONG_SESSION,
    MOST_FINDS,
    about_session,
    place_of,
    preview_rows,
    search_items,
    session_cells,
    session_item,
    words,
)
from tui.ui.widgets.rows import EMPTY, Row

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

PREVIEW_SECONDS = 0.12
"""Seconds after which the session under the cursor is read for the preview."""

QUIET_SECONDS = 0.25
"""Seconds without a key before a search in the messages starts."""

REDRAW_SECONDS = 0.1

_EMPTY = N_(
    "No sessions yet. mcptui saves each conversation as a session. Open, search, branch and export them here."
)


@dataclass(frozen=True, slots=True)
class Resumed:
    """The user's choice: the message to go to, None for the end, and whether to branch."""

    message: int | None = None
    branch: bool = False


class SessionsScreen(FinderScreen[Resumed | None]):
    """Resumes a session as the current conversation; returns what was resumed, or None.

    `busy` returns why no session can be resumed now, or ""; `export` asks for a file and exports a session.
    """

    CONTEXTS = (Context.SESSIONS,)
    PLACEHOLDER = N_("title or words")
    OPENED_BY = "chat.sessions"
    PREVIEW = True
    TAKES = frozenset({"app.suspend"})  # its key undoes a deletion here
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SESSIONS)

    def __init__(
        self,
        conversations: "Conversations",
        overrides: KeyOverrides,
        *,
        busy: Callable[[], str],
        export: Callable[[SessionInfo], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(overrides)
        self._conversations = conversations
        self._busy = busy
        self._export = export
        self._now = now
        self._all: Sequence[SessionInfo] | None = None
        self._finds: list[SessionMatch] = []
        self._searching: asyncio.Task[None] | None = None
        self._deleted: list[SessionInfo] = []
        self._previewed = ""
        self._reading: asyncio.Task[None] | None = None

    def on_mount(self) -> None:
        self._title(_("reading…"))
        self.keep_task(self._read(), "read the sessions")

    async def _read(self, key: str = "") -> None:
        try:
            self._all = await self._conversations.sessions()
        finally:
            self._all = self._all or ()
            self.show_items(key)
        if self._sifted:
            self.refilter(anew=True)  # matches may have been renamed or deleted

    def filter(self, text: str) -> None:
        """Show the titles that contain the words of `text`, and start searching the messages."""
        self._stop_search()
        finds = self._finds = list[SessionMatch]()
        if cells_of(text) >= LEAST_CELLS:
            self._searching = self.keep_task(self._find(text, finds), "search the sessions")
        self.show_items()

    async def _find(self, text: str, finds: list[SessionMatch]) -> None:
        """Search the messages of all sessions after a pause in typing; add the matches to `finds`."""
        found = cast(AsyncGenerator[SessionMatch], self._conversations.search(text))
        try:
            await asyncio.sleep(QUIET_SECONDS)
            drawn = time.monotonic()
            async with aclosing(found):
                async for one in found:
                    finds.append(one)
                    if len(finds) >= MOST_FINDS:
                        return
                    if time.monotonic() - drawn >= REDRAW_SECONDS or len(finds) == 1:
                        drawn = time.monotonic()
                        self.show_items()
        finally:
            if finds is self._finds:
                self._searching = None
                self.show_items()

    def _stop_search(self) -> bool:
        """Stop the search in the messages; return whether it was running."""
        task, self._searching = self._searching, None
        return task is not None and task.cancel()

    def show_items(self, key: str = "") -> None:
        if self._all is None or not self.is_mounted:
            return
        here = self._conversations.info.id if self._conversations.info is not None else ""
        now, text = self._now(), self.field.value.strip()
        shown = [one for one in self._all if has_words(one.title, text)]
        cells = session_cells(self._all, here, now) if shown else ()
        items = [session_item(one, here, now, cells) for one in shown]
        if not self._all:
            items = [words(""), words(_(_EMPTY))]
        elif not shown:
            items = [words(""), words(_("No title contains “{words}”.", words=clean_line(text, 60)))]
        if self._all:
            is_running = self._searching is not None
            items += search_items(self._finds, self._sifted or "", now, running=is_running)
        self.list.show(items, key)
        self._title("")

    def _title(self, state: str) -> None:
        left = heading(_("Sessions"))
        if problem := self._conversations.problem:
            said = _("not saved: {problem}", problem=clean_line(localized(problem), 200))
            left = (*left, (f"   {said}", "warn"))
        count = n_("{n} session", "{n} sessions", len(self._all or ()))
        self.title_line.show(left, ((state or count, "dim"),))

    def about(self, key: str) -> Row:
        if (info := self._info(key)) is None:
            return EMPTY
        parent = next((one for one in self._all or () if one.id == info.parent), None)
        return about_session(info, parent)

    def moved(self, key: str) -> None:
        """After a moment, show the end of the selected conversation, or the messages before a match."""
        if key == self._previewed or not self.preview.display:
            return
        self._previewed = key
        if self._reading is not None:
            self._reading.cancel()
        self._reading = self.keep_task(self._preview(key), "preview a session")

    async def _preview(self, key: str) -> None:
        session, index = place_of(key)
        info, pane = self._info(key), self.preview
        if info is None or info.problem or info.messages > LONG_SESSION:
            pane.show(())
            return
        await asyncio.sleep(PREVIEW_SECONDS)
        try:
            messages = await self._conversations.messages_of(session)
        except McptuiError as error:
            pane.show([((clean_line(localized(error), 400), "dim"),)])
        else:
            pane.show(preview_rows(messages, index), from_end=True)

    def offers(self, found: Action) -> bool:
        if found.id == "session.undo":
            return bool(self._deleted)
        return found.id == "session.leave" or bool(self.list.current)

    def _info(self, key: str) -> SessionInfo | None:
        session, _message = place_of(key)
        listed = (*(self._all or ()), *(found.session for found in self._finds))
        return next((one for one in listed if one.id == session), None)

    def action_session_resume(self, *, branch: bool = False) -> None:
        self.refilter()
        if self._selected() is not None:
            self.take(self.list.current, branch=branch)

    def action_session_branch(self) -> None:
        self.action_session_resume(branch=True)

    def _selected(self) -> SessionInfo | None:
        """Return the selected session; without one, say so."""
        if (info := self._info(self.list.current)) is None:
            self.tell(_("No session is selected."), "warn")
        return info

    def take(self, key: str, *, branch: bool = False) -> None:
        if problem := self._busy():
            self.tell(problem, "warn")
            return
        session, message = place_of(key)

        async def resume() -> None:
            if self._conversations.info is None or self._conversations.info.id != session:
                self.tell(_("opening…"), "dim", lasting=True)
                await self._conversations.resume(session)
            if branch:
                count = len(self._conversations.messages) if message is None else message + 1
                await self._conversations.branch(count)
            self.tell("")
            if self.is_current:
                self.dismiss(Resumed(message, branch))

        self.keep_task(resume(), "resume a session")

    def action_session_rename(self) -> None:
        info = self._selected()
        if info is None:
            return

        async def rename(title: str) -> None:
            await self.prompt.saving(self._conversations.rename(info.id, title))
            await self._read(info.id)

        def named(title: str) -> None:
            if title.strip():
                self.keep_task(rename(title.strip()), "rename a session")

        self.prompt.ask(_("title"), named, value=clean_line(info.title, 200), about=info.id)

    def action_session_delete(self) -> None:
        if (info := self._selected()) is None:
            return
        if self._conversations.info is not None and self._conversations.info.id == info.id:
            self.tell(_("This session is open. Open another one first."), "warn")
            return

        async def delete() -> None:
            await self._conversations.delete(info.id)
            self._deleted.append(info)
            self._say_undo()
            ids = [one.id for one in self._all or ()]
            at = ids.index(info.id) if info.id in ids else len(ids)
            await self._read(next(iter((*ids[at + 1 : at + 2], *ids[at - 1 : at])), ""))

        self.keep_task(delete(), "delete a session")

    def _say_undo(self) -> None:
        title = (clean_line(self._deleted[-1].title, 60) or _("untitled")) if self._deleted else ""
        undo = self.overrides.first_of("session.undo")
        self.tell(_("Deleted: {title}", title=title) if title else "", keys=_("{key} restores it ", key=undo))

    def action_session_undo(self) -> None:
        if not self._deleted:
            self.tell(_("No deletion to undo."), "warn")
            return
        info = self._deleted.pop()

        async def restore() -> None:
            await self._conversations.stored().restore(info.id)
            self._say_undo()
            await self._read(info.id)

        self.keep_task(restore(), "restore a session")

    def action_session_export(self) -> None:
        if (info := self._selected()) is not None:
            self._export(info)

    def action_session_leave(self) -> None:
        if self._stop_search():
            self.show_items()
        elif not self.empty_field():
            self.dismiss(None)
