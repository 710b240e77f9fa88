"""Spans of the entries of a recording, as they are recorded or afterwards. Pure.

    invoke_agent mcptui                 a turn
      chat gpt-5                          each request to the model
      execute_tool get_weather            each tool call, linked to the request that led to it
        elicitation/create                  what the server asks meanwhile

What belongs to no turn (handshakes, lists, calls by hand) is a trace of its own. A call has one span, with
the attributes of MCP, and if mcptui sent the server a `traceparent`, its ids: spans of the server hang below.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tui.addons.telemetry import conventions as names
from tui.addons.telemetry.content import (
    answer_in,
    cut,
    facts_in,
    messages_in,
    name,
    read_reply,
    settings_in,
    shortened,
)
from tui.addons.telemetry.span import Attributes, Session, Span, made_id, parsed_context
from tui.core.jsonrpc.messages import KEY
from tui.core.jsonrpc.protocol import STAY_OPEN, VERSION_KEY
from tui.core.jsonrpc.reader import json_mapping, json_value
from tui.core.text import mapping
from tui.core.traffic import ANSWERS, REQUESTS, Direction, Entry, Kind, Outcome
from tui.core.units import whole
from tui.model.endpoints.providers import provider_of

MAX_OPEN = 5_000
"""Maximum requests, turns and servers to remember of each; the oldest are forgotten."""

MAX_HELD = 1_000
"""Maximum spans of a turn that wait for its trace."""

BODY_BYTES = 1 << 20
"""A larger body is not read."""

DONE_NS, IDLE_NS = 5_000_000_000, 600_000_000_000
"""How long nothing must happen in a turn until it has ended: after an answer without calls, after others."""

_ERRORS = {
    Outcome.TOOL_ERROR: names.TOOL_ERROR,
    Outcome.CANCELLED: "cancelled",
    Outcome.LOST: "connection_closed",
    Outcome.PENDING: "no_response",
}
_TARGETS = {
    "tools/call": "gen_ai.tool.name",
    "prompts/get": "gen_ai.prompt.name",
    "resources/read": "mcp.resource.uri",
    "resources/subscribe": "mcp.resource.uri",
    "resources/unsubscribe": "mcp.resource.uri",
}


@dataclass(slots=True)
class _Server:
    """What is known of the connection to a server; `began` are its clocks when the session began."""

    network: Attributes = field(default_factory=dict)
    version: str = ""
    began: tuple[int, int] | None = None


@dataclass(slots=True)
class _Turn:
    """A turn. `held` are its spans until its trace is known, `chats` the spans of its model requests."""

    span: Span
    clocks: tuple[int, int]
    last_ns: int
    held: list[Span] = field(default_factory=list)
    chats: dict[int, str] = field(default_factory=dict)
    open: int = 0
    is_answered: bool = False


@dataclass(slots=True)
class _Open:
    """A request that waits for its answer."""

    span: Span
    entry: Entry


class SpanBuilder:
    """Makes spans of entries, which come in order. `sessions` collects those that have ended."""

    def __init__(self, *, content: bool = False) -> None:
        """With `content`, spans have arguments, results, prompts and answers."""
        self._content = content
        self._open: OrderedDict[int, _Open] = OrderedDict()
        self._turns: OrderedDict[int, _Turn] = OrderedDict()
        self._ended: OrderedDict[int, tuple[str, str]] = OrderedDict()  # trace and span of past turns
        self._servers: OrderedDict[str, _Server] = OrderedDict()
        self._last_ns = 0
        self.sessions: list[Session] = []

    def take(self, entry: Entry) -> list[Span]:
        """Return the spans that end with an entry. Its body may be missing, or only the head of one."""
        found: list[Span] = []
        self._last_ns = max(self._last_ns, entry.mono_ns)
        if entry.kind in REQUESTS:
            self._begin(entry, found)
        elif (asked := self._open.get(entry.pair)) is not None and (entry.kind in ANSWERS or entry.outcome):
            del self._open[entry.pair]
            self._end(asked, entry, entry.outcome, found)
        elif entry.kind is Kind.EVENT:
            self._event(entry, found)
        while len(self._open) > MAX_OPEN:
            _, asked = self._open.popitem(last=False)
            self._end(asked, None, Outcome.PENDING, found)
        while len(self._turns) > MAX_OPEN:
            self._end_turn(next(iter(self._turns)), found)
        return found

    def settle(self, mono_ns: int) -> list[Span]:
        """Return the spans of turns that seem to have ended, because recordings do not say when."""
        found: list[Span] = []
        for number, turn in list(self._turns.items()):
            idle = mono_ns - turn.last_ns
            if not turn.open and idle > (DONE_NS if turn.is_answered else IDLE_NS):
                self._end_turn(number, found)
        return found

    def finish(self) -> list[Span]:
        """Return the spans that are still open. They end with the last entry."""
        found: list[Span] = []
        for seq in list(self._open):
            self._end(self._open.pop(seq), None, Outcome.PENDING, found)
        for number in list(self._turns):
            self._end_turn(number, found)
        return found

    # ---- requests ------------------------------------------------------------------------------------------

    def _begin(self, entry: Entry, found: list[Span]) -> None:
        is_model = entry.kind is Kind.MODEL_REQUEST
        body = json_mapping(entry.body) if len(entry.body) <= BODY_BYTES else {}
        meta = {} if is_model else mapping(mapping(body.get("params")).get("_meta"))
        turn = self._turn_of(entry)
        known = self._ended.get(entry.cause.turn) if entry.cause is not None and turn is None else None
        ident = made_id(
            16, entry.source, entry.mono_ns, entry.wall_ns, entry.direction, entry.method, entry.ident
        )
        trace, sent = parsed_context(meta.get(KEY)) if entry.direction is Direction.OUT else ("", "")
        is_ours = entry.cause is not None  # a tap records what another host sent, as a span of its own
        parent = "" if is_ours else sent
        if turn is not None:
            if not is_model and not turn.span.trace:
                found += self._trace(turn, trace)
            trace, parent = turn.span.trace, turn.span.id
            turn.open += 1
        elif known is not None:
            trace, parent = known
        trace = trace or ("" if turn is not None else made_id(32, "trace", ident))
        span = Span(
            trace, (is_ours and sent) or ident, parent, "", names.CLIENT, entry.wall_ns, entry.wall_ns
        )
        if is_model:
            self._ask_model(span, entry, body)
            if turn is not None and entry.cause is not None:
                turn.chats[entry.cause.step] = span.id
        else:
            self._ask_server(span, entry, body, meta)
            if turn is not None and entry.cause is not None and entry.direction is Direction.OUT:
                span.link = turn.chats.get(entry.cause.step, "")
        self._open[entry.seq] = _Open(span, entry._replace(body=b""))

    def _ask_model(self, span: Span, entry: Entry, body: Any) -> None:
        model = name(entry.method) or name(entry.source.partition(":")[2])
        span.name = f"chat {model}".strip()
        url = str(entry.detail.get("url", ""))
        provider = provider_of(url)
        known = provider.name if provider is not None else names.UNKNOWN_PROVIDER
        span.attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": names.PROVIDERS.get(known, known),
            "gen_ai.request.model": model,
            **settings_in(body),
            **_place(url),
            "mcptui.entry": entry.seq,
        }
        if self._content:
            span.attributes |= messages_in(body)

    def _ask_server(self, span: Span, entry: Entry, body: Any, meta: Any) -> None:
        method, target, cause = name(entry.method), name(entry.tool), entry.cause
        is_call, attribute = entry.method == "tools/call", _TARGETS.get(entry.method, "")
        is_named = bool(target) and attribute.startswith("gen_ai")  # an address would be one name for each
        in_loop = is_call and cause is not None and cause.turn > 0
        span.name = f"{'execute_tool' if in_loop else method} {target if is_named else ''}".strip()
        server = self._server(entry.source)
        if version := name(meta.get(VERSION_KEY)):
            server.version = version
        ident = json_value(entry.ident, entry.ident) if entry.ident else ""
        span.attributes = {
            "mcp.method.name": method,
            **({"jsonrpc.request.id": name(str(ident))} if entry.ident else {}),
            **({attribute: target} if attribute and target else {}),
            **server.network,
            "mcptui.server": name(entry.source),
            "mcptui.entry": entry.seq,
        }
        if is_call:
            span.attributes["gen_ai.operation.name"] = "execute_tool"
            if in_loop and cause is not None:
                span.attributes["gen_ai.tool.call.id"] = name(cause.call)
            if self._content and (given := mapping(body.get("params")).get("arguments")) is not None:
                span.attributes["gen_ai.tool.call.arguments"] = shortened(given)
        if entry.direction is Direction.IN:
            span.kind = names.SERVER
            if (call := self._asker(entry)) is not None:
                span.trace, span.parent = call.trace, call.id

    def _asker(self, entry: Entry) -> Span | None:
        """Return the span of the call during which a server asks something."""
        for asked in reversed(self._open.values()) if entry.cause is not None else ():
            one = asked.entry
            if (one.source, one.cause, one.direction) == (entry.source, entry.cause, Direction.OUT):
                return asked.span
        return None

    def _end(self, asked: _Open, entry: Entry | None, outcome: Outcome, found: list[Span]) -> None:
        """End a request, with the entry that answers it, if there is one."""
        span, request = asked.span, asked.entry
        mono_ns = entry.mono_ns if entry is not None else self._last_ns
        # One of the clocks may have been set meanwhile, the other cannot.
        span.end_ns = span.start_ns + max(0, mono_ns - request.mono_ns)
        body = entry.body if entry is not None and len(entry.body) <= BODY_BYTES else b""
        if request.method not in STAY_OPEN or outcome is Outcome.ERROR:
            span.error = _ERRORS.get(outcome, "")
        calls = False
        if request.kind is Kind.MODEL_REQUEST:
            calls = self._end_chat(span, entry, body, outcome)
        else:
            self._end_call(span, request, entry, body, outcome)
        turn = self._turns.get(request.cause.turn) if request.cause is not None else None
        if turn is None:
            span.trace = span.trace or made_id(32, "trace", span.id)
            found.append(span)
            return
        turn.open -= 1
        turn.last_ns = max(turn.last_ns, mono_ns)
        if request.kind is Kind.MODEL_REQUEST:
            turn.is_answered = not calls and not span.error
            turn.span.error = span.error
        if turn.span.trace:
            span.trace = turn.span.trace
            found.append(span)
            return
        turn.held.append(span)
        if len(turn.held) > MAX_HELD:
            found += self._trace(turn, "")

    def _end_chat(self, span: Span, entry: Entry | None, body: bytes, outcome: Outcome) -> bool:
        """End a request to a model; return whether it made calls."""
        reply = read_reply(body) if body else {}
        span.attributes |= facts_in(reply)
        detail = entry.detail if entry is not None else {}
        if (first := detail.get("first_ms")) is not None and outcome is Outcome.OK:
            waited = span.seconds - _stream_seconds(detail)
            if (number := whole(first)) is not None and waited >= 0:
                span.attributes["gen_ai.response.time_to_first_chunk"] = round(waited + number / 1e3, 3)
        if outcome is Outcome.ERROR:
            status = whole(detail.get("status"), 999)
            span.error = str(status) if status is not None and status >= 400 else names.OTHER
        if self._content:
            span.attributes |= answer_in(reply)
        return bool(reply.get("tool_calls"))

    def _end_call(
        self, span: Span, request: Entry, entry: Entry | None, body: bytes, outcome: Outcome
    ) -> None:
        server = self._server(request.source)
        if request.method == "initialize" and outcome is Outcome.OK:
            server.version = name(mapping(json_mapping(body).get("result")).get("protocolVersion"))
        if server.version:
            span.attributes["mcp.protocol.version"] = server.version
        if entry is None:
            return
        if entry.kind is Kind.ERROR:
            error = mapping(json_mapping(body).get("error"))
            code = whole(error.get("code"), 2**31, least=-(2**31))
            text = str(code) if code is not None else names.OTHER
            span.attributes["rpc.response.status_code"] = text
            span.error = text if outcome is Outcome.ERROR else span.error
            span.message = name(error.get("message")) if self._content and span.error else ""
        elif outcome is Outcome.ERROR:
            span.error = span.error or names.OTHER  # the host gave up, or rejected the response
        if self._content and request.method == "tools/call" and entry.kind is Kind.RESPONSE:
            result = json_mapping(body).get("result")
            whole_text = shortened(result) if result is not None else cut(body.decode("utf-8", "replace"))
            span.attributes["gen_ai.tool.call.result"] = whole_text

    # ---- turns ---------------------------------------------------------------------------------------------

    def _turn_of(self, entry: Entry) -> _Turn | None:
        """Return the turn of an entry, which may begin with it; None for none, or one that has ended."""
        number = entry.cause.turn if entry.cause is not None else 0
        if not number or number in self._ended:
            return None
        turn = self._turns.get(number)
        if turn is None:
            clocks = (entry.wall_ns, entry.mono_ns)
            attributes: Attributes = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": names.AGENT,
                "mcptui.turn": number,
            }
            span = Span(
                "",
                made_id(16, "turn", number, *clocks),
                "",
                f"invoke_agent {names.AGENT}",
                names.INTERNAL,
                entry.wall_ns,
                entry.wall_ns,
                attributes,
            )
            turn = self._turns[number] = _Turn(span, clocks, entry.mono_ns)
        turn.last_ns = max(turn.last_ns, entry.mono_ns)
        turn.is_answered = False
        return turn

    def _trace(self, turn: _Turn, trace: str) -> Iterator[Span]:
        """Set the trace of a turn, and yield the spans that waited for it."""
        turn.span.trace = trace or made_id(32, "trace", turn.span.id)
        for span in turn.held:
            span.trace = turn.span.trace
            yield span
        turn.held.clear()

    def _end_turn(self, number: int, found: list[Span]) -> None:
        turn = self._turns.pop(number)
        if not turn.span.trace:
            found += self._trace(turn, "")
        wall_ns, mono_ns = turn.clocks
        turn.span.end_ns = wall_ns + turn.last_ns - mono_ns
        found.append(turn.span)
        self._ended[number] = (turn.span.trace, turn.span.id)
        while len(self._ended) > MAX_OPEN:
            self._ended.popitem(last=False)

    # ---- servers -------------------------------------------------------------------------------------------

    def _server(self, source: str) -> _Server:
        server = self._servers.setdefault(source, _Server())
        while len(self._servers) > MAX_OPEN:
            self._servers.popitem(last=False)
        return server

    def _event(self, entry: Entry, found: list[Span]) -> None:
        match entry.method:
            case "spawn" | "connect":
                server = self._servers[entry.source] = _Server()
                server.began = entry.mono_ns, entry.wall_ns
                is_remote = entry.method == "connect"
                server.network = _remote(entry) if is_remote else {"network.transport": "pipe"}
            case "exit" | "stop":
                server = self._server(entry.source)
                is_over = entry.method == "exit" or "network.protocol.name" in server.network
                if is_over and server.began is not None:
                    self._end_session(server, entry)
                if is_over:
                    self._lose(entry, found)

    def _end_session(self, server: _Server, entry: Entry) -> None:
        assert server.began is not None
        attributes = dict(server.network)
        if server.version:
            attributes["mcp.protocol.version"] = server.version
        if entry.detail.get("code") not in (None, 0):
            attributes["error.type"] = "exit"
        self.sessions.append(Session(max(0, entry.mono_ns - server.began[0]) / 1e9, attributes))
        server.began = None

    def _lose(self, entry: Entry, found: list[Span]) -> None:
        """End the requests of a server that has gone. Those it was not to answer any more are cancelled."""
        outcome = entry.outcome or Outcome.LOST
        for seq in [seq for seq, asked in self._open.items() if asked.entry.source == entry.source]:
            self._end(self._open.pop(seq), entry, outcome, found)


def _place(url: str) -> Attributes:
    """Return host and port of an address, nothing for what is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return {}
    if not host:
        return {}
    return {
        "server.address": name(host),
        "server.port": port or (443 if parts.scheme in ("https", "wss") else 80),
    }


def _remote(entry: Entry) -> Attributes:
    url = str(entry.detail.get("url", ""))
    protocol = "websocket" if url.startswith(("ws:", "wss:")) else "http"
    return {"network.transport": "tcp", "network.protocol.name": protocol, **_place(url)}


def _stream_seconds(detail: Any) -> float:
    """Return how long a reply was streamed, from its status to its last block."""
    times = detail.get("times")
    last = times[-1] if isinstance(times, list | tuple) and times else None
    number = whole(last[0]) if isinstance(last, list | tuple) and last else None
    return (number or 0) / 1e3
