"""`mcptui tap --listen PORT --to URL`: proxies an HTTP server and records the traffic."""

import asyncio
import logging
import re
import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tui.commands.recordings import open_recorder
from tui.commands.tap.tap_recording import known_secrets
from tui.core.errors import reason_of
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.redact import Redactor
from tui.core.text import clean, clean_line
from tui.core.traffic import Captured, Direction
from tui.host.frames.stage import Stage, release
from tui.runtime.signals import on_signals

if TYPE_CHECKING:
    from tui.commands.tap.http_passthrough import HttpKeeper

USAGE, NOT_STARTED = 2, 1
ADDRESS = "127.0.0.1"
CLOSE_SECONDS = 2
MAX_HEAD = 256 * 1024
"""Maximum bytes of the first line and the headers of a request, more than any server accepts."""


def tap_http(
    port: int,
    target: str,
    name: str | None,
    stages: Sequence[Stage] = (),
    keeper: "HttpKeeper | None" = None,
) -> int:
    """Run the proxy on a loopback port until a signal ends it, and return its exit code.

    Port 0 selects a free port, which is printed on stderr. The server's `name` is by default its address. The
    messages pass `stages`. A `keeper` runs the server.
    """
    try:
        target = keeper.target(target) if keeper is not None else target
        parts = urlsplit(target)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        return _say(f"--to requires the URL of an HTTP server, not {clean_line(masked(target), 200)}", USAGE)
    listening = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only then
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        return _say(f"cannot listen on port {port}: {reason_of(error)}", NOT_STARTED)
    with listening:
        source = name or clean_line(parts.netloc.rpartition("@")[2], 60)
        return asyncio.run(_serve(listening, target, source, stages, keeper))


def _say(text: str, code: int) -> int:
    print(f"mcptui tap: {clean(text)}", file=sys.stderr, flush=True)
    return code


async def _serve(
    listening: socket.socket, target: str, name: str, stages: Sequence[Stage], keeper: "HttpKeeper | None"
) -> int:
    from tui.commands.tap.http_passthrough import HttpPassthrough
    from tui.host.passthrough.learned_secrets import LearnedSecrets

    redactor = Redactor(known_secrets([target]))
    paths: list[Path] = []
    recorder = open_recorder(redactor, name, paths.append)
    said = False

    def record(captured: Captured) -> None:
        nonlocal said
        recorder.capture(captured)
        if not said and (problem := recorder.problem):
            said = True
            _say(f"recording stopped. The server is not affected: {problem}", 0)

    sink = LearnedSecrets(record, redactor)
    for stage in stages:
        stage.begin()
    passthrough = HttpPassthrough(target, name, sink, stages, keeper)
    # A response that breaks off is recorded. Uvicorn only logs that, and requests that are not HTTP.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: "without completing" not in record.getMessage()
    )
    config = uvicorn.Config(
        passthrough,
        http=TapProtocol,
        log_config=None,
        log_level="error",
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    server = uvicorn.Server(config)
    # Its own handlers raise the signal again at the end, before the recording is complete.
    server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]

    def end(number: int) -> None:
        for direction in (Direction.OUT, Direction.IN):
            release(stages, direction)
        server.force_exit = server.should_exit
        server.should_exit = True

    where = f"http://{ADDRESS}:{listening.getsockname()[1]}{urlsplit(target).path}"
    with on_signals(end):
        _say(f"listening on {where}, forwarding to {clean_line(masked(target), 200)}", 0)
        try:
            async with keeper or nullcontext():
                await server.serve(sockets=[listening])
        finally:
            await passthrough.close()
            await asyncio.to_thread(recorder.close)
    if found := [path.stem for path in paths if path.is_file()]:
        return _say(f"recorded {found[0]}. To read it, run mcptui traffic {found[0]}", 0)
    return _say("nothing was recorded", 0)


_WORDS = (
    (r"bad content-length", "Content-Length is not a number of bytes"),
    (r"conflicting content-length", "it has two different Content-Length headers"),
    (r"transfer-encoding", "its Transfer-Encoding is not chunked"),
    (r"missing mandatory host", "it has no Host header"),
    (r"multiple host", "it has several Host headers"),
    (r"header (name|line|value)|start of headers", "a header is not valid"),
    (r"request line|method characters|target characters", "its first line is not that of an HTTP request"),
    (r"chunk", "a chunk of its body is not valid"),
    (r"too long", "its headers are too long"),
)
"""Patterns of the messages of h11, and our words for each."""


def why_invalid(error: BaseException | None) -> str:
    """Return why a request cannot be read."""
    said = str(error).lower()
    why = next((words for pattern, words in _WORDS if re.search(pattern, said)), "it is not HTTP/1.1")
    return f"the request is not valid: {why}"


class TapProtocol(H11Protocol):
    """The HTTP of the tap."""

    def send_400_response(self, msg: str) -> None:
        """Answer with the reason, which is the error that is being handled."""
        if self.cycle is not None:  # the start of the request is on its way: no second response
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # it has been answered already
            return
        why = why_invalid(sys.exception())
        super().send_400_response(f"mcptui tap: {why}\n")
