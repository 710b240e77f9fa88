"""One server under any sequence of requests."""

import asyncio

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.conftest import until
from tests.unit.host.scripted import Script
from tests.unit.host.supervised import RUNNING, STOPPED, TestClock, supervisor
from tui.core.servers import ServerState


class Lives(RuleBasedStateMachine):
    """Any requests in any order: at most one process, and a stop always finishes."""

    eager = True

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.script = Script()
        self.clock = TestClock()
        self.tasks = []
        self.starts = 0
        self.deaths = 0
        self.was_silent = False

        async def made():
            return supervisor(self.script, self.clock, restart=self.eager, start_seconds=30)

        self.server = self.loop.run_until_complete(made())

    def ask(self, coroutine):
        self.tasks.append(self.loop.create_task(coroutine))

    @rule()
    def start(self):
        self.starts += 1
        self.ask(self.server.start())

    @rule()
    def call(self):
        self.ask(self.server.revive())

    @rule()
    def stop(self):
        self.ask(self.server.stop())

    @rule()
    def restart(self):
        self.starts += 1
        self.ask(self.server.restart())

    @initialize()
    def begin(self):
        self.start()
        self.settle()

    @rule(steps=st.integers(1, 60))
    def let_a_moment_pass(self, steps):
        async def passing():
            for _ in range(steps):
                await asyncio.sleep(0)

        self.loop.run_until_complete(passing())

    @rule()
    def settle(self):
        async def settling():
            await asyncio.sleep(0)
            # An unanswered request then waits for its timeout.
            resting = tuple(ServerState) if self.was_silent else (RUNNING, STOPPED)
            await until(lambda: self.server.state in resting)

        self.loop.run_until_complete(settling())

    @rule(code=st.sampled_from([0, 1, 17]))
    def die(self, code):
        # No precondition: whether it runs at this moment depends on threads, not on the example.
        if self.script.alive:
            self.deaths += 1
            self.script.kill(code)

    @rule(silent=st.booleans())
    def hang(self, silent):
        self.script.silent = silent
        self.was_silent = self.was_silent or silent

    @rule(missing=st.booleans())
    def be_missing(self, missing):
        self.script.missing = missing

    @invariant()
    def one_process_at_most(self):
        assert self.script.most_alive <= 1

    @invariant()
    def stopped_means_no_process(self):
        assert self.server.state is not STOPPED or not self.script.alive

    def teardown(self):
        async def quitting():
            async with asyncio.timeout(10):
                await self.server.close()
                await asyncio.gather(*self.tasks)

        self.loop.run_until_complete(quitting())
        assert self.server.state is STOPPED
        assert self.script.alive == []
        assert self.script.spawned <= 2 * (self.starts + self.deaths)
        assert asyncio.all_tasks(self.loop) == set()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


class LivesByCall(Lives):
    """The same for a server that is restarted only by calls."""

    eager = False


Lives.TestCase.settings = LivesByCall.TestCase.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLives = Lives.TestCase
TestLivesByCall = LivesByCall.TestCase
