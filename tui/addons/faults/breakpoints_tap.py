"""`mcptui tap --hold`: breakpoints that a running mcptui sets here, over a local socket.

Without a connection there is no breakpoint, and when the one that set it ends, everything flows. Each line is
a JSON object: `tui.addons.faults.tray_taps` has the other side.
"""

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.addons.faults.breakpoints import Breakpoints, BreakpointStage, Held, Patience
from tui.core.background import Tasks
from tui.core.errors import reason_of
from tui.core.text import mapping, text_in
from tui.core.units import whole
from tui.runtime.local_socket import (
    MAX_LINE,
    SUFFIX,
    is_own,
    line_of,
    listening,
    object_of,
    peer_of,
    removed,
)

USUAL = Patience(60.0, 60.0, is_guess=True)
"""The time limit of many hosts: the default of the TypeScript SDK. That of this host is not known."""

LOOK_SECONDS = 1.0


class TapStage(BreakpointStage):
    """The breakpoints of a tap: a `Stage`. `folder` is for its socket."""

    def __init__(self, folder: Path, *, is_silent: bool) -> None:
        super().__init__(Breakpoints(time.monotonic_ns, is_silent=is_silent), USUAL, "tap:")
        self._path = folder / f"{os.getpid()}{SUFFIX}"
        self._clients: dict[asyncio.StreamWriter, asyncio.Event] = {}
        self._owner: asyncio.StreamWriter | None = None
        self._serving: asyncio.Task[None] | None = None
        self._talks = Tasks()
        self.breakpoints.changed = self._changed

    def begin(self) -> None:
        self._serving = asyncio.get_running_loop().create_task(self._serve())

    async def _serve(self) -> None:
        try:
            server = await asyncio.start_unix_server(
                self._connected, sock=listening(self._path), limit=MAX_LINE
            )
        except OSError as error:
            print(f"mcptui tap: cannot hold messages: {reason_of(error)}", file=sys.stderr)
            return
        try:
            async with server:
                while True:
                    await asyncio.sleep(LOOK_SECONDS)
                    self.breakpoints.keep_waiting()
                    self._changed()  # HTTP requests end without a message
        finally:
            removed(self._path)

    def _changed(self) -> None:
        for event in self._clients.values():
            event.set()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not is_own(peer_of(writer.get_extra_info("socket"))):
            writer.close()
            return
        # Not as the coroutine that asyncio starts: it logs a traceback if that is cancelled at the end.
        self._talks.start(self._client(reader, writer), "a client of breakpoints")

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        event = self._clients[writer] = asyncio.Event()
        telling = asyncio.create_task(self._tell(writer, event))
        try:
            while line := await reader.readline():
                self._do(object_of(line), writer)
        except (OSError, ValueError):
            pass  # it is gone, or speaks something else
        except asyncio.CancelledError:  # the server has ended, so nothing can be sent any more
            for number in list(self.breakpoints.held):
                self.breakpoints.drop(number)
            raise
        finally:
            telling.cancel()
            del self._clients[writer]
            writer.close()
            if self._owner is writer:
                self._owner = None
                self.breakpoints.set("")
                self.breakpoints.release_all()

    def _do(self, said: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        number = whole(said.get("number")) or 0
        match said.get("do"):
            case "set":
                self._owner = writer
                with suppress(ValueError):  # of a newer version
                    self.breakpoints.set(text_in(said, "text"))
            case "release":
                self.breakpoints.release(number)
            case "drop":
                self.breakpoints.drop(number)
            case "edit":
                self.breakpoints.edit(number, as_bytes(text_in(said, "sent")))
            case "answer":
                self.breakpoints.answer(number, mapping(said.get("said")))

    async def _tell(self, writer: asyncio.StreamWriter, event: asyncio.Event) -> None:
        """Tell a client the breakpoint and what is held, each message once and then what changes about it."""
        known: dict[int, Mapping[str, Any]] = {}
        text: str | None = None
        with suppress(OSError):
            while True:
                held = self.breakpoints.held
                lines: list[Mapping[str, Any]] = [{"gone": number} for number in known if number not in held]
                if text != self.breakpoints.text:
                    text = self.breakpoints.text
                    lines.append({"text": text})
                for number, one in held.items():
                    if (state := _state(one)) != known.get(number):
                        lines.append(state if number in known else {**state, **_whole(one)})
                known = {number: _state(one) for number, one in held.items()}
                writer.write(b"".join(map(line_of, lines)))
                await writer.drain()
                await event.wait()
                event.clear()


def _state(held: Held) -> dict[str, Any]:
    """Return what can change about a held message."""
    edited = as_text(held.sent) if held.is_edited else None
    ended = {"given up": held.is_given_up, "ended": held.is_gone}
    return {"number": held.number, "sent": edited, **ended}


def _whole(held: Held) -> dict[str, Any]:
    return {
        "source": held.source,
        "dir": int(held.direction),
        "method": held.reading.method,
        "tool": held.reading.tool,
        "raw": as_text(held.raw),
        "at": held.at_ns,
        "deadline": held.deadline_ns,
    }


def as_text(raw: bytes) -> str:
    """Return bytes as a text that JSON can hold."""
    return raw.decode("latin-1")


def as_bytes(text: str) -> bytes:
    """Return the bytes in a text of `as_text`."""
    return text.encode("latin-1", "replace")
