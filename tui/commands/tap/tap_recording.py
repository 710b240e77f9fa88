"""The recording of a tap: accepts data immediately, and does all slow work in its own thread.

Failures do not affect the server: they are reported once on stderr, and the bytes still pass through.
"""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

TYPE_CHECKING = False  # importing `typing` takes a fifth of the start of a tap
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tui.commands.tap.passthrough_lines import PassthroughLines
    from tui.core.traffic import Captured
    from tui.traffic.record.recorder import Recorder

WAITING_LIMIT = 64 * 1024 * 1024
"""Maximum bytes in the queue. Beyond that, data is counted and dropped."""

GATHER_SECONDS = 0.02
"""How long data is collected before it is processed, so that responses are forwarded first."""

MOST_AHEAD = 20_000
"""Maximum lines in the recorder's queue. The others wait in our queue, where they need less memory."""

AHEAD_SECONDS = 0.02

NICENESS = 10
"""Added to the niceness of the recording threads, to delay the bytes less (tests/benchmarks/tap.py)."""

END_SECONDS = 30.0
"""Maximum time that we wait at the end for the recording to be complete, only needed after a flood.

The host has already seen the end of all streams, and any signal from it ends the wait.
"""

Piece = tuple[int, int, bytes, int]
"""Stream, monotonic nanoseconds, bytes, and the number of bytes dropped before them."""

EVENT = -1
"""The stream of a piece that is not of a stream: the detail of an event, as JSON."""


class TapRecording:
    """Records one server of another host. An empty `name` is derived from the command line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pieces: deque[Piece] = deque()
        self._taken = 0
        self._done = 0
        self._left_out = 0
        self._more = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._off = False
        self._code: int | None = None

    def seen(self, stream: int, at_ns: int, data: bytes) -> None:
        """Accept data that passed through. Takes about a microsecond."""
        if self._off:
            return
        if self._taken - self._done > WAITING_LIMIT:
            self._left_out += len(data)
            return
        self._taken += len(data)
        self._pieces.append((stream, at_ns, data, self._left_out))
        self._left_out = 0
        if not self._more.is_set():
            self._more.set()

    def event(self, word: str, **what: "Any") -> None:
        """Record what this process made of a message, after what it has seen so far."""
        self._event_at(time.monotonic_ns(), word, what)

    def spawned(self, at_ns: int, command: "Sequence[str]", pid: int) -> None:
        """Record the start of another process of the server, which begins to serve now."""
        self._event_at(at_ns, "spawn", _spawn(command, pid))

    def _event_at(self, at_ns: int, word: str, what: "dict[str, Any]") -> None:
        import json  # not loaded by a tap that only passes bytes

        self.seen(EVENT, at_ns, json.dumps({"word": word, **what}).encode())

    def give_up(self, error: Exception) -> None:
        """Stop recording, and report why on stderr, once."""
        if not self._off:
            self._off = True
            self._pieces.clear()
            from tui.core.errors import reason_of

            said = f"mcptui tap: recording stopped. The server is not affected: {reason_of(error)}\n"
            os.write(2, said.encode("utf-8", "backslashreplace"))

    def begin(self, command: list[str], pid: int) -> None:
        at = time.monotonic_ns()
        self._thread = threading.Thread(
            target=self._run, args=(command, pid, at), name="mcptui-tap-recording", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads available
            self._thread = None
            self.give_up(error)

    def end(self, code: int) -> None:
        """Record how the server ended, and wait, for a bounded time, until everything is stored."""
        self._code = code
        self._ending.set()
        self._more.set()
        if self._thread is not None:
            self._thread.join(END_SECONDS)

    # ---- the thread --------------------------------------------------------------------------------

    def _run(self, command: list[str], pid: int, began_ns: int) -> None:
        try:
            self._record(command, pid, began_ns)
        except Exception as error:  # any failure of the recording must not affect the server
            self.give_up(error)

    def _record(self, command: list[str], pid: int, began_ns: int) -> None:
        from tui.commands.recordings import open_recorder
        from tui.commands.tap.passthrough_lines import PassthroughLines
        from tui.core.secrets.redact import Redactor

        if sys.platform == "linux":  # this sets the priority of this thread and of those that it starts
            os.nice(NICENESS)
        name = self._name or name_of(command)
        lines = PassthroughLines(name, time.time_ns() - time.monotonic_ns())
        recorder = open_recorder(Redactor(known_secrets(command)), name)
        try:
            recorder.capture(lines.event(began_ns, "spawn", **_spawn(command, pid)))
            while not self._off:
                self._more.wait()
                if not self._ending.is_set():
                    time.sleep(GATHER_SECONDS)
                self._more.clear()
                ending = self._ending.is_set()
                self._drain(lines, recorder)
                if ending:
                    self._finish(lines, recorder.capture, began_ns)
                    break
        finally:
            recorder.close(END_SECONDS)
        if recorder.problem and not self._off:
            raise OSError(recorder.problem)

    def _drain(self, lines: "PassthroughLines", recorder: "Recorder") -> None:
        capture = recorder.capture
        while self._pieces:
            while len(recorder.backlog) > MOST_AHEAD:
                time.sleep(AHEAD_SECONDS)
            stream, at, data, left_out = self._pieces.popleft()
            self._done += len(data)
            if left_out:
                for one in lines.cut(at, left_out):
                    capture(one)
            if stream == EVENT:
                import json

                capture(lines.event(at, **json.loads(data)))
                continue
            for one in lines.feed(stream, at, data):
                capture(one)

    def _finish(
        self, lines: "PassthroughLines", capture: "Callable[[Captured], None]", began_ns: int
    ) -> None:
        from tui.core.programs import signal_name

        at = time.monotonic_ns()
        last = lines.cut(at, self._left_out) if self._left_out else ()
        for one in (*last, *lines.finish(at)):
            capture(one)
        code = self._code or 0
        seconds = round((at - began_ns) / 1e9, 3)
        name = "" if code >= 0 else signal_name(-code)
        capture(lines.event(at, "exit", code=code if code >= 0 else None, signal=name, seconds=seconds))


def _spawn(command: "Sequence[str]", pid: int) -> "dict[str, Any]":
    """Return the detail of the start of a process."""
    from tui.core.files import current_folder
    from tui.core.secrets.commands_and_urls import masked_arguments

    return {"pid": pid, "argv": masked_arguments(command), "cwd": current_folder(), "tap": True}


def known_secrets(arguments: "Sequence[str]") -> dict[str, str]:
    """Return the secrets in the environment and in a command line or URL, by displayable names."""
    from tui.core.secrets.commands_and_urls import secrets_in_arguments, secrets_in_environment

    places = enumerate(secrets_in_arguments(arguments))
    return secrets_in_environment(os.environ) | {f"argument.{at}.{n}": value for n, (at, value) in places}


def name_of(command: list[str]) -> str:
    """Return a server name derived from its command line: the program, not its launcher."""
    from tui.core.programs import launched
    from tui.core.secrets.commands_and_urls import blanked_arguments

    found = launched(blanked_arguments(command)).rstrip("/")
    last = os.path.basename(found) or found
    return os.path.splitext(last.partition("@")[0] or last)[0][:64] or "server"
