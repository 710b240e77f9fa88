"""What happens to servers when their host ends without stopping them."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

from tests.conftest import wait_until

FAULTS = Path(__file__).parents[1] / "corpus" / "faults"
ROOT = Path(__file__).parents[2]

HOST = """
import asyncio, sys
from mcp import Client
from tui.core.servers import ServerSpec
from tui.host.transports.stdio import StdioTransport
from tui.host.process.watchdog import Watchdog

async def main(owner, ending, *servers):
    watchdog = Watchdog(owner)

    async def live(path):
        spec = ServerSpec("x", sys.executable, (path,))
        server = StdioTransport(spec, sink=lambda *_: None, owner=owner, watchdog=watchdog)
        async with Client(server) as client:
            if "grandchild" in path:
                await client.call_tool("echo", {})
            up.append(path)
            await asyncio.Event().wait()

    up = []
    lives = [asyncio.ensure_future(live(path)) for path in servers]
    while len(up) < len(servers):
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    if ending == "crash":
        raise SystemExit(1)
    await asyncio.gather(*lives)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def host():
    started = []

    def start(ending, *servers):
        owner = uuid.uuid4().hex
        paths = [str(FAULTS / f"{name}.py") for name in servers]
        process = subprocess.Popen(
            [sys.executable, "-c", HOST, owner, ending, *paths], cwd=ROOT, stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process, owner

    yield start
    for process in started:
        process.kill()
        process.communicate()


def left_of(owner):
    """Processes with the mark of a host that are not zombies."""
    found = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get("MCPTUI_OWNER", "")
            if mark.startswith(owner) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def guards_of(owner):
    return [one for one in psutil.process_iter(["cmdline"]) if owner in (one.info["cmdline"] or [])]


SERVERS = ("crlf", "ignore_sigterm_and_eof", "grandchild_holds_pipes", "grandchild_escapes_session")


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes by their environment")
def test_servers_of_a_killed_host_exit_within_five_seconds(host):
    process, owner = host("wait", *SERVERS)
    assert len(left_of(owner)) >= 6
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not left_of(owner), 5, "the servers to be gone")
    wait_until(lambda: not guards_of(owner), 5, "the guard to be gone")


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes by their environment")
def test_servers_of_a_crashed_host_exit(host):
    process, owner = host("crash", *SERVERS)
    process.wait(20)
    wait_until(lambda: not left_of(owner) and not guards_of(owner), 5, "everything to be gone")
