"""A server as a subprocess on Windows: the SDK's transport, with the missing parts added.

Windows has neither non-blocking pipes nor process groups, and npx and npm are batch files there. The SDK's
helpers handle all that (job objects, shims), so its `stdio_client` does the work; stderr goes to a pipe of
ours, and the end of the stream counts as the end of the process.
"""

import asyncio
import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable
from types import TracebackType

from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage

from tui.core.errors import ServerError
from tui.core.servers import ServerSpec
from tui.core.text import clean_line
from tui.core.traffic import TrafficSink
from tui.host.frames.tap import WireTap
from tui.host.process.guard import OWNER_VARIABLE
from tui.host.process.process import ProcessExit, starting_folder
from tui.host.process.stderr import StderrTail
from tui.host.transports.streams import FilteredReadStream, FilteredWriteStream


class WindowsStdioTransport:
    """One server process behind the SDK's transport. Used once.

    The SDK does not expose its process or its noise, so these attributes never change. Its job object ends
    what the server started. `exited` is set when the server's output has ended; `on_change` must not raise.
    """

    is_final = False

    def __init__(
        self, spec: ServerSpec, *, sink: TrafficSink, owner: str, on_change: Callable[[], None] = lambda: None
    ) -> None:
        self.pid: int | None = None
        self.exit: ProcessExit | None = None
        self.exited = asyncio.Event()
        self.stderr = StderrTail()
        self.noise = self.incomplete = 0
        self.first_noise = self.noise_hint = self.stray = self.fatal = self.next_step = ""
        self.reach = None
        self.leftovers: tuple[int, ...] = ()
        self._spec = spec
        self._tap = WireTap(spec.name, sink)
        self._mark = f"{owner}/{uuid.uuid4().hex[:12]}"
        self._on_change = on_change
        self._stack = contextlib.AsyncExitStack()
        self._listener: threading.Thread | None = None

    def negotiated(self, version: str) -> None:
        """Do nothing: the SDK's transport handles all versions alike."""

    async def kill_now(self) -> None:
        """Do nothing: the SDK ends the job within its own timeouts."""

    def begin(self) -> bool:
        """Start nothing: that would need the SDK."""
        return False

    async def __aenter__(self) -> tuple[FilteredReadStream, FilteredWriteStream]:
        """Raises ServerError if it cannot be started."""
        ours, theirs = os.pipe()
        errlog = os.fdopen(theirs, "w")
        loop = asyncio.get_running_loop()
        self._listener = threading.Thread(target=self._listen, args=(ours, loop), daemon=True)
        self._listener.start()
        environment = {**self._spec.env, OWNER_VARIABLE: self._mark}
        command = StdioServerParameters(
            command=self._spec.command,
            args=list(self._spec.args),
            env=environment,
            cwd=starting_folder(self._spec),
            encoding_error_handler="replace",
        )
        try:
            read, write = await self._stack.enter_async_context(stdio_client(command, errlog))
        except (OSError, ValueError) as problem:
            raise ServerError(
                f"cannot start `{clean_line(self._spec.command, 120)}`: {clean_line(str(problem))}.",
                where=self._spec.name,
                next_step=f"Check command in [servers.{clean_line(self._spec.name, 60)}].",
            ) from problem
        finally:
            errlog.close()  # the server has its own end by now; ours would keep the pipe open
        return FilteredReadStream(read, self._received, self._ended), FilteredWriteStream(write, self._sent)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._stack.aclose()
        finally:
            self.exited.set()

    def _received(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            self.noise += 1
            self._on_change()
        else:
            self._tap.received(_line(item), time.monotonic_ns())
        return item

    def _sent(self, item: SessionMessage) -> SessionMessage:
        self._tap.sent(_line(item))
        return item

    def _ended(self) -> None:
        self.exited.set()
        self._on_change()

    def _listen(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        with os.fdopen(descriptor, "rb", 0) as pipe:
            while chunk := pipe.read(65536):
                try:
                    loop.call_soon_threadsafe(self._heard, chunk)
                except RuntimeError:  # the loop is closed: nobody reads this any more
                    return

    def _heard(self, chunk: bytes) -> None:
        self.stderr.feed(chunk)
        self._on_change()


def _line(item: SessionMessage) -> bytes:
    return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
