"""Requests over a live connection: tool calls, listings, and any method by hand; answers are kept raw."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.jsonrpc.protocol import METHOD_NOT_FOUND
from tui.core.tasks import EXTENSION as TASKS
from tui.core.text import object_in, quoted_name
from tui.core.time_limits import CallTimeout, Pausable, TimeLimit
from tui.core.tools import CallFailure, ProgressSink, ToolResult
from tui.core.workbench import CacheHint, RawAnswer
from tui.host import error_sentences as explain
from tui.host.catalog import Walk, walk_pages
from tui.host.frames.id_gate import CONNECTION_CLOSED, NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.frames.inbox import LISTS
from tui.host.frames.link import NO_ANSWER, RequestError
from tui.host.session.content import result_of
from tui.host.session.handshake import Handshake
from tui.host.session.server_requests import ADDRESSES_REQUIRED, InputRounds, RoundProblem
from tui.host.session.session import LISTEN, Session

CALL_TOOL = "tools/call"

STATE_LIMIT = 1024 * 1024
"""Maximum characters of the state that a server may ask to be sent back with the next round of a call."""


def _kind_of(result: Mapping[str, Any], session: Session, *kinds: str) -> str:
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
        if (kind := _kind_of(result, session, "input_required", *kinds)) != "input_required":
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


COUNT_SECONDS = 2.0
RECENT_SECONDS = 5.0
"""How long a complete list is kept for the first who asks for it."""

_METHODS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}


class Listings:
    """The listings of one server, page by page."""

    def __init__(self, session: Session, handshake: Handshake, hints: dict[str, CacheHint]) -> None:
        """Take a session and its handshake; the caching hints of each list are noted in `hints`."""
        self._session = session
        self._handshake = handshake
        self._hints = hints
        self._recent: dict[str, Walk] = {}

    def take_recent(self, kind: str) -> Walk | None:
        """Return the list of the last few seconds, such as that of the start, once."""
        return self._recent.pop(kind, None)

    def forget(self) -> None:
        """Drop the lists of the last few seconds: a call may change what a server offers, without a word."""
        self._recent.clear()

    async def walk(self, kind: str, seconds: float) -> Walk:
        """Return the raw entries of all pages, or of those that arrived within `seconds`.

        `kind` is the key in the answer.
        """
        left = seconds

        async def fetch(cursor: str | None) -> Mapping[str, Any]:
            nonlocal left
            limit = TimeLimit(left)
            at = {} if cursor is None else {"cursor": cursor}
            with self._session.requests.clocks.holding(limit):
                async with limit:
                    page = await self._session.request(_METHODS[kind], at)
            left = limit.left
            _kind_of(page, self._session)
            return page

        self._recent.pop(kind, None)  # it may have changed, and this may fail
        began_ns = time.monotonic_ns()
        walk = await walk_pages(fetch, kind)
        self._hints[kind] = CacheHint(walk.ttl_ms, walk.scope, began_ns)
        if not walk.note:
            self._recent[kind] = walk
            asyncio.get_running_loop().call_later(RECENT_SECONDS, self._recent.pop, kind, None)
        return walk

    async def count(self, kind: str) -> int | None:
        """Return the number of entries; None if not offered or not listed within 2 s.

        Those of the pages before one that fails count, as the lists on screen show them.
        """
        if kind not in self.offered:
            return None
        try:
            walk = await self.walk(kind, COUNT_SECONDS)
        except Exception:  # a count is optional and must never make the server fail
            return None
        return None if walk.incomplete and (walk.is_late or not walk.items) else len(walk.items)

    @property
    def offered(self) -> frozenset[str]:
        return frozenset(self._handshake.offers).intersection(LISTS)

    @property
    def streamed(self) -> frozenset[str]:
        """The kinds of lists whose changes the server sends only on a change stream."""
        if not self._session.is_modern:
            return frozenset()
        return frozenset(kind for kind in self.offered if self._handshake.offers[kind].get("listChanged"))

    @property
    def has_tasks(self) -> bool:
        """Whether the server supports the tasks extension; it may report their changes on a change stream."""
        return TASKS in object_in(object_in(self._handshake.introduction, "capabilities"), "extensions")

    async def listen(
        self, opened: Callable[[int], None], resources: Sequence[str] = (), tasks: Sequence[str] = ()
    ) -> bool:
        """Keep a change stream open until it ends.

        `resources` and `tasks` (by id) are those whose changes are reported too. `opened` is called once the
        server has acknowledged it, with the number of resources that it accepted. Return False if the server
        does not support such streams.
        """
        streamed = self.streamed
        wanted: dict[str, Any] = {f"{kind}ListChanged": True for kind in LISTS if kind in streamed}
        wanted |= {"resourceSubscriptions": list(resources)} if resources else {}
        wanted |= {"taskIds": list(tasks)} if tasks else {}
        is_open = False

        def acknowledged(honored: Mapping[str, Any]) -> None:
            nonlocal is_open
            if not is_open:
                is_open, accepted = True, honored.get("resourceSubscriptions")
                opened(len(accepted) if isinstance(accepted, list) else 0)

        try:
            await self._session.request(LISTEN, {"notifications": wanted}, opened=acknowledged)
        except Exception as error:  # however it ends, the server can still be called
            return getattr(error, "code", None) != METHOD_NOT_FOUND
        acknowledged({})
        return True
