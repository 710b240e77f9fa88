"""What is written and sent, held, told at once, remembered, or written in an editor: behind the composer."""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from textual.app import SuspendNotSupported

from tui.core.errors import McptuiError
from tui.settings.locations import state_dir
from tui.ui.app.commanding import Commanding
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.composer.token_area import Written
from tui.ui.keys.actions import Context
from tui.ui.widgets.box import Box
from tui.ui.widgets.rows import Row

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.conversation.conversation import Attachment
    from tui.ui.chat.composer.attachments import AttachmentReader
    from tui.ui.chat.composer.history_file import HistoryFile
    from tui.ui.chat.composer.one_by_one import SerialQueue
    from tui.ui.keys.slash_commands import Command

_log = logging.getLogger(__name__)


class Speaking(Commanding):
    """Takes what the composer sends.

    Attributes:
        early: sent before there was a chat.
        lent: another program has the terminal.
    """

    early: list[Composer.Sent]
    lent: bool = False
    _asked: "SerialQueue[Composer.Sent] | None" = None
    _reader: "AttachmentReader"
    _history: "HistoryFile"
    _readied: asyncio.Event
    _keeping: "SerialQueue[str]"
    _editing: "asyncio.Task[None] | None" = None

    # ---- life ----

    def begin_speaking(self) -> None:
        """Connect the composer with what works behind it; there is a chat now."""
        from tui.core.attachments import attachment_of
        from tui.ui.chat.composer.attachments import AttachmentReader
        from tui.ui.chat.composer.history_file import HistoryFile
        from tui.ui.chat.composer.one_by_one import SerialQueue

        self._reader = AttachmentReader(lambda: self.runtime.workbench, attachment_of, Path.cwd())
        self._asked = SerialQueue(self._take, self.fail)
        self._history = HistoryFile(state_dir() / "input_history")
        self._keeping = SerialQueue(self._keep, self.fail)
        self._readied = asyncio.Event()
        early, self.early = self.early, []
        for sent in early:
            self.on_composer_sent(sent)

    async def read_attachments(self, written: Written) -> "tuple[Attachment, ...]":
        """Return what goes with a message.

        Raises:
            McptuiError: something of it cannot be read.
        """
        return await self._reader.read(written)

    async def remember(self) -> None:
        """Take in what was written in earlier runs; everything is loaded now."""
        from tui.ui.keys.slash_commands import OWN_NAMES

        self._readied.set()
        try:
            kept = await asyncio.to_thread(self._history.load)
            self.composer.earlier.begin_with(one.text for one in kept)
            self.composer.pastes.recognise(token for one in kept for token in one.attached)
        except (OSError, McptuiError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.notify(f"The input history could not be read: {reason}.", severity="warning")
        for name in sorted(OWN_NAMES & self.runtime.snippets.keys()):
            words = f"[snippets] {name}: /{name} is a command of mcptui. Give the snippet another name."
            self.conversation.add_note(words, "bad")

    async def stop_speaking(self) -> None:
        """Stop what is being done; what is to be remembered is still written."""
        if self._editing is not None:
            self._editing.cancel()
            await asyncio.wait({self._editing}, timeout=1.0)
        if self._asked is not None:
            await self._asked.close()
            await self._keeping.finish()
        await self.sources.close()

    # ---- messages and commands ----

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Say it, or do what it says; each after what was sent before it."""
        if self._asked is None:
            self.early.append(event)
            return
        self.conversation.follow()
        self._asked.put(event)

    async def _take(self, sent: Composer.Sent) -> None:
        written = sent.written
        if not written.shown:
            self.chat.steer_held()
            return
        if self.runtime.is_ready:
            self._keeping.put(written.shown)
        try:
            if written.shown.startswith("/"):
                await self._readied.wait()  # which commands there are is known then
            if (command := await self._meaning(written.shown)) is not None:
                await self.obey(command)
                return
        except McptuiError as error:
            self.composer.put_back(written.shown)
            self.notify(str(error), severity="warning", timeout=8)
            return
        except asyncio.CancelledError:
            if self.is_running:  # after the app has left the screen there is no composer
                self.composer.put_back(written.shown)
            raise
        if "@" in written.shown:
            from tui.ui.chat.composer.attachments import not_attached

            if told := await asyncio.to_thread(not_attached, written.shown, Path.cwd()):
                self.conversation.add_note(told, "warn")
        if sent.now:
            self._steer(written)
        else:
            self.chat.send(written)

    async def _meaning(self, shown: str) -> "Command | None":
        """Return the command that a message is, or None.

        Raises:
            McptuiError: it looks like one, and is none.
        """
        from tui.ui.keys.slash_commands import Command, Slip, read

        found = read(shown, self.sources.specs())
        if not isinstance(found, Command) and shown.startswith("/"):
            server, colon, _ = shown[1:].partition(":")
            if colon and server in self.sources.running:  # one whose prompts nobody has asked for yet
                found = read(shown, await self.sources.known())
            elif colon and server in (one.name for one in self.runtime.host.statuses()):
                raise McptuiError(f"{server} is not running; start it, and its prompts are there")
        if isinstance(found, Slip):
            raise McptuiError(found.problem)
        return found

    def _steer(self, written: Written) -> None:
        was_running = self.chat.running
        if not self.chat.steer(written) and was_running and written.references:
            self.notify("What has something attached is sent after the turn.")

    @property
    def obeying(self) -> bool:
        """Whether a command of the composer is being done."""
        return self._asked is not None and self._asked.busy

    def stop_asking(self) -> bool:
        """Stop a command that is being done, and give back what waits behind it; whether there was one."""
        if self._asked is None or not self.obeying:
            return False
        waiting = "\n".join(sent.written.shown for sent in self._asked.stop())
        if waiting:
            self.composer.put_back(waiting)
        return True

    # ---- what waits ----

    def show_held(self) -> None:
        """Show what waits to be said, with the keys for it."""
        from tui.ui.chat.turn_queue import held_rows

        held, steered = self.chat.held, self.chat.steered
        self.composer.holding = bool(held)
        rows = held_rows(held, steered, reading=self.chat.reading)
        keys = f"{self.key_of('composer.take_back')} edit   {self.key_of('composer.drop')} drop "
        ends: list[Row] = [((keys, "dim"),)] if held else []
        self.held_box.show(rows, ends=[()] * (len(rows) - len(ends)) + ends)

    def give_back(self, shown: str) -> None:
        """Put into the composer what was not said."""
        self.composer.put_back(shown)

    def on_composer_dropped(self, event: Composer.Dropped) -> None:
        """Drop what was held last, or put it into the composer again."""
        if event.back:
            self.action_composer_take_back()
        elif self.chat.take_back():
            self.notify(f"Dropped. {self.key_of('composer.older')} brings it back.", timeout=4)

    def action_composer_take_back(self) -> None:
        """Put what was held last into the composer again."""
        if shown := self.chat.take_back():
            self.composer.put_back(shown)

    def on_box_chosen(self, event: Box.Chosen) -> None:
        """Take the line that was clicked."""
        if event.box is self.held_box:
            self.action_composer_take_back()
        else:
            self.composer.choose(event.index)

    # ---- what was written before ----

    async def _keep(self, shown: str) -> None:
        from tui.ui.chat.composer.history_file import HistoryEntry

        pastes = self.composer.pastes
        text = self.runtime.redactor.redact_spoken(pastes.unfolded(shown), shapes=True)
        try:
            await asyncio.to_thread(self._history.add, HistoryEntry(text, pastes.attached(shown)))
        except (OSError, McptuiError):
            _log.warning("what was written could not be remembered", exc_info=True)

    def action_composer_history(self) -> None:
        """Search in what was written before."""
        self.go_to(Context.COMPOSER)
        self.composer.search()

    def written_commands(self) -> "Iterator[tuple[str, str, Callable[[], object]]]":
        """Yield the commands: what each does, how it is written, and the doing."""
        from tui.ui.keys.slash_commands import OWN, Takes

        for spec in OWN:
            write = partial(self._write_command, f"/{spec.name}", alone=spec.takes is Takes.NOTHING)
            yield spec.help, f"/{spec.name} {spec.usage}", write

    def _write_command(self, line: str, *, alone: bool) -> None:
        self.go_to(Context.COMPOSER)
        if alone:
            self.on_composer_sent(Composer.Sent(Written(line, line)))
        else:
            self.composer.put_back(f"{line} ")

    # ---- the editor ----

    def action_composer_editor(self) -> None:
        """Write the message in the person's editor."""
        if self._editing is None:
            self._editing = asyncio.create_task(self._edit(), name="editor")
            self._editing.add_done_callback(self._edited)

    async def _edit(self) -> None:
        from tui.ui.chat.composer.editor import edited

        before = self.composer.text
        written = self.composer.pastes.unfolded(before)
        self.lent = True
        failure: BaseException | None = None
        text = written
        try:
            # Without the batch a repaint would wait for the terminal for ever (measured).
            with self.suspend(), self.batch_update():
                try:
                    text = await edited(written, os.environ)
                except (Exception, asyncio.CancelledError) as error:
                    # Whatever it is, it is raised once the terminal is ours again: Textual has no finally.
                    failure = error
        except SuspendNotSupported:
            failure = McptuiError("this terminal cannot be lent to an editor")
        finally:
            self.lent = False
        self.refresh(layout=True)
        if failure is not None:
            raise failure
        if text != written:
            typed_ahead = self.composer.text.removeprefix(before)
            self.composer.show("")
            self.composer.put_back(text)
            self.composer.insert(typed_ahead)
        self.go_to(Context.COMPOSER)

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave; an editor that has the terminal is ended first, for the app cannot end without it."""
        leave = partial(super().exit, result, return_code, message)
        if self._editing is not None and self._editing.cancel():
            self._editing.add_done_callback(lambda _: leave())
        else:
            leave()

    def _edited(self, task: "asyncio.Task[None]") -> None:
        self._editing = None
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, McptuiError):
            self.notify(str(error), severity="warning", timeout=8)
        elif isinstance(error, Exception):
            self.fail(error)
