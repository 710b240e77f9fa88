"""Tool calls and requests of any method, with the rounds of input that a server asks for; kept raw."""

from collections.abc import Callable, Mapping
from typing import Any

from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.text import object_in, quoted_name
from tui.core.time_limits import CallTimeout, Pausable
from tui.core.tools import CallFailure, ProgressSink, ToolResult
from tui.core.workbench import RawAnswer
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import CONNECTION_CLOSED, NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.frames.link import NO_ANSWER, RequestError
from tui.host.session.content import result_of
from tui.host.session.server_requests import ADDRESSES_REQUIRED, InputRounds, RoundProblem
from tui.host.session.session import Session

CALL_TOOL = "tools/call"

STATE_LIMIT = 1024 * 1024
"""Maximum characters of the state that a server may ask to be sent back with the next round of a call."""


def kind_of(result: Mapping[str, Any], session: Session, *kinds: str) -> str:
    """Return the `resultType` of a result, which must be complete or one of `kinds`. Raises RequestError."""
    kind = result.get("resultType", "complete") if session.is_modern else "complete"
    if kind == "complete" or kind in kinds:
        return str(kind)
    raise RequestError(INVALID_ANSWER, f"{NO_ANSWER}: unknown resultType {quoted_name(str(kind), 80)}")


async def _in_rounds(
    session: Session,
    method: str,
    params: Mapping[str, Any],
    progress: ProgressSink | None,
    *kinds: str,
    whole: bool = False,
) -> tuple[Mapping[str, Any], str]:
    """Send a request, and repeat it with the input that its server asks for; return the result and its kind.

    `whole` accepts any result, even one that asks for input. Raises RequestError and RoundProblem.
    """
    rounds = InputRounds(session.requests)
    more: dict[str, Any] = {}
    while True:
        try:
            result = await session.request(method, {**params, **more}, progress)
        except RequestError as error:
            if error.code != ADDRESSES_REQUIRED:
                raise
            await rounds.visit(error.data)
            continue
        if whole:
            return result, ""
        if (kind := kind_of(result, session, "input_required", *kinds)) != "input_required":
            return result, kind
        state = result.get("requestState")
        if isinstance(state, str) and len(state) > STATE_LIMIT:
            raise RequestError(INVALID_ANSWER, f"{NO_ANSWER}: a requestState of {len(state):,} characters")
        responses, state = await rounds.answers(result)
        more = {} if state is None else {"requestState": state}
        if responses:
            more["inputResponses"] = responses


async def ask(
    session: Session,
    stuck: Callable[[], str],
    method: str,
    params: Mapping[str, Any],
    timeout: CallTimeout,
    *,
    whole: bool = False,
) -> RawAnswer:
    """Send a request of any method and return the answer, even an error or a timeout; others are raised.

    `stuck` returns what to add after a timeout. `whole` accepts any answer, even one that asks for input.
    The answer to a tool call may be a task. Cancelling this sends `notifications/cancelled`.
    """
    meta = object_in(params, "_meta")
    # The token of an earlier request would send its progress elsewhere, so a new one is set.
    wants_progress = "progressToken" in meta
    sent = {**params, "_meta": {key: value for key, value in meta.items() if key != "progressToken"}}
    limit = timeout.limit()

    def heard(done: float | None, total: float | None, message: str) -> None:
        limit.restart()  # what it says is in the traffic

    try:
        with session.requests.clocks.holding(limit):
            async with limit:
                told = heard if wants_progress else None
                kinds = ("task",) if method == CALL_TOOL else ()
                result, _ = await _in_rounds(session, method, sent, told, *kinds, whole=whole)
    except RoundProblem as problem:
        return RawAnswer(problem=str(problem))
    except TimeoutError:
        return RawAnswer(problem=f"{method} {timeout.passed(limit)} It was cancelled.{stuck()}", late=True)
    except RequestError as error:
        if error.code == CONNECTION_CLOSED and session.closed.is_set():
            raise
        if error.message.startswith(NO_ANSWER) or error.code in (RESULT_TOO_LARGE, NO_RESPONSE):
            return RawAnswer(problem=explain.protocol_failure(error))  # in place of an answer
        data = {} if error.data is None else {"data": error.data}
        return RawAnswer(error={"code": error.code, "message": error.message, **data})
    return RawAnswer(result=result)


async def call_tool(
    session: Session,
    remark: Callable[[], str],
    tool: str,
    arguments: Mapping[str, Any],
    timeout: CallTimeout,
    progress: ProgressSink,
    clocks: Pausable,
) -> ToolResult | Mapping[str, Any]:
    """Call a tool; return the result, a raw task that will have it, or a timeout; other failures are raised.

    `remark` returns what to add after a timeout, which progress and requests of the server restart.
    `clocks` stand still while the user answers what the server asks. Cancelling this sends
    `notifications/cancelled`.
    """
    limit = timeout.limit()

    def tell(done: float | None, total: float | None, message: str) -> None:
        limit.restart()
        progress(done, total, message)

    params = {"name": tool, "arguments": dict(arguments)}
    try:
        with session.requests.clocks.holding(limit, clocks):
            async with limit:
                found, kind = await _in_rounds(session, CALL_TOOL, params, tell, "task")
    except RoundProblem as problem:
        return ToolResult.failed(str(problem), CallFailure.PROTOCOL)
    except TimeoutError:
        text = f"{tool} {timeout.passed(limit)} The call was cancelled.{remark()}"
        return ToolResult.failed(text, CallFailure.TIMEOUT)
    return found if kind == "task" else result_of(found)
