"""Translates the non-standard "hello" line dialect to and from MCP, before messages reach the gate.

No JSON-RPC and no handshake: a server sends one line with its tools, then answers calls. All other requests
of the session are answered here and never written. Nothing is written before the greeting, nor anything but
whole objects: common servers of this kind take any other line for the end of their input.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.messages import (
    INVALID_ANSWER,
    NOT_JSON,
    Failure,
    Id,
    Notification,
    Response,
    Stray,
    find_ids,
    write_line,
)
from tui.core.jsonrpc.protocol import METHOD_NOT_FOUND
from tui.core.jsonrpc.reader import objects_within, read_json
from tui.core.text import clean_line, compact, quoted_name, truncated
from tui.host.frames.id_gate import CANCELLED, CONNECTION_CLOSED, Gate
from tui.host.frames.stdout_reader import Refusal

VERSION = "v1"
PROTOCOL = "2025-11-25"
"""The protocol revision that the session sees; the dialect has none."""


NO_TOOLS = Refusal("its hello has no list of tools", "Report this to its author.")
IS_MCP = Refusal(
    'it speaks JSON-RPC, not the "hello" line dialect',
    'Remove transport = "lines" from its configuration.',
)
_MESSAGE_CHARS = 16_000
_OPENING = re.compile(r'\{\s*"(?:type|id|result|error)"')
_ANSWERS = frozenset({"tool_result", "tool_error", "batch_result", "pong", "error"})
_ANSWERED_BY = {"tool_result": "tool_call", "batch_result": "batch_call", "pong": "ping"}
"""The type of the call that an answer of a type is for; errors are for any."""

MAX_LATE = 1_024
"""Maximum calls that were given up and whose late answers are recognized."""


@dataclass(frozen=True, slots=True)
class DialectLine:
    """One object that a server wrote: its `type`, its `id` as text or None, and all of it."""

    type: str
    id: str | None
    value: dict[str, Any]


def _line(value: Any) -> DialectLine | Stray:
    if not isinstance(value, dict):
        return Stray("JSON, but not an object")
    kind, identity = value.get("type"), value.get("id")
    if isinstance(identity, float) and identity.is_integer():
        identity = int(identity)
    known = str(identity) if isinstance(identity, str | int) and not isinstance(identity, bool) else None
    return DialectLine(kind if isinstance(kind, str) else "", known, value)


@dataclass(slots=True)
class _Call:
    """A request that is answered by the server; `sent_by` is the context of its sender."""

    id: Id
    type: str
    members: dict[str, Any]
    sent_by: Context = field(default_factory=copy_context)

    @property
    def wire_id(self) -> str:
        return str(self.id)


class LineDialect:
    """Translates between a gate and the lines of one server, with one pending call at a time.

    Answers may come without an id, so they are assigned in the order of the calls. The answer of a call that
    was cancelled or timed out may still come: it must not become the answer of the next call.

    `write` takes a line without its newline and returns whether it could be written; `refuse` ends a server
    that cannot be used; `log` takes a line for its log; `gave_up` is called with a call that is no longer
    waited for, and returns whether it was taken back unwritten. None of them may wait or raise.
    """

    def __init__(
        self,
        gate: Gate,
        name: str,
        *,
        write: Callable[[bytes], bool],
        refuse: Callable[[Refusal], None],
        log: Callable[[str], None],
        gave_up: Callable[[str, str], object],
    ) -> None:
        self.greeted = False
        self._gate = gate
        self._name = name
        self._write = write
        self._refuse = refuse
        self._log = log
        self._gave_up = gave_up
        self._version = ""
        self._tools: list[Any] = []
        self._initialize: Id | None = None
        self._under_way: _Call | None = None
        self._waiting: deque[_Call] = deque()
        self._late: deque[_Call] = deque(maxlen=MAX_LATE)

    # ---- session to server ---------------------------------------------------------------------------

    def outgoing(self, message: Mapping[str, Any]) -> bool:
        """Take a message of the session; return False if it cannot be sent."""
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message or not isinstance(method, str):
            if method == CANCELLED:
                self.free(params.get("requestId"), str(params.get("reason") or "cancelled"), has_late=True)
            return True
        known: Id = message["id"]
        match method:
            case "initialize":
                self._initialize = known
                self._answer_initialize()
            case "tools/list":
                self._gate.incoming(Response(known, {"tools": self._tools}))
            case "tools/call":
                name, arguments = params.get("name"), params.get("arguments")
                members = {"name": name, "parameters": {} if arguments is None else arguments}
                return self._queue(_Call(known, "tool_call", members))
            case "batch_call":
                return self._queue(_Call(known, "batch_call", {"calls": params.get("calls", [])}))
            case "ping":
                return self._queue(_Call(known, "ping", {}))
            case _:
                text = f"the hello dialect does not support {clean_line(method, 80)}"
                self._gate.incoming(Failure(known, METHOD_NOT_FOUND, text))
        return True

    def free(self, wire_id: Id | None, why: str, *, has_late: bool = False) -> None:
        """Stop waiting for a call; the dialect cannot cancel, so nothing is written.

        It `has_late` answers if it was given up, and not because its answer was invalid.
        """
        call = self._under_way
        if call is None or call.id != wire_id:
            self._waiting = deque(waiting for waiting in self._waiting if waiting.id != wire_id)
            return
        is_taken_back = self._gave_up(call.wire_id, why)
        if has_late and not is_taken_back:
            self._late.append(call)
        self._next()

    def shutdown(self) -> None:
        """Ask the server to end; not before its greeting."""
        if self.greeted:
            self._write(write_line({"type": "shutdown"}))
        self.close()

    def close(self) -> None:
        """Write nothing more."""
        self._waiting.clear()
        self._late.clear()
        self.greeted = False

    def _queue(self, call: _Call) -> bool:
        if self._under_way is not None:
            self._waiting.append(call)
            return True
        return self._send(call)

    def _send(self, call: _Call) -> bool:
        self._under_way = call
        line = write_line({"type": call.type, "id": call.wire_id, **call.members})
        return call.sent_by.run(self._write, line)

    def _next(self) -> None:
        self._under_way = None
        while self._waiting and self._under_way is None:
            call = self._waiting.popleft()
            if not self._send(call):
                self._gate.fail((call.id,), CONNECTION_CLOSED, "cannot write the call")

    # ---- server to session ---------------------------------------------------------------------------

    def read(self, raw: bytes, *, patient: bool = False) -> list[DialectLine | Stray]:
        """Return the object of one line, or why it has none; as `read_line` does for JSON-RPC."""
        try:
            value = read_json(raw.removeprefix(b"\xef\xbb\xbf"), patient=patient)
        except (ValueError, RecursionError):
            within = [_line(value) for value in objects_within(raw, _OPENING)]
            found = [one for one in within if isinstance(one, DialectLine) and one.type in _ANSWERS]
            return [*found] or [Stray(NOT_JSON, find_ids(raw))]
        return [_line(value)]

    def incoming(self, line: DialectLine | Stray) -> bool:
        """Take a line of the server; return False if it does not belong to this dialect."""
        if isinstance(line, Stray):
            return self._gate.incoming(line)
        if line.type == "hello":
            return self._hello(line.value)
        if line.type not in _ANSWERS:
            if not self.greeted and "jsonrpc" in line.value:
                self._refuse(IS_MCP)
                return True
            return False
        was_late = bool(self._late)
        call = self._answered_by(line)
        if call is None or call is not self._under_way:
            if not was_late and line.type == "error" and line.id is None:
                self._log(_message_of(line.value.get("message")) or "an error without a message")
            else:
                self._gate.incoming(Response("", {}))  # the gate counts answers that nobody waits for
            return True
        self._gate.incoming(_answer(call, line))
        self._next()
        return True

    def _answered_by(self, line: DialectLine) -> _Call | None:
        """Return the call that an answer is for: the one that it names, or the oldest that it can be for.

        Servers answer in order, so no answer of an earlier call is expected afterwards.
        """
        current = self._under_way
        written = [*self._late] if current is None else [*self._late, current]
        if line.id is not None:
            found = next((call for call in written if call.wire_id == line.id), None)
        else:
            kind = _ANSWERED_BY.get(line.type)
            found = next((call for call in written if call.type == kind), written[0] if written else None)
        while found is not None and self._late and self._late.popleft() is not found:
            pass
        return found

    def _hello(self, value: Mapping[str, Any]) -> bool:
        tools, version = value.get("tools"), value.get("version")
        again = self.greeted
        if not isinstance(tools, list):
            if again:
                return False
            self._refuse(NO_TOOLS)
            return True
        self._tools = [_tool(tool) for tool in tools]
        self._version = clean_line(version, 40) if isinstance(version, str) else ""
        self.greeted = True
        if self._version != VERSION:
            found = f"version {quoted_name(self._version)}" if self._version else "no version"
            self._log(f"mcptui: its hello has {found}, but mcptui supports {quoted_name(VERSION)}")
        if again:
            self._gate.incoming(Notification("notifications/tools/list_changed"))
        else:
            self._answer_initialize()
        return True

    def _answer_initialize(self) -> None:
        if not self.greeted or self._initialize is None:
            return
        who = {"name": self._name, "version": self._version}
        result = {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": who}
        self._gate.incoming(Response(self._initialize, result))
        self._initialize = None


def _tool(raw: Any) -> Any:
    """Return a tool as `tools/list` has it; the catalog judges what is wrong with it."""
    if not isinstance(raw, dict):
        return raw
    tool = {key: raw[key] for key in ("name", "description") if key in raw}
    schema = raw.get("parameters")
    if schema is None:
        schema = {"type": "object"}
    elif isinstance(schema, dict) and "type" not in schema and isinstance(schema.get("properties"), dict):
        schema = {"type": "object", **schema}
    tool["inputSchema"] = schema
    returns = raw.get("returns")
    if isinstance(returns, dict) and returns.get("type") == "object":
        tool["outputSchema"] = returns
    elif returns is not None:
        if isinstance(returns, dict) and returns.keys() <= {"type", "description"}:
            returns = ": ".join(str(part) for part in returns.values() if part)
        what = clean_line(returns, 400) if isinstance(returns, str) else compact(returns, 400)
        said = tool.get("description")
        parts = (said if isinstance(said, str) else "", f"Returns: {what}")
        tool["description"] = "\n".join(filter(None, parts))
    return tool


def _answer(call: _Call, line: DialectLine) -> Response | Failure:
    """Return the answer of `line` to a call, as the session expects it."""
    value = line.value
    if call.type == "ping":
        return Response(call.id, {})  # any answer shows that it is alive
    if line.type in ("tool_error", "error"):
        said = value.get("error") if line.type == "tool_error" else value.get("message")
        text = _message_of(said) or "the tool failed without a message"
        if call.type == "batch_call":
            return Failure(call.id, INVALID_ANSWER, text)
        return Response(call.id, {"content": [{"type": "text", "text": text}], "isError": True})
    key = "results" if call.type == "batch_call" else "result"
    if key not in value or line.type != ("batch_result" if key == "results" else "tool_result"):
        return Failure(call.id, INVALID_ANSWER, f"the server's response is invalid: it has no {key}")
    if call.type == "batch_call":
        return Response(call.id, {"results": value["results"]})
    result = value["result"]
    text = (
        result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    )
    content: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    return Response(call.id, content | ({"structuredContent": result} if isinstance(result, dict) else {}))


def _message_of(error: Any) -> str:
    """Return the text of an error: its message, and its type if that says something."""
    if isinstance(error, str):
        return truncated(error, _MESSAGE_CHARS)
    if not isinstance(error, dict):
        return ""
    message, kind = error.get("message"), error.get("type")
    if not isinstance(message, str) or not message:
        return ""
    named = isinstance(kind, str) and kind not in ("", "application_error")
    return truncated(message, _MESSAGE_CHARS) + (f" ({clean_line(str(kind), 80)})" if named else "")
