"""Requests over a live connection: tool calls, listings, and any method by hand; answers are kept raw.

Imports the SDK: load it only where a connection exists already.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PaginatedRequestParams, PromptsCapability, Request, ResourcesCapability, ToolsCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from tui.core.jsonrpc.protocol import METHOD_NOT_FOUND
from tui.core.tasks import EXTENSION as TASKS
from tui.core.time_limits import CallTimeout, Pausable, TimeLimit
from tui.core.tools import CallFailure, ProgressSink, ToolResult
from tui.core.workbench import CacheHint, RawAnswer
from tui.host import error_sentences as explain
from tui.host.catalog import Walk, walk_pages
from tui.host.content import object_in, result_of
from tui.host.frames.id_gate import CONNECTION_CLOSED, RESULT_TOO_LARGE
from tui.host.sdk.client_options import as_model
from tui.host.sdk.direct_calls import NotJsonArguments
from tui.host.sdk.sdk_bridge import RawReply, SdkBridge
from tui.host.server_requests import ADDRESSES_REQUIRED, InputRounds, RoundProblem
from tui.host.waits import set_within

CLOSING_SECONDS = 0.1

_ANY_RESULT: TypeAdapter[Any] = TypeAdapter(dict[str, Any])

_LEAST: Mapping[str, Mapping[str, Any]] = {
    "tools/list": {"tools": []},
    "tools/call": {"content": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
}
"""The smallest result that the SDK accepts, for each method whose result it validates."""


_AnyRequest = Request[dict[str, Any], str]


class _TaskRequest(_AnyRequest):
    name_param = "taskId"  # over HTTP it is repeated in the Mcp-Name header


@dataclass(slots=True)
class WholeReply(RawReply):
    """Keeps a result of any `resultType`: raw requests get raw results."""

    def take(self, result: dict[str, Any]) -> dict[str, Any] | str:
        self.raw = result
        modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.modern else {}
        return self.hollow(result) | modern


class RawRequest:
    """One request of any method. Cancelling `run` sends `notifications/cancelled`.

    `whole` accepts any answer, even one that asks for input.
    """

    def __init__(
        self,
        method: str,
        params: Mapping[str, Any],
        seconds: float | CallTimeout,
        *,
        whole: bool = False,
    ) -> None:
        said = params.get("_meta")
        meta = said if isinstance(said, Mapping) else {}
        # The token of an earlier request would send its progress elsewhere, so a new one is set.
        self._wants_progress = "progressToken" in meta
        self._meta = {key: value for key, value in meta.items() if key != "progressToken"}
        self._method = method
        self._params = params
        self._timeout = CallTimeout.of(seconds)
        self._kind = WholeReply if whole else RawReply

    async def run(self, client: Client, bridge: SdkBridge, stuck: Callable[[], str]) -> RawAnswer:
        """Send it and return the answer, even an error or a timeout; other failures are raised unchanged.

        `stuck` returns what to add after a timeout.
        """
        limit, rounds = self._timeout.limit(), InputRounds(bridge.requests)
        try:
            with bridge.requests.clocks.holding(limit):
                async with limit:
                    result = await _with_input(partial(self._send, client, bridge, limit), rounds)
        except RoundProblem as problem:
            return RawAnswer(problem=str(problem))
        except TimeoutError:
            if not limit.expired:
                return RawAnswer(problem="The server does not read its input.")
            why = self._timeout.passed(limit)
            return RawAnswer(problem=f"{self._method} {why} It was cancelled.{stuck()}")
        except MCPError as error:
            if error.error.code == CONNECTION_CLOSED:  # servers use this code for other errors too
                await set_within(bridge.closed, CLOSING_SECONDS)
                if bridge.closed.is_set():
                    raise
            return _refused(error)
        return RawAnswer(result=result)

    async def _send(
        self,
        client: Client,
        bridge: SdkBridge,
        limit: TimeLimit,
        responses: Mapping[str, Any],
        state: str | None,
    ) -> "Mapping[str, Any] | InputRequired":
        given = {"inputResponses": responses} if responses else {}
        again = given if state is None else {**given, "requestState": state}
        least = _LEAST.get(self._method, {})

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            limit.restart()  # what it says is in the traffic

        ticket = self._kind(hollow=lambda raw: dict(least))
        mark = bridge.issue(ticket)
        try:
            whole = {**self._params, **again, "_meta": {**self._meta, **mark}}
            kind = _TaskRequest if self._method.startswith("tasks/") else _AnyRequest
            seen = await client.session.send_request(
                kind(method=self._method, params=whole),
                _ANY_RESULT,
                progress_callback=heard if self._wants_progress else None,
            )
        finally:
            bridge.withdraw(mark)
        return ticket.answer(seen) if ticket.wanted is None else InputRequired(ticket.wanted)


@dataclass(frozen=True, slots=True)
class InputRequired:
    """An answer that asks for input first."""

    asked: Mapping[str, Any]


Send = Callable[[Mapping[str, Any], str | None], Awaitable[Mapping[str, Any] | InputRequired]]
"""Sends a request, with the answers and the state of its last round if there was one."""


async def _with_input(send: Send, rounds: InputRounds) -> Mapping[str, Any]:
    """Send a request, and repeat it with the input that its server asks for, until there is an answer."""
    responses: Mapping[str, Any] = {}
    state: str | None = None
    while True:
        try:
            found = await send(responses, state)
        except MCPError as error:
            if error.error.code != ADDRESSES_REQUIRED:
                raise
            await rounds.visit(error.error.data)
            continue
        if not isinstance(found, InputRequired):
            return found
        responses, state = await rounds.answers(found.asked)


def _refused(error: MCPError) -> RawAnswer:
    """Distinguish the server's own errors from those that replace an answer."""
    found = error.error
    if found.message.startswith(explain.NO_ANSWER) or found.code == RESULT_TOO_LARGE:
        return RawAnswer(problem=explain.protocol_failure(error))
    data = {} if found.data is None else {"data": found.data}
    return RawAnswer(error={"code": found.code, "message": found.message, **data})


@dataclass(frozen=True, slots=True)
class CreatedTask:
    """The answer to a tool call that the server works on as a task, raw."""

    raw: Mapping[str, Any]


class SdkToolCall:
    """One tool call. Cancelling `run` sends `notifications/cancelled`."""

    def __init__(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self._tool = tool
        self._arguments = dict(arguments)
        self._is_task = False

    async def run(
        self,
        client: Client,
        bridge: SdkBridge,
        remark: Callable[[], str],
        *,
        timeout: CallTimeout,
        progress: ProgressSink,
        clocks: Pausable,
    ) -> "ToolResult | CreatedTask":
        """Call and return the result, a task that will have it, or a timeout; other failures are raised.

        `remark` returns what to add after a timeout, which progress and requests of the server restart.
        `clocks` stand still while the user answers what the server asks.
        """
        limit, rounds = timeout.limit(), InputRounds(bridge.requests)

        def tell(done: float | None, total: float | None, message: str) -> None:
            limit.restart()
            progress(done, total, message)

        try:
            with bridge.requests.clocks.holding(limit, clocks):
                async with limit:
                    found = await _with_input(partial(self._send, client, bridge, tell), rounds)
        except RoundProblem as problem:
            return ToolResult.failed(str(problem), CallFailure.PROTOCOL)
        except TimeoutError:
            if not limit.expired:
                raise
            why = timeout.passed(limit)
            text = f"{self._tool} {why} The call was cancelled.{remark()}"
            return ToolResult.failed(text, CallFailure.TIMEOUT)
        return CreatedTask(found) if self._is_task else result_of(found)

    async def _send(
        self,
        client: Client,
        bridge: SdkBridge,
        progress: ProgressSink,
        responses: Mapping[str, Any],
        state: str | None,
    ) -> "Mapping[str, Any] | InputRequired":
        # The SDK validates only results without an error, and would list all tools again for that.
        ticket = RawReply(hollow=lambda raw: {"content": [], "isError": True}, may_be_task=True)
        parsed, is_sent = None, False
        if bridge.calls.possible and not responses and state is None:
            with suppress(NotJsonArguments):
                await bridge.call(ticket, self._tool, self._arguments, progress)
                is_sent = True
        if not is_sent:
            parsed = await self._send_by_session(client, bridge, ticket, progress, responses, state)
        self._is_task = ticket.is_task
        return ticket.answer(parsed) if ticket.wanted is None else InputRequired(ticket.wanted)

    async def _send_by_session(
        self,
        client: Client,
        bridge: SdkBridge,
        ticket: RawReply,
        tell: ProgressSink,
        responses: Mapping[str, Any],
        state: str | None,
    ) -> Any:
        """Return the SDK's version of the answer; `ticket` has it raw."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            tell(progress, total, message or "")

        meta: Any = bridge.issue(ticket)
        try:
            return await client.call_tool(
                self._tool,
                self._arguments,
                progress_callback=report,
                meta=meta,
                input_responses={key: as_model(one) for key, one in responses.items()} or None,
                request_state=state,
            )
        finally:
            bridge.withdraw(meta)

    def failure(self, error: Exception) -> ToolResult:
        """Return the result for an error that `run` raised, if the connection is still there."""
        if getattr(error, "code", None) == RESULT_TOO_LARGE:
            return ToolResult.failed(explain.error_message(error), CallFailure.TOO_LARGE)
        if isinstance(error, TimeoutError):
            return ToolResult.failed("The server does not read its input.", CallFailure.PROTOCOL)
        return ToolResult.failed(explain.protocol_failure(error), CallFailure.PROTOCOL)


COUNT_SECONDS = 2.0
RECENT_SECONDS = 5.0
"""How long a complete list is kept for the first who asks for it."""

A_DAY = 86_400.0


class Listings:
    """The listings of one server, page by page."""

    def __init__(self, client: Client, bridge: SdkBridge, hints: dict[str, CacheHint] | None = None) -> None:
        """Take the ends of a connection; the caching hints of each list are noted in `hints`."""
        self._client = client
        self._bridge = bridge
        self._hints = {} if hints is None else hints
        self._recent: dict[str, Walk] = {}

    def take_recent(self, kind: str) -> Walk | None:
        """Return the list of the last few seconds, such as that of the start, once."""
        return self._recent.pop(kind, None)

    def forget(self) -> None:
        """Drop the lists of the last few seconds: a call may change what a server offers, without a word."""
        self._recent.clear()

    async def walk(self, kind: str, seconds: float, *, first: float | None = None) -> Walk:
        """Return the raw entries of all pages, or of those that arrived in time.

        `kind` is the key in the answer. `seconds` are for all pages together, `first` for the first one.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds

        async def fetch(cursor: str | None) -> Mapping[str, Any]:
            left = (end - loop.time()) if cursor is not None else A_DAY if first is None else first
            # A sign-in that the server asks for in between does not count.
            limit = TimeLimit(left)
            with self._bridge.requests.clocks.holding(limit):
                async with limit:
                    return await self._page(kind, cursor)

        self._recent.pop(kind, None)  # it may have changed, and this may fail
        began_ns = time.monotonic_ns()
        walk = await walk_pages(fetch, kind)
        self._hints[kind] = CacheHint(walk.ttl_ms, walk.scope, began_ns)
        if not walk.note:
            self._recent[kind] = walk
            loop.call_later(RECENT_SECONDS, self._expire, kind, walk)
        return walk

    def _expire(self, kind: str, walk: Walk) -> None:
        if self._recent.get(kind) is walk:
            del self._recent[kind]

    async def count(self, kind: str) -> int | None:
        """Return the number of entries; None if not offered or not listed within 2 s.

        Those of the pages before one that fails count, as the lists on screen show them.
        """
        if kind not in self.offered:
            return None
        try:
            walk = await self.walk(kind, COUNT_SECONDS, first=COUNT_SECONDS)
        except Exception:  # a count is optional and must never make the server fail
            return None
        return None if walk.incomplete and (walk.is_late or not walk.items) else len(walk.items)

    @property
    def offered(self) -> frozenset[str]:
        return frozenset(kind for kind, offer in self._offers.items() if offer is not None)

    @property
    def streamed(self) -> frozenset[str]:
        """The kinds of lists whose changes the server sends only on a change stream."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return frozenset()
        return frozenset(kind for kind, offer in self._offers.items() if offer and offer.list_changed)

    @property
    def _offers(self) -> dict[str, ToolsCapability | ResourcesCapability | PromptsCapability | None]:
        said = self._client.server_capabilities
        return {"tools": said.tools, "resources": said.resources, "prompts": said.prompts}

    @property
    def has_tasks(self) -> bool:
        """Whether the server supports the tasks extension; it may report their changes on a change stream."""
        return TASKS in object_in(object_in(self._bridge.introduction, "capabilities"), "extensions")

    async def listen(
        self, opened: Callable[[int], None], resources: Sequence[str] = (), tasks: Sequence[str] = ()
    ) -> bool:
        """Keep a change stream open until it ends; the bridge sees its notifications.

        `resources` and `tasks` (by id) are those whose changes are reported too. `opened` is called once the
        server has acknowledged it, with the number of resources that it accepted. Return False if the server
        does not support such streams.
        """
        kinds = self.streamed
        self._bridge.listened_tasks = tuple(tasks)
        try:
            async with self._client.listen(
                tools_list_changed="tools" in kinds,
                resources_list_changed="resources" in kinds,
                prompts_list_changed="prompts" in kinds,
                resource_subscriptions=resources,
            ) as changes:
                opened(len(changes.honored.resource_subscriptions or ()))
                async for _ in changes:
                    pass
        except Exception as error:  # however it ends, the server can still be called
            return getattr(error, "code", None) != METHOD_NOT_FOUND
        return True

    async def _page(self, kind: str, cursor: str | None) -> Mapping[str, Any]:
        ticket = RawReply(hollow=lambda raw: {kind: []})
        meta: Any = self._bridge.issue(ticket)
        params = PaginatedRequestParams(cursor=cursor, _meta=meta)
        session = self._client.session
        try:
            ask = {
                "tools": session.list_tools,
                "resources": session.list_resources,
                "resourceTemplates": session.list_resource_templates,
                "prompts": session.list_prompts,
            }[kind]
            return ticket.answer(await ask(params=params))
        finally:
            self._bridge.withdraw(meta)
