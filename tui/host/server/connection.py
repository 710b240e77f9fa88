"""One connection to one server: connect, list, serve calls, close.

A connection is one coroutine in one task. Nobody cancels that task; an event asks it to stop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from tui.core.background import cancel_all, first_of, set_within
from tui.core.jsonrpc.messages import KEY as TRACEPARENT
from tui.core.jsonrpc.protocol import LOG_LEVEL_KEY
from tui.core.servers import ServerSpec, StopReason
from tui.core.tasks import STATUS_CHANGED
from tui.core.text import mapping, text_in
from tui.core.time_limits import CallTimeout, TimeLimit
from tui.core.tools import CallFailure, TextContent, ToolResult
from tui.core.workbench import RawAnswer
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import PROBE
from tui.host.frames.inbox import LIST_OF, MISSED, RESOURCE_UPDATED, SESSION_REOPENED
from tui.host.server.host_context import Connected, HostContext
from tui.host.server.lists import ServerLists
from tui.host.session.client_requests import CALL_TOOL, ask
from tui.host.session.content import result_of
from tui.host.session.handshake import OUR_VERSIONS, Handshake, Introduction
from tui.host.session.session import Session
from tui.host.session.subscriptions import ChangeStream, keep_subscribed, listen
from tui.host.session.tasks import Caller, ServerTasks
from tui.host.transports import ServerTransport

ASK_SECONDS = 30.0
TASK_SECONDS = 30.0
EXIT_GRACE, LAST_WORDS_SECONDS = 1.0, 0.3

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Connection:
    """One connection to one server, from starting the process to the end of the last of its processes.

    `seconds` is how long the start may take. The stderr and exit of `transport` can still be read after the
    end. `introduction` is what the server has said about itself, `tasks` follows its tasks.
    """

    def __init__(
        self, server: Connected, transport: ServerTransport, around: HostContext, seconds: float
    ) -> None:
        self.transport = transport
        self.introduction = Introduction()
        self.lists = ServerLists(server, transport, around)
        self.start_ms: float | None = None
        self._server = server
        self._around = around
        self._mode = ""
        self._seconds = seconds
        self._session: Session | None = None
        self._handshake: Handshake | None = None
        self._waiting_for = "the first request"
        self._began_ns = around.clock.now_ns()
        self._stop = asyncio.Event()
        self._level_changed, self._roots_changed = asyncio.Event(), asyncio.Event()
        self._over, self._left = asyncio.Event(), asyncio.Event()
        self.tasks = ServerTasks(
            server.spec,
            around.remembered.tasks,
            server.requests,
            partial(self.ask, seconds=TASK_SECONDS),
            around.clock,
            server.changed,
            self._over,
        )
        self._errands: set[TimeLimit] = set()
        self._ready = self._timed_out = self._died = False

    async def run(self, stop: asyncio.Event, mode: str, *, last: bool = True) -> explain.Ending:
        """Run until `stop` is set or the server dies; return how it ended, with none of its processes left.

        `mode` is "auto" to probe for the protocol era, "modern" to send no `initialize` if that fails, or
        "legacy" to send it right away; `last` says that no other mode is tried after this one. Any exception
        is a bug in mcptui or its libraries.
        """
        self._stop = stop
        self._mode = mode
        error: BaseException | None = None
        try:
            async with self.transport as link:
                session = Session(link, self._notified, self._server.requests, self._stamp)
                try:
                    self._handshake = Handshake(
                        session,
                        probes=mode != "legacy",
                        initializes=mode != "modern",
                        leaves=mode == "auto" and not last and self.transport.reach is None,
                    )
                    self._waiting_for = PROBE if mode == "modern" else "initialize"
                    await self._run_session(session, self._handshake)
                except Exception as found:  # whatever it is, it ends this connection, never the program
                    error = found
                if session.closed.is_set() and not self._stop.is_set():
                    # A closed pipe is often its first sign.
                    await set_within(self.transport.exited, EXIT_GRACE)
                self._leave(error, last)
        except Exception as found:  # starting or stopping the process failed: that is how it ended
            error = error or found
        finally:
            self._left.set()
        if error is not None and self._is_defect(error):
            if not self._ready:
                raise error
            _log.error("%s ended with an internal error", self._server.spec.name, exc_info=error)
        return self._ending(error)

    async def _run_session(self, session: Session, handshake: Handshake) -> None:
        self._session = session
        reading = asyncio.create_task(session.run(), name=f"session of {self._server.spec.name}")
        try:
            if (complete := await self._start(session, handshake)) is not None:
                self.start_ms = (self._around.clock.now_ns() - self._began_ns) / 1e6
                self._ready = True
                self._server.ready(self)
                await self._serve(session, complete)
        finally:
            self._over.set()
            for errand in self._errands:  # those that wait for something else, such as the user
                errand.expire(LAST_WORDS_SECONDS)
            await session.end()
            await cancel_all((reading,))

    async def _start(self, session: Session, handshake: Handshake) -> bool | None:
        """Shake hands and list; return whether all tools were listed, None if the start was given up."""
        limit = TimeLimit(self._seconds)
        guard = asyncio.create_task(self._give_up(limit), name=f"guard of {self._server.spec.name}")
        try:
            with self._server.requests.clocks.holding(limit):
                async with limit:
                    await handshake.shake()
                    self.introduction = handshake.introduction
                    self.transport.gate.version = self.introduction.version
                    self._waiting_for = "tools/list"
                    complete = await self.lists.read_all(session, self.introduction, self._seconds)
                    if guard.done():
                        return None
                    limit.end()
                    return complete
        except TimeoutError:
            if not limit.expired:
                raise
            self._timed_out = not (self._stop.is_set() or self.transport.exited.is_set())
            return None
        finally:
            await cancel_all((guard,))

    async def _give_up(self, start: TimeLimit) -> None:
        """End the start at once when asked to stop, or when the process has ended."""
        await first_of(self._stop.wait(), self.transport.exited.wait())
        start.expire()

    async def _serve(self, session: Session, complete: bool) -> None:
        work = self.lists.keeping(session, complete)
        said = self.introduction
        subscriptions = self._server.subscriptions if said.takes_subscriptions else None
        if said.is_modern:
            if said.streamed or subscriptions is not None or said.has_tasks:
                work["changes"] = ChangeStream(
                    partial(listen, session, said.streamed),
                    said.streamed,
                    subscriptions,
                    self._around.clock,
                    self.lists.relist,
                    self.tasks if said.has_tasks else None,
                ).run()
        else:
            work["roots"] = self._tell_of_roots(session)
            if subscriptions is not None:
                work["subscriptions"] = keep_subscribed(subscriptions, self._ask_about)
            if "logging" in said.offers:  # since 2026-07-28, each request has its own log level
                work["log level"] = self._keep_log_level()
        side = [
            asyncio.create_task(item, name=f"{what} of {self._server.spec.name}")
            for what, item in work.items()
        ]
        try:
            await first_of(self._stop.wait(), self.transport.exited.wait(), session.closed.wait())
        finally:
            await cancel_all(side)

    def _leave(self, error: BaseException | None, last: bool) -> None:
        self._died = self.transport.exited.is_set()
        is_retried = error is not None and not self._ready and self._is_defect(error)
        if is_retried or (self.may_be_of_other_era and not last):
            return  # still starting: the start is retried, or the other mode is tried with a new process
        self._server.leaving(self._ending(error).reason)

    @property
    def was_probed(self) -> bool:
        """Whether the session of a process began with a probe; see `may_be_of_other_era`."""
        shaken = self._handshake
        return shaken is not None and shaken.was_probed and self.transport.reach is None

    @property
    def may_be_of_other_era(self) -> bool:
        """Whether a new process may start in the other mode.

        Some servers exit on an unknown method, and some gateways open their upstream with whatever comes
        first: after a probe they may die, reject `initialize`, or offer less. So a process that rejected the
        probe is not used. A server that rejects `initialize` as its first request may have been upgraded.
        """
        handshake = self._handshake
        if handshake is None or self.introduction.version or self._timed_out or self._stop.is_set():
            return False
        died_early = self._died and not handshake.versions
        is_possible = self._mode == "legacy" or handshake.was_refused or died_early
        return is_possible and not self.transport.is_final

    def _is_defect(self, error: BaseException) -> bool:
        """Whether a bug ended the connection; after a death or a stop, errors are expected."""
        ended = self._died or self._stop.is_set() or self.transport.fatal
        return not ended and explain.is_defect(error)

    def _ending(self, error: BaseException | None) -> explain.Ending:
        if self._stop.is_set():
            return explain.Ending(StopReason.REQUESTED, explain.left_behind(self.transport))
        if self._ready:
            return explain.death(self.transport, error, died=self._died)
        return explain.start_failure(
            self._server.spec,
            self.transport,
            error,
            seconds=self._seconds if self._timed_out else None,
            died=self._died,
            waiting_for=self._waiting_for,
            versions=(
                self._handshake.versions if self._handshake else (),
                OUR_VERSIONS[self._server.spec.era],
            ),
        )

    def reconfigured(self, before: ServerSpec) -> None:
        """Apply the settings of the server that need no restart and were others `before`."""
        spec = self._server.spec
        if spec.log_level != before.log_level:
            self._level_changed.set()
        if spec.roots != before.roots:
            self._roots_changed.set()
        if (spec.pins, spec.trusted) != (before.pins, before.trusted) and self._ready:
            self.lists.relist(("tools",))

    def _stamp(self, modern: bool) -> Mapping[str, Any]:
        """Return the fields to add to the `_meta` of each request."""
        added = {}
        if modern and self._server.spec.log_level:
            added[LOG_LEVEL_KEY] = self._server.spec.log_level
        if traceparent := self._around.traceparent():
            added[TRACEPARENT] = traceparent
        return added

    async def _tell_of_roots(self, session: Session) -> None:
        """Tell the server whenever its roots change; since 2026-07-28 servers ask in each call."""
        while True:
            await self._roots_changed.wait()
            self._roots_changed.clear()
            session.notify("notifications/roots/list_changed")

    async def _keep_log_level(self) -> None:
        """Ask for the configured log level, now and whenever it changes."""
        while True:
            self._level_changed.clear()
            if level := self._server.spec.log_level:
                answer = await self.ask("logging/setLevel", {"level": level}, ASK_SECONDS)
                if explain.problem_of(answer) and not answer.lost:
                    _log.info("%s did not set its log level: %s", self._server.spec.name, answer)
            await self._level_changed.wait()

    async def _ask_about(self, method: str, uri: str) -> str:
        return explain.problem_of(await self.ask(method, {"uri": uri}, ASK_SECONDS))

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == RESOURCE_UPDATED:
            self._server.subscriptions.updated(params.get("uri"))
        elif method == STATUS_CHANGED:
            self.tasks.changed_at_server(params)
        elif method == SESSION_REOPENED:
            self.lists.relist()
            self._level_changed.set()
            self._server.subscriptions.begin_session()
        elif method == MISSED:
            self.lists.relist()
            self._server.subscriptions.missed()
        elif (kind := LIST_OF.get(method)) is not None:
            self.lists.relist((kind,))

    async def settled(self) -> None:
        """Return once the tools are listed after the server's last change notification, or after 5 s."""
        await self.lists.settled(self._left)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], seconds: float | CallTimeout, caller: Caller
    ) -> ToolResult:
        """Call a tool; every failure is a result. Cancelling this cancels the call at the server.

        A task that the server makes of it is followed to its end, however long that takes.
        """
        self.lists.forget()
        params = {"name": tool, "arguments": dict(arguments)}
        answer = await self._answer(
            CALL_TOOL, params, seconds, progress=caller.progress, clocks=caller.clocks
        )
        if self._is_task(answer):
            return await self.tasks.follow_new(tool, answer.result, caller)
        if problem := explain.problem_of(answer):
            return ToolResult.failed(problem, answer.failure or CallFailure.PROTOCOL)
        return result_of(answer.result)

    async def ask(
        self, method: str, params: Mapping[str, Any], seconds: float | CallTimeout, *, whole: bool = False
    ) -> RawAnswer:
        """Send a request and return the answer, or what came in its place.

        `whole` takes any answer. Otherwise, a task that the server makes of a tool call is followed to its
        end.
        """
        answer = await self._answer(method, params, seconds, whole=whole)
        if whole or method != CALL_TOOL or not self._is_task(answer):
            return answer
        caller = Caller(lambda *said: None)
        done = await self.tasks.follow_new(text_in(params, "name"), answer.result, caller)
        if done.raw is not None:
            return RawAnswer(result=done.raw)
        problem = " ".join(one.text for one in done.content if isinstance(one, TextContent))
        return RawAnswer(problem=problem, failure=done.failure)

    async def _answer(
        self, method: str, params: Mapping[str, Any], seconds: float | CallTimeout, **how: Any
    ) -> RawAnswer:
        """Send a request; every failure is an answer. `how` are the options of `client_requests.ask`."""
        timeout = CallTimeout.of(seconds)
        try:
            found = await self.perform(
                lambda session: ask(session, self._remark, method, params, timeout, **how)
            )
        except Exception as error:  # a failed call is an observation for the model, never a crash
            return explain.failed_answer(error)
        if isinstance(found, str):
            return RawAnswer(problem=found, failure=CallFailure.SERVER_DIED)
        return found

    def _is_task(self, answer: RawAnswer) -> bool:
        return self.introduction.is_modern and mapping(answer.result).get("resultType") == "task"

    async def perform(self, errand: Callable[[Session], Awaitable[T]]) -> T | str:
        """Run an errand that needs the server; return its result, or how the server ended meanwhile.

        Its exceptions are raised unchanged while the server lives. Once the connection has ended, the errand
        is cancelled, and with it the questions that it asks.
        """
        session = self._session
        if session is not None and self.introduction.version and not self._over.is_set():
            try:
                with session.requests.questioner.call():
                    async with TimeLimit() as limit:
                        self._errands.add(limit)
                        try:
                            return await errand(session)
                        finally:
                            self._errands.discard(limit)
            except Exception:  # `errand` may raise anything
                ends = (self._over, self._stop, self.transport.exited, session.closed)
                if not any(end.is_set() for end in ends):
                    raise
            await set_within(self._left, LAST_WORDS_SECONDS)
        name, is_stopped = self._server.spec.name, self._stop.is_set()
        return self._around.redactor.redact(explain.died_in_call(name, self.transport, stopped=is_stopped))

    def _remark(self) -> str:
        return explain.unanswered(self.transport) + self._server.requests.remark
