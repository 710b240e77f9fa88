"""`core.ports.Toolbox` over all running servers: what can be called, is it called rightly, call it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.core.servers import ServerState
from tui.core.tools import CallFailure, ProgressSink, TextContent, Tool, ToolResult
from tui.host.schemas.validation import SchemaChecker
from tui.host.supervisor import Supervisor

if TYPE_CHECKING:
    from tui.host.connection import Connection


class RunningToolbox:
    """The tools of the RUNNING servers, in configured order, then in each server's own order."""

    def __init__(self, servers: Mapping[str, Supervisor], checker: SchemaChecker) -> None:
        self._servers = servers
        self._checker = checker

    def tools(self) -> Sequence[Tool]:
        """Return what can be called now."""
        return [
            tool
            for server in self._servers.values()
            if server.state is ServerState.RUNNING and server.connection is not None
            for tool in server.connection.catalog.tools
        ]

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return what is wrong with `arguments` under the tool's own schema, or "".

        A schema that cannot be applied in bounded time forbids nothing: the server looks for itself.
        """
        return (await self._checker.check(tool.schema, dict(arguments))).problem

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, seconds: float, progress: ProgressSink
    ) -> ToolResult:
        """Call and return the result; failures are results too. Cancelling it cancels the call on the wire.

        A tool that is no longer what it was when it was offered is not called: what was approved is a
        definition, not a name.
        """
        connection = self._connection(tool)
        if connection is None:
            return _not_run(CallFailure.NOT_RUNNING, f"The server {tool.server} is not running.")
        present = connection.catalog.find(tool.name)
        if present is None:
            return _not_run(CallFailure.PROTOCOL, f"{tool.server} no longer offers {tool.name}.")
        if present.digest != tool.digest:
            text = f"{tool.server} changed {tool.name} since it was offered, so it was not run."
            return _not_run(CallFailure.PROTOCOL, text)
        limit = self._servers[tool.server].spec.tool_seconds
        allowed = seconds if limit is None else min(seconds, limit)
        result = await connection.call(tool.name, arguments, seconds=allowed, progress=progress)
        schema = connection.catalog.output_schemas.get(tool.name)
        if schema is None or result.is_error:
            return result
        return await self._with_verdict(result, schema)

    async def _with_verdict(self, result: ToolResult, schema: Mapping[str, Any]) -> ToolResult:
        if result.structured is None:
            warning = "does not match outputSchema: structuredContent is missing"
        else:
            verdict = await self._checker.check(schema, result.structured)
            warning = f"does not match outputSchema: {verdict.problem}" if verdict.problem else ""
            if verdict.unchecked:
                warning = f"not checked against outputSchema: {verdict.unchecked}"
        joined = "; ".join(filter(None, (result.warning, warning)))
        return dataclasses.replace(result, warning=joined)

    def _connection(self, tool: Tool) -> "Connection | None":
        server = self._servers.get(tool.server)
        return server.connection if server and server.state is ServerState.RUNNING else None


def _not_run(failure: CallFailure, text: str) -> ToolResult:
    return ToolResult((TextContent(text),), is_error=True, failure=failure)
