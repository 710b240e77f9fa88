import asyncio
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import until
from tests.unit.host.client import Client
from tui.core.servers import ServerSpec
from tui.core.traffic import Direction, Kind
from tui.host.frames.id_gate import UNANSWERED_LIMIT
from tui.host.frames.inbox import EndOfInbox
from tui.host.process.stop_ladder import StopGrace
from tui.host.process.thread_pipes import ThreadReader, ThreadWriter
from tui.host.transports import stdio
from tui.host.transports.stdio import StdioTransport

FAULTS = Path(__file__).parents[3] / "corpus" / "faults"
QUICK = StopGrace(flush=0.2, eof=0.3, term=0.2, kill=2.0, stragglers=0.2)


class Sink(list):
    def __call__(self, captured):
        self.append(captured)

    def of(self, direction, kind=None):
        return [one.raw for one in self if (one.direction, one.kind) == (direction, kind)]

    def events(self):
        return [one.detail for one in self if one.kind is Kind.EVENT]


def fault(name, sink=None, **rest):
    spec = ServerSpec(name, sys.executable, (str(FAULTS / f"{name}.py"),), env=rest.pop("env", {}))
    return StdioTransport(
        spec, sink=Sink() if sink is None else sink, owner="test", **{"grace": QUICK, **rest}
    )


def script(code, **rest):
    spec = ServerSpec("script", sys.executable, ("-c", code))
    return StdioTransport(spec, sink=rest.pop("sink", Sink()), owner="test", **{"grace": QUICK, **rest})


def request(number=1, method="tools/call", **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def use_threads(monkeypatch):
    """Have what a local server has on Windows: threads for pipes, and no groups."""
    monkeypatch.setattr(stdio, "PipeReader", ThreadReader)
    monkeypatch.setattr(stdio, "PipeWriter", ThreadWriter)
    monkeypatch.delattr(os, "killpg")


@pytest.fixture(params=["pipes", "threads"])
def pipes(request, monkeypatch):
    if request.param == "threads":
        use_threads(monkeypatch)


@pytest.fixture
async def sink():
    return Sink()


async def test_a_failing_sink_or_listener_is_harmless():
    def broken(*_):
        raise RuntimeError("broken")

    async with Client(fault("env_dump", broken, on_change=broken)) as client:
        assert not (await client.call_tool("echo", {})).is_error


async def test_an_exit_is_detected_although_a_grandchild_holds_the_pipes(pipes):
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "sys.stdin.readline(); sys.exit(3)"
    )
    transport = script(code)
    async with transport as link:
        link.send(request(), {})
        async with asyncio.timeout(20):
            failure = await link.inbox.get()
        assert "exited with code 3" in failure.message
        await asyncio.wait_for(transport.exited.wait(), 20)


async def test_the_last_response_of_an_exiting_server_is_received():
    code = (
        "import json, sys; asked = json.loads(sys.stdin.readline());"
        "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': {'last': 1}}), end='', flush=True)"
    )
    async with script(code) as link:
        link.send(request(), {})
        async with asyncio.timeout(20):
            assert (await link.inbox.get()).result == {"last": 1}
            with pytest.raises(EndOfInbox):
                await link.inbox.get()


async def test_output_after_stdin_is_closed_is_recorded_completely():
    line = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}'
    code = f"import sys; sys.stdin.read()\nfor number in range(3000): print({line!r} % number)"
    sink = Sink()
    async with script(code, sink=sink, grace=StopGrace(20, 20, 20, 5, 20)):
        pass
    assert sink.of(Direction.IN) == [(line % number).encode() for number in range(3000)]


async def test_output_at_the_end_is_recorded_even_if_the_recorder_is_busy():
    class CrowdedSink(Sink):
        def crowded(self):
            return True

    sink = CrowdedSink()
    code = "import sys; sys.stdin.read(); print('x' * 70_000); print('last words')"
    async with script(code, sink=sink, grace=StopGrace(20, 20, 20, 5, 20)):
        pass
    assert sink.of(Direction.IN)[-1] == b"last words"


async def test_nothing_is_sent_to_an_exited_server():
    transport = script("")
    async with transport as link:
        await asyncio.wait_for(transport.exited.wait(), 20)
        assert not link.send(request(), {})


@pytest.mark.parametrize(
    ("code", "pipe"),
    [
        ("os.close(0); print('ready', flush=True)", "stdin"),
        ("print('ready', flush=True); os.close(1)", "stdout"),
    ],
)
async def test_a_server_that_closes_a_pipe_but_keeps_running_is_ended_with_a_reason(
    code, pipe, pipes, monkeypatch
):
    monkeypatch.setattr("tui.host.transports.stdio.EOF_SECONDS", 0.5)  # time to say "ready"
    transport = script(f"import os, time; {code}; time.sleep(60)")
    async with transport as link:
        await until(lambda: transport.messages.noise)
        link.send(request(), {})
        async with asyncio.timeout(20):
            failure = await link.inbox.get()
    assert f"it closed its {pipe}, so mcptui ended it" in failure.message
    assert transport.fatal == f"it closed its {pipe}, so mcptui ended it"


async def test_reads_do_not_wait_for_writes(sink):
    code = (
        "import sys\n"
        'for number in range(5000): print(\'{"jsonrpc":"2.0","id":%d,"method":"ping"}\' % number)\n'
        "sys.stdout.flush()\n"
        "pongs = sum(1 for _ in zip(range(5000), sys.stdin))\n"
        "print(pongs, file=sys.stderr, flush=True); sys.stdin.read()"
    )
    transport = script(code, sink=sink)
    async with transport as link:
        await until(lambda: len(sink.of(Direction.OUT)) == 5000 - UNANSWERED_LIMIT)
        for _ in range(UNANSWERED_LIMIT):
            asked = await link.inbox.get()
            link.send({"jsonrpc": "2.0", "id": asked.id, "result": {}}, {})
        await until(lambda: transport.stderr.last == "5000")


@pytest.mark.parametrize("descriptor", [1, 2])
async def test_an_endless_line_does_not_block_other_servers(descriptor):
    worst, before = 0.0, time.thread_time()  # CPU time, since other tests share the processors
    async with script(f"import os\nwhile True: os.write({descriptor}, b'x' * 65536)"):
        for _ in range(100):
            await asyncio.sleep(0.005)
            worst, before = max(worst, time.thread_time() - before), time.thread_time()
    assert worst < 0.1


async def test_stderr_is_kept_recorded_and_reported():
    sink, changes = Sink(), []
    code = "import sys; print('one\\ntwo', file=sys.stderr, flush=True); sys.stdin.read()"
    transport = script(code, sink=sink, on_change=lambda: changes.append(1))
    async with transport:
        await until(lambda: transport.stderr.last == "two")
    assert sink.of(Direction.NONE, Kind.STDERR) == [b"one", b"two"]
    assert changes


async def test_a_stop_that_is_repeatedly_cancelled_still_ends_the_server():
    transport = fault("ignore_sigterm_and_eof")
    pids = []

    async def live():
        async with transport:
            await asyncio.sleep(0)
            pids.append(transport.pid)

    living = asyncio.ensure_future(live())
    await until(lambda: pids)
    for _ in range(5):
        await asyncio.sleep(0)
        living.cancel()
    with pytest.raises(asyncio.CancelledError):
        await living
    assert not psutil.pid_exists(pids[0])
    assert transport.exit.signal == "SIGKILL"


def test_closing_the_event_loop_leaves_no_server_running():
    pids, living = [], []

    async def live():
        transport = fault("ignore_sigterm_and_eof")
        async with transport:
            pids.append(transport.pid)
            await asyncio.Event().wait()

    async def main():
        living.append(asyncio.ensure_future(live()))
        await until(lambda: pids)

    asyncio.run(main())
    assert living[0].cancelled()
    assert not psutil.pid_exists(pids[0])


async def test_a_message_is_recorded_with_the_time_before_its_server_can_read_it(sink, monkeypatch):
    written, write = [], stdio.PipeWriter.write

    def timed(*what):
        written.append(time.monotonic_ns())
        return write(*what)

    monkeypatch.setattr(stdio.PipeWriter, "write", timed)
    async with fault("crlf", sink) as link:
        link.send(request(), dict)
    (sent,) = (one for one in sink if one.direction is Direction.OUT)
    assert sent.mono_ns <= written[0]


async def test_process_events_are_reported_in_order(sink):
    async with script("import sys; sys.stdin.read(); print('bye', file=sys.stderr)", sink=sink):
        pass
    told = [one.detail["event"] if one.kind is Kind.EVENT else one.raw for one in sink]
    assert told == ["spawn", "stop", b"bye", "exit"]
    spawn, _, ended = sink.events()
    assert spawn["argv"][0] == sys.executable and spawn["pid"] > 0
    assert (ended["code"], ended["signal"]) == (0, "")


async def test_the_signals_sent_to_a_stubborn_server_are_reported(sink):
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up', flush=True); time.sleep(60)"
    )
    async with script(code, sink=sink):
        await until(lambda: sink.of(Direction.IN))
    words = [(event["event"], event.get("signal")) for event in sink.events()]
    assert words[1:] == [("stop", None), ("signal", "SIGTERM"), ("signal", "SIGKILL"), ("exit", "SIGKILL")]


async def test_only_the_names_of_environment_variables_are_reported(sink):
    spec = ServerSpec("script", sys.executable, ("-c", ""), env={"TOKEN": "very-secret-value"})
    async with StdioTransport(spec, sink=sink, owner="test", grace=QUICK):
        pass
    assert sink.events()[0]["env"] == ["TOKEN"]
    assert not any(b"very-secret" in one.raw for one in sink)


async def test_a_flood_of_stderr_is_omitted_and_its_size_is_reported(sink):
    code = "import sys; [sys.stderr.write(('y' * 79 + chr(10)) * lines) for lines in (1, 40000)]"
    async with script(code, sink=sink) as _:
        await until(lambda: any(event["event"] == "exit" for event in sink.events()))
    kept = sum(len(line) + 1 for line in sink.of(Direction.NONE, Kind.STDERR))
    missing = sum(event["bytes"] for event in sink.events() if event["event"] == "log left out")
    assert missing > 0 and abs(kept + missing - 80 * 40001) < 2 * 80
