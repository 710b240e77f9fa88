"""Filters messages between a transport and the SDK's client; raw answers are kept for the host.

The SDK accepts or rejects a whole answer: one malformed tool loses the listing, an unknown content item loses
the result, and 100,000 items block the event loop for seconds (measured on mcp 2.3). So a request of mcptui
can have a `RawReply`: the answer is stored unchanged, and the SDK gets an empty one of the same shape, which
it accepts quickly. The host reads the stored one with its own, tolerant code. The mark that connects the two
is never sent.

The SDK therefore never sees a listing, from which it would take the headers that repeat arguments of a tool
call (`x-mcp-header` in its schema; MCP 2026-07-28, basic/transports/streamable-http, "Custom headers from
tool parameters"). They are added here, by the SDK's rules.
"""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.jsonrpc.protocol import SERVER_INFO_KEY, UNSUPPORTED_VERSION
from tui.core.questions import Refuser
from tui.core.text import clean_line, quoted_name
from tui.core.tools import ProgressSink
from tui.host.error_sentences import NO_ANSWER
from tui.host.frames.id_gate import NO_HTTP_ANSWER, PROBE, UNANSWERED_PROBE
from tui.host.frames.inbox import MISSED, SESSION_REOPENED, WITHDRAWN
from tui.host.sdk.direct_calls import NO_HEADERS, DirectCalls
from tui.host.server_requests import ADDRESS_DONE, ServerRequests
from tui.host.transports.streams import FilteredReadStream, FilteredWriteStream

HeaderMap = Mapping[tuple[str, ...], str]
"""The last part of a header's name, by the path of the property that the header repeats."""


def header_map(schema: Any) -> HeaderMap | str:
    """Return the headers that a schema asks for, or what is wrong with them; such a tool must not be used."""
    fault = find_invalid_x_mcp_header(schema)
    return x_mcp_header_map(schema) if fault is None else f"its headers are invalid: {clean_line(fault, 160)}"


def parameter_headers(wanted: HeaderMap, arguments: Any) -> dict[str, str]:
    """Return the headers for the arguments of a call. Raises MCPError if one cannot be sent."""
    try:
        return mcp_param_headers(wanted, arguments) if isinstance(arguments, Mapping) else {}
    except UnicodeError:
        text = "not sent: an argument contains an invalid character (a lone surrogate)."
        raise MCPError(NO_HTTP_ANSWER, text) from None


SAMPLING: Mapping[str, Any] = {"sampling": {"tools": {}}}
"""The capability of a client whose server may use the model, also with tools."""

TICKET = "mcptui/ticket"
"""Key in a request's `_meta`; taken out before the request is sent."""

LISTEN = "subscriptions/listen"

_KEPT_INBOUND = 1024
STATE_LIMIT = 1024 * 1024
"""Maximum characters of the state that a server may ask to be sent back with the next round of a call."""


@dataclass(slots=True)
class RawReply:
    """A request whose answer is kept raw: `raw`, once it has arrived.

    `hollow` makes the empty answer for the SDK from the raw one, and must not raise. `wanted` is an answer
    that asks for input first, unchanged; `modern`: the protocol of the request is 2026-07-28 or later. With
    `may_be_task`, `raw` may be a task that will have the answer; `is_task` says whether it is.
    """

    hollow: Callable[[Mapping[str, Any]], dict[str, Any]]
    raw: dict[str, Any] | None = None
    wanted: dict[str, Any] | None = None
    modern: bool = False
    may_be_task: bool = False
    is_task: bool = False

    def take(self, result: dict[str, Any]) -> dict[str, Any] | str:
        """Store `result`; return what the SDK gets instead, or what is wrong with it."""
        kind = result.get("resultType", "complete") if self.modern else "complete"
        if kind == "input_required":
            state = result.get("requestState")
            if isinstance(state, str) and len(state) > STATE_LIMIT:
                return f"a requestState of {len(state):,} characters"
            self.wanted = result
            return self._hollowed({})
        self.is_task = kind == "task" and self.may_be_task
        if kind != "complete" and not self.is_task:
            return f"unknown resultType {quoted_name(str(kind), 80)}"
        self.raw = result
        return self._hollowed(result)

    def _hollowed(self, result: Mapping[str, Any]) -> dict[str, Any]:
        modern_fields = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.modern else {}
        return self.hollow(result) | modern_fields

    def answer(self, parsed: Any) -> Mapping[str, Any]:
        """Return the raw result, or what the SDK `parsed` if its client did not carry the mark."""
        if self.raw is not None or self.wanted is not None:
            return self.raw or {}
        if isinstance(parsed, Mapping):
            return parsed
        dumped: dict[str, Any] = parsed.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return dumped


@dataclass(slots=True)
class SdkBridge:
    """Both directions of one connection, as the SDK's `Transport` protocol requires them.

    `on_notification` must not raise or wait. `server_versions` and `introduction` are the server's answer to
    the handshake, unchanged. `probe_only` forbids `initialize`; with `leaves`, a server that rejected the
    probe does not get it either; `was_refused` says that another session may begin with it, `was_probed` that
    it followed a probe in this one. `requests` answers what the server asks. `stamp` returns members to add
    to the `_meta` of a request, given whether its protocol is 2026-07-28 or later. `tool_headers` are the
    arguments that a call repeats in HTTP headers, by tool. `listened_tasks` are the ids of tasks that the
    next change stream is to report. `calls` are those that bypass the session, where that is possible.
    """

    read: Any
    write: Any
    on_notification: Callable[[str, Mapping[str, Any]], None]
    requests: ServerRequests = field(default_factory=lambda: ServerRequests("", Refuser()))
    stamp: Callable[[bool], Mapping[str, Any]] = lambda modern: {}
    closed: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    server_versions: tuple[str, ...] = field(init=False, default=())
    probe_only: bool = field(init=False, default=False)
    leaves: bool = field(init=False, default=False)
    was_refused: bool = field(init=False, default=False)
    was_probed: bool = field(init=False, default=False)
    introduction: Mapping[str, Any] = field(init=False, default_factory=dict)
    tool_headers: Mapping[str, HeaderMap] = field(init=False, default_factory=dict)
    listened_tasks: Sequence[str] = field(init=False, default=())
    _tickets: dict[str, RawReply] = field(init=False, default_factory=dict)
    _waiting: dict[str | int, RawReply] = field(init=False, default_factory=dict)
    _handshakes: dict[str | int, str] = field(init=False, default_factory=dict)
    _probe_error: ErrorData | None = field(init=False, default=None)
    _inbound: dict[str | int, str] = field(init=False, default_factory=dict)
    _numbers: int = field(init=False, default=0)
    calls: DirectCalls = field(init=False)

    def __post_init__(self) -> None:
        self.calls = DirectCalls(getattr(self.write, "put", None))
        if (divert := getattr(self.read, "divert", None)) is not None:
            divert(lambda response: self.calls.answered(response.id, response.result))

    async def __aenter__(self) -> tuple[FilteredReadStream, FilteredWriteStream]:
        reads = FilteredReadStream(self.read, self.incoming, self._ended)
        return reads, FilteredWriteStream(self.write, self.outgoing)

    async def __aexit__(self, *_: object) -> None:
        """End the calls; the connection owns the transport below."""
        self.calls.close()

    def _ended(self) -> None:
        self.closed.set()
        self.calls.close()

    async def call(
        self, ticket: RawReply, tool: str, arguments: Mapping[str, Any], progress: ProgressSink
    ) -> None:
        """Call a tool, bypassing the session; see `DirectCalls`."""
        ticket.modern = self.calls.modern
        params = {"name": tool, "arguments": arguments}
        wanted = self.tool_headers.get(tool)
        headers = parameter_headers(wanted, arguments) if wanted else NO_HEADERS
        stamp = {**self.stamp(ticket.modern), **self._permitted(self.calls.declared)}
        await self.calls.call(params, ticket.take, progress, stamp, headers)

    def _permitted(self, meta: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the capabilities to declare in place of those in `meta`, if these are out of date.

        The session declares what was allowed when it began. Since 2026-07-28 each request declares them.
        """
        said = meta.get(CLIENT_CAPABILITIES_META_KEY)
        if not isinstance(said, Mapping) or ("sampling" in said) is self.requests.may_sample:
            return {}
        rest = {name: value for name, value in said.items() if name != "sampling"}
        allowed = SAMPLING if self.requests.may_sample else {}
        return {CLIENT_CAPABILITIES_META_KEY: {**rest, **allowed}}

    def issue(self, ticket: RawReply) -> dict[str, Any]:
        """Return the `meta` that connects a request with `ticket`; pass it to `withdraw` in the end."""
        self._numbers += 1
        key = f"{self._numbers}"
        self._tickets[key] = ticket
        return {TICKET: key}

    def withdraw(self, meta: Mapping[str, Any]) -> None:
        ticket = self._tickets.pop(meta.get(TICKET, ""), None)
        for request_id in [known for known, waiting in self._waiting.items() if waiting is ticket]:
            del self._waiting[request_id]

    def outgoing(self, item: SessionMessage) -> SessionMessage:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            if message.method in ("initialize", PROBE):
                error = self._probe_error
                is_rejected = error is not None and not error.message.startswith(UNANSWERED_PROBE)
                if message.method == "initialize" and (self.probe_only or (self.leaves and is_rejected)):
                    self.was_refused = True
                    raise self._failed_probe()
                self._handshakes[message.id] = message.method
                self.was_probed = message.method == "initialize" and PROBE in self._handshakes.values()
            else:
                meta = (message.params or {}).get("_meta")
                self.calls.learn(meta if isinstance(meta, dict) else {}, _headers_of(item))
            if message.method == LISTEN and self.listened_tasks:
                return self._stamped(self._with_tasks(item, message))
            return self._stamped(self._without_ticket(self._with_headers(item, message), message))
        if isinstance(message, JSONRPCError) and message.id is not None:
            method = self._inbound.pop(message.id, "")
            if method in self.requests.not_offered:
                # The SDK says "invalid request"; the spec's code for what was never offered is -32601.
                data = ErrorData(code=METHOD_NOT_FOUND, message=f"{method} is not supported by this client")
                return SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=data), item.metadata)
            self.requests.refused(method, message.error.code, message.error.message)
        return item

    def _failed_probe(self) -> MCPError:
        """Return the error in place of `initialize`, where only the probe may open the session."""
        if (error := self._probe_error) is not None:
            return MCPError(error.code, error.message, error.data)
        if self.server_versions:
            return MCPError(UNSUPPORTED_VERSION, "unsupported protocol version")
        return MCPError(INVALID_ANSWER, f"{NO_ANSWER}: it names no protocol version")

    def _with_headers(self, item: SessionMessage, message: JSONRPCRequest) -> SessionMessage:
        params = message.params or {}
        wanted = self.tool_headers.get(str(params.get("name"))) if message.method == "tools/call" else None
        if not wanted:
            return item
        headers = {**parameter_headers(wanted, params.get("arguments")), **_headers_of(item)}
        return SessionMessage(message, ClientMessageMetadata(headers=headers))

    def _with_tasks(self, item: SessionMessage, message: JSONRPCRequest) -> SessionMessage:
        """Add the ids of tasks that a change stream is to report: the SDK's filter has no field for them."""
        params = message.params or {}
        asked = params.get("notifications")
        filter = {**(asked if isinstance(asked, dict) else {}), "taskIds": list(self.listened_tasks)}
        changed = message.model_copy(update={"params": {**params, "notifications": filter}})
        return SessionMessage(changed, item.metadata)

    def _without_ticket(self, item: SessionMessage, message: JSONRPCRequest) -> SessionMessage:
        params = message.params or {}
        meta = params.get("_meta")
        if not isinstance(meta, dict) or TICKET not in meta:
            return item
        rest = {key: value for key, value in meta.items() if key != TICKET}
        ticket = self._tickets.get(meta[TICKET])
        if ticket is not None:
            ticket.modern = PROTOCOL_VERSION_META_KEY in rest
            self._waiting[message.id] = ticket
        left = {key: value for key, value in params.items() if key != "_meta"}
        if rest:
            left["_meta"] = rest
        return SessionMessage(message.model_copy(update={"params": left}), item.metadata)

    def _stamped(self, item: SessionMessage) -> SessionMessage:
        """Add the fields that `stamp` returns for this protocol era to the `_meta` of a request."""
        message = item.message
        if not isinstance(message, JSONRPCRequest) or message.id in self._handshakes:
            return item
        params = message.params or {}
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        added, permitted = self.stamp(PROTOCOL_VERSION_META_KEY in meta), self._permitted(meta)
        if not added and not permitted:
            return item
        stamped = {**params, "_meta": {**added, **meta, **permitted}}
        return SessionMessage(message.model_copy(update={"params": stamped}), item.metadata)

    def incoming(self, item: Any) -> Any:
        """Return `item` as the SDK sees it, or None to drop it."""
        if not isinstance(item, SessionMessage):
            return item
        match item.message:
            case JSONRPCResponse() as answer:
                return self._answer(item, answer)
            case JSONRPCError(id=known, error=error):
                if known in self._handshakes:
                    if self._handshakes[known] == PROBE:
                        self._probe_error = error
                    else:
                        self.was_refused = True
                    self._note_versions(error.data if isinstance(error.data, dict) else {})
                elif self.calls.failed(known, error):
                    return None
            case JSONRPCNotification(method=method, params=params):
                return item if self._notified(method, params or {}) else None
            case JSONRPCRequest(id=asked, method=method):
                if len(self._inbound) >= _KEPT_INBOUND:
                    self._inbound.pop(next(iter(self._inbound)))
                self._inbound[asked] = method
                if method in self.requests.not_offered:  # the SDK would parse all of it, then refuse it
                    bare = JSONRPCRequest(jsonrpc="2.0", id=asked, method=method)
                    return SessionMessage(bare, item.metadata)
        return item

    def _notified(self, method: str, params: Mapping[str, Any]) -> bool:
        """Report a notification; return whether the SDK sees it too."""
        if method == WITHDRAWN:
            self.requests.questioner.withdraw(params.get("requestId"))
            return False
        self.on_notification(method, params)
        if method == ADDRESS_DONE:
            self.requests.visited(params.get("elicitationId"))
        elif method == "notifications/progress":
            return _sane_progress(params) and not self.calls.progressed(params)
        return method not in (SESSION_REOPENED, MISSED)

    def _answer(self, item: SessionMessage, answer: JSONRPCResponse) -> SessionMessage | None:
        if self.calls.answered(answer.id, answer.result):
            return None
        if answer.id in self._handshakes:
            self._note_versions(answer.result)
            self.introduction = answer.result
            tidy = tidy_handshake(answer.result)
            return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=answer.id, result=tidy), item.metadata)
        ticket = self._waiting.pop(answer.id, None)
        if ticket is None:
            return item
        taken = ticket.take(answer.result)
        if isinstance(taken, str):
            error = ErrorData(code=INVALID_ANSWER, message=f"{NO_ANSWER}: {taken}")
            return SessionMessage(JSONRPCError(jsonrpc="2.0", id=answer.id, error=error), item.metadata)
        return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=answer.id, result=taken), item.metadata)

    def _note_versions(self, said: Mapping[str, Any]) -> None:
        named = said.get("protocolVersion") or said.get("supportedVersions") or said.get("supported") or ()
        versions = named if isinstance(named, list) else [named]
        self.server_versions = (
            tuple(v[:40] for v in versions[:8] if isinstance(v, str)) or self.server_versions
        )


def _headers_of(item: SessionMessage) -> Mapping[str, str]:
    """Return the HTTP headers that the session adds to a request."""
    known = item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
    return known or NO_HEADERS


def _sane_progress(params: Mapping[str, Any]) -> bool:
    """Whether the SDK accepts it: an int too large for a float would end its read loop."""
    for key in ("progress", "total"):
        value = params.get(key)
        if value is None:
            continue
        try:
            if not isinstance(value, int | float) or not math.isfinite(float(value)):
                return False
        except OverflowError:
            return False
    return True


_OFFERS = ("tools", "resources", "prompts", "completions", "logging")
_SWITCHES = ("listChanged", "subscribe")
_NAME_CHARS = 200


def tidy_handshake(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of `initialize` or `server/discover` without its malformed fields.

    The SDK refuses a server for any odd field (measured on mcp 2.3: no `serverInfo`, `capabilities` null,
    icons that are not a list). None of that prevents calling a tool. Only the protocol version must be valid.
    """
    tidy = dict(answer)
    tidy["capabilities"] = _offers(answer.get("capabilities"))
    if "protocolVersion" in answer:  # the older handshake requires it as a field
        tidy["serverInfo"] = _info(answer.get("serverInfo"))
    if "_meta" in tidy:
        said = _entry(answer["_meta"], SERVER_INFO_KEY)
        tidy["_meta"] = {} if said is None else {SERVER_INFO_KEY: _info(said)}
    if not isinstance(answer.get("instructions", ""), str):
        del tidy["instructions"]
    return tidy


def _offers(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        return {"tools": {}}  # unknown: listing tools does no harm
    return {
        name: {key: flag for key in _SWITCHES if isinstance(flag := _entry(said[name], key), bool)}
        for name in _OFFERS
        if said.get(name) not in (None, False)
    }


def _info(said: Any) -> dict[str, str]:
    read = {key: _entry(said, key) for key in ("name", "title", "version")}
    return {"name": "", "version": ""} | {
        key: value[:_NAME_CHARS] for key, value in read.items() if isinstance(value, str)
    }


def _entry(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, dict) else None
