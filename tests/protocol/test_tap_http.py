"""`mcptui tap` between a client and a server over HTTP: transparent to both, also to what is not HTTP."""

import asyncio
import json
import re
import signal
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.conftest import refusing_port, until
from tests.protocol.command import finish, mcptui, start
from tests.protocol.test_tap import recorded, recordings
from tui.core.traffic import Direction, Entry, Kind, Outcome
from tui.traffic.lint.lint import Linter

pytestmark = pytest.mark.usefixtures("quick_python")

ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
NEWS = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'


class Server:
    """A minimal server that answers each request with the given bytes."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.answers: list[bytes] = []
        self.hold: asyncio.Event | None = None
        self.gone = asyncio.Event()
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.I)
            self.requests.append(head + await reader.readexactly(int(length[1]) if length else 0))
            if self.hold is not None:
                await self.hold.wait()
            for part in self.answers:
                writer.write(part)
                await writer.drain()
            if b"/hold" in head:
                await reader.read()
                self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def tapped(path: str = "/mcp") -> AsyncIterator[tuple[Server, int, asyncio.subprocess.Process]]:
    server = Server()
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{server.port}{path}"
    process = await start("tap", "--name", "web", "--listen", "0", "--to", url)
    try:
        said = (await process.stderr.readline()).decode()
        yield server, int(re.search(r"listening on http://127\.0\.0\.1:(\d+)", said)[1]), process
    finally:
        if process.returncode is None:
            process.terminate()
        await finish(process)
        listening.close()
        await listening.wait_closed()


async def ask(
    port: int, body: bytes = ASKED, *, path: str = "/mcp", **headers: str
) -> tuple[int, bytes, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    given = {"Host": f"127.0.0.1:{port}", "Content-Length": str(len(body)), "Connection": "close"} | headers
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
    writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)
    raw = await reader.read()
    writer.close()
    head, _, rest = raw.partition(b"\r\n\r\n")
    return int(head.split()[1]), head, rest


def reply(body: bytes, kind: str = "application/json") -> bytes:
    return (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nMcp-Session-Id: s1\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


def frames() -> list[tuple[Entry, bytes]]:
    return [(entry, body) for entry, body in recorded() if entry.kind is not Kind.EVENT]


async def test_a_request_and_its_answer_pass_through_and_are_recorded_without_the_key(own_python: None):
    async with tapped() as (server, port, process):
        server.answers = [reply(ANSWER)]
        headers = {"Authorization": "Bearer secret-key-12345", "Mcp-Method": "tools/call"}
        status, head, body = await ask(port, Origin="http://localhost:5173", **headers)  # a local web page
        assert (status, body) == (200, ANSWER)
        assert b"mcp-session-id: s1" in head.lower()
        assert server.requests[0].endswith(ASKED)
        assert b"secret-key-12345" in server.requests[0]
        assert f"host: 127.0.0.1:{server.port}".encode() in server.requests[0].lower()
        process.send_signal(signal.SIGQUIT)
        told = (await finish(process)).err
    (path,) = recordings()
    assert told == f"mcptui tap: recorded {path.stem}. To read it, run mcptui traffic {path.stem}\n"
    (request, sent), (answer, got) = frames()
    assert (sent, got) == (ASKED, ANSWER)
    assert (request.direction, request.method, request.tool) == (Direction.OUT, "tools/call", "t")
    assert (answer.direction, answer.pair, answer.detail["status"]) == (Direction.IN, request.seq, 200)
    assert "secret-key-12345" not in json.dumps(dict(request.detail))
    assert b"secret-key-12345" not in recordings()[0].read_bytes()


async def test_session_ids_and_secrets_in_urls_pass_through_but_are_not_recorded():
    session, key, bearer = "5e55-10n-1d-42", "k3y-in-query", "b34r3r-t0k3n"
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"you": [session, key, bearer]}}).encode()
    async with tapped(f"/mcp?api_key={key}") as (server, port, _):
        server.answers = [reply(said).replace(b"Session-Id: s1", f"Session-Id: {session}".encode())]
        headers = {"Mcp-Session-Id": session, "Authorization": f"Bearer {bearer}", "Cookie": f"c={session}"}
        _, head, body = await ask(port, **headers)
        assert body == said and session.encode() in head
        asked = server.requests[0]
        assert all(text.encode() in asked for text in (session, f"?api_key={key}", bearer))
    (request, _), (answer, kept) = frames()
    assert request.detail["url"].endswith("/mcp?api_key=[redacted:api_key]")
    assert ["Mcp-Session-Id", "[redacted:mcp-session-id]"] in answer.detail["headers"]
    assert json.loads(kept)["id"] == 1
    everything = str(recorded()) + recordings()[0].read_bytes().decode("latin-1")
    assert not [text for text in (session, key, bearer) if text in everything]


async def test_the_session_url_of_http_sse_is_recorded_without_its_id():
    session = "5e55-10n-1d-42"
    async with tapped("/sse") as (server, port, _):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        server.answers = [head + f"event: endpoint\ndata: /messages?session_id={session}\n\n".encode()]
        _, _, body = await ask(port)
        assert session.encode() in body
    assert session not in str(recorded())
    assert any(b"/messages?session_id=[redacted:" in body for _, body in recorded())


async def test_a_request_refused_without_its_id_does_not_stay_pending():
    refused = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}'
    async with tapped() as (server, port, _):
        server.answers = [reply(refused).replace(b"200 OK", b"400 Bad Request")]
        assert (await ask(port))[0] == 400
    (request, _), (error, _) = frames()
    assert (error.pair, error.outcome) == (request.seq, Outcome.ERROR)
    assert "gave up" not in [entry.method for entry, _ in recorded()]


async def test_events_pass_through_at_once_and_each_is_an_entry():
    async with tapped() as (server, port, _):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        server.answers = [head, b"event: message\nid: 1\ndata: " + NEWS + b"\n\n"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /hold HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {len(ASKED)}\r\n\r\n"
        writer.write(head.encode() + ASKED)
        await reader.readuntil(NEWS)
        await until(lambda: recordings() and len(frames()) == 2)
        writer.close()
        async with asyncio.timeout(10):
            await server.gone.wait()
    event = frames()[1][0]
    assert frames()[1][1] == NEWS
    assert event.detail["sse"] == {"event": "message", "id": "1"}


FOREIGN = [
    {"Host": "evil.example"},
    {"Origin": "http://evil.example"},
    {"Host": "127.0.0.1.evil.example:80"},
    {"Origin": "null"},
]


async def test_a_server_that_resets_the_connection_was_connected():
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        linger = struct.pack("ii", 1, 0)  # closing sends RST
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        process = await start("tap", "--listen", "0", "--to", url)
        said = (await process.stderr.readline()).decode()
        status, _, body = await ask(int(re.search(r":(\d+)/", said)[1]))
        process.terminate()
        await finish(process)
    assert status == 502
    assert re.search(rb"connection to http://127\.0\.0\.1:\d+ lost: Connection reset by peer", body)


async def test_an_unreachable_server_is_a_bad_gateway_and_no_url_is_printed_with_its_password():
    with refusing_port() as port:
        url = f"http://ada:hunter2@127.0.0.1:{port}/mcp?token=hunter2"
        process = await start("tap", "--listen", "0", "--to", url)
        said = (await process.stderr.readline()).decode()
        status, _, body = await ask(int(re.search(r":(\d+)/", said)[1]))
    assert (status, b"hunter2" in body) == (502, False)
    assert b"cannot connect to http://127.0.0.1:%d" % port in body and b"that the server is running" in body
    await until(lambda: any(entry.method == "gave up" for entry, _ in recorded()))
    asked = next(entry for entry, _ in recorded() if entry.kind is Kind.REQUEST)
    ended = next(entry for entry, _ in recorded() if entry.method == "gave up")
    assert (ended.pair, ended.outcome) == (asked.seq, Outcome.ERROR)
    process.terminate()
    done = await finish(process)
    refused = await mcptui("tap", "--listen", "0", "--to", "ftp://ada:hunter2@h/")
    assert (done.code, refused.code) == (0, 2)
    assert "--to requires the URL of an HTTP server, not" in refused.err
    assert "hunter2" not in said + done.err + refused.err


async def test_two_clients_with_the_same_ids_are_told_apart():
    async with tapped() as (server, port, process):
        server.answers, server.hold = [reply(ANSWER)], asyncio.Event()
        asking = [asyncio.create_task(ask(port)) for _ in range(2)]
        await until(lambda: len(server.requests) == 2)
        server.hold.set()
        assert [body for _, _, body in await asyncio.gather(*asking)] == [ANSWER, ANSWER]
        process.terminate()
        await finish(process)
    entries = [entry._replace(body=body) for entry, body in recorded()]
    requests = [one.seq for one in entries if one.kind is Kind.REQUEST]
    answers = [one for one in entries if one.kind is Kind.RESPONSE]
    assert sorted(one.pair for one in answers) == requests and len(requests) == 2
    assert [one.outcome for one in answers] == [Outcome.OK, Outcome.OK]
    linter = Linter()
    assert "reused-id" not in [found.code for one in entries for found in linter.feed(one)]


LENGTH = f"Content-Length: {len(ASKED)}\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ASKED), ASKED)
CHUNKED = "Transfer-Encoding: chunked\r\n"


async def sent(port: int, raw: bytes, *, ends: bool = False) -> tuple[int, bytes]:
    """Send bytes and return the status and the body; status 0 for no response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    if ends:
        writer.write_eof()
    got = await reader.read()
    writer.close()
    head, _, body = got.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body


def request(headers: str, body: bytes = ASKED, line: str = "POST /mcp HTTP/1.1") -> bytes:
    return f"{line}\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode("latin-1") + body


INVALID = [
    *(
        (request(f"Content-Length: {one}\r\n"), b"Content-Length")
        for one in ("-1", "-0", "x", "+5", "9" * 30)
    ),
    (request("Content-Length: 4\r\nContent-Length: 5\r\n"), b"two different Content-Length"),
    (request(LENGTH + CHUNKED, CHUNKS), b"both Content-Length and Transfer-Encoding"),
    (request("Transfer-Encoding: gzip\r\n"), b"Transfer-Encoding is not chunked"),
    (request(CHUNKED, b"-5\r\nabc\r\n"), b"a chunk of its body"),
    (request(CHUNKED, b"f" * 40 + b"\r\nabc"), b"a chunk of its body"),
    (request(f"X-N\xe4me: a\r\n{LENGTH}"), b"a header is not valid"),
    (request(f"X-N: a\0b\r\n{LENGTH}"), b"a header is not valid"),
    (request(f"Host: 127.0.0.1\r\n{LENGTH}"), b"several Host"),
    (b"POST /mcp HTTP/1.1\r\n\r\n", b"no Host"),
    (b"nonsense\r\n\r\n", b"its first line"),
    (b"GET /mcp\r\n\r\n", b"its first line"),
    (b"\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\x03\x03" + bytes(200), b"its first line"),
    (request(LENGTH, line=f"POST /{'a' * 70_000} HTTP/1.1"), b"its path or query"),
    (request(CHUNKED, b"zz\r\n").replace(b"127.0.0.1", b"elsewhere"), b"a chunk of its body"),
]
PARTS = [request("Content-Length: 1000\r\n"), request(CHUNKED, b"5\r\nab")]


async def test_what_is_not_a_whole_request_of_this_machine_is_refused_and_any_header_passes() -> None:
    async with tapped() as (server, port, process):
        for raw, said in INVALID:
            status, body = await sent(port, raw)
            assert (status, said in body) == (400, True), (raw[:80], body)
            assert b"mcptui tap: the request is not valid: " in body
        for length in (256 * 1024 * 1024 + 1, 10**12, 10**18):
            status, body = await sent(port, request(f"Content-Length: {length}\r\n"))
            assert (status, b"larger than 256 MiB" in body) == (413, True)
        for headers in FOREIGN:
            assert (await ask(port, **headers))[0] == 403
        for raw in PARTS:
            await sent(port, raw, ends=True)
        assert server.requests == []
        server.answers = [reply(ANSWER)]
        status, _ = await sent(port, request(f"X-Name: Zo\xeb\r\nConnection: close\r\n{LENGTH}"))
        assert (status, b"Zo\xeb" in server.requests[0]) == (200, True)
        process.terminate()
        assert "Traceback" not in (await finish(process)).err


def answer(headers: bytes, body: bytes = ANSWER, line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return line + b"\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers + b"\r\n" + body


WRONG = [
    *((answer(b"Content-Length: " + one + b"\r\n"), b"invalid response") for one in (b"-1", b"x", b"9" * 30)),
    (answer(b"Transfer-Encoding: gzip\r\n"), b"invalid response"),
    (answer("X-Ä: a\r\n".encode()), b"invalid response"),
    (b"nonsense\r\n\r\n", b"invalid response"),
    (answer(b"Content-Length: 2\r\n", b"{}", b"HTTP/1.1 600 Odd"), b"with the status 600"),
    (answer(b"Content-Length: 2\r\n", b"{}", b"HTTP/1.1 999 Odd"), b"with the status 999"),
    (b"", b" lost: "),
]


async def test_a_response_that_is_not_http_is_a_bad_gateway_with_the_reason() -> None:
    async with tapped() as (server, port, process):
        second = await mcptui("tap", "--listen", str(port), "--to", "http://127.0.0.1:1")
        assert (second.code, "cannot listen on port" in second.err) == (1, True)
        for raw, said in WRONG:
            server.answers = [raw]
            status, _, body = await ask(port)
            assert (status, body.startswith(b"mcptui tap: "), said in body) == (502, True, True), raw
            assert b"cannot connect" not in body
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ANSWER), ANSWER)
        server.answers = [answer(b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunks)]
        status, _, body = await ask(port)
        assert (status, ANSWER in body) == (200, True)  # chunks take precedence over the length
        server.answers = [answer(b"Content-Length: 1000\r\n")]
        assert (await ask(port))[::2] == (200, ANSWER)  # broken off
        process.terminate()
        assert "Traceback" not in (await finish(process)).err
