"""`mcptui tap --listen` between a host and a server that do not keep to HTTP: words, no internal error."""

import asyncio

import pytest

from tests.protocol.command import finish
from tests.protocol.test_tap_http import ANSWER, ASKED, ask, reply, tapped

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


@pytest.mark.parametrize(
    ("raw", "said"),
    [
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
        (b"nonsense\r\n\r\n", b"its first line"),
        (b"GET /mcp\r\n\r\n", b"its first line"),
        (b"\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\x03\x03" + bytes(200), b"its first line"),
        (request(LENGTH, line=f"POST /{'a' * 70_000} HTTP/1.1"), b"its path or query"),
    ],
)
async def test_a_request_that_is_not_http_is_a_bad_request_with_the_reason(raw: bytes, said: bytes) -> None:
    async with tapped() as (server, port, process):
        status, body = await sent(port, raw)
        assert status == 400
        assert b"mcptui tap: the request is not valid: " in body and said in body
        assert server.requests == []
        server.answers = [reply(ANSWER)]
        assert (await ask(port))[0] == 200  # the tap goes on
        process.terminate()
        assert b"Traceback" not in (await finish(process)).err.encode()


@pytest.mark.parametrize("length", [256 * 1024 * 1024 + 1, 10**12, 10**18])
async def test_a_request_that_is_too_large_is_refused_at_once(length: int) -> None:
    async with tapped() as (server, port, _):
        status, body = await sent(port, request(f"Content-Length: {length}\r\n"))
        assert (status, b"larger than 256 MiB" in body, server.requests) == (413, True, [])


@pytest.mark.parametrize(
    "raw", [request("Content-Length: 1000\r\n"), request(CHUNKED, b"5\r\nab")], ids=["length", "chunk"]
)
async def test_a_part_of_a_request_is_not_forwarded(raw: bytes) -> None:
    async with tapped() as (server, port, _):
        await sent(port, raw, ends=True)
        server.answers = [reply(ANSWER)]
        assert (await ask(port))[0] == 200
        assert len(server.requests) == 1


async def test_a_header_in_any_encoding_passes_through() -> None:
    async with tapped() as (server, port, _):
        server.answers = [reply(ANSWER)]
        status, _ = await sent(port, request(f"X-Name: Zo\xeb\r\nConnection: close\r\n{LENGTH}"))
        assert (status, b"Zo\xeb" in server.requests[0]) == (200, True)


def answer(headers: bytes, body: bytes = ANSWER, line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return line + b"\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers + b"\r\n" + body


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        *((answer(b"Content-Length: " + one + b"\r\n"), b"not valid") for one in (b"-1", b"x", b"9" * 30)),
        (answer(b"Transfer-Encoding: gzip\r\n"), b"not valid"),
        (answer("X-Ä: a\r\n".encode()), b"not valid"),
        (b"nonsense\r\n\r\n", b"not valid"),
        (answer(b"Content-Length: 2\r\n", b"{}", b"HTTP/1.1 600 Odd"), b"with the status 600"),
        (answer(b"Content-Length: 2\r\n", b"{}", b"HTTP/1.1 999 Odd"), b"with the status 999"),
        (b"", b"closed the connection without a response"),
    ],
)
async def test_a_response_that_is_not_http_is_a_bad_gateway_with_the_reason(raw: bytes, said: bytes) -> None:
    async with tapped() as (server, port, process):
        server.answers = [raw]
        status, _, body = await ask(port)
        assert (status, body.startswith(b"mcptui tap: the "), said in body) == (502, True, True)
        assert b"cannot connect" not in body
        process.terminate()
        assert "Traceback" not in (await finish(process)).err


async def test_chunks_take_precedence_over_the_length_of_a_response() -> None:
    async with tapped() as (server, port, _):
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ANSWER), ANSWER)
        server.answers = [answer(b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunks)]
        status, _, body = await ask(port)
        assert (status, ANSWER in body) == (200, True)


async def test_a_response_that_breaks_off_is_broken_off_without_a_traceback() -> None:
    async with tapped() as (server, port, process):
        server.answers = [answer(b"Content-Length: 1000\r\n")]
        status, _, body = await ask(port)
        assert (status, body) == (200, ANSWER)
        process.terminate()
        assert "Traceback" not in (await finish(process)).err


async def test_a_request_that_breaks_off_in_the_bytes_of_its_start_is_answered_once() -> None:
    async with tapped() as (_, port, process):
        raw = request(CHUNKED, b"zz\r\n").replace(b"127.0.0.1", b"elsewhere")
        assert (await sent(port, raw))[0] == 400
        process.terminate()
        said = (await finish(process)).err
        assert "Traceback" not in said
