"""A server's process: its start in its own group, its end, the end of the group, memory and CPU time.

A server runs in its own session (no controlling terminal, so it cannot write around its pipes), with three
pipes, a small environment and a mark by which everything that it started can be found. Its leader is not
reaped before the last signal to the group is sent, so that no signal reaches an unrelated process.
"""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.errors import ServerError, composed, dotted, reason_of
from tui.core.files import make_folder
from tui.core.language.translate import message, sentences
from tui.core.programs import command_line, find_program, is_command_line, search_path, signal_name
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, whole_words
from tui.core.units import duration
from tui.host.process.guard import OWNER_VARIABLE

if TYPE_CHECKING:
    import psutil  # type: ignore[import-untyped]  # ships no types


POLL_SECONDS = 0.05

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that nothing survives: Windows has only one, which ends a process at once."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended: its exit code, or the name of the signal, after how long."""

    code: int | None
    signal: str
    after_seconds: float

    @classmethod
    def from_returncode(cls, returncode: int, after_seconds: float) -> "ProcessExit":
        """Convert a return code of `subprocess`: a negative one is the number of a signal."""
        if returncode >= 0:
            return cls(returncode, "", after_seconds)
        return cls(None, signal_name(-returncode), after_seconds)

    def sentence(self) -> str:
        """Return a clause that follows a name: "exited with code 1 after 0.3 s"."""
        after = duration(self.after_seconds * 1000)
        if self.signal:
            return message("was terminated by {signal} after {time}", signal=self.signal, time=after)
        return message("exited with code {code} after {time}", code=self.code, time=after)


def exit_sentence(ended: ProcessExit | None, fatal: str, log_line: str) -> str:
    """Say why a pending call gets no response."""
    said: str = message("the server is gone")
    if ended is not None:
        said = message("the server {ended}", ended=ended.sentence())
    if fatal:
        said = composed("{where}: {text}", where=said, text=fatal)
    log = message("Its log: {line}", line=whole_words(log_line, 300)) if log_line else ""
    return sentences(composed("{text}.", text=said), log)


def peek(process: "subprocess.Popen[bytes]") -> int | None:
    """Return the return code of a child that has ended, without reaping it where possible."""
    if process.returncode is not None:
        return process.returncode
    if not hasattr(os, "waitid"):
        return process.poll()
    try:
        state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # already reaped: poll() handles that and returns 0
        return process.poll()
    if state is None:
        return None
    return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status


INHERITED = frozenset(
    "HOME LOGNAME PATH SHELL USER LANG TMPDIR TZ "
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR".split()
) | frozenset(
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE "
    "SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE".split()
    if sys.platform == "win32"
    else ()
)
"""Variables that a server inherits, besides LC_*: enough for npx and uvx to find their caches.

Not TERM, so that programs write no colors into their logs. Not the proxy variables, which may contain a
password. Never a model's key. `env` in the configuration adds variables.
"""


def server_environment(extra: Mapping[str, str], mark: str, ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: the inherited part of `ours`, then `extra`, then the mark."""
    inherited = {
        name: value
        for name, value in ours.items()
        # A value like "() { …" is an exported shell function, which a shell would run.
        if (name in INHERITED or name.startswith("LC_")) and not value.startswith("()")
    }
    if "PATH" in inherited:
        inherited["PATH"] = search_path(inherited["PATH"])
    return {**inherited, **extra, OWNER_VARIABLE: mark}


class ServerProcess:
    """A server's leader, started in its own session with three pipes, and its group.

    `on_exit` is called once, from the event loop; `on_signal` with the name of each signal sent to the group
    while the leader lives.

    The end of the leader is learned from a pidfd (Linux), or by polling 20 times a second; never from the end
    of a pipe, because a grandchild may hold the pipes open forever. The dead leader is not reaped before
    `destroy`, so that its process id and group id are not reused while the group may still be signalled.
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
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor: int | None = None
        if sys.platform == "linux" and hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):  # old kernel, or no descriptor left: poll instead
                self._descriptor = os.pidfd_open(process.pid)
        if self._descriptor is None:
            self._timer = self._loop.call_later(0, self._check_exit)
        else:
            self._loop.add_reader(self._descriptor, self._check_exit)

    def _check_exit(self) -> None:
        code = peek(self._process)
        if code is not None:
            self._unwatch()
            self._note_exit(code)
            self._on_exit()
        elif self._descriptor is None:
            self._timer = self._loop.call_later(POLL_SECONDS, self._check_exit)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def signal_group(self, number: int) -> None:
        """Send a signal to the group; do nothing once the leader is reaped."""
        if self._process.returncode is None:
            if self.exit is None:
                self._on_signal(signal_name(number))
            if not hasattr(os, "killpg"):
                _end_tree(self.pid)
                return
            # EPERM: on macOS, if only zombies are left in a group.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def destroy(self) -> None:
        """Kill the rest of the group and reap its leader; waits at most a second.

        Needs no running event loop. The group must not be signalled afterwards.
        """
        self.signal_group(KILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1.0)
            if self.exit is None:
                self._note_exit(code)
        self._unwatch()

    def _note_exit(self, returncode: int) -> None:
        self.exit = ProcessExit.from_returncode(returncode, time.monotonic() - self._started)
        self.exited.set()


def spawn(spec: ServerSpec, mark: str) -> "subprocess.Popen[bytes]":
    """Start the program of `spec`, with `mark` as `MCPTUI_OWNER` in its environment.

    Takes about 2 ms (measured), so it runs synchronously and cannot be cancelled half-way. Raises
    ServerError.
    """
    environment = server_environment(spec.env, mark, os.environ)
    folder = starting_folder(spec)
    try:
        return subprocess.Popen(
            [_program(spec, environment), *spec.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=environment,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except ValueError as problem:  # a NUL character in an argument or in the environment
        wrong = message("invalid command line or environment: {reason}", reason=reason_of(problem))
        raise _refusal(spec, wrong, "args") from problem
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR) and is_command_line(spec.command):
            raise _command_line(spec) from problem
        raise _refusal(spec, _reason(spec, problem), "command") from problem


def starting_folder(spec: ServerSpec) -> str | None:
    """Return the folder in which a server starts, None for the current one. Creates its own folder (0700).

    If that fails (read-only or full disk), it is the root of the file system, where a program finds nothing
    to load by mistake either. Raises ServerError.
    """
    if spec.cwd is not None:
        if not os.path.isdir(spec.cwd):
            raise _refusal(
                spec,
                message("its working directory {folder} does not exist", folder=_quoted(spec.cwd)),
                "cwd",
            )
        return spec.cwd
    if not spec.folder:
        return None
    try:
        make_folder(Path(spec.folder))
    except OSError as problem:
        root = os.path.abspath(os.sep)
        _log.warning("%s starts in %s: cannot create %s: %s", spec.name, root, spec.folder, problem)
        return root
    return spec.folder


def _program(spec: ServerSpec, environment: Mapping[str, str]) -> str:
    command = spec.command
    if not command.strip():
        raise _refusal(spec, message("no command"), "command")
    if "\0" in command:
        raise _refusal(spec, message("the command contains a NUL character"), "command")
    if os.sep in command:
        return os.path.expanduser(command)
    found = find_program(command, environment)
    if found is None and is_command_line(command):
        raise _command_line(spec)
    if found is None:
        raise _refusal(spec, message("{command} was not found on PATH", command=_quoted(command)), "command")
    return found


def _reason(spec: ServerSpec, problem: OSError) -> str:
    name = _quoted(spec.command)
    match problem.errno:
        case errno.ENOENT if spec.folder and not os.path.isabs(os.path.expanduser(spec.command)):
            return message("{name} is relative, and the server starts in a folder of its own", name=name)
        case errno.ENOENT if os.path.exists(os.path.expanduser(spec.command)):
            return message("the interpreter in the first line of {name} does not exist", name=name)
        case errno.ENOENT | errno.ENOTDIR:
            return message("{name} does not exist", name=name)
        case errno.EACCES if os.path.isdir(os.path.expanduser(spec.command)):
            return message("{name} is a directory", name=name)
        case errno.EACCES:
            return message("{name} is not executable", name=name)
        case errno.ENOEXEC:
            return message("{name} is not a program: no binary format and no #! line", name=name)
        case errno.E2BIG:
            return message("arguments and environment are too long")
        case _:
            return message("cannot start {name}: {reason}", name=name, reason=reason_of(problem))


def _command_line(spec: ServerSpec) -> ServerError:
    first = _quoted(command_line(spec.command)[0])
    return ServerError(
        message("{command} is a command line, not a program.", command=_quoted(spec.command)),
        where=spec.name,
        next_step=message(
            "Put {first} in command and the rest in args, in [{table}].",
            first=first,
            table=dotted(("servers", spec.name)),
        ),
    )


def _refusal(spec: ServerSpec, why: str, key: str) -> ServerError:
    return ServerError(
        composed("{text}.", text=why),
        where=spec.name,
        next_step=message("Check {key} in [{table}].", key=key, table=dotted(("servers", spec.name))),
    )


def _quoted(text: str) -> str:
    return f"`{clean_line(text, 120)}`"


MAX_PIDS = 1_000


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Memory and CPU time of a tree of processes; None if unknown. The leader is first in `pids`.

    `memory` is resident bytes, shared pages counted in each process; `cpu_seconds` include ended children
    where the system reports them.
    """

    pids: tuple[int, ...] = ()
    memory: int | None = None
    cpu_seconds: float | None = None


def usage(leader: int) -> ProcessUsage:
    """Return the usage of the process `leader`, its descendants and the rest of its process group."""
    import psutil  # not before the first frame

    known = psutil.pids()
    if leader not in known:
        return ProcessUsage() if known else ProcessUsage((leader,))
    pids, memory, cpu_seconds = [], 0, 0.0
    for process in _tree(leader, known):
        with contextlib.suppress(psutil.Error), process.oneshot():
            times = process.cpu_times()
            memory += process.memory_info().rss
            cpu_seconds += times.user + times.system + times.children_user + times.children_system
            pids.append(process.pid)
    return ProcessUsage(tuple(pids), memory, round(cpu_seconds, 2)) if pids else ProcessUsage()


def _tree(leader: int, known: Iterable[int]) -> "list[psutil.Process]":
    import psutil

    found: dict[int, psutil.Process] = {}
    # A process whose parent has ended has a new parent, but it is still in the leader's group.
    for root in (leader, *(pid for pid in known if pid != leader and _group(pid) == leader)):
        if root not in found and len(found) < MAX_PIDS:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(root)
                # psutil leaves out children older than their parent, because the parent's id was reused.
                found |= {each.pid: each for each in (process, *process.children(recursive=True))}
    return list(found.values())[:MAX_PIDS]


def _end_tree(leader: int) -> None:
    """End a process and its descendants, where there are neither groups nor signals (Windows)."""
    import psutil

    for process in _tree(leader, ()):
        with contextlib.suppress(psutil.Error):
            process.kill()


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except (OSError, AttributeError):  # it has just ended, or belongs to another user; Windows has none
        return 0
