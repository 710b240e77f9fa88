"""Tool calls and requests of any method, with the rounds of input that a server asks for; kept raw."""

from collections.abc import Callable, Mapping
from typing import Any

from tui.core.errors import composed
from tui.core.jsonrpc.extensions import TASKS
from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.language.translate import as_message, message, sentences
from tui.core.text import object_in, quoted_name
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import CallFailure, ProgressSink
from tui.core.workbench import RawAnswer
from tui.host.frames.link import NO_ANSWER, RequestError
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
    raise RequestError(
        INVALID_ANSWER,
        message("{problem}: unknown resultType {kind}", problem=NO_ANSWER, kind=quoted_name(str(kind), 80)),
    )


async def _in_rounds(
    session: Session,
    method: str,
    params: Mapping[str, Any],
    progress: ProgressSink | None,
    *kinds: str,
    whole: bool = False,
) -> Mapping[str, Any]:
    """Send a request, and repeat it with the input that its server asks for; return the result.

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
        if whole or kind_of(result, session, "input_required", *kinds) != "input_required":
            return result
        state = result.get("requestState")
        if isinstance(state, str) and len(state) > STATE_LIMIT:
            raise RequestError(
                INVALID_ANSWER,
                message(
                    "{problem}: a requestState of {count:,} characters",
                    problem=NO_ANSWER,
                    count=len(state),
                ),
            )
        responses, state = await rounds.answers(result)
        more = {} if state is None else {"requestState": state}
        if responses:
            more["inputResponses"] = responses


async def ask(
    session: Session,
    remark: Callable[[], str],
    method: str,
    params: Mapping[str, Any],
    timeout: CallTimeout,
    *,
    progress: ProgressSink | None = None,
    clocks: Pausable = NO_CLOCKS,
    whole: bool = False,
) -> RawAnswer:
    """Send a request of any method and return the answer, even a timeout.

    `remark` returns what to add after a timeout, which progress and requests of the server restart.
    `clocks` stand still while the user answers what the server asks. `whole` accepts any answer, even one
    that asks for input. The answer to a tool call may be a task. Cancelling this sends
    `notifications/cancelled`.

    Raises:
        RequestError: the server returned an error, or there is no answer that can be used.
    """
    meta = object_in(params, "_meta")
    # The token of an earlier request would send its progress elsewhere, so a new one is set.
    wants_progress = progress is not None or "progressToken" in meta
    sent = {**params, "_meta": {key: value for key, value in meta.items() if key != "progressToken"}}
    limit = timeout.limit()

    def tell(done: float | None, total: float | None, message: str) -> None:
        limit.restart()
        if progress is not None:
            progress(done, total, message)

    try:
        with session.requests.clocks.holding(limit, clocks):
            async with limit:
                takes_tasks = session.requests.spec.extensions.get(TASKS, True)
                kinds = ("task",) if method == CALL_TOOL and takes_tasks else ()
                told = tell if wants_progress else None
                return RawAnswer(await _in_rounds(session, method, sent, told, *kinds, whole=whole))
    except RoundProblem as problem:
        return RawAnswer(problem=str(problem), failure=CallFailure.PROTOCOL)
    except TimeoutError:
        what = method if progress is None else params["name"]
        cancelled = "It was cancelled." if progress is None else "The call was cancelled."
        passed = composed("{place} {problem}", place=what, problem=timeout.passed(limit))
        text = sentences(passed, as_message(cancelled), remark())
        return RawAnswer(problem=text, failure=CallFailure.TIMEOUT)
