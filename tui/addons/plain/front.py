"""Plain mode: reads lines, runs turns and commands, and says what changes meanwhile."""

import argparse
import asyncio
import time
from collections import deque
from dataclasses import replace

from tui.addons.plain.approver import PlainApprover
from tui.addons.plain.asking import WITHDRAWN_SECONDS, Asking
from tui.addons.plain.commands import COMMANDS, READING, PlainCommands, told
from tui.addons.plain.inputs import QUITS, Inputs
from tui.addons.plain.questions import PlainQuestions
from tui.addons.plain.transcript import ERROR, OWN, PROGRESS, SERVER, YOU, Transcript
from tui.addons.plain.turn import TurnLines
from tui.commands.headless import Interrupt, headless, say_unsaved
from tui.commands.run_output import EXIT_CODES
from tui.commands.streams import out
from tui.core.background import Tasks
from tui.core.conversation.conversation import Attachment
from tui.core.errors import McptuiError
from tui.core.events import EndReason
from tui.core.language.translate import _, localized, n_
from tui.core.servers import START_PATIENCE_NS, ServerState, StopReason
from tui.core.text import clean_line
from tui.core.units import clock
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.runtime.turn import PendingTurn
from tui.ui.keys.command_spec import CommandSpec, parse_command

LOOK_SECONDS = 0.25
TWICE_SECONDS = 5.0
"""Time within which a second ctrl+c leaves."""

ALONE_SECONDS = 1.0
"""Time in which a command runs alone. After that, other lines of a terminal are taken while it runs."""

STEADY = 3
"""Looks in a row at servers that start no longer, before the first line is read from a pipe."""

SETTLED = (ServerState.RUNNING, ServerState.STOPPED)
BLOCK = '"""'
"""Begins and ends a message of several lines."""


def run(args: argparse.Namespace) -> int:
    """Run plain mode and return its exit code: 0 from a terminal, that of the last turn from a pipe."""
    transcript = Transcript(out())
    inputs = Inputs(transcript)
    asking = Asking(transcript, inputs)
    held: list[Runtime] = []
    questions = PlainQuestions(asking, lambda: localized(held[0].model_label) if held else "")

    async def work(runtime: Runtime, interrupt: Interrupt) -> int:
        held.append(runtime)
        front = Front(runtime, transcript, inputs, asking, interrupt)
        return await front.run()

    try:
        return headless(
            replace(Options.from_args(args), paced=False),
            work,
            questioner=questions,
            ended=say_unsaved,
            quiet=True,
        )
    except McptuiError as error:
        transcript.say(ERROR, str(error))
        return 2
    finally:
        inputs.close()
        transcript.end()


class Front:
    """One run of plain mode."""

    def __init__(
        self,
        runtime: Runtime,
        transcript: Transcript,
        inputs: Inputs,
        asking: Asking,
        interrupt: Interrupt,
    ) -> None:
        self._runtime, self._transcript, self._inputs, self._asking = runtime, transcript, inputs, asking
        self._interrupt = interrupt
        self._commands = PlainCommands(runtime, transcript, asking, self._send, lambda: len(self._messages))
        asking.read, asking.ended = self._reading, self._expect_soon
        self._approver = PlainApprover(asking)
        self._messages: deque[tuple[str, tuple[Attachment, ...]]] = deque()
        self._pending: PendingTurn | None = None
        self._turn: asyncio.Task[None] | None = None
        self._lines: TurnLines | None = None
        self._running: dict[asyncio.Task[None], tuple[str, float]] = {}
        self._last = EndReason.ANSWERED
        self._problems: set[str] = set()
        self._shown: dict[str, tuple[ServerState, int]] = {}

    async def run(self) -> int:
        runtime = self._runtime
        self._inputs.begin()
        await runtime.ready()
        loaded = runtime.configuration.loaded
        self._transcript.rings = loaded is None or loaded.settings.ui.bell is not False
        self._transcript.say(OWN, _("Model: {name}.", name=clean_line(localized(runtime.model_label), 80)))
        if runtime.model_notice:
            self._transcript.say(OWN, clean_line(runtime.model_notice, 300))
        self._tell_news()
        if runtime.conversations.messages:
            self._commands.show_resumed()
        self._interrupt.on_signal = self._interrupted
        background = Tasks()
        background.start(self._watch(), "changes of servers, and long waits")
        try:
            if not self._inputs.is_terminal:
                await self._settle()
                self._tell_news()
            await self._read()
            await self._finish()
        finally:
            await background.cancel()
        return 0 if self._inputs.is_terminal else EXIT_CODES[self._last]

    async def _settle(self) -> None:
        """Wait for the servers that start, and for questions about them: a script answers in this order."""
        until, steady = time.monotonic() + START_PATIENCE_NS / 1e9, 0
        while steady < STEADY and (self._asking.is_asking or time.monotonic() < until):
            wanted = [one for one in self._runtime.host.statuses() if one.spec.autostart]
            wanted = wanted if self._runtime.options.start else []
            is_settled = all(
                one.state in SETTLED and one.reason is not StopReason.NOT_STARTED for one in wanted
            )
            steady = steady + 1 if is_settled and not self._asking.is_asking else 0
            await asyncio.sleep(LOOK_SECONDS / 5)

    async def _read(self) -> None:
        """Take lines until the input ends, or one quits."""
        while True:
            if self._turn is not None and not self._inputs.is_terminal:
                await self._ended(self._turn)
                continue
            self._expect()
            if (line := await self._inputs.message()) is None:
                return
            await (self._block(line) if line.startswith(BLOCK) else self._take(line))

    @property
    def _is_busy(self) -> bool:
        """Whether an answer is written, or a command runs, other than the one that asks."""
        return self._turn is not None or bool(self._running.keys() - {asyncio.current_task()})

    def _expect(self) -> None:
        """Show the prompt, unless something else is to be read before."""
        if not (self._asking.is_asking or self._is_busy):
            self._inputs.expect()

    def _expect_soon(self) -> None:
        """Show the prompt after a question, unless another one or a result follows."""
        if self._inputs.is_terminal:
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._expect)

    async def _block(self, line: str) -> None:
        """Take a message of several lines, up to the mark that ends it."""
        text = line.removeprefix(BLOCK)
        while not text.rstrip().endswith(BLOCK):
            self._expect()
            if (line_ := await self._inputs.message(QUITS)) is None:
                self._transcript.say(
                    ERROR, _("Not sent: the line {mark} that ends the message is missing.", mark=BLOCK)
                )
                return
            text += f"\n{line_}"
        if text := text.rstrip().removesuffix(BLOCK).strip():
            self._send(text, self._commands.attached())

    async def _take(self, line: str) -> None:
        if not line.strip():
            return
        parsed = parse_command(line, COMMANDS)
        if isinstance(parsed, str):
            self._transcript.say(ERROR, parsed)
        elif parsed is None:
            self._send(line, self._commands.attached())
        elif parsed[0].name == "cancel":
            if not self._cancel():
                self._transcript.say(OWN, _("Nothing is running."))
        elif parsed[0].alone and self._is_busy:
            text = _("/{name} waits until the answer is complete. /cancel stops it.", name=parsed[0].name)
            self._transcript.say(ERROR, text)
        else:
            task = asyncio.create_task(self._command(*parsed), name=f"/{parsed[0].name}")
            self._running[task] = task.get_name(), time.monotonic()
            task.add_done_callback(self._command_ended)
            await asyncio.wait({task}, timeout=ALONE_SECONDS if self._inputs.is_terminal else None)

    def _command_ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        if self._inputs.is_terminal:
            self._go_on()

    async def _reading(self, line: str) -> bool:
        """Run a command that shows something, or stops what asks; return whether a line is one."""
        parsed = parse_command(line, [spec for spec in COMMANDS if spec.name in READING])
        if not isinstance(parsed, tuple):
            return False
        if parsed[0].name == "cancel" and self._cancel():
            await asyncio.sleep(WITHDRAWN_SECONDS)  # the question ends meanwhile
        elif parsed[0].name != "cancel":
            await self._command(*parsed)
        return True

    async def _command(self, spec: CommandSpec, rest: str) -> None:
        try:
            await self._commands.run(spec, rest)
        except McptuiError as error:
            self._transcript.say(ERROR, str(error))
        except asyncio.CancelledError:
            self._transcript.say(PROGRESS, _("Stopped."))
        self._tell_news()

    def _send(self, text: str, files: tuple[Attachment, ...] = ()) -> None:
        lines = text.count("\n") + 1
        if lines > 1:
            self._transcript.say(PROGRESS, n_("Message of {n} line.", "Message of {n} lines.", lines))
        if self._is_busy:
            self._messages.append((text, files))
            told = n_("Queued. {n} message waits.", "Queued. {n} messages wait.", len(self._messages))
            self._transcript.say(PROGRESS, told)
            return
        try:
            self._pending = self._runtime.conversations.ask(text.strip(), self._approver, files)
        except McptuiError as error:
            self._transcript.say(ERROR, str(error))
            self._last = EndReason.MODEL_ERROR
            return
        self._turn = asyncio.create_task(self._show(self._pending), name="turn")

    async def _show(self, pending: PendingTurn) -> None:
        try:
            self._lines = TurnLines(self._transcript, self._approver.announce)
            self._last = await self._lines.show(pending)
        except McptuiError as error:
            self._last = EndReason.MODEL_ERROR
            self._transcript.say(ERROR, str(error))
        self._turn = self._pending = self._lines = None
        self._interrupt.renew()
        self._tell_news()
        self._transcript.ring()
        self._go_on()

    def _go_on(self) -> None:
        """Send the next message that is queued, or show the prompt."""
        if self._messages and not self._is_busy:
            text, files = self._messages.popleft()
            self._transcript.say(YOU, text)
            self._send(text, files)
        elif self._inputs.is_terminal:
            self._expect()

    async def _finish(self) -> None:
        """At the end of a pipe, wait for the answer and those to queued messages. Who leaves stops them."""
        if self._inputs.quits or self._inputs.is_terminal:
            self._messages.clear()
            self._cancel()
        while self._turn is not None or self._running:
            await self._ended(*self._running, *filter(None, (self._turn,)))

    async def _ended(self, *tasks: asyncio.Task[None]) -> None:
        """Wait until one of these tasks has ended. Raises its error, such as that nobody reads the output."""
        ended, _running = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()

    # ---- stopping ------------------------------------------------------------------------------------

    def _cancel(self) -> bool:
        """Stop the answer and commands; return whether there are any."""
        if self._pending is not None:
            self._pending.cancel()
        for task in self._running:
            task.cancel()
        return self._pending is not None or bool(self._running)

    def _interrupted(self) -> None:
        """Handle the first ctrl+c: the second one leaves. Other signals leave at once."""
        if self._interrupt.exit_code != 130:
            self._interrupt.leave()
            return
        self._transcript.end(typed=True)
        if not self._cancel():
            self._transcript.say(OWN, _("Press ctrl+c again to leave."))
            if self._inputs.is_terminal:
                self._inputs.expect()
            asyncio.get_running_loop().call_later(TWICE_SECONDS, self._interrupt.renew)
            return
        self._transcript.say(PROGRESS, _("Stopping. ctrl+c again leaves."))
        if self._pending is None:
            self._interrupt.renew()

    # ---- what changes meanwhile ----------------------------------------------------------------------

    async def _watch(self) -> None:
        """Say when a server has started, stopped or failed, what else went wrong, and what takes long."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self._tell_news()
            what, since = self._lines.awaited if self._lines is not None else ("", 0.0)
            for name, begun in self._running.values():
                what, since = _("Waiting for {command}", command=name), begun
            if what and self._transcript.is_quiet and not self._asking.is_asking:
                passed = clock(time.monotonic() - since)
                self._transcript.say(PROGRESS, _("{what}, {time} so far.", what=what, time=passed))

    def _tell_news(self) -> None:
        runtime = self._runtime
        for status in runtime.host.statuses():
            now = (status.state, status.since_ns)
            is_new = status.name not in self._shown
            if status.state not in SETTLED or self._shown.get(status.name) == now:
                continue
            self._shown[status.name] = now
            needs_sign_in = status.reason is StopReason.NEEDS_SIGN_IN
            if not is_new or status.failed or needs_sign_in or status.state is ServerState.RUNNING:
                for line in told(status):
                    self._transcript.say(SERVER, line)
        for problem in runtime.problems:
            if problem not in self._problems:
                self._problems.add(problem)
                self._transcript.say(OWN if problem in runtime.warnings else ERROR, clean_line(problem, 600))
