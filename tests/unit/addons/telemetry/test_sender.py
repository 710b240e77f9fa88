"""Requests to a collector, and what its responses mean."""

import asyncio
import base64
import socket
import time
from contextlib import closing

import pytest

from tests.http_server import Asked, reply
from tests.unit.addons.telemetry.collector import Collector, collecting
from tui.addons.telemetry.otlp import span_text, traces
from tui.addons.telemetry.sender import Done, Sender
from tui.addons.telemetry.span import Span

BODY = traces([span_text(Span("a" * 32, "b" * 16, "", "n", 3, 1, 2))]).encode()


def sending(sender: Sender, seconds: float = 5) -> Done:
    with closing(sender):
        return sender.send("traces", BODY, seconds)


async def sent(
    collector: Collector, path: str = "", status: str = "", body: bytes = b"", **headers: str
) -> Done:
    if status:
        collector.answers.append(lambda _: reply(body, status, **headers))
    return await asyncio.to_thread(sending, Sender(collector.url + path, {"x-key": "k"}))


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
async def test_spans_are_sent_with_the_headers_to_the_path_of_their_signal(path: str):
    async with collecting() as collector:
        assert await sent(collector, path) == Done(True)
        assert [span.name for span in collector.spans] == ["n"]
        assert collector.server.asked[0].headers["x-key"] == "k"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_collector_that_is_busy_gets_the_same_again(status: int):
    async with collecting() as collector:
        done = await sent(collector, status=f"{status} Busy")
    assert not done.is_final and f"HTTP {status}" in done.problem


@pytest.mark.parametrize("status", [400, 401, 404, 500])
async def test_what_a_collector_refuses_is_not_sent_again(status: int):
    async with collecting() as collector:
        done = await sent(collector, status=f"{status} No")
    assert done.is_final and done.problem.endswith(f"HTTP {status}. Check [telemetry] endpoint")


async def test_a_user_and_password_in_the_url_are_sent_as_a_header():
    async with collecting() as collector:
        url = collector.url.replace("//", "//me:a%3Ab@")
        await asyncio.to_thread(sending, Sender(url, {}))
        found = collector.server.asked[0].headers["authorization"]
    assert base64.b64decode(found.removeprefix("Basic ")) == b"me:a:b"


async def test_a_connection_that_the_collector_closed_meanwhile_is_opened_again():
    async with collecting() as collector:
        with closing(Sender(collector.url, {})) as sender:
            await asyncio.to_thread(sender.connect)
            sender._connection.sock.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
            assert await asyncio.to_thread(sender.send, "traces", BODY, 5) == Done(True)


async def test_an_answer_that_comes_a_byte_at_a_time_costs_no_more_than_the_timeout():
    async def trickle(asked: Asked, writer: asyncio.StreamWriter) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"y" * 60_000:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.01)

    async with collecting() as collector:
        collector.server.answers["POST"] = trickle
        done = await asyncio.to_thread(sending, Sender(collector.url, {}), 0.1)
    assert not done.is_final and "does not respond" in done.problem


async def test_what_is_for_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with collecting() as collector:
        assert await sent(collector) == Done(True)
    assert "proxy" not in sending(Sender("http://127.0.0.1:1", {})).problem.lower()


async def test_a_proxy_is_asked_for_the_whole_url_with_its_own_password(monkeypatch: pytest.MonkeyPatch):
    async with collecting() as collector:
        monkeypatch.setenv("HTTP_PROXY", collector.url.replace("//", "//me:pw@"))
        collector.answers.append(lambda _: reply(b"", "403 No"))
        done = await asyncio.to_thread(sending, Sender("http://u:key@otlp.example:4318/v2", {}))
        asked = collector.server.asked[0]
    assert done.is_final and asked.path == "http://otlp.example:4318/v2/v1/traces"
    assert asked.headers["proxy-authorization"].startswith("Basic ")


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://me:pw@127.0.0.1:1")
    done = sending(Sender("http://otlp.example:4318", {}))
    assert not done.is_final and "ALL_PROXY" in done.problem and "pw" not in done.problem


async def test_a_redirect_is_not_followed():
    async with collecting() as collector:
        done = await sent(collector, status="307 Elsewhere", location=f"{collector.url}/other")
        assert done.is_final and "HTTP 307" in done.problem
        assert len(collector.server.asked) == 1


async def test_a_partial_success_tells_how_many_were_rejected_and_why():
    body = b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too\\u001b[2J old"}}'
    async with collecting() as collector:
        done = await sent(collector, status="200 OK", body=body)
        collector.faults.clear()
    assert (done.is_final, done.rejected) == (True, 3)
    assert done.problem.endswith("rejected some traces: too␛[2J old")


LATER = "Fri, 01 Jan 2100 00:00:00 GMT"


@pytest.mark.parametrize(("value", "least"), [("7", 6.9), (LATER, 59), ("junk", 1.9), ("-1", 1.9)])
async def test_a_collector_is_left_alone_as_long_as_it_asks_but_a_minute_at_most(value: str, least: float):
    async with collecting() as collector:
        collector.answers.append(lambda _: reply(b"", "503 Busy", retry_after=value))
        sender = Sender(collector.url, {})
        await asyncio.to_thread(sending, sender)
        assert not sender.is_due
        assert least < sender._due_at - time.monotonic() <= 60


async def test_a_silent_collector_costs_no_more_than_the_timeout():
    heard = asyncio.Event()

    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        heard.set()

    async with collecting() as collector:
        collector.server.answers["POST"] = silent
        done = await asyncio.to_thread(sending, Sender(collector.url, {}), 0.1)
        assert heard.is_set()
    assert not done.is_final and done.problem.startswith(f"{collector.url} does not respond.")


def test_a_collector_that_is_not_there_is_named_without_its_password():
    done = sending(Sender("http://user:pw@127.0.0.1:1", {}))
    assert not done.is_final
    assert "connection refused" in done.problem.lower() and "pw" not in done.problem
