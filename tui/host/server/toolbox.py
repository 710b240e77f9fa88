"""The toolbox for the model: the tools of the running servers, and their calls."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.errors import as_sentences
from tui.core.language.restored import stored
from tui.core.language.translate import message, sentences
from tui.core.servers import ServerState
from tui.core.text import quoted_name
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import CallFailure, ProgressSink, Tool, ToolResult
from tui.host.redaction import ResultRedactor
from tui.host.schemas.validation import SchemaChecker
from tui.host.server.supervisor import Supervisor
from tui.host.session.tasks import Caller


def sends_as_is(servers: Mapping[str, Supervisor], name: str) -> bool:
    """Whether the model gets what a server returns unredacted."""
    server = servers.get(name)
    return server is not None and server.spec.send_as_is


class RunningToolbox:
    """The tools of the RUNNING servers, in configured order, then in each server's own order.

    They are shown and called without configured secrets. The model gets the results of some servers
    unredacted; these results are marked (`ToolResult.as_is`).
    """

    def __init__(self, servers: Mapping[str, Supervisor], redaction: ResultRedactor) -> None:
        self._redaction = redaction
        self._servers = servers
        self._checker = SchemaChecker()

    async def close(self) -> None:
        await self._checker.close()

    def tools(self) -> Sequence[Tool]:
        """Return the tools that the model may be offered, also of servers that a call starts again."""
        return self._redaction.tools(
            tool
            for server in self._servers.values()
            if server.state is ServerState.RUNNING or server.is_reviving
            for tool in server.offered
        )

    def turned_off(self) -> Sequence[Tool]:
        """Return the tools that the model is not offered: turned off, not accepted, or not for models."""
        return self._redaction.tools(
            tool
            for server in self._servers.values()
            if (connection := server.running_connection) is not None
            for tool in server.offer.tools(connection.lists.catalog)
            if tool.withheld or server.offer.is_off(tool)
        )

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return what is wrong with `arguments` under the tool's own schema, or ""."""
        return await self.problem(self._redaction.definition(tool).schema, dict(arguments))

    async def problem(self, schema: Mapping[str, Any], value: Any) -> str:
        """Return why a value does not match a schema, or "".

        A schema that cannot be applied in bounded time rejects nothing; the server validates anyway.
        """
        return self._redaction.text((await self._checker.check(schema, value)).problem)

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
        by_hand: bool = False,
    ) -> ToolResult:
        """Call and return the result; failures are results too. Cancelling it cancels the call at the server.

        A tool that was changed or turned off since it was offered is not called, because an approval covers a
        definition, not a name. A server that died is started again first. A server that replaces this one
        meanwhile is not called. The user may call `by_hand` what is turned off; cancelling that leaves a task
        that the server has made of the call.
        """
        server = self._servers.get(tool.server)
        if server is not None and not by_hand and server.offer.is_off(tool):
            return ToolResult.failed(
                message("The tool {name} is disabled.", name=tool.name), CallFailure.PROTOCOL
            )
        caller = Caller(self._redaction.progress(progress), clocks, keeps_task=by_hand)
        was_as_is = not by_hand and sends_as_is(self._servers, tool.server)
        result = await self._call(self._redaction.definition(tool), arguments, seconds, caller)
        # Both times: the server may have been replaced, or its setting changed, during the call.
        if result.raw is not None and was_as_is and sends_as_is(self._servers, tool.server):
            return dataclasses.replace(result, as_is=True)
        return await self._redaction.result(result)

    async def _call(
        self, tool: Tool, arguments: Mapping[str, Any], seconds: float | CallTimeout, caller: Caller
    ) -> ToolResult:
        """Call a tool by its original definition. The result is not redacted."""
        server = self._servers.get(tool.server)
        if server is not None and server.is_reviving:
            await server.revive()
        connection = server.running_connection if server is not None else None
        if connection is not None:
            await connection.settled()
        if server is None or connection is None or connection is not server.running_connection:
            stopped = message("The server {server} is not running.", server=quoted_name(tool.server))
            why = "" if server is None else server.status.detail
            return ToolResult.failed(sentences(stopped, why), CallFailure.NOT_RUNNING)
        if problem := server.offer.refusal(tool, connection.lists.catalog):
            return ToolResult.failed(problem, CallFailure.PROTOCOL)
        own = server.spec
        allowed = CallTimeout.of(seconds).of_server(own.tool_seconds, own.tool_max_seconds)
        connection.lists.forget()
        result = await connection.calls.call(tool.name, arguments, allowed, caller)
        return await self.judged(result, connection.lists.catalog.output_schemas.get(tool.name))

    async def judged(self, result: ToolResult, schema: Mapping[str, Any] | None) -> ToolResult:
        """Return a result with a warning if it does not match its tool's output schema."""
        if schema is None or result.is_error:
            return result
        if result.structured is None:
            warning: str = message("does not match outputSchema: structuredContent is missing")
        else:
            verdict = await self._checker.check(schema, result.structured)
            warning = (
                message("does not match outputSchema: {problem}", problem=stored(verdict.problem))
                if verdict.problem
                else ""
            )
            if verdict.unchecked:
                warning = message("not checked against outputSchema: {reason}", reason=verdict.unchecked)
        joined = as_sentences(filter(None, (result.warning, warning)))
        return dataclasses.replace(result, warning=joined)
