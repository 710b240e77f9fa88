"""One request of any method through the SDK's client; its answer, taken raw.

Imports the SDK: load it only where a connection lives already.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Request
from pydantic import TypeAdapter

from tui.core.workbench import RawAnswer
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import CONNECTION_CLOSED, RESULT_TOO_LARGE
from tui.host.sdk_bridge import RawReply, SdkBridge
from tui.host.waiting import until_or

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
"""The least that the SDK takes as an answer to a method of which it knows the answer."""


@dataclass(slots=True)
class WholeAnswer(RawReply):
    """Keeps an answer whatever its `resultType`: who sends raw requests wants to see raw answers."""

    def take(self, result: dict[str, Any]) -> dict[str, Any] | str:
        """Keep `result`; return what the SDK gets instead."""
        self.raw = result
        modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.modern else {}
        return self.hollow(result) | modern


class Ask:
    """One request. Cancelling `run` sends `notifications/cancelled`.

    Args:
        method: any method.
        params: its parameters; not changed.
        seconds: the hard maximum.
        whole: take any answer as it is, also one that asks for input in place of a result.
    """

    def __init__(
        self, method: str, params: Mapping[str, Any], seconds: float, *, whole: bool = False
    ) -> None:
        said = params.get("_meta")
        meta = said if isinstance(said, Mapping) else {}
        # The token of an earlier request would bring its progress to somebody else: it gets one of its own.
        self._wants_progress = "progressToken" in meta
        self._meta = {key: value for key, value in meta.items() if key != "progressToken"}
        self._method = method
        self._params = params
        self._seconds = seconds
        least = _LEAST.get(method, {})
        self._ticket = (WholeAnswer if whole else RawReply)(hollow=lambda raw: dict(least))

    async def run(self, client: Client, wire: SdkBridge, stuck: Callable[[], str]) -> RawAnswer:
        """Ask and return the answer; what is neither an answer nor an error nor late is raised as it comes.

        Args:
            client: of a live connection.
            wire: of the same.
            stuck: what is to be added when it took too long.
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
            if error.error.code == CONNECTION_CLOSED:  # servers use that number for errors of their own too
                await until_or(CLOSING_SECONDS, wire.closed)
                if wire.closed.is_set():
                    raise
            return _refused(error)
        finally:
            wire.withdraw(mark)
        if asked := self._ticket.asked:
            text = f"The server asked for {asked} before it answers; this host does not offer that."
            return RawAnswer(problem=text)
        return RawAnswer(result=seen if self._ticket.raw is None else self._ticket.raw)


async def _heard(progress: float, total: float | None, message: str | None) -> None:
    """Take no note: progress of a raw request is seen in the traffic."""


def _refused(error: MCPError) -> RawAnswer:
    """Tell the server's own errors from what the transport says in place of an answer."""
    found = error.error
    if found.message.startswith(explain.NO_ANSWER) or found.code == RESULT_TOO_LARGE:
        return RawAnswer(problem=explain.protocol_failure(error))
    data = {} if found.data is None else {"data": found.data}
    return RawAnswer(error={"code": found.code, "message": found.message, **data})
