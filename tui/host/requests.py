"""Requests over a live connection: tool calls, listings, and any method by hand; answers are kept raw.

Imports the SDK: load it only where a connection exists already.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PaginatedRequestParams, PromptsCapability, Request, ResourcesCapability, ToolsCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from tui.core.tools import CallFailure, ProgressSink, TextContent, ToolResult
from tui.core.workbench import RawAnswer
from tui.host import error_sentences as explain
from tui.host.catalog import Walk, walk_pages
from tui.host.content import result_of
from tui.host.frames.id_gate import CONNECTION_CLOSED, METHOD_NOT_FOUND, RESULT_TOO_LARGE
from tui.host.sdk.sdk_bridge import RawReply, SdkBridge
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
"""The smallest answer that the SDK accepts, for each method whose answers it knows."""


@dataclass(slots=True)
class WholeReply(RawReply):
    """Keeps an answer whatever its `resultType`: raw requests get raw answers."""

    def take(self, result: dict[str, Any]) -> dict[str, Any] | str:
        self.raw = result
        modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.modern else {}
        return self.hollow(result) | modern


class RawRequest:
    """One request of any method. Cancelling `run` sends `notifications/cancelled`.

    `whole` takes any answer, also one that asks for input.
    """

    def __init__(
        self, method: str, params: Mapping[str, Any], seconds: float, *, whole: bool = False
    ) -> None:
        said = params.get("_meta")
        meta = said if isinstance(said, Mapping) else {}
        # The token of an earlier request would send its progress elsewhere: it gets a new one.
        self._wants_progress = "progressToken" in meta
        self._meta = {key: value for key, value in meta.items() if key != "progressToken"}
        self._method = method
        self._params = params
        self._seconds = seconds
        least = _LEAST.get(method, {})
        self._ticket = (WholeReply if whole else RawReply)(hollow=lambda raw: dict(least))

    async def run(self, client: Client, wire: SdkBridge, stuck: Callable[[], str]) -> RawAnswer:
        """Send it and return the answer; anything but an answer, an error or a timeout is raised unchanged.

        `stuck` returns what to add after a timeout.
        """
        mark = wire.issue(self._ticket)
        params = {**self._params, "_meta": {**self._meta, **mark}}
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                request = Request[dict[str, Any], str](method=self._method, params=params)
                seen = await client.session.send_request(
                    request, _ANY_RESULT, progress_callback=_heard if self._wants_progress else None
                )
        except TimeoutError:
            if not limit.expired():
                return RawAnswer(problem="The server does not read what is sent to it.")
            text = f"{self._method} got no answer within {self._seconds:g} s and was cancelled."
            return RawAnswer(problem=f"{text}{stuck()}")
        except MCPError as error:
            if error.error.code == CONNECTION_CLOSED:  # servers use this code for their own errors too
                await set_within(wire.closed, CLOSING_SECONDS)
                if wire.closed.is_set():
                    raise
            return _refused(error)
        finally:
            wire.withdraw(mark)
        if asked := self._ticket.asked:
            text = f"The server asked for {asked} before it answers; this host does not offer that."
            return RawAnswer(problem=text)
        return RawAnswer(result=self._ticket.answer(seen))


async def _heard(progress: float, total: float | None, message: str | None) -> None:
    """Do nothing: progress of a raw request shows in the traffic."""


def _refused(error: MCPError) -> RawAnswer:
    """Distinguish the server's own errors from those that replace an answer."""
    found = error.error
    if found.message.startswith(explain.NO_ANSWER) or found.code == RESULT_TOO_LARGE:
        return RawAnswer(problem=explain.protocol_failure(error))
    data = {} if found.data is None else {"data": found.data}
    return RawAnswer(error={"code": found.code, "message": found.message, **data})


class SdkToolCall:
    """One tool call. Cancelling `run` sends `notifications/cancelled`."""

    def __init__(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self._tool = tool
        self._arguments = dict(arguments)
        # The SDK validates only results without an error, and would list all tools again for that.
        self._ticket = RawReply(hollow=lambda raw: {"content": [], "isError": True})

    async def run(
        self,
        client: Client,
        wire: SdkBridge,
        remark: Callable[[], str],
        *,
        seconds: float,
        progress: ProgressSink,
    ) -> ToolResult:
        """Call and return the result or a timeout; other failures are raised unchanged.

        `remark` returns what to add after a timeout; progress does not extend `seconds`.
        """
        meta: Any = wire.issue(self._ticket)

        async def report(progress: float, total: float | None, message: str | None) -> None:
            tell(progress, total, message or "")

        tell = progress
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                parsed = await client.call_tool(
                    self._tool, self._arguments, progress_callback=report, meta=meta
                )
        except TimeoutError:
            if not limit.expired():
                raise
            text = f"{self._tool} gave no answer within {seconds:g} s and was cancelled.{remark()}"
            return failed(CallFailure.TIMEOUT, text)
        finally:
            wire.withdraw(meta)
        return result_of(self._ticket.answer(parsed))

    def failure(self, error: Exception) -> ToolResult:
        """Return the result for an error that `run` raised, if the connection is still there."""
        if getattr(error, "code", None) == RESULT_TOO_LARGE:
            return failed(CallFailure.TOO_LARGE, explain.error_message(error))
        if asked := self._ticket.asked:
            text = f"The tool asked for {asked} in the middle of the call; this host does not offer that."
            return failed(CallFailure.PROTOCOL, text)
        if isinstance(error, TimeoutError):
            return failed(CallFailure.PROTOCOL, "The server does not read what is sent to it.")
        return failed(CallFailure.PROTOCOL, explain.protocol_failure(error))


def failed(failure: CallFailure, text: str) -> ToolResult:
    """Return the result of a call that has none of its own."""
    return ToolResult((TextContent(text),), is_error=True, failure=failure)


COUNT_SECONDS = 2.0


class Listings:
    """What one server offers, page by page."""

    def __init__(self, client: Client, wire: SdkBridge) -> None:
        self._client = client
        self._wire = wire

    async def walk(self, kind: str, seconds: float, *, first: float | None = None) -> Walk:
        """Return the raw entries of all pages, or of those that arrived in time.

        `kind` is the key in the answer. `seconds` are for all pages together, `first` for the first one.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds

        async def fetch(cursor: str | None) -> Mapping[str, Any]:
            if cursor is None:
                async with asyncio.timeout(first):
                    return await self._page(kind, cursor)
            async with asyncio.timeout_at(end):
                return await self._page(kind, cursor)

        return await walk_pages(fetch, kind)

    async def count(self, kind: str) -> int | None:
        """None if not offered or not all listed within 2 s."""
        if kind not in self.offered:
            return None
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                walk = await self.walk(kind, COUNT_SECONDS)
        except Exception:  # a count is optional: it must never cost the server
            return None
        return None if walk.incomplete else len(walk.items)

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

    async def listen(self, opened: Callable[[], None]) -> bool:
        """Keep a change stream open until it ends; the bridge sees its notifications.

        `opened` is called once the server has acknowledged it. Return False if the server does not support
        such streams.
        """
        kinds = self.streamed
        try:
            async with self._client.listen(
                tools_list_changed="tools" in kinds,
                resources_list_changed="resources" in kinds,
                prompts_list_changed="prompts" in kinds,
            ) as changes:
                opened()
                async for _ in changes:
                    pass
        except Exception as error:  # whatever ends or refuses it, the server can still be called
            return getattr(error, "code", None) != METHOD_NOT_FOUND
        return True

    async def _page(self, kind: str, cursor: str | None) -> Mapping[str, Any]:
        ticket = RawReply(hollow=lambda raw: {kind: []})
        meta: Any = self._wire.issue(ticket)
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
            self._wire.withdraw(meta)
