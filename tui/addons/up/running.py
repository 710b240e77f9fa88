"""What is up: the doors of running mcptuis of this user, and asking at one.

Loads the runtime of none.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from tui.core.errors import ConfigError, McptuiError, UsageError
from tui.core.text import clean, clean_line
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
    from pathlib import Path
    from typing import Any

KIND = "up"
_ABOUT_SECONDS = 2.0
_ERRORS = {"usage": UsageError, "config": ConfigError}


class Gone(McptuiError):
    """The other process ended the connection. `is_sent`: the request had been sent."""

    is_sent = True


def gone(who: str) -> Gone:
    """Return the error that a process ended the connection after a request was sent to it."""
    return Gone(
        "it ended the connection before the answer, so the outcome is unknown",
        where=who,
        next_step="The request was not sent again.",
    )


class Door:
    """A running mcptui of this user: what it says about itself, and why it refuses, or ""."""

    def __init__(self, path: "Path", about: "Mapping[str, Any]") -> None:
        self._path = path
        self.about = about
        self.refused = str(about.get("refused") or "")

    @property
    def pid(self) -> int:
        return int(self.about.get("pid") or 0)

    @property
    def words(self) -> str:
        """What it is, for messages: `mcptui (pid 4711)`."""
        return f"{'mcptui' if self.about.get('kind') == 'app' else 'mcptui up'} (pid {self.pid})"

    async def request(
        self,
        method: str,
        params: "Mapping[str, Any]",
        *,
        label: str = "",
        command: str = "",
        note: "Callable[[Any], None]" = lambda value: None,
    ) -> "Any":
        """Return the result of a method. Raises McptuiError. Cancelling this cancels it there."""
        if (streams := await streams_to(self._path)) is None:
            raise not_sent(self)
        reader, writer = streams
        try:
            if "refused" in object_of(await reader.readline()):
                raise not_sent(self)
            writer.write(
                line_of({"id": 1, "method": method, "params": params, "label": label, "command": command})
            )
            await writer.drain()
            while line := await reader.readline():
                said = object_of(line)
                if "note" not in said:
                    return result_of(said)
                note(said["note"])
        except (OSError, ValueError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        raise gone(self.words)


def not_sent(door: Door) -> Gone:
    """Return the error that a door is closed, and that it was asked nothing."""
    error = Gone("it has ended, or refuses commands", where=door.words)
    error.is_sent = False
    return error


def result_of(said: "Mapping[str, Any]") -> "Any":
    """Return the result in an answer. Raises the error in it."""
    error = said.get("error")
    if not isinstance(error, dict):
        return said.get("result")
    why, where, next_step = (str(error.get(name) or "") for name in ("why", "where", "next_step"))
    raise _ERRORS.get(str(error.get("kind")), McptuiError)(
        clean(why), where=clean_line(where, 4096), next_step=clean(next_step)
    )


def running() -> list[Door]:
    """Return the running mcptuis of this user that can be asked, apps first, without those that refuse.

    Removes the sockets of dead ones.
    """
    return [door for door in every_door() if not door.refused]


def every_door() -> list[Door]:
    """Return all of them, also those that refuse. Never this process itself."""
    if not is_supported:
        return []
    found = []
    for path in socket_files(sockets_folder(KIND)):  # "app-…" is before "up-…"
        if path.stem.rpartition("-")[2] == str(os.getpid()) or (made := connected(path)) is None:
            continue
        with made, made.makefile("rb") as file:
            made.settimeout(_ABOUT_SECONDS)
            with suppress(OSError):
                if about := object_of(file.readline(MAX_LINE)):
                    found.append(Door(path, about))
    return found
