"""Commands without a screen that have a runtime: running them to their end, and what they print about it."""

import argparse
import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tui.commands.progress import progress
from tui.commands.run_output import printed_sentence
from tui.core.errors import reason_of
from tui.core.files import is_replaceable
from tui.core.language.restored import stored
from tui.core.questions import Questioner
from tui.core.servers import ServerStatus, StopReason, fault_words
from tui.core.text import clean, clean_line
from tui.host.sign_in.sign_ins import SIGN_IN_WITH
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.runtime.signals import on_signals
from tui.settings.locations import state_dir
from tui.storage.sessions.file import folder_problem


class Interrupt:
    """The first signal requests an orderly end of the work, and the second cancels it.

    Without `on_signal`, the first one also cancels it. `exit_code` is 128 + the number of the signal.
    """

    def __init__(self) -> None:
        self.on_signal: Callable[[], None] | None = None
        self.exit_code = 130
        self._task: asyncio.Task[int] | None = None
        self._told = False

    def signalled(self, number: int) -> None:
        """Handle a signal, for `on_signals`."""
        self.exit_code = 128 + number
        if self.on_signal is not None and not self._told:
            self.on_signal()
        else:
            self.leave()
        self._told = True

    def leave(self) -> None:
        """Cancel the work."""
        if self._task is not None:
            self._task.cancel()

    def renew(self) -> None:
        """Take the next signal as a first one again: what the last one ended is over."""
        self._told = False

    async def during(self, work: Coroutine[Any, Any, int]) -> int:
        """Run `work` and return its result, or the exit code of the signal that ended it."""
        self._task = asyncio.create_task(work)
        try:
            return await self._task
        except asyncio.CancelledError:
            return self.exit_code


def headless(
    options: Options,
    work: Callable[[Runtime, Interrupt], Coroutine[Any, Any, int]],
    *,
    questioner: Questioner | None = None,
    ended: Callable[[Runtime], object] = lambda runtime: None,
    quiet: bool = False,
) -> int:
    """Run a command with a runtime, which is shut down at its end or at a signal; return the exit code.

    `questioner` answers requests of servers. `ended` is called after the shutdown,
    of which a `quiet` command shows nothing.
    """

    async def run() -> int:
        runtime = Runtime(options, os.environ)
        if questioner is not None:
            runtime.questioner = questioner
        interrupt = Interrupt()
        with on_signals(interrupt.signalled):
            try:
                return await interrupt.during(work(runtime, interrupt))
            finally:
                with progress("stopping the servers", quiet=quiet):
                    await runtime.shutdown()
                ended(runtime)

    return asyncio.run(run())


def say_printed(runtime: Runtime) -> None:
    """Print on stderr what servers sent that cannot be read, and how many faults were injected on purpose."""
    statuses = runtime.host.statuses()
    if faults := fault_words(statuses):
        print(f"· {faults}", file=sys.stderr)
    for status in statuses:
        if said := printed_sentence(status):
            print(f"· {clean_line(status.name, 80)}: {said}", file=sys.stderr)


def say_unsaved(runtime: Runtime) -> None:
    """After shutdown, print on stderr what was not saved, and why."""
    for what, why in (
        ("some messages were not saved", runtime.conversations.problem),
        ("the traffic was not recorded", runtime.unrecorded),
        ("some decisions were not recorded", runtime.decisions.problem),
        ("telemetry was not exported", runtime.traffic.unsent),
        ("internal error, see mcptui.log. Failed thread", runtime.failed_thread),
    ):
        if why:
            print(f"mcptui: {what}: {clean(why)}", file=sys.stderr)


def say_unrecorded(runtime: Runtime) -> None:
    """Print on stderr that nothing was recorded if the folder of recordings is not writable. Blocks."""
    if why := folder_problem(state_dir()):
        print(f"mcptui: nothing was recorded: {clean(why)}", file=sys.stderr)
    else:
        say_unsaved(runtime)


def starting(what: str) -> AbstractContextManager[object]:
    """Say on stderr what starts, and that it still does."""
    print(f"· starting {what}", file=sys.stderr, flush=True)
    return progress(f"starting {what}")


async def started(runtime: Runtime, name: str) -> ServerStatus:
    """Start the server of a command, once, after saying so, and return its status."""
    runtime.host.reconfigure(name, restart=False)
    with starting(clean_line(name, 80)):
        await runtime.host.start(name)
    return runtime.host.status(name)


def step_in_shell(status: ServerStatus, see_log: str) -> str:
    """Return the next step after a failed start, without the keys of the app that it may name.

    `see_log` says how to see its log, if that is all that helps.
    """
    if status.reason is StopReason.NEEDS_SIGN_IN:
        return f"{SIGN_IN_WITH}{clean_line(status.name, 80)}`."
    step, key, keys = status.next_step.partition("Press ")
    if key and not step and "log" in keys:
        return see_log
    return stored(step.strip()) if key else status.next_step


def log_step(server: str, args: argparse.Namespace) -> str:
    """Return how to print the log of a server: the command, with the configuration of this one."""
    words = ["mcptui", "list", clean_line(server, 80), "--verbose", *config_words(args)]
    return f"To print its log: {shlex.join(words)}"


def config_words(args: argparse.Namespace) -> list[str]:
    """Return the options with which another command uses the configuration of this one."""
    given = vars(args)
    words = ["--config", str(given["config"])] if given.get("config") else []
    return [*words, "--trust-config"] if given.get("trust_config") else words


def write_problem(path: Path) -> str:
    """Return why no file can be written at `path`, or ""."""
    try:
        if path.is_dir():
            return "Is a directory"
        written = Path(os.path.realpath(path)).parent if is_replaceable(path) else path
        os.stat(written)
    except OSError as error:
        return reason_of(error)
    return "" if os.access(written, os.W_OK) else "Permission denied"
