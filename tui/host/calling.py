"""One tool call through the SDK's client; what came of it, taken raw."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from mcp.client import Client

from tui.core.tools import CallFailure, ProgressSink, TextContent, ToolResult
from tui.host import error_sentences as explain
from tui.host.content import result_of
from tui.host.frames.id_gate import RESULT_TOO_LARGE
from tui.host.sdk_bridge import RawReply, SdkBridge


class Call:
    """One call. Cancelling `run` sends `notifications/cancelled`."""

    def __init__(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self._tool = tool
        self._arguments = dict(arguments)
        # The SDK checks only results that are no errors, and would list all tools once more for that.
        self._ticket = RawReply(hollow=lambda raw: {"content": [], "isError": True})

    async def run(
        self,
        client: Client,
        wire: SdkBridge,
        remark: Callable[[], str],
        *,
        seconds: float,
        progress: ProgressSink,
    ) -> ToolResult:
        """Call and return the result, or that it took too long; other failures are raised as they come.

        Args:
            client: of a live connection.
            wire: of the same.
            remark: what is to be added when it took too long.
            seconds: the hard maximum; progress never extends it.
            progress: told of every sane progress notification.
        """
        meta: Any = wire.issue(self._ticket)

        async def report(progress: float, total: float | None, message: str | None) -> None:
            tell(progress, total, message or "")

        tell = progress
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                await client.call_tool(self._tool, self._arguments, progress_callback=report, meta=meta)
        except TimeoutError:
            if not limit.expired():
                raise
            text = f"{self._tool} gave no answer within {seconds:g} s and was cancelled.{remark()}"
            return failed(CallFailure.TIMEOUT, text)
        finally:
            wire.withdraw(meta)
        return result_of(self._ticket.raw or {})

    def failure(self, error: Exception) -> ToolResult:
        """Return what an error that `run` raised means, if the connection is still there."""
        if getattr(error, "code", None) == RESULT_TOO_LARGE:
            return failed(CallFailure.TOO_LARGE, explain.error_message(error))
        if asked := self._ticket.asked:
            text = f"The tool asked for {asked} in the middle of the call; this host does not offer that."
            return failed(CallFailure.PROTOCOL, text)
        if isinstance(error, TimeoutError):
            return failed(CallFailure.PROTOCOL, "The server does not read what is sent to it.")
        return failed(CallFailure.PROTOCOL, explain.protocol_failure(error))


def failed(failure: CallFailure, text: str) -> ToolResult:
    """Return the result of a call that gave none of its own."""
    return ToolResult((TextContent(text),), is_error=True, failure=failure)
