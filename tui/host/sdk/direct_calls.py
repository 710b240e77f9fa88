"""Tool calls that bypass the SDK's session.

The session spends 0.3 ms on a call (measured on mcp 2.3): five models, a span, a stream, and two validations
of an answer that is kept raw anyway. The gate handles ids, late answers and the rules of the protocol anyway,
so a call needs no session. The fields and HTTP headers that the session adds to each request of its era are
copied from its last request. `MCPTUI_CALLS_BY_SDK=1` in the environment sends every call through it.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
)
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY, ErrorData

from tui.core.jsonrpc.messages import INVALID_ANSWER
from tui.core.tools import ProgressSink
from tui.host.error_sentences import NO_ANSWER
from tui.host.frames.id_gate import CANCELLED, CONNECTION_CLOSED

BY_SDK = "MCPTUI_CALLS_BY_SDK"
_ERA = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY)
_METHOD = "tools/call"
NO_HEADERS: Mapping[str, str] = {}
Put = Callable[[dict[str, Any], Mapping[str, str]], bool]
"""Writes a message with its HTTP headers; returns False if the connection is closed."""

Take = Callable[[dict[str, Any]], object]
"""Takes the result of a call; returns a text if something is wrong with it."""

_log = logging.getLogger(__name__)


class NotJsonArguments(Exception):
    """The arguments of a call cannot be written as JSON; nothing was sent."""


class DirectCalls:
    """The calls of one connection that bypass the session. Without `put`, none can."""

    def __init__(self, put: Put | None) -> None:
        self._put = None if os.environ.get(BY_SDK, "") not in ("", "0") else put
        self._era: dict[str, Any] | None = None
        self._headers: dict[str, str] = {}
        self._repeats_name = False
        self._waiting: dict[str | int, tuple[asyncio.Future[None], Take, ProgressSink]] = {}
        self._number = 0
        self._closed = False

    @property
    def possible(self) -> bool:
        """Whether calls can be made: only after the session has sent a request after its handshake."""
        return self._put is not None and self._era is not None

    @property
    def modern(self) -> bool:
        """Whether the session speaks 2026-07-28 or later."""
        return self._era is not None and PROTOCOL_VERSION_META_KEY in self._era

    @property
    def declared(self) -> Mapping[str, Any]:
        """The fields of `_meta` that the session adds to each request of its era."""
        return self._era or {}

    def learn(self, meta: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Learn from a request, its `_meta` and `headers`, what the session adds to its requests."""
        self._era = {key: meta[key] for key in _ERA if key in meta}
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        self._headers = {} if version is None else {MCP_PROTOCOL_VERSION_HEADER: version}
        self._repeats_name = MCP_METHOD_HEADER in headers

    def _headers_of(self, params: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, str]:
        if not self._repeats_name:
            return {**own, **self._headers}
        name = encode_header_value(str(params["name"]))
        return {**own, **self._headers, MCP_METHOD_HEADER: _METHOD, MCP_NAME_HEADER: name}

    async def call(
        self,
        params: Mapping[str, Any],
        take: Take,
        progress: ProgressSink,
        stamp: Mapping[str, Any],
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Send `tools/call` with `stamp` in its `_meta`, and `headers`; return once `take` has the answer.

        Cancelling this cancels the call at the server.

        Raises:
            NotJsonArguments: the SDK's session may be able to send them.
            MCPError: the server returned an error or an unusable result, or the connection closed.
        """
        assert self._put is not None and self._era is not None
        if self._closed:
            raise _closed()
        self._number += 1
        name = f"call-{self._number}"
        meta = {**self._era, **stamp, "progressToken": name}
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[name] = (answered, take, progress)
        message = {"jsonrpc": "2.0", "id": name, "method": _METHOD, "params": {**params, "_meta": meta}}
        try:
            try:
                sent = self._put(message, self._headers_of(params, headers))
            except (TypeError, ValueError) as error:
                raise NotJsonArguments from error
            if not sent:
                raise _closed()
            await answered
        except asyncio.CancelledError:
            why = {"requestId": name, "reason": "caller cancelled"}
            self._put({"jsonrpc": "2.0", "method": CANCELLED, "params": why}, self._headers)
            raise
        finally:
            self._waiting.pop(name, None)

    def answered(self, name: str | int, result: dict[str, Any]) -> bool:
        """Take the result of a call; return whether it is the result of a direct call."""
        if (waiting := self._waiting.get(name)) is None:
            return False
        answered, take, _ = waiting
        if not answered.done():
            taken = take(result)
            if isinstance(taken, str):
                answered.set_exception(MCPError(INVALID_ANSWER, f"{NO_ANSWER}: {taken}"))
            else:
                answered.set_result(None)
        return True

    def failed(self, name: str | int | None, error: ErrorData) -> bool:
        """Take an error for a call; return whether it is for a direct call."""
        if name is None or (waiting := self._waiting.get(name)) is None:
            return False
        if not waiting[0].done():
            waiting[0].set_exception(MCPError(error.code, error.message, error.data))
        return True

    def progressed(self, params: Mapping[str, Any]) -> bool:
        """Take a valid report of progress; return whether it is for a direct call."""
        token = params.get("progressToken")
        waiting = self._waiting.get(token) if isinstance(token, str) else None
        if waiting is None:
            return False
        done, total, text = params.get("progress"), params.get("total"), params.get("message")
        if isinstance(done, int | float) and not isinstance(done, bool):
            try:
                waiting[2](
                    float(done),
                    float(total) if isinstance(total, int | float) else None,
                    text if isinstance(text, str) else "",
                )
            except Exception:  # an error in a listener must not end reading
                _log.exception("a progress callback failed")
        return True

    def close(self) -> None:
        """Fail all pending calls."""
        self._closed = True
        for answered, _, _ in self._waiting.values():
            if not answered.done():
                answered.set_exception(_closed())


def _closed() -> MCPError:
    return MCPError(CONNECTION_CLOSED, "Connection closed")
