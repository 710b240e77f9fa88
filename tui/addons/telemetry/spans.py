"""Spans of the entries of a recording, as they are recorded or afterwards. Pure.

    invoke_agent mcptui                 a turn
      chat gpt-5                          each request to the model
      execute_tool get_weather            each tool call, linked to the request that led to it
        sampling/createMessage              what the server asks meanwhile
          chat gpt-5                          the request to the model that it leads to

What belongs to no turn (handshakes, lists, calls by hand) is a trace of its own. A call has one span, with
the attributes of MCP, and if mcptui sent the server a `traceparent`, its ids: spans of the server hang below.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from tui.addons.telemetry import conventions as names
from tui.addons.telemetry.connections import Connections, place
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
from tui.addons.telemetry.span import Session, Span, made_id, parsed_context
from tui.addons.telemetry.turns import Turn, Turns
from tui.core.jsonrpc.messages import KEY
from tui.core.jsonrpc.protocol import STAY_OPEN, VERSION_KEY
from tui.core.jsonrpc.reader import json_mapping, json_value
from tui.core.text import mapping
from tui.core.traffic import ANSWERS, REQUESTS, Direction, Entry, Kind, Outcome
from tui.core.units import whole
from tui.model.endpoints.providers import provider_of

MAX_OPEN = 5_000
"""Maximum requests to wait for. The oldest end without an answer."""

BODY_BYTES = 1 << 20
"""A larger body is not read."""

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
class _Open:
    """A request that waits for its answer."""

    span: Span
    entry: Entry
    turn: Turn | None


class SpanBuilder:
    """Makes spans of entries, which come in order."""

    def __init__(self, *, content: bool = False) -> None:
        """With `content`, spans have arguments, results, prompts and answers."""
        self._content = content
        self._open: OrderedDict[int, _Open] = OrderedDict()
        self._turns, self._connections = Turns(), Connections()
        self._last_ns = 0

    @property
    def sessions(self) -> list[Session]:
        """The sessions that have ended. Whoever reads them clears the list."""
        return self._connections.sessions

    def take(self, entry: Entry) -> list[Span]:
        """Return the spans that end with an entry. Its body may be missing, or only the head of one."""
        found: list[Span] = []
        self._last_ns = max(self._last_ns, entry.mono_ns)
        if entry.kind in REQUESTS:
            found += self._begin(entry)
        elif (asked := self._open.get(entry.pair)) is not None and (entry.kind in ANSWERS or entry.outcome):
            found += self._end(self._open.pop(asked.entry.seq), entry, entry.outcome)
        elif entry.kind is Kind.EVENT and self._connections.see(entry):
            # Requests that mcptui wanted no answer to any more are cancelled, others are lost.
            for seq in [seq for seq, one in self._open.items() if one.entry.source == entry.source]:
                found += self._end(self._open.pop(seq), entry, entry.outcome or Outcome.LOST)
        if len(self._open) > MAX_OPEN:
            found += self._end(self._open.popitem(last=False)[1], None, Outcome.PENDING)
        return found + self._turns.bounded()

    def settle(self, mono_ns: int) -> list[Span]:
        """Return the spans of turns that seem to have ended."""
        return self._turns.settle(mono_ns)

    def finish(self) -> list[Span]:
        """Return the spans that are still open. They end with the last entry."""
        found: list[Span] = []
        while self._open:
            found += self._end(self._open.popitem(last=False)[1], None, Outcome.PENDING)
        return found + self._turns.finish()

    def _begin(self, entry: Entry) -> list[Span]:
        found: list[Span] = []
        is_model, is_out = entry.kind is Kind.MODEL_REQUEST, entry.direction is Direction.OUT
        body = json_mapping(entry.body) if len(entry.body) <= BODY_BYTES else {}
        meta = {} if is_model else mapping(mapping(body.get("params")).get("_meta"))
        trace, sent = parsed_context(meta.get(KEY)) if is_out else ("", "")
        about = (entry.source, entry.mono_ns, entry.wall_ns, entry.direction, entry.method, entry.ident)
        ident, parent = made_id(16, *about), ""
        if entry.cause is None:
            parent = sent  # another host sent it, and has a span of its own
        elif sent:
            ident = sent
        if (turn := self._turns.begin(entry)) is not None:
            found += [] if is_model else turn.set_trace(trace)
            trace, parent = turn.span.trace, turn.span.id
        elif is_model and (sampling := self._sampling()) is not None:
            trace, parent = sampling.trace, sampling.id
        else:
            trace = trace or made_id(32, "trace", ident)
        span = Span(trace, ident, parent, "", names.CLIENT, entry.wall_ns, entry.wall_ns)
        if is_model:
            self._ask_model(span, entry, body)
        else:
            self._ask_server(span, entry, body, meta)
        if turn is not None and entry.cause is not None and is_out:
            if is_model:
                turn.chats[entry.cause.step] = ident
            else:
                span.link = turn.chats.get(entry.cause.step, "")
        self._open[entry.seq] = _Open(span, entry._replace(body=b""), turn)
        return found

    def _ask_model(self, span: Span, entry: Entry, body: Any) -> None:
        # The body is redacted, the method is not.
        model = name(body.get("model")) or name(entry.method) or name(entry.source.partition(":")[2])
        span.name = f"chat {model}".strip()
        url = str(entry.detail.get("url", ""))
        provider = provider_of(url)
        known = provider.name if provider is not None else names.UNKNOWN_PROVIDER
        span.attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": names.PROVIDERS.get(known, known),
            "gen_ai.request.model": model,
            **settings_in(body),
            **place(url),
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
        connection = self._connections.of(entry.source)
        connection.version = name(meta.get(VERSION_KEY)) or connection.version
        ident = json_value(entry.ident, entry.ident) if entry.ident else ""
        span.attributes = {
            "mcp.method.name": method,
            **({"jsonrpc.request.id": name(str(ident))} if entry.ident else {}),
            **({attribute: target} if attribute and target else {}),
            **connection.network,
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

    def _sampling(self) -> Span | None:
        """Return the request of a server that asks the model, None for none, and for several."""
        asking = [one.span for one in self._open.values() if one.entry.method == "sampling/createMessage"]
        return asking[0] if len(asking) == 1 else None

    def _end(self, asked: _Open, entry: Entry | None, outcome: Outcome) -> list[Span]:
        """End a request, with the entry that answers it, if any; return the spans that are complete."""
        span, request, turn = asked.span, asked.entry, asked.turn
        mono_ns = entry.mono_ns if entry is not None else self._last_ns
        # One of the clocks may have been set meanwhile, the other cannot.
        span.end_ns = span.start_ns + max(0, mono_ns - request.mono_ns)
        body = entry.body if entry is not None and len(entry.body) <= BODY_BYTES else b""
        if request.method not in STAY_OPEN or outcome is Outcome.ERROR:
            span.error = _ERRORS.get(outcome, "")
        if request.kind is Kind.MODEL_REQUEST:
            has_calls = self._end_chat(span, entry, body, outcome)
            if turn is not None:
                turn.is_answered, turn.span.error = not has_calls and not span.error, span.error
        else:
            self._end_call(span, request, entry, body, outcome)
        return [span] if turn is None else turn.end(span, mono_ns)

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
        if span.error:  # of a generation that ended early, as the conventions say
            span.attributes.setdefault("gen_ai.response.finish_reasons", ["error"])
        if self._content:
            span.attributes |= answer_in(reply)
        return bool(mapping(reply.get("message")).get("tool_calls"))

    def _end_call(
        self, span: Span, request: Entry, entry: Entry | None, body: bytes, outcome: Outcome
    ) -> None:
        connection = self._connections.of(request.source)
        if request.method == "initialize" and outcome is Outcome.OK:
            connection.version = name(mapping(json_mapping(body).get("result")).get("protocolVersion"))
        if connection.version:
            span.attributes["mcp.protocol.version"] = connection.version
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


def _stream_seconds(detail: Any) -> float:
    """Return how long a reply was streamed, from its status to its last block."""
    times = detail.get("times")
    last = times[-1] if isinstance(times, list | tuple) and times else None
    number = whole(last[0]) if isinstance(last, list | tuple) and last else None
    return (number or 0) / 1e3
