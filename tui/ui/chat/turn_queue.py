"""Runs one turn at a time, queues messages that are sent meanwhile, and reads their attachments."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from tui.core import units
from tui.core.attachments import MAX_BYTES, attachment_of, attachments_of
from tui.core.context.tool_results import result_text
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError, reason_of, sentences
from tui.core.events import Steered, TurnError
from tui.core.language.translate import _, message
from tui.core.ports import NO_MODEL
from tui.core.tools import CallFailure
from tui.core.turn.limits import TurnMeter
from tui.host.workbench import HandWorkbench
from tui.runtime.runtime import Runtime
from tui.runtime.turn import PendingTurn
from tui.settings.files import Unreadable, read_bytes
from tui.traffic.spans.span_values import CallSpan
from tui.ui.chat.bridge import Bridge
from tui.ui.chat.composer.pastes import Written
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.chat.regions import Regions
from tui.ui.keys.action_table import Context

_log = logging.getLogger(__name__)

A_TURN_RUNS = message("a turn is running")
"""Why what changes the conversation is unavailable during a turn."""


RESOURCE_SECONDS = 30.0

_AGAIN = message("The message is back in the input.")


@dataclass(slots=True, eq=False)
class QueuedMessage:
    """A message waiting to be sent; `attachments` are None while they are being read."""

    written: Written
    attachments: tuple[Attachment, ...] | None = None


class TurnQueue:
    """One turn at a time. Messages sent during a turn are queued and sent after it, in order.

    An unsent message goes back into the composer. The trace gets every event.
    """

    def __init__(self, runtime: Runtime, regions: Regions, approvals: QuestionQueue, bridge: Bridge) -> None:
        self._runtime = runtime
        self._regions = regions
        self._view = regions.conversation
        self._give_back = regions.composer.put_back
        self._approvals = approvals
        self._bridge = bridge
        self._numbers = count(1)
        self._changed = regions.ticker.wake
        self._held: list[QueuedMessage] = []
        self._steered: list[Written] = []
        self._turn: PendingTurn | None = None
        self._task: asyncio.Task[None] | None = None
        self._reading: dict[QueuedMessage, asyncio.Task[None]] = {}
        self.stopping = False
        self.started = 0  # turns so far
        self._closed = False

    @property
    def running(self) -> bool:
        return self._turn is not None

    def why_idle(self) -> str:
        """Return why there is nothing to stop, or ""."""
        return "" if self.running else message("no turn is running")

    def why_runs(self) -> str:
        """Return why what changes the conversation is unavailable, or ""."""
        return A_TURN_RUNS if self.running else ""

    def why_not_continue(self) -> str:
        """Return why the last turn cannot be continued, or ""."""
        if self._bridge.can_continue:
            return self.why_runs()
        return message("the last turn did not end at a limit")

    @property
    def meter(self) -> TurnMeter | None:
        return self._turn.meter if self._turn is not None else None

    @property
    def held(self) -> Sequence[str]:
        return [one.written.shown for one in self._held]

    @property
    def steered(self) -> Sequence[str]:
        return [one.shown for one in self._steered]

    @property
    def reading(self) -> bool:
        return bool(self._reading)

    def send(self, written: Written, attachments: tuple[Attachment, ...] | None = None) -> None:
        held = QueuedMessage(written, attachments if written.references else attachments or ())
        self._held.append(held)
        if held.attachments is None:
            self._reading[held] = self._regions.start(self._attach(held), "read attachments")
        self.flush()
        self._changed()

    def steer(self, written: Written) -> None:
        """Give the model a message at its next step.

        Without a running turn, or with attachments, the message is sent like any other.
        """
        if self._turn is None or self.stopping or written.references:
            if self.running and written.references:
                self._regions.notify(_("Messages with attachments are sent after the turn."))
            self.send(written)
            return
        self._steered.append(written)
        self._turn.steer(written.text)
        self._changed()

    def steer_held(self) -> None:
        """Steer with all queued messages that have no attachments."""
        if self._turn is not None and not self.stopping:
            now = [one for one in self._held if not one.written.references and not one.attachments]
            self._held = [one for one in self._held if one not in now]
            for one in now:
                self.steer(one.written)
        self._changed()

    def take_back(self) -> str:
        """Remove the message that was queued last and return its text, or ""."""
        if not self._held:
            return ""
        held = self._held.pop()
        if held in self._reading:
            self._reading.pop(held).cancel()
        self._changed()
        return held.written.shown

    def flush(self) -> None:
        if not self._held or self.running or self._closed or not self._runtime.is_ready:
            return
        if self._runtime.conversations.busy:  # the ticker retries
            return
        held = self._held[0]
        if held.attachments is None:
            return
        text, attachments = held.written.text, held.attachments
        if self._start(lambda: self._runtime.conversations.ask(text, self._approvals, attachments)):
            del self._held[0]
            self._view.add_user(text, units.time_of_day(time.time_ns())[:5], attachments)
        else:
            self._give_back(self._clear_queue())

    async def _attach(self, held: QueuedMessage) -> None:
        try:
            bench, skills = self._runtime.workbench, self._runtime.skill_loader
            folder, numbers = Path.cwd(), self._numbers
            held.attachments = await read_attachments(held.written, bench, folder, numbers, skills)
        except McptuiError as error:
            self._view.add_note(str(error), "bad")
            self._held.remove(held)
            self._give_back(held.written.shown)
        del self._reading[held]
        self.flush()
        self._changed()

    def continue_turn(self) -> None:
        self._start(lambda: self._runtime.continue_turn(self._approvals))

    def cancel_call(self) -> None:
        """Cancel the selected running call, or the only one."""
        regions = self._regions
        span = regions.trace.selected if regions.focus_context is Context.TRACE else None
        selected = span.id if isinstance(span, CallSpan) else self._view.selected_call
        calls = self._turn.calls if self._turn is not None else None
        running = calls.running if calls is not None else ()
        call = selected if selected in running else running[0] if len(running) == 1 else ""
        self._approvals.closed_by_user = True
        if calls is not None and call:
            calls.cancel(call)
        else:
            regions.notify(_("Select a running call first."), timeout=3)

    def cancel(self) -> None:
        """Stop the turn; give back the queued messages, which are not sent.

        Steering messages that the model did not get are given back when the turn has ended: only then are
        they known.
        """
        self._approvals.closed_by_user = True
        if self._turn is not None:
            self.stopping = True
            self._turn.cancel()
        shown = self._clear_queue()
        self._changed()
        if shown and not self._closed:
            self._give_back(shown)

    def _clear_queue(self) -> str:
        """Remove all queued messages and return their texts."""
        waiting = "\n".join(self.held)
        for task in self._reading.values():
            task.cancel()
        self._reading.clear()
        self._held.clear()
        return waiting

    async def close(self) -> None:
        """Stop the turn and wait a few seconds at most for its end; nothing more is shown."""
        self._closed = True
        task = self._task
        self.cancel()
        if task is not None:
            _, late = await asyncio.wait({task}, timeout=2.0)
            if late:
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)

    def _start(self, start: Callable[[], PendingTurn]) -> bool:
        """Start a turn; if it cannot start, say why in the conversation, and return False."""
        try:
            turn = self._turn = start()
        except McptuiError as error:
            key = self._regions.key_of("chat.models") if self._runtime.model_label == NO_MODEL else ""
            step = message("Press {key} to select another model.", key=key) if key else ""
            self._view.add_note(sentences(str(error), step), "bad")
            return False
        self.started += 1
        self._task = asyncio.create_task(self._drive(turn), name="turn on screen")
        self._task.add_done_callback(self._ended)
        return True

    async def _drive(self, turn: PendingTurn) -> None:
        async for event in turn.events():
            if isinstance(event, Steered):
                known = (one for one in self._steered if one.text == event.text)
                if (given := next(known, None)) is not None:
                    self._steered.remove(given)
                    self._changed()
            if not self._closed:
                self._bridge.apply(event)
                self._regions.trace.spans.apply(event, time.monotonic_ns())
                if isinstance(event, TurnError):  # the status line must stop showing a retry
                    self._changed()

    def _ended(self, task: asyncio.Task[None]) -> None:
        stopped = self.stopping
        self._turn = self._task = None
        self.stopping = False
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("a turn broke on its way to the screen", exc_info=error)
        if self._closed:
            return
        if error is not None:
            self._bridge.abandon()
            name = type(error).__name__
            told = _("Internal error: cannot show the whole turn ({error}). Enter /retry.", error=name)
            self._view.add_note(told, "bad")
        late, self._steered = self._steered, []  # steering messages that the model did not get
        if stopped and late:
            self._give_back("\n".join(one.shown for one in late))
        else:
            self._held[:0] = [QueuedMessage(one, ()) for one in late]
        self.flush()
        self._changed()


async def read_attachments(
    written: Written, bench: HandWorkbench, folder: Path, numbers: Iterator[int], skills: Any = None
) -> tuple[Attachment, ...]:
    """Read the attachments of a message, in order: files in a thread, resources from their servers.

    `numbers` are those of the calls. What `skills` lists, or has listed when it was selected, is loaded as a
    skill, which may ask the user first.
    Raises `McptuiError` if one cannot be read.
    """
    if skills is not None and any(one.uri for one in written.references):
        await skills.list_now()  # a skill that is not listed yet would be read as a resource, unverified
    found: list[Attachment] = []
    for one in written.references:
        try:
            if one.attachment is not None:
                found.append(one.attachment)
            elif one.path:
                data = await asyncio.to_thread(_read_file, folder, one.path)
                found.append(attachment_of(one.name, data))
            elif skills is not None and (one.is_skill or skills.lists(one.server, one.uri)):
                found.append(await skills.attach(one.server, one.uri))
            else:
                call = f"hand-attach-{next(numbers)}"
                result = await bench.read_resource(one.server, one.uri, call=call, seconds=RESOURCE_SECONDS)
                if result.is_error or result.failure is not CallFailure.NONE:
                    raise ValueError(result_text(result).strip() or str(result.failure))
                parts = attachments_of(result.content, one.name)
                found += [replace(part, server=one.server) for part in parts]
        except (OSError, ValueError, Unreadable) as error:
            reason = message("not attached: {reason}", reason=reason_of(error))
            raise McptuiError(reason, where=one.name, next_step=_AGAIN) from error
    return tuple(found)


def _read_file(folder: Path, written: str) -> bytes:
    return read_bytes(folder / os.path.expanduser(written), MAX_BYTES)
