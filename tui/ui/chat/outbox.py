"""Sends the messages and commands of the composer, one after the other, and adds them to the history."""

import asyncio
import json
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from tui.core.errors import McptuiError, reason_of
from tui.core.files import append_private, make_folder, open_file, refuse_links
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import _, localized, message, n_
from tui.core.text import clean_line, quoted_name
from tui.runtime.runtime import Runtime
from tui.settings.files import locked
from tui.settings.locations import state_dir
from tui.settings.save import save_file
from tui.ui.chat.composer.composer import Composer
from tui.ui.chat.composer.history import MOST, is_remembered
from tui.ui.chat.composer.pastes import Written, not_attached
from tui.ui.chat.regions import Regions
from tui.ui.chat.turn_queue import TurnQueue
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.command_spec import CommandSpec, SlashCommand, parse_command
from tui.ui.keys.slash_commands import OWN_NAMES, wish_of
from tui.ui.widgets.rows import Row

_log = logging.getLogger(__name__)
MOST_CHARS = 16 * 1024
"""A longer message is not saved: it was pasted, not typed."""
MOST_BYTES = 4 * 1024 * 1024
"""Number of bytes to read from the end of the file; the others are dropped."""

Thing = TypeVar("Thing")
Do = Callable[[Thing], Awaitable[None]]


class SerialQueue(Generic[Thing]):
    """Does one thing after the other; its task exists only while there are some. `start` starts it."""

    def __init__(self, start: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]) -> None:
        self._start = start
        self._waiting: deque[tuple[Thing, Do[Thing]]] = deque()
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def put(self, thing: Thing, do: Do[Thing]) -> None:
        self._waiting.append((thing, do))
        if not self.busy:
            self._task = self._start(self._work(), "the request")

    async def _work(self) -> None:
        while self._waiting:
            thing, do = self._waiting.popleft()
            await do(thing)

    def stop(self) -> list[Thing]:
        """Cancel what is being done; return the things that were not started."""
        waiting = [thing for thing, _ in self._waiting]
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            self._task = None
        return waiting

    async def finish(self) -> None:
        """Wait for all of them, but at most a second."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=1.0)


class Outbox:
    """Sends what the user enters in the composer, with the queue `sent`."""

    def __init__(
        self,
        runtime: Runtime,
        regions: Regions,
        turns: TurnQueue,
        sent: SerialQueue[Composer.Sent],
        run_command: Callable[[SlashCommand], Awaitable[None]],
        leave: Callable[[], bool],
    ) -> None:
        """`leave` closes what is open over the conversation, and returns whether there was anything."""
        self._runtime = runtime
        self._regions = regions
        self._composer = regions.composer
        self._turns = turns
        self._sources = regions.composer.completing.sources
        self._run_command = run_command
        self._leave = leave
        self.sent = sent
        self._history = state_dir() / "input_history"
        self._history_fails = False
        self._to_remember = SerialQueue[str](regions.start)
        self._is_ready = asyncio.Event()
        self._offered = ""

    async def begin(self) -> None:
        """Load the history of earlier runs; called once the runtime is ready."""
        self._is_ready.set()
        try:
            kept = await asyncio.to_thread(load_history, self._history)
            self._composer.earlier.begin_with(one.text for one in kept)
            self._composer.pastes.recognise(token for one in kept for token in one.attached)
        except (OSError, McptuiError) as error:
            reason = reason_of(error, 600)
            told = _("Cannot read the input history: {reason}.", reason=reason)
            self._regions.notify(told, severity="warning")
        for name in sorted(OWN_NAMES & self._runtime.snippets.keys()):
            words = _("[snippets] {name}: /{name} is a built-in command. Rename the snippet.", name=name)
            self._regions.conversation.add_note(words, "bad")

    async def close(self) -> None:
        """Cancel a running command.

        Entries that are not in the history file yet are still written, also a draft.
        """
        self.sent.stop()
        draft = self._composer.text
        is_new = draft.strip() and self._composer.earlier.at_end
        if is_new and is_remembered(draft) and self._runtime.is_ready:
            self._to_remember.put(draft, self._remember)
        await self._to_remember.finish()

    def put(self, sent: Composer.Sent) -> None:
        """Send a message, or run it as a command, after everything sent before.

        Shows the conversation: on a narrow terminal, another pane could hide the answer.
        """
        if self._regions.only is not None:
            self._regions.show(Context.CONVERSATION)
        self._regions.conversation.follow()
        self.sent.put(sent, self._send)

    async def _send(self, sent: Composer.Sent) -> None:
        written = sent.written
        if not written.shown:
            self._turns.steer_held()
            return
        if await self._grants_wish(written.shown):
            return
        if self._runtime.is_ready and is_remembered(written.shown):
            self._to_remember.put(written.shown, self._remember)
        try:
            if written.shown.startswith("/"):
                await self._is_ready.wait()  # before that, not all commands are known
            if (command := await self._command(written.shown)) is not None:
                await self._run_command(command)
                return
        except McptuiError as error:
            self._composer.put_back(written.shown)
            self._regions.notify(localized(error), severity="warning", timeout=8)
            return
        except asyncio.CancelledError:
            if self._regions.screen.app.is_running:  # after the app has left the screen, there is no composer
                self._composer.put_back(written.shown)
            raise
        if "@" in written.shown and (
            told := await asyncio.to_thread(not_attached, written.shown, Path.cwd(), self._servers())
        ):
            self._regions.conversation.add_note(told, "warn")
        if sent.now:
            self._turns.steer(written)
        else:
            self._turns.send(written)

    async def _grants_wish(self, shown: str) -> bool:
        """Do or offer what a word such as `:q` wishes; return whether it is one. A second enter sends it."""
        wish, again = wish_of(shown), shown == self._offered
        self._offered = "" if wish is None or again else shown
        if wish is None or again:
            return False
        found, app = action(wish.action), self._regions.screen.app
        if wish.certain:
            await app.run_action(found.method)
            return True
        self._composer.put_back(shown)
        if found.id == "app.quit":
            key, word = self._regions.key_of(found.id), quoted_name(shown)
            told = _("{key} quits. Press enter again to send {word} to the model.", key=key, word=word)
            self._regions.notify(told, timeout=6)
        else:
            await app.run_action(found.method)
        return True

    async def _command(self, shown: str) -> SlashCommand | None:
        """Return a message as a command, or None; raises `McptuiError` if it only looks like a command."""
        found = parse_command(shown, self._sources.specs())
        if not isinstance(found, tuple) and shown.startswith("/"):
            server, colon, _ = shown[1:].partition(":")
            if colon and server in self._sources.running:  # its prompts may not have been listed yet
                found = parse_command(shown, await self._sources.known())
            elif colon and server in self._servers():
                raise McptuiError(
                    message("the server {server} is not running", server=quoted_name(server)),
                    next_step=message("Start it to use its prompts."),
                )
        if isinstance(found, str):
            raise McptuiError(found)
        return found

    def _servers(self) -> Sequence[str]:
        """Return the names of all servers; none if they are not known yet."""
        return [one.name for one in self._runtime.host.statuses()] if self._runtime.is_ready else []

    def cancel(self) -> None:
        """Close a list, cancel a command, stop the turn or end a comparison; else, focus the composer."""
        if self._composer.has_focus and self._composer.leave():
            return
        if self.sent.busy:
            if waiting := "\n".join(sent.written.shown for sent in self.sent.stop()):
                self._composer.put_back(waiting)
        elif self._turns.running or self._turns.reading:
            self._turns.cancel()
        elif not self._leave():
            self._regions.go_to(Context.COMPOSER)

    def show_held(self) -> None:
        held, steered = self._turns.held, self._turns.steered
        self._composer.holding = bool(held)
        steers, queues = map(len, (steered, held))
        steering = n_("{n} message, sent at the next step", "{n} messages, sent at the next step", steers)
        queued = n_("{n} message, sent after this turn", "{n} messages, sent after this turn", queues)
        if self._turns.reading:
            queued = n_("{n} message, reading attachments", "{n} messages, reading attachments", queues)
        rows: list[Row] = [
            (
                (f" {words}", "user"),
                (f"   {clean_line(texts[-1], 300)}", "text"),  # the keys affect the last one
            )
            for texts, words in ((steered, steering), (held, queued))
            if texts
        ]
        key_of = self._regions.key_of
        keys = f"{key_of('composer.take_back')} {_('edit')}   {key_of('composer.drop')} {_('discard')} "
        ends: list[Row] = [((keys, "dim"),)] if held else []
        self._regions.held_box.show(rows, ends=[()] * (len(rows) - len(ends)) + ends)

    def drop(self) -> None:
        if self._turns.take_back():
            key = self._regions.key_of("composer.older")
            self._regions.notify(_("Discarded. {key} restores it.", key=key), timeout=4)

    def why_none_held(self) -> str:
        return "" if self._turns.held else message("no message is queued")

    def take_back(self) -> None:
        if shown := self._turns.take_back():
            self._composer.put_back(shown)

    async def _remember(self, shown: str) -> None:
        pastes = self._composer.pastes
        text = self._runtime.redactor.redact_spoken(pastes.expand(shown, attached=False), shapes=True)
        try:
            await asyncio.to_thread(add_to_history, self._history, HistoryEntry(text, pastes.attached(shown)))
        except (OSError, McptuiError) as error:
            _log.warning("cannot write the input history", exc_info=True)
            if not self._history_fails and self._regions.screen.app.is_running:
                reason = reason_of(error, 600)
                told = _("Cannot save the input history: {reason}.", reason=reason)
                self._regions.notify(told, severity="warning")
            self._history_fails = True
        else:
            self._history_fails = False

    def search_history(self) -> None:
        self._regions.go_to(Context.COMPOSER)
        self._composer.search()

    def write_command(self, spec: CommandSpec) -> None:
        """Send a command, or write it into the composer if text may follow."""
        self._regions.go_to(Context.COMPOSER)
        if not spec.takes_text:
            self.put(Composer.Sent(Written(f"/{spec.name}", f"/{spec.name}")))
        else:
            self._composer.put_back(f"/{spec.name} ")


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A message; `attached` are its tokens of attachments. Other tokens in it are plain text."""

    text: str
    attached: tuple[str, ...] = ()


def load_history(path: Path) -> list[HistoryEntry]:
    """Return the entries of the input history, oldest first. Blocks; a damaged line is skipped.

    Raises `OSError`, or `ConfigError` if the file cannot be shortened.
    """
    kept, is_long = _read(path)
    if is_long:
        with locked(path):  # another program may be adding a message, or may have shortened it
            kept, is_long = _read(path)
            if is_long:
                save_file(path, "".join(map(_line, kept)), links=False)
    return kept


def _read(path: Path) -> tuple[list[HistoryEntry], bool]:
    """Return the entries, and whether the file should be shortened."""
    try:
        with open_file(path, links=False) as file:
            begin = max(0, os.fstat(file.fileno()).st_size - MOST_BYTES)
            file.seek(begin)
            lines = file.read(MOST_BYTES).decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return [], False
    kept = [one for one in map(_kept, lines[1:] if begin else lines) if one is not None][-MOST:]
    return kept, begin > 0 or len(lines) > 2 * MOST


def add_to_history(path: Path, kept: HistoryEntry) -> None:
    """Append an entry without secrets as a line of JSON, in a file that only its owner can read. Blocks.

    Raises `OSError`, or `ConfigError` if the file stays locked.
    """
    if len(kept.text) > MOST_CHARS:
        return
    make_folder(path.parent)
    refuse_links((path,))
    with locked(path):  # otherwise, it could be added to a file that another program is replacing
        append_private(path, _line(kept).encode("utf-8", "replace"))


def _line(kept: HistoryEntry) -> str:
    value = {"text": kept.text, "attached": list(kept.attached)} if kept.attached else kept.text
    return json.dumps(value, ensure_ascii=False) + "\n"


def _kept(line: str) -> HistoryEntry | None:
    match json_value(line):
        case str(text):
            kept = HistoryEntry(text)
        case {"text": str(text), "attached": [*tokens]}:
            kept = HistoryEntry(text, tuple(token for token in tokens if isinstance(token, str)))
        case _:
            return None
    return kept if 0 < len(kept.text) <= MOST_CHARS else None
