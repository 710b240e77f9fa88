"""The saved conversations: found by title and by what was said; taken up, renamed, deleted, copied."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from tui.core import units
from tui.core.conversation.sessions import SessionInfo
from tui.core.errors import McptuiError
from tui.core.text import clean_line, fold
from tui.ui.keys.actions import Action, Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.lists.finder import Finder
from tui.ui.lists.items import Item, heading, words
from tui.ui.lists.searching import LEAST_LETTERS, MOST_FINDS, Search
from tui.ui.lists.session_items import about_session, found_items, place_of, session_item
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import Symbols

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

_EMPTY = (
    "No conversation was saved yet. Each one is kept here as you have it, under a title made of its first "
    "question: to go on with it later, to search in it, to branch off it and to export it."
)


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was done before the screen was left.

    Attributes:
        message: the message to go to, or None for the end.
        branch: a copy was begun.
    """

    message: int | None = None
    branch: bool = False


class SessionsScreen(Finder[Resumed | None]):
    """Gives what was resumed; the conversation on screen is another one by then.

    Args:
        conversations: the conversations.
        overrides: the keys in force.
        symbols: what the terminal can show.
        busy: why no other conversation can be taken up now, or "".
        export: asks where to, and writes a conversation.
        now: seconds since the epoch.
    """

    CONTEXT = Context.SESSIONS
    CONTEXTS = (Context.SESSIONS,)
    PLACEHOLDER = "a title, or words that were said"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SESSIONS)

    def __init__(
        self,
        conversations: "Conversations",
        overrides: KeyOverrides,
        symbols: Symbols,
        *,
        busy: Callable[[], str],
        export: Callable[[SessionInfo], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(conversations, overrides, symbols, busy)
        self._export = export
        self._now = now
        self._all: Sequence[SessionInfo] | None = None
        self._search = Search(conversations, "")
        self._deleted: list[SessionInfo] = []

    def on_mount(self) -> None:
        """Read the list."""
        super().on_mount()
        self._title("reading…")
        self.keep_task(self._read(), "read the sessions")

    async def _read(self, key: str = "") -> None:
        try:
            self._all = await self.conversations.sessions()
        except McptuiError:
            self._all = ()
            raise
        finally:
            self._show(key)
        if self._search.text:
            self.resift(anew=True)  # what was found may be called otherwise now, or be gone

    # ---- the list ----

    def sift(self, text: str) -> None:
        """Show the titles with `text`, and begin to search for it in what was said."""
        self._search.stop()
        self._search = search = Search(self.conversations, text)
        if len(text) >= LEAST_LETTERS:
            search.start(self.keep_task, lambda: self._found_more(search))
        self._show()

    def _found_more(self, search: Search) -> None:
        if search is self._search:
            self._show()

    def _show(self, key: str = "") -> None:
        if self._all is None or not self.is_mounted:
            return
        here = self.conversations.info.id if self.conversations.info is not None else ""
        now, text, search = self._now(), self.field.value.strip(), self._search
        shown = [one for one in self._all if fold(text) in fold(one.title)]
        items = [session_item(one, here, now, self.symbols) for one in shown]
        if not self._all:
            items = [words(""), words(_EMPTY)]
        elif not shown:
            items = [words(""), words(f"No title has “{clean_line(text, 60)}” in it.")]
        items += self._found(search, now)
        self.list.show(items, key)
        self._title("")

    def _found(self, search: Search, now: float) -> list[Item]:
        if len(search.text) < LEAST_LETTERS or not self._all:
            return []
        amount = units.plural(len(search.finds), "place")
        if search.running:
            after = f"searching…  {amount}  esc stops" if search.finds else "searching…  esc stops"
        else:
            after = amount if search.finds else "nothing"
        if len(search.finds) >= MOST_FINDS:
            after = f"the first {MOST_FINDS} places"
        return [heading("IN WHAT WAS SAID", after), *found_items(search.finds, search.text, now)]

    def _title(self, state: str) -> None:
        amount = len(self._all or ())
        left: Row = (("SESSIONS", "accent bold"),)
        if problem := self.conversations.problem:
            left = (*left, (f"   not saved: {clean_line(problem, 200)}", "warn"))
        self.title_line.show(left, ((state or f"{amount} saved ", "dim"),))

    def about(self, key: str) -> Row:
        """Return what is to be known of a conversation."""
        info = self._info(key)
        if info is None:
            return EMPTY
        parent = next((one for one in self._all or () if one.id == info.parent), None)
        return about_session(info, parent)

    def offers(self, found: Action) -> bool:
        """Undo is offered while there is something to undo, the others while there is something to act on."""
        if found.id == "session.undo":
            return bool(self._deleted)
        return found.id == "session.leave" or bool(self.list.current)

    def _info(self, key: str) -> SessionInfo | None:
        session, _ = place_of(key)
        known = (*(self._all or ()), *(found.session for found in self._search.finds))
        return next((one for one in known if one.id == session), None)

    # ---- keys ----

    def take(self, key: str) -> None:
        """Go on with a conversation."""
        self._resume(key, branch=False)

    def action_session_resume(self) -> None:
        """Go on with the marked conversation."""
        self.choose()

    def action_session_branch(self) -> None:
        """Go on with a copy of the marked conversation."""
        self.resift()
        if self.list.current:
            self._resume(self.list.current, branch=True)

    def _resume(self, key: str, *, branch: bool) -> None:
        if problem := self.busy():
            self.tell(problem, "warn")
            return
        session, message = place_of(key)

        async def resume() -> None:
            if self.conversations.info is None or self.conversations.info.id != session:
                self.tell("opening…", "dim", lasting=True)
                await self.conversations.resume(session)
            if branch:
                await self.conversations.branch(
                    len(self.conversations.messages) if message is None else message + 1
                )
            self.tell("")
            if self.is_current:
                self.dismiss(Resumed(message, branch))

        self.keep_task(resume(), "resume a session")

    def action_session_rename(self) -> None:
        """Give the marked conversation another title."""
        info = self._info(self.list.current)
        if info is None:
            return

        async def rename(title: str) -> None:
            await self.conversations.rename(info.id, title)
            await self._read(info.id)

        def named(title: str) -> None:
            if title.strip():
                self.keep_task(rename(title.strip()), "rename a session")

        self.prompt.ask("title", named, value=clean_line(info.title, 200))

    def action_session_delete(self) -> None:
        """Take the marked conversation out of the list."""
        info = self._info(self.list.current)
        if info is None:
            return
        if self.conversations.info is not None and self.conversations.info.id == info.id:
            self.tell("This conversation is on screen. Begin or take up another one first.", "warn")
            return

        async def delete() -> None:
            await self.conversations.delete(info.id)
            self._deleted.append(info)
            self._say_undo()
            await self._read(self._neighbour(info.id))

        self.keep_task(delete(), "delete a session")

    def _neighbour(self, session: str) -> str:
        ids = [one.id for one in self._all or ()]
        at = ids.index(session) if session in ids else len(ids)
        return next(iter((*ids[at + 1 : at + 2], *ids[at - 1 : at])), "")

    def _say_undo(self) -> None:
        if self._deleted:
            title = clean_line(self._deleted[-1].title, 60) or "without a title"
            self.tell(f"Deleted: {title}", keys=f"{self.key('session.undo')} brings it back ")
        else:
            self.tell("")

    def action_session_undo(self) -> None:
        """Bring back what was deleted last."""
        if not self._deleted:
            return
        info = self._deleted.pop()

        async def restore() -> None:
            await self.conversations.restore(info.id)
            self._say_undo()
            await self._read(info.id)

        self.keep_task(restore(), "restore a session")

    def action_session_export(self) -> None:
        """Write the marked conversation to a file."""
        if (info := self._info(self.list.current)) is not None:
            self._export(info)

    def action_session_leave(self) -> None:
        """Stop the search, empty the field, leave the list."""
        if self._search.stop():
            self._show()
        elif not self.empty_field():
            self.dismiss(None)
