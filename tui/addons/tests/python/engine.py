"""The runtime of a pytest process, with an event loop in a thread of its own.

One process of pytest has one runtime, and with it one recording. An event loop that pytest itself has is not
touched. That pytest runs is the consent to start what the test files name: it runs the code of the repository
as well.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Any, TypeVar

from tui.addons.tests.run.answers import CaseAnswers, ScriptedSampler
from tui.addons.tests.run.findings import TrafficByServer
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.launch import for_cases
from tui.addons.tests.run.plan import server_of, taken_servers
from tui.addons.tests.suite.case import Suite
from tui.core.servers import SamplingRule, ServerSpec
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

CLOSE_SECONDS = 20.0
"""Maximum seconds to wait for the servers to stop."""

T = TypeVar("T")


class Engine:
    """A runtime in a thread. It starts with the first `run`, and ends with `close`.

    `answers` answers what servers ask, `runtime` is there once something ran. `needs_model`: turn cases will
    run, to be set before that. Methods without `async` belong to the thread of pytest, the others to that of
    the runtime.
    """

    def __init__(self) -> None:
        self.answers = CaseAnswers()
        self.needs_model = False
        self._configured: Mapping[str, ServerSpec] = {}
        self._names = dict[str, int]()
        self._thread: threading.Thread | None = None
        self._started: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self.runtime: Runtime
        self._traffic: TrafficByServer

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the thread of the runtime and return its result. ctrl+c cancels it."""
        try:
            self._start()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the servers and end the thread. It may be called at any time, also twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if self._started.done() and self._started.exception() is None:
            self._loop.call_soon_threadsafe(self._end.set)
        thread.join(CLOSE_SECONDS)

    def _start(self) -> None:
        if self._thread is None:
            self._started = Future()
            self._thread = threading.Thread(target=self._main, name="mcptui-tests", daemon=True)
            self._thread.start()
        self._started.result()

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        options = Options(command="test", trust_config=True, accept_all=True, save=False)
        runtime = self.runtime = Runtime(options, os.environ)
        runtime.questioner, runtime.sampler = self.answers, ScriptedSampler()
        try:
            await runtime.ready(start=False, model=self.needs_model, taps=False, session=False)
            self._configured = await taken_servers(runtime)
            self._traffic = TrafficByServer(runtime.redactor.redact)
            runtime.traffic.listener = self._traffic
            self._started.set_result(None)
            await self._end.wait()
        finally:
            await runtime.shutdown()

    async def instance(self, suite: Suite, *, sampling: bool = False) -> ServerInstance:
        """Return the server of a suite, which is not started yet. Raises UsageError or ConfigError.

        `sampling` declares sampling to it, even if no case answers that.
        """
        spec = server_of(suite, self.runtime, self._configured)
        name, number = spec.name, self._names.get(spec.name, 0) + 1
        self._names[name] = number
        spec = for_cases(spec, suite, name=name if number == 1 else f"{name}-{number}")
        spec = replace(spec, sampling=SamplingRule.ASK) if sampling else spec
        return self._of_spec(spec, suite.server.name if suite.server is not None else "")

    def _of_spec(self, spec: ServerSpec, configured: str) -> ServerInstance:
        return ServerInstance(self.runtime, spec, self._traffic.of(spec.name), configured=configured)

    def another(self, instance: ServerInstance) -> ServerInstance:
        """Return a second process of a server, for a case of its own."""
        return self._of_spec(replace(instance.spec, name=f"{instance.name}-fresh"), instance.configured)
