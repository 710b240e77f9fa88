"""Starting a server as a process of its own group, and ending the whole group.

A server runs in a session of its own (no controlling terminal, so it cannot write around its pipes), with
three pipes, a small environment and a mark by which everything that it started can be found again. Its
leader is not reaped before the last signal to its group is sent, so that no signal reaches a stranger.
"""

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tui.core.errors import ServerError
from tui.core.servers import ServerSpec
from tui.core.text import clean_line
from tui.host.process.exits import LeaderWatch, ProcessExit

OWNER_VARIABLE = "MCPTUI_OWNER"
"""Set in every server's environment: `owner/number`, inherited by whatever the server starts."""

INHERITED = frozenset(
    "HOME LOGNAME PATH SHELL USER LANG TMPDIR TZ "
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR".split()
)
"""What a server gets of our environment, besides LC_*: enough for npx and uvx to find their caches.

Not TERM: a server has no terminal, and without it programs write no colours into their logs. Not the proxy
variables: they may hold a password. Never a key of a model. Anything else is given by `env` in the
configuration.
"""


@dataclass(frozen=True, slots=True)
class StopGrace:
    """How long each step of a stop may take, in seconds; a server that behaves needs none of it.

    Attributes:
        flush: until what was written has been read.
        eof: to leave by itself after its input was closed.
        term: to leave after SIGTERM.
        kill: to be gone after SIGKILL.
        stragglers: for what it left behind, to leave after SIGTERM.
    """

    flush: float = 0.5
    eof: float = 2.0
    term: float = 2.0
    kill: float = 1.0
    stragglers: float = 0.5


def server_environment(extra: Mapping[str, str], mark: str, ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: what it inherits of `ours`, then `extra`, then the mark."""
    inherited = {
        name: value
        for name, value in ours.items()
        # A value like "() { …" is an exported shell function, which a shell would run.
        if (name in INHERITED or name.startswith("LC_")) and not value.startswith("()")
    }
    return {**inherited, **extra, OWNER_VARIABLE: mark}


class ServerProcess:
    """A server's leader and its group.

    Args:
        process: the started leader, in a session of its own, with three pipes.
        on_exit: called once from the event loop when the leader has died.
        on_signal: called with the name of each signal that the living leader's group is sent.

    Attributes:
        pid: process id of the leader, and id of its group.
        exit: how the leader ended, once it has.
        exited: set when the leader has died.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        on_exit: Callable[[], None],
        on_signal: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.pid = process.pid
        self.exit: ProcessExit | None = None
        self.exited = asyncio.Event()
        self._process = process
        self._on_exit = on_exit
        self._on_signal = on_signal
        self._started = time.monotonic()
        self._watch = LeaderWatch(process, self._ended)

    def signal_group(self, number: int) -> None:
        """Send a signal to everything in the group that is left; nothing once the leader is reaped."""
        if self._process.returncode is None:
            if self.exit is None:
                self._on_signal(signal.Signals(number).name)
            # EPERM: macOS answers so for a group in which only zombies are left.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def destroy(self) -> None:
        """End what is left of the group and reap its leader; waits a second at most, if it lives.

        Needs no running event loop. The group must not be signalled after this.
        """
        self.signal_group(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1.0)
            if self.exit is None:
                self._note_exit(code)
        self._watch.close()

    def _ended(self, returncode: int) -> None:
        self._note_exit(returncode)
        self._on_exit()

    def _note_exit(self, returncode: int) -> None:
        self.exit = ProcessExit.from_returncode(returncode, time.monotonic() - self._started)
        self.exited.set()


def spawn(spec: ServerSpec, mark: str) -> "subprocess.Popen[bytes]":
    """Start the program of `spec`.

    Takes about 2 ms (measured), so it is done in place: nothing can be cancelled half-way.

    Args:
        spec: what to start.
        mark: value of `MCPTUI_OWNER` in its environment.

    Raises:
        ServerError: it cannot be started; says why and what to do.
    """
    environment = server_environment(spec.env, mark, os.environ)
    if spec.cwd is not None and not os.path.isdir(spec.cwd):
        raise _refusal(spec, f"its working directory {_quoted(spec.cwd)} does not exist", "cwd")
    try:
        return subprocess.Popen(
            [_program(spec, environment), *spec.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=spec.cwd,
            env=environment,
            start_new_session=True,
        )
    except ValueError as problem:  # a NUL character in an argument or in the environment
        raise _refusal(spec, f"its command line or environment is not valid: {problem}", "args") from problem
    except OSError as problem:
        raise _refusal(spec, _reason(spec, problem), "command") from problem


def _program(spec: ServerSpec, environment: Mapping[str, str]) -> str:
    command = spec.command
    if not command.strip():
        raise _refusal(spec, "it has no command", "command")
    if "\0" in command:
        raise _refusal(spec, "its command holds a NUL character", "command")
    if os.sep in command:
        return os.path.expanduser(command)
    found = shutil.which(command, path=environment.get("PATH", os.defpath))
    if found is None:
        raise _refusal(spec, f"{_quoted(command)} was not found on PATH", "command")
    return os.path.abspath(found)


def _reason(spec: ServerSpec, problem: OSError) -> str:
    name = _quoted(spec.command)
    match problem.errno:
        case errno.ENOENT if os.path.exists(os.path.expanduser(spec.command)):
            return f"{name} names an interpreter in its first line that does not exist"
        case errno.ENOENT | errno.ENOTDIR:
            return f"{name} does not exist"
        case errno.EACCES if os.path.isdir(os.path.expanduser(spec.command)):
            return f"{name} is a directory"
        case errno.EACCES:
            return f"{name} is not executable"
        case errno.ENOEXEC:
            return f"{name} is not a program: it has neither a binary format nor a #! line"
        case errno.E2BIG:
            return "its arguments and environment are too long for the system"
        case _:
            return f"{name} could not be started: {problem.strerror or problem}"


def _refusal(spec: ServerSpec, message: str, key: str) -> ServerError:
    return ServerError(
        f"{message}.", where=spec.name, next_step=f"Check {key} in [servers.{clean_line(spec.name, 60)}]."
    )


def _quoted(text: str) -> str:
    return f"`{clean_line(text, 120)}`"
