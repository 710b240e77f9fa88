"""Access to servers without configured secrets: toolbox, workbench, questions, resources.

The toolbox and the workbench wrap those of `tui.host.toolbox`, which are used only through them. What is
sent to a server is not changed. The URL of an `AddressQuestion` is shown unchanged, because the user agrees
to open exactly that. The model reads resources redacted, unless the user allows secrets in them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.core.ports import DecisionLog, hand_call
from tui.core.secrets.commands_and_urls import masked
from tui.core.servers import ServerState
from tui.core.tasks import Task
from tui.core.text import clean_line
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import ProgressSink, Tool, ToolResult
from tui.core.workbench import (
    Completions,
    PromptInfo,
    PromptResult,
    RawAnswer,
    ResourceInfo,
    ResourceSubscription,
    ServerIdentity,
    Workbench,
)
from tui.host.redaction.results import ResultRedactor
from tui.host.supervisor import Supervisor
from tui.host.toolbox import RunningToolbox
from tui.host.workbench import HandWorkbench

READ_RESOURCE, GET_PROMPT = "resources/read", "prompts/get"
MAX_URI = 200
"""Characters of a URI in the record of decisions."""


class RedactedToolbox:
    """The tools of the running servers, for the model; see `core.ports.Toolbox`.

    `as_is` returns whether the model gets the results of a server unredacted; these results are marked
    (`ToolResult.as_is`).
    """

    def __init__(
        self,
        inner: RunningToolbox,
        redaction: ResultRedactor,
        as_is: Callable[[str], bool] = lambda server: False,
    ) -> None:
        self._inner = inner
        self._redaction = redaction
        self._as_is = as_is

    def tools(self) -> Sequence[Tool]:
        return self._redaction.tools(self._inner.tools())

    def turned_off(self) -> Sequence[Tool]:
        """Return the tools that the user has turned off for the model."""
        return self._redaction.tools(self._inner.turned_off())

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return self._redaction.text(await self._inner.check(self._redaction.definition(tool), arguments))

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        progress = self._redaction.progress(progress)
        tool = self._redaction.definition(tool)
        was_as_is = self._as_is(tool.server)
        result = await self._inner.call(tool, arguments, seconds=seconds, progress=progress, clocks=clocks)
        # Both times: the server may have been replaced, or its setting changed, during the call.
        if result.raw is not None and was_as_is and self._as_is(tool.server):
            return replace(result, as_is=True)
        return await self._redaction.result(result)


class RedactedWorkbench:
    """Works with servers by hand, without secrets; see `core.workbench.Workbench`.

    The URI of a resource may contain a secret of its server too. It is listed without the secret, and
    requests use the original URI.

    Reads are recorded as decisions, and tool calls by their callers. A read by the model has no `call` and is
    decided elsewhere.
    """

    def __init__(
        self, inner: HandWorkbench, redaction: ResultRedactor, decisions: DecisionLog, *, by: str
    ) -> None:
        self._inner = inner
        self._redaction = redaction
        self._decisions = decisions
        self._by = by
        self._uris: dict[tuple[str, str], str] = {}

    async def identity(self, server: str) -> ServerIdentity:
        return self._redaction.value(await self._inner.identity(server))

    def tools(self, server: str) -> Sequence[Tool]:
        return self._redaction.tools(self._inner.tools(server))

    def relist(self, server: str) -> None:
        self._inner.relist(server)

    def output_schema(self, tool: Tool) -> Mapping[str, Any] | None:
        schema = self._inner.output_schema(self._redaction.definition(tool))
        return None if schema is None else self._redaction.value(schema)

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return self._redaction.text(await self._inner.check(self._redaction.definition(tool), arguments))

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        found, problem = await self._inner.resources(server)
        return tuple(map(self._resource, found)), self._redaction.text(problem)

    async def prompts(self, server: str) -> tuple[Sequence[PromptInfo], str]:
        found, problem = await self._inner.prompts(server)
        return self._redaction.value((tuple(found), problem))

    async def entries(self, server: str, kind: str) -> tuple[Sequence[Any], str]:
        found, problem = await self._inner.entries(server, kind)
        return self._redaction.value((found, problem))

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        call: str,
        seconds: float | CallTimeout,
        progress: ProgressSink,
    ) -> ToolResult:
        progress = self._redaction.progress(progress)
        tool = self._redaction.definition(tool)
        result = await self._inner.call_tool(tool, arguments, call=call, seconds=seconds, progress=progress)
        return await self._redaction.result(result)

    def tasks(self, server: str) -> Sequence[Task]:
        return [self._redaction.value(task) for task in self._inner.tasks(server)]

    def task_of(self, server: str, call: str) -> Task | None:
        task = self._inner.task_of(server, call)
        return None if task is None else self._redaction.value(task)

    async def fetch_task(self, task: Task, *, call: str, progress: ProgressSink) -> ToolResult:
        progress = self._redaction.progress(progress)
        return await self._redaction.result(await self._inner.fetch_task(task, call=call, progress=progress))

    async def cancel_task(self, task: Task) -> str:
        return self._redaction.text(await self._inner.cancel_task(task))

    async def read_resource(
        self, server: str, uri: str, *, call: str, seconds: float | CallTimeout
    ) -> ToolResult:
        self._record(server, self._read_of(uri), {"uri": uri}, call)
        uri = self._listed(server, uri)
        result = await self._inner.read_resource(server, uri, call=call, seconds=seconds)
        return await self._redaction.result(result)

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str], *, call: str, seconds: float | CallTimeout
    ) -> PromptResult:
        self._record(server, f"{GET_PROMPT} {name}", arguments, call)
        result = await self._inner.get_prompt(server, name, arguments, call=call, seconds=seconds)
        return await self._redaction.prompt(result)

    def subscriptions(self, server: str) -> Mapping[str, ResourceSubscription]:
        return self._redaction.value(dict(self._inner.subscriptions(server)))

    def subscribe(self, server: str, uri: str) -> str:
        return self._redaction.text(self._inner.subscribe(server, self._listed(server, uri)))

    def unsubscribe(self, server: str, uri: str) -> None:
        self._inner.unsubscribe(server, self._listed(server, uri))

    async def complete(
        self, about: ResourceInfo | PromptInfo, argument: str, value: str, others: Mapping[str, str]
    ) -> Completions:
        if isinstance(about, ResourceInfo):
            about = replace(about, uri=self._listed(about.server, about.uri))
        found = await self._inner.complete(about, argument, value, others)
        return self._redaction.value(found)

    async def request(
        self,
        server: str,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        call: str,
        seconds: float | CallTimeout,
    ) -> RawAnswer:
        given = params or {}
        if method == READ_RESOURCE:
            uri = given.get("uri")
            subject = self._read_of(uri) if isinstance(uri, str) else method
            self._record(server, subject, {"uri": uri}, call)
        elif method == GET_PROMPT:
            arguments = given.get("arguments")
            subject = f"{method} {given.get('name')}"
            self._record(server, subject, arguments if isinstance(arguments, dict) else {}, call)
        answer = await self._inner.request(server, method, params, call=call, seconds=seconds)
        return await self._redaction.answer(answer)

    def _read_of(self, uri: str) -> str:
        """Return the subject of a decision about reading a resource, with its URI, without secrets."""
        shown = self._redaction.text(uri)
        return f"{READ_RESOURCE} {clean_line(masked(shown[: 10 * MAX_URI]), MAX_URI)}"

    def _record(self, server: str, subject: str, arguments: Mapping[str, Any], call: str) -> None:
        if call:
            self._decisions.add(hand_call(server, subject, arguments, by=self._by))

    def _listed(self, server: str, uri: str) -> str:
        return self._uris.get((server, uri), uri)

    def _resource(self, found: ResourceInfo) -> ResourceInfo:
        shown = self._redaction.value(found)
        if shown.uri != found.uri:
            self._uris[found.server, shown.uri] = found.uri
        return shown


class ModelResources:
    """See `core.context.built_in_tools.ResourceSource`.

    `workbench` redacts what it returns, `raw` does not: it is for servers whose results are sent as they are
    (`as_is`).
    """

    def __init__(
        self,
        servers: Mapping[str, Supervisor],
        workbench: Workbench,
        raw: Workbench,
        as_is: Callable[[str], bool],
    ) -> None:
        self._servers = servers
        self._workbench = workbench
        self._raw = raw
        self._as_is = as_is

    def servers(self) -> Sequence[str]:
        return [
            name
            for name, server in self._servers.items()
            if server.spec.offer_resources and server.state is ServerState.RUNNING
        ]

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        return await (self._raw if self._as_is(server) else self._workbench).resources(server)

    async def read(self, server: str, uri: str, seconds: float | CallTimeout) -> ToolResult:
        if not self._as_is(server):
            return await self._workbench.read_resource(server, uri, call="", seconds=seconds)
        return replace(await self._raw.read_resource(server, uri, call="", seconds=seconds), as_is=True)
