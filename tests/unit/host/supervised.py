"""A supervisor over a scripted server, and a clock for it."""

import asyncio
import math

from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState
from tui.host.server.host_context import HostContext
from tui.host.server.supervisor import Supervisor

STOPPED, RUNNING = ServerState.STOPPED, ServerState.RUNNING


class TestClock:
    """Time that is advanced by hand."""

    __test__ = False

    def __init__(self):
        self.now = 0
        self.naps = []

    def now_ns(self):
        return self.now

    async def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += math.ceil(seconds * 1e9)
        await asyncio.sleep(0)


def supervisor(script, clock=None, seen=lambda: None, redactor=None, **spec):
    redactor = redactor or Redactor({"TOKEN": "last words"})
    around = HostContext(lambda captured: None, clock or TestClock(), redactor, open_with=script.open)
    around.changed = lambda name: seen()
    return Supervisor(ServerSpec("srv", "x", **spec), around)
