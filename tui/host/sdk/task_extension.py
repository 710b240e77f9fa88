"""Tells servers that mcptui supports tasks (extension io.modelcontextprotocol/tasks). Imports the SDK.

The SDK advertises an extension that has a result type only where the protocol allows one: since 2026-07-28.
Answers that are tasks are taken by `RawReply` before the SDK sees them.
"""

from collections.abc import Sequence
from typing import Any, Literal

from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import CallToolResult, Result

from tui.core.tasks import EXTENSION


class _CreatedTask(Result):
    result_type: Literal["task"] = "task"


class TaskExtension(ClientExtension):
    """Advertises tasks."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=_CreatedTask, resolve=_unresolved),)


async def _unresolved(created: _CreatedTask, context: ClaimContext) -> CallToolResult:
    raise AssertionError("a task that no RawReply took")
