"""Arguments of the SDK's client: callbacks for requests of a server, and an extension.

Imports the SDK. `TaskExtension` (io.modelcontextprotocol/tasks) tells servers that mcptui supports tasks. The
SDK advertises an extension that has a result type only where the protocol allows one: since 2026-07-28.
Answers that are tasks are taken by `RawReply` before the SDK sees them.
"""

import math
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from mcp.client import session
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    Result,
    SamplingCapability,
    SamplingToolsCapability,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tui.core.servers import EraChoice
from tui.core.tasks import EXTENSION
from tui.host.server_requests import Refusal, ServerRequests

OUR_VERSIONS: Mapping[EraChoice, Sequence[str]] = {
    EraChoice.AUTO: (*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)),
    EraChoice.MODERN: tuple(reversed(MODERN_PROTOCOL_VERSIONS)),
    EraChoice.LEGACY: tuple(reversed(HANDSHAKE_PROTOCOL_VERSIONS)),
}
"""The protocol versions that mcptui speaks, the newest first."""


def as_model(answer: Mapping[str, Any]) -> Any:
    """Return the answer to a server's request in the type that the SDK expects."""
    if "action" in answer:
        return ElicitResult.model_validate(answer)
    if "roots" in answer:
        return ListRootsResult.model_validate(answer)
    has_list = isinstance(answer.get("content"), list)
    return (CreateMessageResultWithTools if has_list else CreateMessageResult).model_validate(answer)


def await_probes() -> None:
    """Remove the SDK's own limit of 10 s for a probe (mcp 2.3), whatever the limit of a start is.

    It took slow servers for older ones, and is not paused while the user signs in. On Windows, nothing else
    ends the probe of an older server that ignores it.
    """
    if sys.platform == "win32":
        return
    session.DISCOVER_TIMEOUT_SECONDS = math.inf


def callbacks(requests: ServerRequests) -> dict[str, Any]:
    """Return the arguments of the SDK's client, which advertises a capability for each callback."""

    def answering(method: str) -> Callable[..., Awaitable[Any]]:
        async def answer(context: Any, params: Any = None) -> Any:
            raw = {} if params is None else params.model_dump(by_alias=True, mode="json", exclude_none=True)
            found = await requests.answer(method, raw, asked=getattr(context, "request_id", None))
            if isinstance(found, Refusal):
                return ErrorData(code=found.code, message=found.message)
            return as_model(found)

        return answer

    found: dict[str, Any] = {
        "elicitation_callback": answering("elicitation/create"),
        "list_roots_callback": answering("roots/list"),
    }
    if requests.may_sample:
        found["sampling_callback"] = answering("sampling/createMessage")
        found["sampling_capabilities"] = SamplingCapability(tools=SamplingToolsCapability())
    return found


class _CreatedTask(Result):
    result_type: Literal["task"] = "task"


class TaskExtension(ClientExtension):
    """Advertises tasks."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=_CreatedTask, resolve=_unresolved),)


async def _unresolved(created: _CreatedTask, context: ClaimContext) -> CallToolResult:
    raise AssertionError("a task that no RawReply took")
