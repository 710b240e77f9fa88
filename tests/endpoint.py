"""A real endpoint on loopback that speaks OpenAI-compatible SSE and follows a script.

    async with Endpoint([says("Hello"), refuses(429, "slow down")]) as endpoint:
        model = OpenAIChat(ModelProfile("test", endpoint.base_url, "m"))
        ...
        assert endpoint.requests[0].json["model"] == "m"

Each request to `/v1/chat/completions` gets the next answer of the script; at its end, the last answer is
repeated. `/v1/models` lists `models`, and other paths return `pages`. Everything else is 404. An answer can
be split at random positions (`seed`), delayed (`delay`), left open (`hang`), or cut off (`reset`).
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.http_server import joined_headers

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Request:
    """A received HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """The answer to one request.

    Attributes:
        chunks: sent as SSE events, followed by `[DONE]` if `done`.
        raw: sent instead of chunks, byte for byte.
        status: HTTP status; if it is not 200, `body` is sent as JSON, or verbatim if it is a string.
        body: see `status`; with status 200 and no chunks it is the complete body.
        headers: added to the response; "content-type" overrides the default.
        done: whether `[DONE]` ends the events.
        seed: split the body at random positions with this seed; None sends one event at a time.
        delay: seconds before each piece.
        wait: seconds before the response begins.
        hang: keep the connection open after the last piece.
        comments: seconds between keep-alive comments sent while hanging; 0 for none.
        reset: cut the connection after the last piece without ending the body.
        mute: read the request and never answer.
    """

    chunks: Sequence[Any] = ()
    raw: bytes | None = None
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    done: bool = True
    seed: int | None = None
    delay: float = 0.0
    wait: float = 0.0
    hang: bool = False
    comments: float = 0.0
    reset: bool = False
    mute: bool = False


Reply = Answer | Callable[[Request], Answer]


def chunk(finish: str | None = None, *, usage: Any = None, **delta: Any) -> dict[str, Any]:
    """Return a chunk in OpenAI's format."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice], "usage": usage}


def says(text: str, *, pieces: int = 3, **options: Any) -> Answer:
    """Return an answer with `text`, streamed in pieces."""
    size = max(1, -(-len(text) // pieces))
    parts = [chunk(content=text[at : at + size]) for at in range(0, len(text), size)]
    usage = {"prompt_tokens": 12, "completion_tokens": len(parts)}
    return Answer([chunk(role="assistant"), *parts, chunk("stop", usage=usage)], **options)


def calls(*made: tuple[str, Mapping[str, Any]], text: str = "", **options: Any) -> Answer:
    """Return an answer that calls tools, in parallel if there are several; ids begin with `call_N`."""
    chunks = [chunk(role="assistant", content=text or None)]
    for number, (name, arguments) in enumerate(made):
        written = json.dumps(arguments)
        function = {"name": name, "arguments": ""}
        start = {
            "index": number,
            "id": f"call_{number}_{len(written)}",
            "type": "function",
            "function": function,
        }
        chunks.append(chunk(tool_calls=[start]))
        for at in range(0, len(written), 8):
            piece = {"index": number, "function": {"arguments": written[at : at + 8]}}
            chunks.append(chunk(tool_calls=[piece]))
    return Answer(
        [*chunks, chunk("tool_calls", usage={"prompt_tokens": 20, "completion_tokens": 9})], **options
    )


def refuses(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: Any) -> Answer:
    """Return an error in OpenAI's format."""
    return Answer(status=status, body={"error": {"message": message, **fields}}, headers=headers or {})


class Endpoint:
    """The server. Use it with `async with`, which closes every open connection at the end.

    Attributes:
        requests: every completely read request to chat/completions.
        others: every other request.
        disconnects: how many clients disconnected before their answer was complete.
        connections: how many connections were opened.
        open: how many connections are open now.
        pages: the answers of other paths; may be changed at any time.
    """

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        models: Sequence[str] = ("m",),
        prefix: str = "/v1",
        pages: Mapping[str, Answer] | None = None,
    ) -> None:
        self._replies = list(replies)
        self.pages = dict(pages or {})
        self._models = list(models)
        self._prefix = prefix
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self.requests: list[Request] = []
        self.others: list[Request] = []
        self.disconnects = 0
        self.connections = 0
        self.open = 0
        self.port = 0

    @property
    def origin(self) -> str:
        """The URL without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The URL for the `base_url` of a profile."""
        return self.origin + self._prefix

    def then(self, *replies: Reply) -> None:
        """Append answers to the script."""
        self._replies.extend(replies)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            while (request := await _read(reader)) is not None and await self._respond(
                request, reader, writer
            ):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.transport.abort()

    async def _respond(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send the answer; return whether the connection stays open."""
        if not request.path.partition("?")[0].endswith(self._prefix + "/chat/completions"):
            self.others.append(request)
            listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            found = request.path == self._prefix + "/models"
            answer = Answer(body=listing) if found else Answer(status=404, body="404 page not found")
            answer = self.pages.get(request.path, answer)
        else:
            self.requests.append(request)
            reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
            answer = reply(request) if callable(reply) else reply
        sending = asyncio.create_task(_send(answer, writer))
        gone = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done() or isinstance(sending.exception(), ConnectionError):
                self.disconnects += 1
                return False
            return sending.result()
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.wait({sending, gone})
            if sending.done() and not sending.cancelled():
                sending.exception()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = joined_headers(lines)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, body)


def _pieces(answer: Answer) -> list[bytes]:
    if answer.raw is not None:
        pieces = [answer.raw]
    elif answer.chunks:
        pieces = [b"data: " + json.dumps(one).encode() + b"\n\n" for one in answer.chunks]
        pieces += [DONE] if answer.done else []
    elif isinstance(answer.body, str):
        pieces = [answer.body.encode()]
    else:
        pieces = [] if answer.body is None else [json.dumps(answer.body).encode()]
    if answer.seed is None:
        return pieces
    whole = b"".join(pieces)
    chance = random.Random(answer.seed)
    edges = sorted(chance.sample(range(1, len(whole)), min(len(whole) - 1, 1 + len(whole) // 40)))
    return [whole[start:end] for start, end in zip([0, *edges], [*edges, len(whole)], strict=True)]


async def _send(answer: Answer, writer: asyncio.StreamWriter) -> bool:
    """Write a response in chunked encoding, one HTTP chunk per piece; return whether it is complete."""
    forever = asyncio.get_running_loop().create_future()
    if answer.mute:
        await forever
    await asyncio.sleep(answer.wait)
    streamed = answer.chunks or answer.raw is not None
    kind = "text/event-stream" if streamed else "application/json"
    headers = {"content-type": kind, "transfer-encoding": "chunked"} | {
        name.lower(): value for name, value in answer.headers.items()
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{lines}\r\n".encode("latin-1"))
    for piece in _pieces(answer):
        await asyncio.sleep(answer.delay)
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await writer.drain()
    while answer.hang:
        if not answer.comments:
            await forever
        await asyncio.sleep(answer.comments)
        writer.write(b"6\r\n: on\n\n\r\n")
        await writer.drain()
    if answer.reset:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


@asynccontextmanager
async def port_that_says(said: bytes) -> AsyncIterator[int]:
    """Listen on a port and answer any input with these bytes and end of file."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(said)
        with suppress(ConnectionError):
            await writer.drain()
        writer.transport.abort() if not said else writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()
