import asyncio
import json
import time

import pytest

from tui.core.jsonrpc.framing import HEAD, LINE_LIMIT, Framer
from tui.core.jsonrpc.messages import Failure, Request, Response
from tui.core.traffic import Direction, Kind
from tui.host.frames import message_reader
from tui.host.frames.id_gate import RESULT_TOO_LARGE, Gate
from tui.host.frames.inbox import EndOfInbox, Inbox
from tui.host.frames.stdout_reader import StdoutReader
from tui.host.frames.tap import WireTap


class Bench:
    """An intake with its gate and inbox; requests 1 and 2 are pending."""

    def __init__(self):
        self.noted = []
        self.inbox = Inbox()
        self.gate = Gate(self.inbox, lambda message: None)
        self.intake = StdoutReader(self.gate, self.inbox, WireTap("it", self.noted.append))
        for number in (1, 2):
            self.gate.outgoing({"jsonrpc": "2.0", "id": number, "method": "tools/call"})

    async def take(self, data):
        await self.intake.take(data)

    async def got(self):
        async with asyncio.timeout(5):
            return await self.inbox.get()

    def raw(self):
        return [captured.raw for captured in self.noted if captured.direction is Direction.IN]


ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}'


@pytest.fixture
async def bench():
    return Bench()


async def test_a_line_is_recorded_raw_before_it_is_parsed(bench):
    await bench.take(ANSWER + b"\r\n")
    (captured,) = bench.noted
    assert (captured.source, captured.direction, captured.kind) == ("it", Direction.IN, None)
    assert captured.raw == ANSWER + b"\r"
    assert 0 < captured.mono_ns <= time.monotonic_ns()
    assert await bench.got() == Response(1, {"a": 1})


async def test_lines_that_are_not_messages_are_counted_and_the_first_is_kept(bench):
    deep = b'{"jsonrpc":"2.0","method":"a","params":[' + b"[" * 300 + b"]" * 300 + b"]}"
    await bench.take(deep + b"\n\x1b[1mStarting\n\n   \nreally\n" + ANSWER + b"\n")
    messages = bench.intake.messages
    assert (messages.noise, messages.invalid, messages.first_noise) == (2, 1, "Starting")
    assert bench.raw() == [deep, b"\x1b[1mStarting", b"", b"   ", b"really", ANSWER]
    assert await bench.got() == Response(1, {"a": 1})


async def test_a_complete_message_at_the_end_of_the_stream_counts(bench):
    await bench.take(ANSWER)
    await bench.intake.finish()
    assert await bench.got() == Response(1, {"a": 1})


async def test_an_incomplete_message_at_the_end_of_the_stream_is_invalid(bench):
    await bench.take(ANSWER[:-5])
    await bench.intake.finish()
    assert bench.intake.messages.invalid_words == "1 invalid message: not JSON"
    bench.inbox.close()
    with pytest.raises(EndOfInbox):
        await bench.got()


async def test_a_line_over_the_limit_fails_its_own_call_and_is_not_kept(bench):
    await bench.take(b'{"jsonrpc":"2.0","id":2,"result":{"x":"')
    for _ in range(LINE_LIMIT // (1 << 20) + 1):
        await bench.take(b"x" * (1 << 20))
    await bench.take(b'"}}\n' + ANSWER + b"\n")
    failure = await bench.got()
    assert (failure.id, failure.code) == (2, RESULT_TOO_LARGE)
    assert f"(limit: {LINE_LIMIT})" in failure.message
    assert await bench.got() == Response(1, {"a": 1})
    head, event, answer = bench.noted
    assert len(head.raw) == HEAD < head.size
    assert len(head.detail["sha256"]) == 64
    assert (event.kind, event.detail["bytes"]) == (Kind.EVENT, head.size)
    assert answer.raw == ANSWER


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        (b'{\n  "jsonrpc": "2.0",\n', "multi-line JSON: newline-delimited JSON required"),
        (
            b"Content-Length: 44\r\n\r\n",
            "it sends Content-Length headers, but newline-delimited JSON is required",
        ),
        (
            ANSWER.decode().encode("utf-16-le") + b"\n",
            "it writes UTF-16, but newline-delimited JSON in UTF-8 is required",
        ),
        (b"Ok to proceed? (y) ", "it asks 'Ok to proceed?'. Add -y to the arguments of npx"),
        (b"Hello\n", ""),
    ],
)
async def test_known_kinds_of_noise_are_named(lines, hint, bench):
    await bench.take(lines)
    assert bench.intake.hint == hint


async def test_unreadable_framing_fails_pending_calls_at_once(bench):
    await bench.take(b"Content-Length: 44\r\n\r\n")
    failures = [await bench.got(), await bench.got()]
    assert {failure.id for failure in failures} == {1, 2}
    assert all("Content-Length headers" in failure.message for failure in failures)


async def test_a_header_line_after_a_valid_message_is_harmless(bench):
    await bench.take(ANSWER + b"\nContent-Length: 44\r\n")
    assert await bench.got() == Response(1, {"a": 1})
    await bench.take(ANSWER.replace(b'"id":1', b'"id":2') + b"\n")
    assert await bench.got() == Response(2, {"a": 1})


async def test_a_message_printed_over_several_lines_fails_its_call_at_once(bench):
    await bench.take(json.dumps({"jsonrpc": "2.0", "id": 2, "result": {}}, indent=2).encode() + b"\n")
    failure = await bench.got()
    assert failure.id == 2
    assert "multi-line JSON" in failure.message


async def test_a_response_after_a_prompt_is_read_and_a_quoted_request_is_not(bench):
    await bench.take(b'> {"jsonrpc":"2.0","id":"s1","method":"ping"}\n')
    await bench.take(b"> " + ANSWER + b"\n")
    assert await bench.got() == Response(1, {"a": 1})
    assert bench.intake.messages.noise == 2


async def turns_during(lines, pause):
    """Return how often another task runs while lines are taken."""
    turns = 0

    async def turn():
        nonlocal turns
        while True:
            await asyncio.sleep(pause)
            turns += 1

    turning = asyncio.ensure_future(turn())
    await asyncio.sleep(0)
    await lines
    turning.cancel()
    return turns


async def test_a_large_line_does_not_block_the_event_loop(monkeypatch, bench):
    monkeypatch.setattr(message_reader, "SLICE_SECONDS", 60)  # no rest, in which the loop would turn anyway
    items = [{"type": "text", "text": f"item {number}"} for number in range(40_000)]
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": items}}).encode()
    turns = await turns_during(bench.take(line + b"\n"), 0)
    assert await bench.got() == Response(1, {"content": items})
    assert turns > 20  # there are thousands; none if the line is read on the event loop


async def test_a_flood_leaves_the_event_loop_half_of_its_time(bench):
    started = time.process_time()
    line = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n'
    turns = sum([await turns_during(bench.take(line * 2000), 0.001) for _ in range(20)])
    assert turns > (time.process_time() - started) / 0.02


async def test_log_messages_that_would_be_dropped_are_not_parsed(monkeypatch, bench):
    line = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n'
    await bench.take(line * 100)
    monkeypatch.setattr("tui.host.frames.message_reader.read_line", lambda *_, **__: pytest.fail("read"))
    await bench.take(line * 100)
    assert len(bench.noted) == 200


@pytest.mark.parametrize(
    "line",
    [
        b"\x1b[32m" + ANSWER + b"\x1b[0m",
        ANSWER + b" // sent",
        b'{"jsonrpc":"2.0","method":"notifications/message"}' + ANSWER,
        b'12:30 sending {"result":{"a":1},"jsonrpc":"2.0","id":1}',
    ],
)
async def test_a_response_among_other_text_is_found_and_the_line_is_counted(line, bench):
    await bench.take(line + b"\n")
    assert await bench.got() == Response(1, {"a": 1})
    assert bench.intake.messages.rejected == 1


async def test_a_message_nested_in_another_is_not_accepted(bench):
    await bench.take(b"[" + ANSWER + b"]\n")
    assert isinstance(await bench.got(), Failure)


async def test_a_large_notification_is_dropped_and_a_large_request_loses_its_params(bench):
    params = json.dumps({"data": ["x" * 1000] * 300})
    for begin in ('"method":"notifications/message"', '"id":7,"method":"sampling/createMessage"'):
        await bench.take(f'{{"jsonrpc":"2.0",{begin},"params":{params}}}\n'.encode())
    assert await bench.got() == Request(7, "sampling/createMessage")


async def test_a_server_that_echoes_its_input_is_recognized(bench):
    await bench.take(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n')
    failure = await bench.got()
    assert isinstance(failure, Failure)
    assert "it echoes the request, so this is not an MCP server" in failure.message


class Sink:
    """A sink that accepts several lines at once and fails on marked ones."""

    def __init__(self):
        self.at_once, self.alone = [], []

    def __call__(self, captured):
        self.alone.append(captured.raw)

    def take_all(self, several):
        self.at_once.append([captured.raw for captured in several])


def test_lines_that_arrive_together_are_passed_together_to_a_sink_that_supports_it():
    sink = Sink()
    WireTap("it", sink).received_all([b"1", b"2"], 7)
    assert (sink.at_once, sink.alone) == ([[b"1", b"2"]], [])


def test_a_sink_that_fails_on_one_line_gets_the_others():
    seen = []

    def sink(captured):
        if captured.raw == b"bad":
            raise RuntimeError("mine")
        seen.append((captured.raw, captured.mono_ns))

    WireTap("it", sink).received_all([b"1", b"bad", b"2"], 7)
    assert seen == [(b"1", 7), (b"2", 7)]


async def test_lines_around_an_oversize_one_are_recorded_in_order(bench):
    bench.intake._framer = Framer(limit=1000)
    await bench.take(b"1\n" + b"x" * 2000 + b"\n2\n")
    assert [raw[:1] for raw in bench.raw()] == [b"1", b"x", b"2"]
