"""The two ends of a connection, which the SDK's session only opens: everything else bypasses it.

The SDK accepts or rejects a whole answer: one malformed tool loses the listing, an unknown content item loses
the result, and 100,000 items block the event loop for seconds. It spends 0.3 ms on a call (all measured on
mcp 2.3). The gate handles ids, late answers and the rules of the protocol anyway. So the session only makes
the handshake. All other requests are made here, with the fields and HTTP headers that the session would add,
and their answers stay raw. What the server asks is answered here.

The session therefore never sees a listing, from which it would take the headers that repeat arguments of a
tool call (`x-mcp-header` in its schema; MCP 2026-07-28, basic/transports/streamable-http, "Custom headers
from tool parameters"). They are added here too, by the SDK's rules.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp.client import session
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    Result,
    SamplingCapability,
    SamplingToolsCapability,
    jsonrpc_message_adapter,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tui.core.jsonrpc import protocol
from tui.core.jsonrpc.messages import INVALID_ANSWER, Failure, Message, Notification, Request, Response
from tui.core.questions import Questioner
from tui.core.servers import EraChoice
from tui.core.tasks import EXTENSION
from tui.core.text import clean_line, object_in
from tui.core.tools import ProgressSink
from tui.core.units import number_limit
from tui.host.error_sentences import NO_ANSWER
from tui.host.frames.id_gate import CANCELLED, CONNECTION_CLOSED, NO_HTTP_ANSWER, PROBE, UNANSWERED_PROBE
from tui.host.frames.inbox import WITHDRAWN
from tui.host.server_requests import ADDRESS_DONE, Refusal, ServerRequests
from tui.host.transports.streams import ReadStream, WriteStream

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


OUR_VERSIONS: Mapping[EraChoice, Sequence[str]] = {
    EraChoice.AUTO: (*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)),
    EraChoice.MODERN: tuple(reversed(MODERN_PROTOCOL_VERSIONS)),
    EraChoice.LEGACY: tuple(reversed(HANDSHAKE_PROTOCOL_VERSIONS)),
}
"""The protocol versions that mcptui speaks, the newest first."""


def await_probes() -> None:
    """Remove the SDK's own limit of 10 s for a probe (mcp 2.3), whatever the limit of a start is.

    It took slow servers for older ones, and is not paused while the user signs in.
    """
    session.DISCOVER_TIMEOUT_SECONDS = math.inf


async def _not_by_session(*_: Any) -> Any:
    raise AssertionError("what the server asks is answered by the bridge")


class _CreatedTask(Result):
    result_type: Literal["task"] = "task"


class _Tasks(ClientExtension):
    """Tells servers that mcptui supports tasks (io.modelcontextprotocol/tasks).

    The SDK advertises an extension that has a result type only where the protocol allows one: since
    2026-07-28.
    """

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=_CreatedTask, resolve=_not_by_session),)


def client_options(requests: ServerRequests) -> dict[str, Any]:
    """Return the arguments of the SDK's client, which advertises a capability for each callback."""
    found: dict[str, Any] = {
        "extensions": [_Tasks()],
        "elicitation_callback": _not_by_session,
        "list_roots_callback": _not_by_session,
    }
    if requests.may_sample:
        found["sampling_callback"] = _not_by_session
        found["sampling_capabilities"] = SamplingCapability(tools=SamplingToolsCapability())
    return found


LISTEN = "subscriptions/listen"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

_log = logging.getLogger(__name__)


Opened = Callable[[Mapping[str, Any]], None]
"""Takes what a server acknowledges of a change stream."""

_Waiting = tuple[asyncio.Future[dict[str, Any]], ProgressSink | None, Opened | None]
_NOBODY = (None, None, None)


@dataclass(slots=True)
class SdkBridge:
    """Both directions of one connection, as the SDK's `Transport` protocol requires them.

    `on_notification` must not raise or wait. `server_versions` and `introduction` are the server's answer to
    the handshake, unchanged. `probe_only` forbids `initialize`; with `leaves`, a server that rejected the
    probe does not get it either; `was_refused` says that another session may begin with it, `was_probed` that
    it followed a probe in this one. `protocol` is the negotiated version, `offers` are the capabilities,
    tidied. `requests` answers what the server asks. `stamp` returns members to add to the `_meta` of a
    request, given whether its protocol is 2026-07-28 or later. `tool_headers` are the arguments that a call
    repeats in HTTP headers, by tool.
    """

    read: ReadStream
    write: WriteStream
    on_notification: Callable[[str, Mapping[str, Any]], None]
    requests: ServerRequests = field(default_factory=lambda: ServerRequests("", Questioner()))
    stamp: Callable[[bool], Mapping[str, Any]] = lambda modern: {}
    closed: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    server_versions: tuple[str, ...] = field(init=False, default=())
    probe_only: bool = field(init=False, default=False)
    leaves: bool = field(init=False, default=False)
    was_refused: bool = field(init=False, default=False)
    was_probed: bool = field(init=False, default=False)
    protocol: str = field(init=False, default="")
    introduction: Mapping[str, Any] = field(init=False, default_factory=dict)
    offers: Mapping[str, Mapping[str, bool]] = field(init=False, default_factory=dict)
    tool_headers: Mapping[str, HeaderMap] = field(init=False, default_factory=dict)
    _waiting: dict[str | int, _Waiting] = field(init=False, default_factory=dict)
    _handshakes: dict[str | int, str] = field(init=False, default_factory=dict)
    _declared: Mapping[str, Any] = field(init=False, default_factory=dict)
    _probe_error: MCPError | None = field(init=False, default=None)
    _replying: dict[str | int, asyncio.Task[None]] = field(init=False, default_factory=dict)
    _numbers: int = field(init=False, default=0)
    _is_over: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.read.inbox.divert = lambda response: self._settled(response.id, response.result)
        self.read.take, self.read.ended, self.write.check = self.incoming, self._ended, self.outgoing

    async def __aenter__(self) -> tuple[ReadStream, WriteStream]:
        return self.read, self.write

    async def __aexit__(self, *_: object) -> None:
        """End all requests; the connection owns the transport below."""
        self._fail_pending()
        await asyncio.gather(*self._replying.values(), return_exceptions=True)

    def _fail_pending(self) -> None:
        self._is_over = True
        for replying in self._replying.values():
            replying.cancel()
        for answered, *_ in self._waiting.values():
            if not answered.done():
                answered.set_exception(_closed())

    def _ended(self) -> None:
        self.closed.set()
        self._fail_pending()

    @property
    def is_modern(self) -> bool:
        """Whether the protocol is 2026-07-28 or later."""
        return protocol.is_modern(self.protocol)

    # ---- our requests ------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        progress: ProgressSink | None = None,
        opened: Opened | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its raw result. Cancelling this cancels it at the server.

        `opened` is called when the server acknowledges a change stream, which ends with the request.

        Raises:
            MCPError: the server returned an error, or the connection closed.
        """
        if self._is_over:
            raise _closed()
        self._numbers += 1
        name = f"request-{self._numbers}"
        own = object_in(params, "_meta")
        declared = {**self._declared, PROTOCOL_VERSION_META_KEY: self.protocol} if self.is_modern else {}
        meta = {**self.stamp(self.is_modern), **own, **declared, **self._permitted(declared)}
        if progress is not None:
            meta["progressToken"] = name
        sent = {key: value for key, value in params.items() if key != "_meta"}
        if meta:
            sent["_meta"] = meta
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answered, progress, opened
        try:
            if not self._put({"jsonrpc": "2.0", "id": name, "method": method, "params": sent}):
                raise _closed()
            return await answered
        except asyncio.CancelledError:
            why = {"requestId": name, "reason": "caller cancelled"}
            self._put({"jsonrpc": "2.0", "method": CANCELLED, "params": why})
            raise
        finally:
            self._waiting.pop(name, None)

    def notify(self, method: str) -> None:
        """Send a notification without parameters."""
        self._put({"jsonrpc": "2.0", "method": method})

    def _put(self, message: dict[str, Any]) -> bool:
        """Write a message with its HTTP headers; return False if the connection is closed."""
        try:
            return self.write.put(message, self._headers(message) if "method" in message else {})
        except (TypeError, ValueError):  # not JSON, such as NaN, for which the models write null
            model = jsonrpc_message_adapter.validate_python(message)
            plain = model.model_dump(by_alias=True, mode="json", exclude_unset=True)
            return self.write.put(plain, self._headers(plain) if "method" in plain else {})

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the HTTP headers of a message. Raises MCPError if one cannot be sent."""
        method, params = message["method"], message.get("params", {})
        wanted = self.tool_headers.get(str(params.get("name"))) if method == "tools/call" else None
        headers = parameter_headers(wanted, params.get("arguments")) if wanted else {}
        headers[MCP_PROTOCOL_VERSION_HEADER] = self.protocol
        is_of_task = method.startswith("tasks/")
        if self.is_modern:
            headers[MCP_METHOD_HEADER] = method
        if self.is_modern or is_of_task:
            name = params.get("taskId" if is_of_task else NAME_BEARING_METHODS.get(method, ""))
            if isinstance(name, str):
                headers[MCP_NAME_HEADER] = encode_header_value(name)
        return headers

    def _permitted(self, meta: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the capabilities to declare in place of those in `meta`, if these are out of date.

        The session declares what was allowed when it began. Since 2026-07-28 each request declares them.
        """
        said = meta.get(CLIENT_CAPABILITIES_META_KEY)
        if not isinstance(said, Mapping) or ("sampling" in said) is self.requests.may_sample:
            return {}
        rest = {name: value for name, value in said.items() if name != "sampling"}
        allowed: dict[str, Any] = {"sampling": {"tools": {}}} if self.requests.may_sample else {}
        return {CLIENT_CAPABILITIES_META_KEY: {**rest, **allowed}}

    def _settled(self, name: str | int, outcome: dict[str, Any] | MCPError) -> bool:
        """Take the result of a request, or its error; return whether the request is one of ours."""
        if (waiting := self._waiting.get(name)) is None:
            return False
        if not waiting[0].done():
            if isinstance(outcome, MCPError):
                waiting[0].set_exception(outcome)
            else:
                waiting[0].set_result(outcome)
        return True

    def _progressed(self, params: Mapping[str, Any]) -> None:
        """Take a report of progress, if it is valid and for one of our requests."""
        token, done, text = (params.get(key) for key in ("progressToken", "progress", "message"))
        _, report, _ = self._waiting.get(token, _NOBODY) if isinstance(token, str) else _NOBODY
        if report is not None and (reached := number_limit(done)) is not None:
            try:
                report(reached, number_limit(params.get("total")), text if isinstance(text, str) else "")
            except Exception:  # an error in a listener must not end reading
                _log.exception("a progress callback failed")

    # ---- the session -------------------------------------------------------------------------------------

    def outgoing(self, message: Mapping[str, Any]) -> None:
        if "id" not in message or (method := message.get("method")) is None:
            return
        error = self._probe_error
        is_rejected = error is not None and not error.message.startswith(UNANSWERED_PROBE)
        if method == "initialize" and (self.probe_only or (self.leaves and is_rejected)):
            self.was_refused = True
            if error is not None:
                raise error
            if self.server_versions:
                raise MCPError(protocol.UNSUPPORTED_VERSION, "unsupported protocol version")
            raise MCPError(INVALID_ANSWER, f"{NO_ANSWER}: it names no protocol version")
        self._handshakes[message["id"]] = method
        self.was_probed = method == "initialize" and PROBE in self._handshakes.values()
        self._declared = (message.get("params") or {}).get("_meta") or {}

    def incoming(self, message: Message) -> Message | None:
        """Return a message as the SDK sees it, or None to drop it."""
        match message:
            case Response():
                return self._answer(message)
            case Failure(id=known, code=code, message=text, data=data):
                error = MCPError(code, text, data)
                if known in self._handshakes:
                    if self._handshakes[known] == PROBE:
                        self._probe_error = error
                    else:
                        self.was_refused = True
                    self._note_versions(data if isinstance(data, dict) else {})
                elif known is not None and self._settled(known, error):
                    return None
            case Notification(method=method, params=params):
                self._notified(method, params or {})
                return None
            case Request(id=asked, method=method, params=params):
                reply = self._reply(asked, method, params or {})
                self._replying[asked] = asyncio.create_task(reply, name=f"reply to {method[:80]}")
                return None
        return message

    async def _reply(self, asked: str | int, method: str, params: Mapping[str, Any]) -> None:
        """Answer a request of the server, unless the server cancels it meanwhile."""
        said: dict[str, Any] = {"result": {}}
        try:
            if method != "ping":
                found = await self.requests.answer(method, params, asked=asked)
                said = {"result": found}
                if isinstance(found, Refusal):
                    said = {"error": {"code": found.code, "message": found.message}}
                    self.requests.refused(method, found.code, found.message)
        except Exception:  # a bug must not leave the server without a reply
            _log.exception("%s was not answered because of an internal error", method[:80])
            said = {"error": {"code": protocol.INTERNAL_ERROR, "message": "internal error"}}
        finally:
            if self._replying.get(asked) is asyncio.current_task():
                del self._replying[asked]
        self._put({"jsonrpc": "2.0", "id": asked, **said})

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == WITHDRAWN:
            self.requests.questioner.withdraw(params.get("requestId"))
            return
        self.on_notification(method, params)
        if method == ADDRESS_DONE:
            self.requests.visited(params.get("elicitationId"))
        elif method == "notifications/progress":
            self._progressed(params)
        elif method == _ACKNOWLEDGED:
            meta, honored = params.get("_meta"), params.get("notifications")
            name = meta.get(protocol.SUBSCRIPTION_KEY) if isinstance(meta, dict) else None
            _, _, opened = self._waiting.get(name, _NOBODY) if isinstance(name, str) else _NOBODY
            if opened is not None and isinstance(honored, dict):
                opened(honored)
        elif method == CANCELLED:
            cancelled = params.get("requestId")
            # Some servers return a number as text.
            text = str(cancelled) if isinstance(cancelled, int | str) else None
            same = [one for one in self._replying if str(one) == text]
            if same:
                self._replying[cancelled if cancelled in same else same[0]].cancel()
            elif isinstance(cancelled, str) and self._waiting.get(cancelled, _NOBODY)[2] is not None:
                self._settled(cancelled, _closed())  # so a server ends a change stream

    def _answer(self, answer: Response) -> Response | None:
        if self._settled(answer.id, answer.result):
            return None
        if answer.id not in self._handshakes:
            return answer
        self._note_versions(answer.result)
        self.introduction = answer.result
        tidy = tidy_handshake(answer.result)
        self.offers = tidy["capabilities"]
        return Response(answer.id, tidy)

    def _note_versions(self, said: Mapping[str, Any]) -> None:
        named = said.get("protocolVersion") or said.get("supportedVersions") or said.get("supported") or ()
        versions = named if isinstance(named, list) else [named]
        self.server_versions = (
            tuple(v[:40] for v in versions[:8] if isinstance(v, str)) or self.server_versions
        )


def _closed() -> MCPError:
    return MCPError(CONNECTION_CLOSED, "Connection closed")


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
        said = _entry(answer["_meta"], protocol.SERVER_INFO_KEY)
        tidy["_meta"] = {} if said is None else {protocol.SERVER_INFO_KEY: _info(said)}
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
