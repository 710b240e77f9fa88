"""What a run sends, and that nothing waits for it."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.http_server import Asked, reply
from tests.unit.addons.telemetry.collector import Collector, collecting
from tests.unit.traffic.traffic_script import Script
from tui.addons.telemetry import live
from tui.addons.telemetry.live import MAX_BYTES, Exporter, Queue
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Cause, Entry
from tui.runtime.recording import RunRecording
from tui.settings.schema import TelemetrySettings


def calls(number: int) -> Sequence[Entry]:
    script = Script()
    for each in range(number):
        known = script.out(
            "tools/call", {"name": f"tool{each}", "arguments": {}}, Cause(0, 0, f"hand-{each}")
        )
        script.result(known, {"content": []})
    return script.entries


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PERIOD", 0.02)


@asynccontextmanager
async def exporting(collector: Collector, **settings: bool) -> AsyncIterator[Exporter]:
    exporter = Exporter(TelemetrySettings(endpoint=collector.url, **settings), Redactor())
    try:
        yield exporter
    finally:
        await asyncio.to_thread(exporter.close)


async def test_spans_are_sent_while_the_run_goes_on_and_metrics_with_them():
    async with collecting() as collector, exporting(collector) as exporter:
        exporter.offer(calls(1))
        await until(lambda: collector.spans and collector.metrics)
        assert [span.name for span in collector.spans] == ["tools/call tool0"]
        assert list(collector.metrics) == ["mcp.client.operation.duration"]


async def test_a_secret_that_became_known_since_it_was_recorded_is_not_sent():
    async with collecting() as collector:
        redactor = Redactor()
        exporter = Exporter(TelemetrySettings(endpoint=collector.url), redactor)
        redactor.add({"key": "tool-4kq9ZtYw7Hs2Vb8"})
        script = Script()
        script.result(script.out("tools/call", {"name": "tool-4kq9ZtYw7Hs2Vb8"}), {"content": []})
        exporter.offer(script.entries)
        await asyncio.to_thread(exporter.close)
        assert [span.name for span in collector.spans] == ["tools/call [redacted:key]"]


async def test_a_key_of_the_keychain_that_no_header_can_have_is_reported_without_showing_it(
    keychain: dict[tuple[str, str], str],
):
    keychain["mcptui", "otlp"] = "cana\nry"
    settings = TelemetrySettings(endpoint="http://127.0.0.1:1", headers={"x-key": "keyring:mcptui/otlp"})
    exporter = Exporter(settings, Redactor())
    await until(lambda: exporter.problem)
    await asyncio.to_thread(exporter.close)
    assert "telemetry.headers.x-key" in exporter.problem and "cana" not in exporter.problem


async def test_no_metrics_are_sent_if_they_are_turned_off():
    async with collecting() as collector:
        async with exporting(collector, metrics=False) as exporter:
            exporter.offer(calls(1))
        assert collector.spans and not collector.metrics


async def test_what_is_left_is_sent_at_the_end_also_if_it_is_more_than_may_wait(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(live, "MAX_SPANS", 100)
    async with collecting() as collector:
        async with exporting(collector) as exporter:
            exporter.offer(calls(300))
        assert len(collector.spans) == 300


async def test_spans_wait_for_a_collector_that_is_busy():
    async with collecting() as collector, exporting(collector) as exporter:
        collector.answers.append(lambda _: reply(b"", "503 Busy", retry_after="0"))
        exporter.offer(calls(1))
        await until(lambda: collector.spans)
        await until(lambda: not exporter.problem)


async def test_the_oldest_spans_are_dropped_while_nobody_takes_them(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "MAX_SPANS", 20)
    exporter = Exporter(TelemetrySettings(endpoint="http://127.0.0.1:1"), Redactor())
    exporter.offer(calls(live.MAX_SPANS + 5))
    await until(lambda: exporter._spans.dropped == 5)
    await asyncio.to_thread(exporter.close)
    assert "cannot connect" in exporter.problem
    assert f"{live.MAX_SPANS + 5} spans not exported" in caplog.text


async def test_a_silent_collector_delays_the_end_by_a_second_at_most(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.2)

    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        """Say nothing."""

    async with collecting() as collector:
        collector.server.answers["POST"] = silent
        exporter = Exporter(TelemetrySettings(endpoint=collector.url), Redactor())
        exporter.offer(calls(1))
        await until(lambda: collector.server.asked)
        began = time.monotonic()
        await asyncio.to_thread(exporter.close)
        assert time.monotonic() - began < 0.7


def test_of_what_waits_the_oldest_is_dropped_if_it_is_too_much_or_too_large():
    queue = Queue[str](3, len)
    queue.add("abcd")
    assert (queue.dropped, queue.take(2), queue.take(2), queue.take(1)) == (1, ["b", "c"], ["d"], [])
    queue.add(["x" * (MAX_BYTES // 2 + 1)] * 2)
    assert (queue.dropped, len(queue.items)) == (2, 1)


async def test_a_name_that_is_looked_up_for_a_minute_does_not_delay_the_end_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
):
    asked, free = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> None:
        asked.set()
        free.wait(60)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    exporter = Exporter(TelemetrySettings(endpoint="http://localhost:1"), Redactor())
    exporter.offer(calls(1))
    assert await asyncio.to_thread(asked.wait, 20)
    began = time.monotonic()
    await asyncio.to_thread(exporter.close)
    assert time.monotonic() - began < 0.5
    assert all(one.daemon for one in threading.enumerate() if one.name == "telemetry")
    free.set()
    await until(lambda: not exporter._thread.is_alive)


async def test_other_settings_end_what_was_begun_and_the_same_ones_do_not():
    async with collecting() as first, collecting() as second:
        traffic = RunRecording(Redactor)
        for collector in (first, first, second):
            traffic.send(TelemetrySettings(endpoint=collector.url))
            traffic._offer(calls(1))
        await until(lambda: len(first.spans) == 2 and second.spans)
        traffic.send(TelemetrySettings())
        traffic._offer(calls(1))
        await asyncio.to_thread(traffic.close)
        assert (len(first.spans), len(second.spans), traffic.unsent) == (2, 1, "")


async def test_an_endpoint_that_takes_no_metrics_still_gets_spans_and_is_told_once():
    async with collecting() as collector, exporting(collector) as exporter:

        async def jaeger(asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(reply(b"", "404 Not Found" if asked.path == "/v1/metrics" else "200 OK"))
            await writer.drain()

        collector.server.answers["POST"] = jaeger
        exporter.offer(calls(1))
        await until(lambda: exporter.problem)
        exporter.offer(calls(1))
        await until(lambda: [asked.path for asked in collector.server.asked].count("/v1/traces") == 2)
        assert exporter.problem == f"{collector.url}/v1/metrics responded with HTTP 404. Set metrics = false"
