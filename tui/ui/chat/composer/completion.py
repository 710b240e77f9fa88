"""Completion: the list above the composer, filtered while the user types."""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.language.translate import _
from tui.core.text import clean_line
from tui.ui.widgets.bar import Box
from tui.ui.widgets.rows import Row, crop, pad, width_of

if TYPE_CHECKING:  # not needed for the first frame
    from tui.ui.chat.composer.suggestions import LiveSources, Suggestion

_log = logging.getLogger(__name__)
_WIDEST = 44
"""Maximum cells of the first column."""

MOST = 400
"""A word longer than this is not completed."""

_REFERENCE = re.compile(r"(?:^|(?<=[\s(\"']))@(\S*)$")
_COMMAND = re.compile(r"/(\S*)$")
_WORD = re.compile(r"(?:^|(?<=[\s(\"'`]))([A-Za-z][\w.-]*)$")
_ARGUMENT = re.compile(r"/(\S+)\s+(.*?)(\S*)$")
PATIENCE_SECONDS = 10.0
"""How long the key that accepts a suggestion waits for a list to load; a slow server has 5 s."""

NOTICE_SECONDS = 0.3
"""A longer wait is announced where the list will appear."""


class CompletionKind(StrEnum):
    """What is completed."""

    COMMAND = "command"
    ARGUMENT = "argument"
    REFERENCE = "reference"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class CompletionTarget:
    """What is completed, and where.

    Attributes:
        start: the column where it starts; it ends at the cursor.
        before: the text between the command and its argument.
    """

    what: CompletionKind
    query: str
    start: int
    command: str = ""
    before: str = ""

    @property
    def place(self) -> tuple[CompletionKind, int]:
        """The kind and the start, which stay the same while the word is typed."""
        return self.what, self.start


def completion_at(line: str, column: int, *, is_first: bool) -> CompletionTarget | None:
    """Return what can be completed at a column of a line; `is_first` for the message's first line."""
    head = line[:column]
    if (found := _REFERENCE.search(head[-MOST:])) is not None and (column - len(found.group())) >= 0:
        start = column - len(found.group())
        return CompletionTarget(CompletionKind.REFERENCE, found.group(1), start)
    if not is_first or not head.startswith("/"):
        word = tool_word_at(line, column)
        return word if word is not None and "_" in word.query else None
    if column > MOST:
        return None
    if (found := _COMMAND.fullmatch(head)) is not None:
        return CompletionTarget(CompletionKind.COMMAND, found.group(1), 0)
    if (found := _ARGUMENT.fullmatch(head)) is not None:
        command, before, query = found.groups()
        return CompletionTarget(CompletionKind.ARGUMENT, query, column - len(query), command, before.strip())
    return None


def tool_word_at(line: str, column: int) -> CompletionTarget | None:
    """Return the word before a column of a line that may be the start of a tool's name.

    A word with an underscore is completed while it is typed, others only by the key that completes.
    """
    if (found := _WORD.search(line[:column][-MOST:])) is None:
        return None
    return CompletionTarget(CompletionKind.TOOL, found.group(1), column - len(found.group()))


class Completion:
    """The list of suggestions."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self.target: CompletionTarget | None = None
        self._found: Sequence[Suggestion] = ()
        self._marked = -1
        self._making: asyncio.Task[None] | None = None
        self._left: tuple[CompletionKind, int] | None = None
        self._some = asyncio.Event()
        self._waiting = 0

    @cached_property
    def sources(self) -> "LiveSources":
        """Where they come from; created when first needed, because its import takes time."""
        from tui.ui.chat.composer.suggestions import LiveSources

        return LiveSources(Path.cwd(), self.again)

    @property
    def is_open(self) -> bool:
        return bool(self._found)

    @property
    def is_awaited(self) -> bool:
        """Whether a list is loading that has no suggestions yet."""
        return self._making is not None and not self._making.done() and not self._some.is_set()

    def look(self, line: str, column: int, *, is_first: bool) -> None:
        now = completion_at(line, column, is_first=is_first)
        if now is None and self.target is not None and self.target.what is CompletionKind.TOOL:
            word = tool_word_at(line, column)
            now = word if word is not None and word.start == self.target.start else None
        if now == self.target:
            return
        before, self.target = self.target, now
        self._stop()
        if now is None or now.place != self._left:
            self._left = None
        if now is None or self._left is not None:
            self._fill(())
        else:
            if before is None or before.place != now.place:
                self.sources.opened()
            self._begin(now)

    def offer_tools(self, line: str, column: int) -> "Sequence[Suggestion]":
        """List and return the tools whose names start with the word before the cursor."""
        word = tool_word_at(line, column)
        if word is None or not (found := self.sources.tools(word.query)):
            return ()
        self._stop()
        self.target, self._left = word, None
        self._fill(found)
        return found

    def again(self) -> None:
        if self.target is not None and self._left is None:
            self._stop()
            self._begin(self.target)

    def _begin(self, now: CompletionTarget) -> None:
        from tui.ui.chat.composer.suggestions import fitting, of_commands

        if now.what is CompletionKind.TOOL:
            self._fill(self.sources.tools(now.query))
            return
        if now.what is CompletionKind.COMMAND:
            self._fill(fitting(of_commands(self.sources.specs()), now.query))
            if self._found or not self.sources.is_listing:  # otherwise, it may be a prompt of a server
                return
        # Suggestions for the previous word are not accepted for this one; see `settled`.
        self._some.clear()
        self._marked = -1
        self._making = asyncio.create_task(self._make(now), name="suggestions")
        self._making.add_done_callback(self._made)

    async def settled(self) -> bool:
        """Wait until a loading list has suggestions; return False if it was closed instead.

        Until then, the list of the previous word is shown, so that it does not flicker while the user types.
        After `PATIENCE_SECONDS` without a suggestion, it is empty.
        """
        if not self.is_awaited:
            return True
        before = self.target

        def show_waiting() -> None:
            if self.is_awaited:
                self._box.show([((f"   {_('Loading suggestions…')}", "dim"),)], -1)

        notice = asyncio.get_running_loop().call_later(NOTICE_SECONDS, show_waiting)
        self._waiting += 1
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while self.is_awaited:  # it may be loaded again before this runs; see `again`
                    await self._some.wait()
        except TimeoutError:
            self._fill(())
        finally:
            self._waiting -= 1
            notice.cancel()
        return self.target is before and self._left is None

    async def _make(self, now: CompletionTarget) -> None:
        from tui.ui.chat.composer.suggestions import fitting, of_commands

        if now.what is CompletionKind.COMMAND:
            self._fill(fitting(of_commands(await self.sources.known()), now.query))
        elif now.what is CompletionKind.REFERENCE:
            self._fill(await self.sources.references(now.query))
            more = await self.sources.deeper(now.query)
            new = [one for one in more if one not in self._found]
            if self._found:
                self._found = [*self._found, *new]
                self._show()
            else:
                self._fill(new)
        else:
            found = await self.sources.arguments(now.command, now.before, now.query)
            self._fill(fitting(found, now.query.replace('"', "")))  # a value may be in quotes

    def _fill(self, found: "Sequence[Suggestion]") -> None:
        self._found = found
        if found:
            self._some.set()
        # Enter, which sends, does not complete an optional argument or a word of a sentence.
        target = self.target
        is_begun = target is not None and (target.query or target.what is CompletionKind.COMMAND)
        is_word = target is not None and target.what in (CompletionKind.ARGUMENT, CompletionKind.TOOL)
        self._marked = 0 if found and is_begun and not is_word else -1
        self._show()

    def _show(self) -> None:
        is_command = self.target is not None and self.target.what is CompletionKind.COMMAND
        self._box.show(suggestion_rows(self._found), self._marked, wraps=is_command)

    async def step(self, direction: int) -> None:
        """Select the next suggestion (1) or the previous one (-1), once they are loaded."""
        if await self.settled() and (count := len(self._found)):
            first = 0 if direction > 0 else count - 1
            self._marked = (self._marked + direction) % count if self._marked >= 0 else first
            self._show()

    def at(self, index: int) -> "Suggestion | None":
        return self._found[index] if 0 <= index < len(self._found) else None

    @property
    def marked(self) -> "Suggestion | None":
        """The suggestion that enter accepts; None if enter sends the message."""
        one = self.at(self._marked)
        if one is None or self.target is None:
            return None
        is_written = one.reference is None and one.text.strip() == f"/{self.target.query}"
        return None if is_written and self.target.what is CompletionKind.COMMAND else one

    @property
    def best(self) -> "Suggestion | None":
        return self.at(max(0, self._marked))

    def leave(self) -> bool:
        """Close the list until the next word; return whether it was open, or a key was waiting for it."""
        if not self._found and self._making is None:
            return False
        was_open = bool(self._found) or self._waiting > 0
        self._left = self.target.place if self.target is not None else None
        self._stop()
        self._fill(())
        return was_open

    def close(self) -> None:
        self._stop()
        self.target, self._left = None, None
        self._fill(())

    def _stop(self) -> None:
        if self._making is not None:
            self._making.cancel()
            self._making = None
            self._some.set()  # nothing is awaited any more

    def _made(self, task: asyncio.Task[None]) -> None:
        if task is self._making:
            self._making = None
            self._some.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("cannot load suggestions", exc_info=error)


def suggestion_rows(found: "Sequence[Suggestion]") -> list[Row]:
    """Return suggestions as rows: the text, its arguments, its description."""
    heads: list[Row] = [
        ((f"   {clean_line(one.name)}", "text bold"), (f" {one.usage}" if one.usage else "", "dim"))
        for one in found
    ]
    column = min(_WIDEST, max(map(width_of, heads), default=0)) + 2
    return [
        (*pad(crop(head, column - 2), column), (clean_line(one.about), "text"))
        for head, one in zip(heads, found, strict=True)
    ]
