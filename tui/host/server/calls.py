"""The requests that a running server gets: tool calls, requests of any method, and errands of several."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from tui.core.background import set_within
from tui.core.context.content import result_of
from tui.core.jsonrpc.extensions import EXTENSIONS, off_method
from tui.core.jsonrpc.messages import KEY as TRACEPARENT
from tui.core.jsonrpc.protocol import LOG_LEVEL_KEY
from tui.core.language.translate import altered, message, sentences
from tui.core.text import mapping, text_in
from tui.core.time_limits import CallTimeout, TimeLimit
from tui.core.tools import CallFailure, Heard, TextContent, ToolResult
from tui.core.workbench import RawAnswer
from tui.host import error_sentences as explain
from tui.host.server.host_context import Connected, HostContext
from tui.host.session.client_requests import CALL_TOOL, ask
from tui.host.session.session import Session
from tui.host.session.tasks import Caller, ServerTasks
from tui.host.transports import ServerTransport

TASK_SECONDS = 30.0
LAST_WORDS_SECONDS = 0.3

T = TypeVar("T")


class ServerCalls:
    """The requests to one server over one connection; `tasks` follows those that became tasks.

    `stop` is set when the server is asked to end. `session` is set while it can be called. The connection
    calls `end` before its session ends, and sets `left` once its transport has.
    """

    def __init__(
        self, server: Connected, transport: ServerTransport, around: HostContext, stop: asyncio.Event
    ) -> None:
        self.session: Session | None = None
        self.left = asyncio.Event()
        self._server, self._transport, self._around = server, transport, around
        self._stop, self._over = stop, asyncio.Event()
        self._errands: set[TimeLimit] = set()
        self.tasks = ServerTasks(
            server.spec,
            around.remembered.tasks,
            server.requests,
            partial(self.ask, seconds=TASK_SECONDS),
            around.clock,
            server.changed,
            self._over,
        )

    def stamp(self, modern: bool) -> Mapping[str, str]:
        """Return the fields to add to the `_meta` of each request, also of those of a start."""
        level = self._server.spec.log_level if modern else None
        added = {LOG_LEVEL_KEY: level, TRACEPARENT: self._around.traceparent()}
        return {key: value for key, value in added.items() if value}

    def end(self) -> None:
        """Take no more requests, and end those that wait for something else, such as the user."""
        self._over.set()
        for errand in self._errands:
            errand.expire(LAST_WORDS_SECONDS)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], seconds: float | CallTimeout, caller: Caller
    ) -> ToolResult:
        """Call a tool; every failure is a result. Cancelling this cancels the call at the server.

        A task that the server makes of it is followed to its end, however long that takes.
        """
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

    async def stream(self, method: str, params: Mapping[str, Any], heard: Heard) -> RawAnswer:
        """Send a request that has no response until its stream ends, without a limit of time."""

        async def errand(session: Session) -> RawAnswer:
            return RawAnswer(await session.request(method, params, heard=heard))

        return await self._settled(method, errand)

    async def _answer(
        self, method: str, params: Mapping[str, Any], seconds: float | CallTimeout, **how: Any
    ) -> RawAnswer:
        """Send a request. `how` are the options of `client_requests.ask`."""
        timeout = CallTimeout.of(seconds)
        return await self._settled(
            method, lambda session: ask(session, self._remark, method, params, timeout, **how)
        )

    async def _settled(self, method: str, errand: Callable[[Session], Awaitable[RawAnswer]]) -> RawAnswer:
        """Perform the errand of a request; every failure is an answer."""
        if off := off_method(method, self._server.spec.extensions):
            problem = message("{title} is turned off for this server.", title=EXTENSIONS[off].title)
            return RawAnswer(problem=problem, failure=CallFailure.NOT_RUNNING)
        try:
            found = await self.perform(errand)
        except Exception as error:  # a failed call is an observation for the model, never a crash
            return explain.failed_answer(error)
        if isinstance(found, str):
            return RawAnswer(problem=found, failure=CallFailure.SERVER_DIED)
        return found

    def _is_task(self, answer: RawAnswer) -> bool:
        is_modern = self.session is not None and self.session.is_modern
        return is_modern and mapping(answer.result).get("resultType") == "task"

    async def perform(self, errand: Callable[[Session], Awaitable[T]]) -> T | str:
        """Run an errand that needs the server; return its result, or how the server ended meanwhile.

        Its exceptions are raised unchanged while the server lives. Once the connection has ended, the errand
        is cancelled, and with it the questions that it asks.
        """
        session = self.session
        if session is not None and not self._over.is_set():
            try:
                with session.requests.questioner.call():
                    async with TimeLimit() as limit:
                        self._errands.add(limit)
                        try:
                            return await errand(session)
                        finally:
                            self._errands.discard(limit)
            except Exception:  # `errand` may raise anything
                ends = (self._over, self._stop, self._transport.exited, session.closed)
                if not any(end.is_set() for end in ends):
                    raise
            await set_within(self.left, LAST_WORDS_SECONDS)
        name, stopped = self._server.spec.name, self._server.stopped_as if self._stop.is_set() else ""
        return altered(explain.died_in_call(name, self._transport, stopped), self._around.redactor.redact)

    def _remark(self) -> str:
        return sentences(explain.unanswered(self._transport), self._server.requests.remark)
