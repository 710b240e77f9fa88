"""What is up: the doors of running mcptuis of this user, and asking at one.

Loads neither asyncio nor the runtime, and errors only if there is one: a call takes 100 ms, of which Python
takes half.
"""

import os
from contextlib import suppress

from tui.runtime.local_socket import (
    MAX_LINE,
    connected,
    is_supported,
    line_of,
    object_of,
    socket_files,
    sockets_folder,
    streams_to,
)

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, BinaryIO

    from tui.core.errors import McptuiError

KIND = "up"
ABOUT_SECONDS = 1.0
"""How long a running mcptui may take to greet."""


class Door:
    """A running mcptui of this user: what it says `about` itself, and why it refuses, or ""."""

    def __init__(
        self,
        path: "Path",
        about: "Mapping[str, Any]",
        connection: "socket.socket | None" = None,
        file: "BinaryIO | None" = None,
    ) -> None:
        self._path = path
        self._connection, self._file = connection, file
        self.about = about
        self.refused = str(about.get("refused") or "")

    @property
    def pid(self) -> int:
        return int(self.about.get("pid") or 0)

    @property
    def words(self) -> str:
        """What it is, for messages: `mcptui (pid 4711)`."""
        return f"{'mcptui' if self.about.get('kind') == 'app' else 'mcptui up'} (pid {self.pid})"

    def ask(
        self,
        method: str,
        params: "Mapping[str, Any]",
        command: str,
        note: "Callable[[Any], None]",
        seconds: float | None,
    ) -> "Mapping[str, Any] | None":
        """Return the answer on the connection of `doors`; None if it ended, or took longer than `seconds`.

        What comes before the answer goes to `note`, whose errors are raised.
        """
        assert self._connection is not None and self._file is not None
        self._connection.settimeout(seconds)
        try:
            self._connection.sendall(
                line_of({"id": method, "method": method, "params": params, "command": command})
            )
        except OSError:
            return None
        while True:
            try:
                said = object_of(self._file.readline(MAX_LINE))
            except OSError:
                return None
            if "note" not in said:
                return said or None
            note(said["note"])

    def wait(self) -> None:
        """Wait for the answer without a limit, because a person gives it."""
        if self._connection is not None:
            self._connection.settimeout(None)

    async def request(
        self, method: str, params: "Mapping[str, Any]", *, label: str = "", command: str = ""
    ) -> "Any":
        """Return the result of a method, on a new connection. Raises McptuiError.

        Cancelling this cancels it there.
        """
        waits_for_user = False
        if (streams := await streams_to(self._path)) is None:
            raise _error(f"{self.words} has ended", self.words)
        reader, writer = streams
        try:
            if "refused" in object_of(await reader.readline()):
                raise _error(f"{self.words} refuses commands", self.words)
            writer.write(
                line_of({"id": 1, "method": method, "params": params, "label": label, "command": command})
            )
            await writer.drain()
            while line := await reader.readline():
                if "note" not in (said := object_of(line)):
                    return result_of(said)
                waits_for_user = said["note"] == {"wait": True}
        except (OSError, ValueError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        if waits_for_user:
            why = f"{self.words} ended before its user answered, so nothing was done"
            raise _error(why, self.words)
        raise gone(self.words)


def gone(who: str) -> "McptuiError":
    """Return the error that a process ended the connection after a request was sent to it."""
    why = f"{who} ended the connection before the answer, so the outcome is unknown"
    return _error(why, who, "The request was not sent again.")


def _error(why: str, who: str, next_step: str = "") -> "McptuiError":
    from tui.core.errors import McptuiError

    return McptuiError(why, where=who, next_step=next_step)


def result_of(said: "Mapping[str, Any]") -> "Any":
    """Return the result in an answer. Raises the error in it."""
    error = said.get("error")
    if not isinstance(error, dict):
        return said.get("result")
    from tui.core.errors import ConfigError, McptuiError, UsageError
    from tui.core.text import clean, clean_line

    kinds: Mapping[str, type[McptuiError]] = {"usage": UsageError, "config": ConfigError}
    why, where, next_step = (str(error.get(name) or "") for name in ("why", "where", "next_step"))
    raise kinds.get(str(error.get("kind")), McptuiError)(
        clean(why), where=clean_line(where, 4096), next_step=clean(next_step)
    )


def running() -> list[Door]:
    """Return the running mcptuis of this user, apps first; those that have `refused` cannot be asked."""
    return list(doors())


def doors() -> "Iterator[Door]":
    """Yield each of them, apps first, connected until the next one; never this process itself.

    Removes the sockets of dead ones, and passes over those that are suspended or do not greet.
    """
    for path in socket_files(sockets_folder(KIND)) if is_supported else ():  # "app-…" is before "up-…"
        pid = path.stem.rpartition("-")[2]
        if pid == str(os.getpid()) or _is_suspended(pid) or (made := connected(path)) is None:
            continue
        with made, made.makefile("rb") as file:
            made.settimeout(ABOUT_SECONDS)
            about: Mapping[str, Any] = {}
            with suppress(OSError):
                about = object_of(file.readline(MAX_LINE))
            if about:
                yield Door(path, about, made, file)


def _is_suspended(pid: str) -> bool:
    """Return whether a process is suspended, such as by Ctrl+Z; False if the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False
