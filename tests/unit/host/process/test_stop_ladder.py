import asyncio
import sys
import time
import uuid
from contextlib import asynccontextmanager

import pytest

from tui.core.servers import ServerSpec
from tui.host.process.pipes import PipeWriter
from tui.host.process.process import ServerProcess, spawn
from tui.host.process.stop_ladder import StopGrace, descend, sweep

GRACE = StopGrace(flush=0.1, eof=0.2, term=0.2, kill=2.0, stragglers=0.2)
READY = "import sys, signal, time, subprocess; "
WAIT = "print('ready', flush=True); "


@asynccontextmanager
async def server(code, mark="owner/x"):
    popen = spawn(ServerSpec("x", sys.executable, ("-c", READY + code)), mark)
    process = ServerProcess(popen, lambda: None)
    stdin = PipeWriter(popen.stdin, broken=lambda why: None)
    try:
        assert popen.stdout.readline() == b"ready\n"
        yield process, stdin
    finally:
        process.destroy()
        stdin.close()
        popen.stdout.close()
        popen.stderr.close()


async def test_a_server_that_exits_on_eof_is_not_waited_for():
    async with server(WAIT + "sys.stdin.read()") as (process, stdin):
        started = time.monotonic()
        await descend(process, stdin, StopGrace(60, 60, 60, 60, 60), asyncio.Event())
        assert process.exit.code == 0
        assert time.monotonic() - started < 20


async def test_pending_input_is_flushed_before_the_server_is_stopped():
    code = WAIT + "time.sleep(0.05); sys.exit(len(sys.stdin.read()) // 10_000)"
    async with server(code) as (process, stdin):
        stdin.write(b"x" * 500_000)
        await descend(process, stdin, StopGrace(flush=30, eof=30), asyncio.Event())
        assert process.exit.code == 50


async def test_with_hurry_set_no_step_waits():
    hurry = asyncio.Event()
    hurry.set()
    async with server("signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAIT + "time.sleep(60)") as (
        process,
        stdin,
    ):
        started = time.monotonic()
        await descend(process, stdin, StopGrace(30, 30, 30, 30, 30), hurry)
        assert process.exit.signal == "SIGKILL"
        assert time.monotonic() - started < 20


@pytest.mark.parametrize("session", [False, True])
async def test_a_grandchild_is_ended_after_a_clean_exit_and_reported_if_it_left_the_group(session):
    mark = f"owner/{uuid.uuid4().hex}"
    child = "print('ready', flush=True); import time; time.sleep(60)"
    code = (
        f"subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session={session}); sys.stdin.read()"
    )
    async with server(code, mark) as (process, stdin):
        await descend(process, stdin, GRACE, asyncio.Event())
        assert process.exit.code == 0
        assert len(sweep(process, mark, 0.2)) == session
