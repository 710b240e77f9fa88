"""Requests to a collector, and what its responses mean."""

import asyncio
import time

import pytest

from tests.http_server import Asked, reply
from tests.unit.addons.telemetry.collector import Collector, collecting
from tui.addons.telemetry.otlp import text_of, traces
from tui.addons.telemetry.sender import Done, Sender
from tui.addons.telemetry.span import Span

BODY = text_of(traces([Span("a" * 32, "b" * 16, "", "n", 3, 1, 2)])).encode()


async def sent(
    collector: Collector, path: str = "", status: str = "", body: bytes = b"", **headers: str
) -> Done:
    if status:
        collector.answers.append(lambda _: reply(body, status, **headers))
    async with Sender(collector.url + path, {"x-key": "k"}) as sender:
        return await sender.send("traces", BODY, 5)


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
        async with Sender(collector.url, {}) as sender:
            await sender.send("traces", BODY, 5)
            assert not sender.is_due
            assert least < sender._due_at - time.monotonic() <= 60


async def test_a_silent_collector_costs_no_more_than_the_timeout():
    heard = asyncio.Event()

    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        heard.set()

    async with collecting() as collector:
        collector.server.answers["POST"] = silent
        async with Sender(collector.url, {}) as sender:
            done = await sender.send("traces", BODY, 0.1)
        assert heard.is_set()
    assert not done.is_final and done.problem.startswith(f"{collector.url} does not respond.")


async def test_a_collector_that_is_not_there_is_named_without_its_password():
    async with Sender("http://user:pw@127.0.0.1:1", {}) as sender:
        done = await sender.send("traces", BODY, 5)
    assert not done.is_final
    assert "connection refused" in done.problem.lower() and "pw" not in done.problem
