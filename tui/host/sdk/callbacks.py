"""The callbacks with which the SDK's client answers requests of a server. Imports the SDK."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    SamplingCapability,
    SamplingToolsCapability,
)

from tui.host.server_requests import Refusal, ServerRequests


def as_model(answer: Mapping[str, Any]) -> Any:
    """Return the answer to a server's request in the type that the SDK expects."""
    if "action" in answer:
        return ElicitResult.model_validate(answer)
    if "roots" in answer:
        return ListRootsResult.model_validate(answer)
    has_list = isinstance(answer.get("content"), list)
    return (CreateMessageResultWithTools if has_list else CreateMessageResult).model_validate(answer)


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
