"""Following a task of a server to its result: polled at its pace, given input where it asks, cancelled.

Importable without the SDK; requests and answers to what the server asks are passed in.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tui.core.tasks import Task, TaskBook, TaskStatus
from tui.core.text import clean_line
from tui.core.tools import CallFailure, ProgressSink, TextContent, ToolResult
from tui.core.workbench import RawAnswer
from tui.host.content import result_of

MAX_FAILURES = 3
"""Requests in a row that may fail before a task is left alone; it can be fetched later."""

CANCEL_SECONDS = 2.0
INVALID_PARAMS = -32602
"""What a server answers for a task that it does not know."""

LATER = "It may go on at the server; its result can be fetched in the workbench."

Ask = Callable[[str, Mapping[str, Any]], Awaitable[RawAnswer]]
"""Sends a request of a method."""

AnswerInput = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers requests of the server by key; raises `UnansweredInput` if one of them gets no answer."""


class UnansweredInput(Exception):
    """A task asks for something that it does not get; the text is a sentence."""


class TaskFollower:
    """Follows tasks of one server. `sleep` waits for seconds."""

    def __init__(
        self,
        book: TaskBook,
        ask: Ask,
        answer: AnswerInput,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._book = book
        self._ask = ask
        self._answer = answer
        self._sleep = sleep

    async def follow(
        self, task: Task, progress: ProgressSink, *, cancel_with_us: bool, now: bool = False
    ) -> ToolResult:
        """Ask for the task until it is over; return its result. Every failure is a result.

        If `cancel_with_us`, cancelling this cancels the task at the server, too. With `now` it is asked for
        at once, not only after its interval.
        """
        self._book.put(task)
        try:
            return await self._follow(task, progress, now)
        except UnansweredInput as error:
            await self.cancel(task)
            return _failed(f"{error} The task was cancelled.")
        except asyncio.CancelledError:
            if cancel_with_us:
                await self.cancel(task)
            raise

    async def _follow(self, task: Task, progress: ProgressSink, now: bool) -> ToolResult:
        asked: set[str] = set()
        failures = polls = 0
        while True:
            progress(polls, None, words(task))
            if not (now or task.status.is_over):
                await self._sleep(task.poll_ms / 1000)
            now = False
            if task.expired(time.time()):
                self._book.drop(task)
                return _failed("The task was not done within its time to live.")
            found = await self._ask("tasks/get", {"taskId": task.id})
            polls += 1
            if found.lost:
                return _failed(f"{found.problem} {LATER}", CallFailure.SERVER_DIED)
            if found.error is not None and found.error.get("code") == INVALID_PARAMS:
                self._book.drop(task)
                return _failed(f"The server does not know the task any more: {_said(found)}.")
            try:
                raw = _result(found)
                task = task.updated(raw)
            except ValueError as error:
                failures += 1
                if failures >= MAX_FAILURES:
                    return _failed(f"The task cannot be followed: {error}. {LATER}")
                continue
            failures = 0
            self._book.put(task)
            if task.status.is_over:
                self._book.drop(task)
                return _ending(task, raw)
            if task.status is TaskStatus.INPUT_REQUIRED:
                progress(polls, None, words(task))
                await self._give_input(task, raw, asked)

    async def _give_input(self, task: Task, raw: Mapping[str, Any], asked: set[str]) -> None:
        """Answer what was not asked before; an answer is sent once, whatever becomes of it."""
        wanted = raw.get("inputRequests")
        if not isinstance(wanted, Mapping):
            return
        new = {key: request for key, request in wanted.items() if key not in asked}
        if not new:
            return
        asked.update(new)
        responses = await self._answer(new)
        await self._ask("tasks/update", {"taskId": task.id, "inputResponses": dict(responses)})

    async def cancel(self, task: Task) -> str:
        """Ask the server to cancel a task, and forget it; return what failed, or "". Bounded in time."""
        self._book.drop(task)
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                found = await self._ask("tasks/cancel", {"taskId": task.id})
        except TimeoutError:
            return "The server did not confirm that the task is cancelled."
        return f"The task was not cancelled: {_said(found)}." if found.error or found.problem else ""


def words(task: Task) -> str:
    """Return the state of a task in words: "task working: 3 of 9 files"."""
    state = str(task.status).replace("_", " ")
    return f"task {state}: {task.message}" if task.message else f"task {state}"


def _result(found: RawAnswer) -> Mapping[str, Any]:
    if found.error is not None or found.problem or not isinstance(found.result, Mapping):
        raise ValueError(_said(found))
    return found.result


def _said(found: RawAnswer) -> str:
    if found.error is not None:
        message = clean_line(str(found.error.get("message", "")), 300)
        return f"error {clean_line(str(found.error.get('code')), 20)}, {message}"
    return found.problem.rstrip(".") or "the answer is not an object"


def _ending(task: Task, raw: Mapping[str, Any]) -> ToolResult:
    match task.status, raw.get("result"):
        case TaskStatus.COMPLETED, Mapping() as result:
            return result_of(result)
        case TaskStatus.COMPLETED, _:
            return _failed("The task is done, but the server's answer has no result.")
        case TaskStatus.FAILED, _:
            error = raw.get("error")
            said = _said(RawAnswer(error=error)) if isinstance(error, Mapping) else "no reason given"
            return _failed(f"The task failed: {said}.{_more(task)}")
    return _failed(f"The server cancelled the task.{_more(task)}")


def _more(task: Task) -> str:
    return f" {task.message}" if task.message else ""


def _failed(text: str, failure: CallFailure = CallFailure.PROTOCOL) -> ToolResult:
    return ToolResult((TextContent(text),), is_error=True, failure=failure)
