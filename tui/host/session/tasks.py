"""Follows a task of a server to its result: polls it at its pace, answers its requests, cancels it.

What sends the requests is passed in.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from tui.core.background import first_of
from tui.core.context.content import result_of
from tui.core.errors import without_stop
from tui.core.jsonrpc.protocol import INVALID_PARAMS
from tui.core.language.translate import message, sentences
from tui.core.ports import Clock
from tui.core.servers import ServerSpec
from tui.core.tasks import MIN_POLL_MS, KnownTasks, Task, TaskStatus, made
from tui.core.text import clean_line, object_in, whole_words
from tui.core.time_limits import NO_CLOCKS, Pausable
from tui.core.tools import CallFailure, ProgressSink, ToolResult
from tui.core.traffic import CAUSE
from tui.core.workbench import RawAnswer
from tui.host.session.server_requests import InputRounds, RoundProblem, ServerRequests

MAX_FAILURES = 3
"""Failed requests in a row after which polling stops; the result can be fetched later."""

CANCEL_SECONDS = 2.0
LATER = message("The task may continue on the server. Fetch its result in the workbench.")

OTHER_TASK = message("the response is about another task")

Ask = Callable[[str, Mapping[str, Any]], Awaitable[RawAnswer]]
"""Sends a request of a method."""


class Caller(NamedTuple):
    """Who waits for the result of a call.

    `clocks` are paused while the user answers what the server asks. Cancelling the call cancels a task that
    the server has made of it, unless the caller `keeps_task`.
    """

    progress: ProgressSink
    clocks: Pausable = NO_CLOCKS
    keeps_task: bool = False


class ServerTasks:
    """Follows the tasks of one server over one connection.

    `ask` sends requests, `requests` answers what the server asks, `changed` is called when a task shows
    another state; it must neither raise nor wait. `over` is set when the connection has ended. `followed` are
    the ids of the tasks that a call waits for; `began` is set when one is added.
    """

    def __init__(
        self,
        spec: ServerSpec,
        book: KnownTasks,
        requests: ServerRequests,
        ask: Ask,
        clock: Clock,
        changed: Callable[[], None],
        over: asyncio.Event,
    ) -> None:
        self._spec = spec
        self._book = book
        self._requests = requests
        self._ask = ask
        self._clock = clock
        self._changed = changed
        self._over = over
        self.followed: set[str] = set()
        self.began = asyncio.Event()
        self._news: dict[str, asyncio.Event] = {}

    def changed_at_server(self, params: Mapping[str, Any]) -> None:
        """Record that the server reports a new state of a task, which is then requested at once."""
        named = params.get("taskId")
        if isinstance(named, str) and (news := self._news.get(named)) is not None:
            news.set()

    def look_again(self) -> None:
        """Request the state of all followed tasks at once."""
        for news in self._news.values():
            news.set()

    async def follow_new(self, tool: str, created: Mapping[str, Any], caller: Caller) -> ToolResult:
        """Follow the task that a call of `tool` was answered with; return its result."""
        cause = CAUSE.get()
        call = cause.call if cause is not None else ""
        blank = Task(self._spec.name, self._spec.origin, "", tool, time.time(), call=call)
        try:
            task = made(created, blank)
        except ValueError as error:
            return _failed(message("The server returned {error}.", error=error))
        return await self.follow(task, caller)

    async def follow(self, task: Task, caller: Caller, *, now: bool = False) -> ToolResult:
        """Poll a task until it is over; return its result. Every failure is a result.

        With `now`, it is polled at once, not only after its interval.
        """
        if task.id in self.followed:
            return _failed(message("Another call is already waiting for this task."))
        self.followed.add(task.id)
        self._news[task.id] = asyncio.Event()
        self.began.set()
        self._put(task)
        try:
            with self._requests.clocks.holding(caller.clocks):
                return await self._follow(task, caller.progress, now)
        except RoundProblem as problem:
            await self.cancel(task)
            return _failed(sentences(str(problem), message("The task was cancelled.")))
        except asyncio.CancelledError:
            if not caller.keeps_task:
                await self.cancel(task)
            raise
        finally:
            self.followed.discard(task.id)
            del self._news[task.id]
            self._changed()

    async def _follow(self, task: Task, progress: ProgressSink, now: bool) -> ToolResult:
        rounds, asked = InputRounds(self._requests), set[str]()
        failures = 0
        told = ""
        began = self._clock.now_ns()
        while True:
            if told != (told := words(task)):
                progress(None, None, told)
            if not (now or task.status.is_over):
                # The end of the connection ends the wait: the next request then says how the server ended.
                news = self._news[task.id]
                await first_of(self._clock.sleep(task.poll_ms / 1000), news.wait(), self._over.wait())
                if news.is_set():
                    news.clear()
                    await self._clock.sleep(MIN_POLL_MS / 1000)
            now = False
            # Counted from here: the wall clock may be set meanwhile, or since an earlier run made the task.
            if task.expired(task.created + (self._clock.now_ns() - began) / 1e9):
                self._drop(task)
                return _failed(message("The task did not finish within its time to live."))
            found = await self._ask("tasks/get", {"taskId": task.id})
            if found.lost or found.failure is CallFailure.NOT_RUNNING:  # not asked: tasks were turned off
                return _failed(f"{found.problem} {LATER}", found.failure)
            if found.error is not None and found.error.get("code") == INVALID_PARAMS:  # unknown task
                self._drop(task)
                return _failed(
                    message("The server no longer has the task: {found}.", found=_failure_words(found))
                )
            try:
                raw = _result(found, task)
                task = task.updated(raw)
            except ValueError as error:
                failures += 1
                if failures >= MAX_FAILURES:
                    return _failed(sentences(message("Cannot track the task: {error}.", error=error), LATER))
                continue
            failures = 0
            self._put(task)
            if task.status.is_over:
                self._drop(task)
                return _ending(task, raw)
            if task.status is TaskStatus.INPUT_REQUIRED:
                await self._give_input(task, raw, rounds, asked)

    async def _give_input(
        self, task: Task, raw: Mapping[str, Any], rounds: InputRounds, asked: set[str]
    ) -> None:
        """Answer new requests only; each answer is sent once, whether or not it arrives."""
        wanted = object_in(raw, "inputRequests")
        new = {key: request for key, request in wanted.items() if key not in asked}
        if not new:
            return
        asked.update(new)
        answers = asyncio.ensure_future(rounds.answers({"inputRequests": new}))
        await first_of(answers, self._over.wait())
        if answers.cancelled():  # the server is gone, and nobody else needs them
            return
        responses, _ = answers.result()
        await self._ask("tasks/update", {"taskId": task.id, "inputResponses": responses})

    async def cancel(self, task: Task) -> str:
        """Ask the server to cancel a task, and forget it; return what failed, or "". Bounded in time."""
        self._drop(task)
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                found = await self._ask("tasks/cancel", {"taskId": task.id})
        except TimeoutError:
            return message("The server did not confirm the cancellation.")
        if found.error or found.problem:
            return message("The task was not cancelled: {found}.", found=_failure_words(found))
        return (
            message("The task was not cancelled: {reason}.", reason=OTHER_TASK)
            if _is_of_another(found.result, task)
            else ""
        )

    def _put(self, task: Task) -> None:
        self._book.put(task)
        self._changed()

    def _drop(self, task: Task) -> None:
        self._book.drop(task)
        self._changed()


def words(task: Task) -> str:
    """Return the state of a task in words: "task working: 3 of 9 files"."""
    state = str(task.status).replace("_", " ")
    return f"task {state}: {task.message}" if task.message else f"task {state}"


def _result(found: RawAnswer, task: Task) -> Mapping[str, Any]:
    if found.error is not None or found.problem or not isinstance(found.result, Mapping):
        raise ValueError(_failure_words(found))
    if _is_of_another(found.result, task):
        raise ValueError(OTHER_TASK)
    return found.result


def _is_of_another(result: Any, task: Task) -> bool:
    """Whether a response names another task. One without an id answers its request."""
    return isinstance(result, Mapping) and result.get("taskId", task.id) != task.id


def _failure_words(found: RawAnswer) -> str:
    if found.error is not None:
        said = clean_line(whole_words(str(found.error.get("message", "")), 300), 300)
        return message("error {code}, {words}", code=clean_line(str(found.error.get("code")), 20), words=said)
    return without_stop(found.problem) or message("the response is not an object")


def _ending(task: Task, raw: Mapping[str, Any]) -> ToolResult:
    match task.status, raw.get("result"):
        case TaskStatus.COMPLETED, Mapping() as result:
            return result_of(result)
        case TaskStatus.COMPLETED, _:
            return _failed(message("The task finished, but the response has no result."))
        case TaskStatus.FAILED, _:
            error = raw.get("error")
            said = (
                _failure_words(RawAnswer(error=error))
                if isinstance(error, Mapping)
                else message("no reason given")
            )
            return _failed(sentences(message("The task failed: {said}.", said=said), task.message))
    return _failed(sentences(message("The server cancelled the task."), task.message))


def _failed(text: str, failure: CallFailure = CallFailure.PROTOCOL) -> ToolResult:
    return ToolResult.failed(text, failure)
