"""The workbench for the user, over the running servers: calls, resources, prompts and tasks by hand.

What it returns has no configured secrets, except for a model that may get those of a server
(`ModelResources`). What is sent to a server is not changed.
"""

import asyncio
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tui.core.context.content import completions_of, contents_of, prompt_of
from tui.core.jsonrpc.protocol import INVALID_PARAMS, METHOD_NOT_FOUND
from tui.core.language.translate import N_, as_message, message, sentences
from tui.core.ports import ACTING_BY, hand_call
from tui.core.secrets.commands_and_urls import masked
from tui.core.servers import ServerState, not_configured
from tui.core.tasks import Task
from tui.core.text import clean_line, list_in, mapping, object_in, quoted_name, text_in
from tui.core.time_limits import CallTimeout
from tui.core.tools import CallFailure, Heard, ProgressSink, Tool, ToolResult
from tui.core.traffic import CAUSE, Cause
from tui.core.workbench import (
    CacheHint,
    Completions,
    PromptInfo,
    PromptResult,
    RawAnswer,
    ResourceInfo,
    ResourceSubscription,
    ServerIdentity,
)
from tui.host import error_sentences as explain
from tui.host.catalog import prompt_infos, resource_infos
from tui.host.process.process import ProcessUsage, usage
from tui.host.server.host_context import HostContext
from tui.host.server.lists import LIST_SECONDS
from tui.host.server.supervisor import Supervisor
from tui.host.server.toolbox import RunningToolbox, sends_as_is
from tui.host.session.handshake import MAX_VERSIONS
from tui.host.session.tasks import Caller

if TYPE_CHECKING:
    from tui.host.server.connection import Connection

COMPLETION_SECONDS = 5.0
READ_RESOURCE, GET_PROMPT = "resources/read", "prompts/get"
MAX_URI = 200
"""Characters of a URI in the record of decisions."""

NOT_FOUND = (-32002, INVALID_PARAMS)
"""The error codes of both eras for an unknown resource."""

BEFORE_CAPABILITY = "2024-11-05"
"""In this revision, servers support completion without announcing it."""


_LISTED = {
    "tools": N_("tools"),
    "resources": N_("resources"),
    "prompts": N_("prompts"),
    "resourceTemplates": N_("resource templates"),
}


class HandWorkbench:
    """Works with servers by hand, without secrets. Failures are values with a sentence, never exceptions.

    `call` is the id by which the messages of a call are found (`core.traffic.Cause(0, 0, call)`); it starts
    with "hand-". Cancelling an asyncio task cancels its request.

    The URI of a resource may contain a secret of its server too. It is listed without the secret, and
    requests use the original URI.

    Reads are recorded as decisions, decided `by` a key, and tool calls by their callers. A read by the model
    has no `call` and is decided elsewhere.
    """

    def __init__(
        self, servers: Mapping[str, Supervisor], toolbox: RunningToolbox, around: HostContext
    ) -> None:
        self._redaction = around.redaction
        self._around = around
        self._uris: dict[tuple[str, str], str] = {}
        self._servers = servers
        self._toolbox = toolbox
        self._incomplete: WeakSet[Connection] = WeakSet()

    async def identity(self, server: str) -> ServerIdentity:
        """Return the facts about a server; for a stopped one, only its configuration."""
        known = self._servers.get(server)
        if known is None:
            return ServerIdentity()
        names = tuple(sorted(known.spec.env))
        connection = self._connection_of(server)
        if connection is None:
            return ServerIdentity(environment=names)
        pid = connection.transport.pid
        cost = ProcessUsage() if pid is None else await asyncio.to_thread(usage, pid)
        introduction, session = connection.introduction, connection.calls.session
        theirs = introduction.capabilities.get("extensions")
        found = ServerIdentity(
            name=introduction.info("name"),
            title=introduction.info("title"),
            version=introduction.info("version"),
            protocol=introduction.version,
            versions=tuple(map(str, list_in(introduction.said, "supportedVersions")[:MAX_VERSIONS])),
            capabilities=introduction.capabilities,
            instructions=text_in(introduction.said, "instructions"),
            environment=names,
            pids=cost.pids,
            memory=cost.memory,
            cpu_seconds=cost.cpu_seconds,
            hints={
                "discovery": CacheHint.of(introduction.said, introduction.at_ns),
                **connection.lists.hints,
            },
            extensions=() if session is None else tuple(session.our_side.uses(theirs)),
        )
        return self._redaction.value(found)

    def tools(self, server: str) -> Sequence[Tool]:
        connection = self._connection_of(server)
        if connection is None:
            return ()
        return self._redaction.tools(self._servers[server].offer.tools(connection.lists.catalog))

    def is_running(self, server: str) -> bool:
        return self._connection_of(server) is not None

    async def tool(self, server: str, name: str) -> Tool | None:
        """Return a tool as the server lists it after its last change notification, or None."""
        connection = self._connection_of(server)
        if connection is None:
            return None
        await connection.settled()
        offered = self._servers[server].offer.tools(connection.lists.catalog)
        found = next((tool for tool in offered if tool.name == name), None)
        return None if found is None else next(iter(self._redaction.tools([found])))

    def relist(self, server: str) -> None:
        """Request all lists of a running server again, soon; its status shows when they have changed."""
        if (connection := self._connection_of(server)) is not None:
            connection.lists.relist()

    def output_schema(self, tool: Tool) -> Mapping[str, Any] | None:
        return self._redaction.value(self._output_schema(tool))

    def _output_schema(self, tool: Tool) -> Mapping[str, Any] | None:
        connection = self._connection_of(tool.server)
        return None if connection is None else connection.lists.catalog.output_schemas.get(tool.name)

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        return await self._toolbox.check(tool, arguments)

    async def output_problem(self, tool: Tool, structured: Any) -> str:
        """Return why structured content does not match the output schema of a tool, or ""."""
        schema = self._output_schema(tool)
        return "" if schema is None else await self._toolbox.problem(schema, structured)

    async def resources(self, server: str, *, as_is: bool = False) -> tuple[Sequence[ResourceInfo], str]:
        """List resources and templates, page by page with limits; return them and a problem, or "".

        `as_is` keeps the secrets of their server.
        """
        if problem := self._not_offered(server, "resources"):
            return (), problem
        listed, problem = await self._entries(server, "resources")
        plain, fault = resource_infos(server, listed, template=False)
        problems = [problem, fault]
        listed, problem = await self._entries(server, "resourceTemplates")
        templates, fault = resource_infos(server, listed, template=True)
        found, problem = (*plain, *templates), " ".join(filter(None, (*problems, problem, fault)))
        if as_is:
            return found, problem
        shown = tuple(map(self._redaction.value, found))
        for one, raw in zip(shown, found, strict=True):
            if one.uri != raw.uri:
                self._uris[server, one.uri] = raw.uri
        return shown, self._redaction.text(problem)

    async def prompts(self, server: str) -> tuple[Sequence[PromptInfo], str]:
        """List prompts, page by page with limits; return them and a problem, or ""."""
        if problem := self._not_offered(server, "prompts"):
            return (), problem
        listed, problem = await self._entries(server, "prompts")
        found, fault = prompt_infos(server, listed)
        return self._redaction.value((tuple(found), " ".join(filter(None, (problem, fault)))))

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        call: str,
        seconds: float | CallTimeout,
        progress: ProgressSink,
    ) -> ToolResult:
        """Call a tool. If the server turns the call into a task, wait for it; cancelling leaves the task."""
        with _by_hand(call):
            return await self._toolbox.call(tool, arguments, seconds=seconds, progress=progress, by_hand=True)

    def tasks(self, server: str) -> Sequence[Task]:
        """Return the tasks of a server that no call waits for, including those of earlier runs."""
        known = self._servers.get(server)
        return () if known is None else [self._redaction.value(task) for task in known.waiting_tasks]

    def task_of(self, server: str, call: str) -> Task | None:
        known = self._servers.get(server)
        tasks = () if known is None else self._around.remembered.tasks.of(server, known.spec.origin)
        return next((self._redaction.value(task) for task in tasks if task.call == call), None)

    async def fetch_task(self, task: Task, *, call: str, progress: ProgressSink) -> ToolResult:
        """Wait for a task and return its result. Cancelling this leaves the task."""
        connection = self._connection_of(task.server)
        if connection is None:
            return ToolResult.failed(self._not_running(task.server), CallFailure.NOT_RUNNING)
        caller = Caller(self._redaction.progress(progress), keeps_task=True)
        with _by_hand(call):
            tasks, followed = connection.calls.tasks, dataclasses.replace(task, call=call)
            result = await tasks.follow(followed, caller, now=True)
        result = await self._toolbox.judged(result, connection.lists.catalog.output_schemas.get(task.tool))
        return await self._redaction.result(result)

    async def cancel_task(self, task: Task) -> str:
        """Cancel a task at its server and forget it; return what failed, or ""."""
        connection = self._connection_of(task.server)
        if connection is None:
            return self._not_running(task.server)
        return self._redaction.text(await connection.calls.tasks.cancel(task))

    async def read_resource(
        self, server: str, uri: str, *, call: str, seconds: float | CallTimeout, as_is: bool = False
    ) -> ToolResult:
        """Read a resource; `as_is` keeps the secrets of its server."""
        self._record(server, self._read_of(uri), {"uri": uri}, call)
        uri = uri if as_is else self._listed(server, uri)
        answer = await self._ask(server, READ_RESOURCE, {"uri": uri}, call, seconds)
        problem = explain.problem_of(answer)
        if answer.error is not None and answer.error.get("code") in NOT_FOUND:
            problem = sentences(message("Resource not found: {uri}.", uri=clean_line(uri, 300)), problem)
        failure = answer.failure or CallFailure.PROTOCOL
        result = ToolResult.failed(problem, failure) if problem else contents_of(answer.result)
        return dataclasses.replace(result, as_is=True) if as_is else await self._redaction.result(result)

    async def get_prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str],
        *,
        call: str,
        seconds: float | CallTimeout,
    ) -> PromptResult:
        self._record(server, f"{GET_PROMPT} {name}", arguments, call)
        given = {"arguments": dict(arguments)} if arguments else {}
        answer = await self._ask(server, GET_PROMPT, {"name": name, **given}, call, seconds)
        problem = explain.problem_of(answer)
        found = PromptResult(problem=problem, lost=answer.lost) if problem else prompt_of(answer.result)
        return await self._redaction.answer(found)

    def subscriptions(self, server: str) -> Mapping[str, ResourceSubscription]:
        """Return the subscriptions to resources, by URI; they outlive a restart of the server."""
        known = self._servers.get(server)
        return {} if known is None else self._redaction.value(dict(known.subscriptions.by_uri))

    def subscribe(self, server: str, uri: str) -> str:
        connection = self._connection_of(server)
        if connection is None:
            return self._not_running(server)
        if not connection.introduction.takes_subscriptions:
            return message(
                "The server {server} does not support resource subscriptions.", server=quoted_name(server)
            )
        self._servers[server].subscriptions.add(self._listed(server, uri))
        return ""

    def unsubscribe(self, server: str, uri: str) -> None:
        if (known := self._servers.get(server)) is not None:
            known.subscriptions.remove(self._listed(server, uri))

    async def complete(
        self, about: ResourceInfo | PromptInfo, argument: str, value: str, others: Mapping[str, str]
    ) -> Completions:
        """Return the values that the server suggests for an argument of a template or a prompt.

        `value` is the text typed so far, `others` are the arguments that have a value already. A server
        without completion, or that does not respond in time, suggests nothing.
        """
        connection = self._connection_of(about.server)
        if connection is None or connection in self._incomplete:
            return Completions()
        said = connection.introduction
        if not ("completions" in said.offers or said.version == BEFORE_CAPABILITY):
            return Completions()
        if isinstance(about, PromptInfo):
            whose = {"type": "ref/prompt", "name": about.name}
        else:
            whose = {"type": "ref/resource", "uri": self._listed(about.server, about.uri)}
        params: dict[str, Any] = {"ref": whose, "argument": {"name": argument, "value": value}}
        if others:
            params["context"] = {"arguments": dict(others)}
        answer = await self._ask(
            about.server, "completion/complete", params, "hand-complete", COMPLETION_SECONDS
        )
        if answer.error is not None and answer.error.get("code") == METHOD_NOT_FOUND:
            self._incomplete.add(connection)
        return self._redaction.value(completions_of(mapping(answer.result)))

    async def request(
        self,
        server: str,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        call: str,
        seconds: float | CallTimeout,
        whole: bool = True,
        as_is: bool = False,
    ) -> RawAnswer:
        """Send any request, as recorded or as edited.

        `as_is` keeps the secrets of the server, for a caller that compares bytes. Only what belongs to one
        connection is replaced: the id, the progress token, and the `_meta` by which the protocol's revision
        identifies the sender. Without `whole`, what the server asks for is answered, and a task that it
        creates is awaited.
        """
        given = params or {}
        if method == READ_RESOURCE:
            uri = given.get("uri")
            subject = self._read_of(uri) if isinstance(uri, str) else method
            self._record(server, subject, {"uri": uri}, call)
        elif method == GET_PROMPT:
            subject = f"{method} {given.get('name')}"
            self._record(server, subject, object_in(given, "arguments"), call)
        elif method == "tools/call" and (connection := self._connection_of(server)) is not None:
            present = connection.lists.catalog.find(str(given.get("name")))
            if present is not None and (why := self._servers[server].offer.unaccepted(present)):
                return RawAnswer(
                    problem=message(
                        "{name} of {server} was not called: {why}.", name=present.name, server=server, why=why
                    )
                )
            connection.lists.forget()
        answer = await self._ask(server, method, given, call, seconds, whole=whole)
        return answer if as_is else await self._redaction.answer(answer)

    async def stream(self, server: str, method: str, params: Mapping[str, Any], heard: Heard) -> RawAnswer:
        """Send a request that stays open, without a limit of time; return how it ended.

        Neither the answer nor what `heard` gets is redacted: cursors are sent back.
        """
        connection = self._connection_of(server)
        if connection is None:
            return RawAnswer(problem=self._not_running(server))
        return await connection.calls.stream(method, params, heard)

    def extension(self, server: str, name: str) -> Mapping[str, Any] | None:
        """Return the settings that a running server declares for an extension, raw; None if it is off."""
        connection = self._connection_of(server)
        if connection is None or (session := connection.calls.session) is None:
            return None
        return session.our_side.use_of(name, connection.introduction.capabilities.get("extensions")).usable

    def _read_of(self, uri: str) -> str:
        """Return the subject of a decision about reading a resource, with its URI, without secrets."""
        shown = self._redaction.text(uri)
        return f"{READ_RESOURCE} {clean_line(masked(shown[: 10 * MAX_URI]), MAX_URI)}"

    def _record(self, server: str, subject: str, arguments: Mapping[str, Any], call: str) -> None:
        if call:
            answerers = self._around.answerers
            by = ACTING_BY.get() or answerers.hand
            answerers.decisions.add(hand_call(server, subject, arguments, by=by))

    def _listed(self, server: str, uri: str) -> str:
        """Return the original URI of a resource that was listed without a secret."""
        return self._uris.get((server, uri), uri)

    def _connection_of(self, server: str) -> "Connection | None":
        known = self._servers.get(server)
        return None if known is None else known.running_connection

    def _not_running(self, server: str) -> str:
        if server not in self._servers:
            return not_configured(server)
        return message("The server {server} is not running.", server=quoted_name(server))

    def _not_offered(self, server: str, kind: str) -> str:
        connection = self._connection_of(server)
        if connection is None:
            return self._not_running(server)
        if kind in connection.introduction.offers:
            return ""
        return message("The server {server} does not support {kind}.", server=quoted_name(server), kind=kind)

    async def entries(self, server: str, kind: str) -> tuple[Sequence[Any], str]:
        """List "tools", "resources", "resourceTemplates" or "prompts" as the server sends them."""
        return self._redaction.value(await self._entries(server, kind))

    async def _entries(self, server: str, kind: str) -> tuple[list[Any], str]:
        connection = self._connection_of(server)
        if connection is None:
            return [], self._not_running(server)
        subject = quoted_name(server)
        words = as_message(_LISTED.get(kind, kind))
        lists = connection.lists
        if (recent := lists.take_recent(kind)) is not None:
            return recent.items, ""
        try:
            walk = await connection.calls.perform(lambda session: lists.walk(session, kind))
            lists.take_recent(kind)
        except TimeoutError:
            more = explain.unanswered(connection.transport)
            late = message(
                "The server {server} did not list its {words} within {seconds:g} s.",
                server=subject,
                words=words,
                seconds=LIST_SECONDS,
            )
            return [], sentences(late, more)
        except Exception as error:  # anything in place of a list is reported
            if kind == "resourceTemplates" and getattr(error, "code", None) == METHOD_NOT_FOUND:
                return [], ""  # many servers with resources do not support templates
            unlisted = message("The server {server} does not list its {words}.", server=subject, words=words)
            return [], sentences(unlisted, explain.protocol_failure(error))
        if isinstance(walk, str):
            return [], walk
        return walk.items, message(
            "Some {words} are missing: {note}.", words=words, note=walk.note
        ) if walk.note else ""

    async def _ask(
        self,
        server: str,
        method: str,
        params: Mapping[str, Any],
        call: str,
        seconds: float | CallTimeout,
        *,
        whole: bool = False,
    ) -> RawAnswer:
        connection = self._connection_of(server)
        if connection is None:
            return RawAnswer(problem=self._not_running(server))
        own = self._servers[server].spec
        time = CallTimeout.of(seconds).of_server(own.tool_seconds, own.tool_max_seconds)
        with _by_hand(call):
            return await connection.calls.ask(method, params, time, whole=whole)


class ModelResources:
    """See `core.context.built_in_tools.ResourceSource`."""

    def __init__(self, servers: Mapping[str, Supervisor], workbench: HandWorkbench) -> None:
        self._servers = servers
        self._workbench = workbench

    def servers(self) -> Sequence[str]:
        return [
            name
            for name, server in self._servers.items()
            if server.spec.offer_resources and server.state is ServerState.RUNNING
        ]

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        return await self._workbench.resources(server, as_is=sends_as_is(self._servers, server))

    async def read(self, server: str, uri: str, seconds: float | CallTimeout) -> ToolResult:
        as_is = sends_as_is(self._servers, server)
        return await self._workbench.read_resource(server, uri, call="", seconds=seconds, as_is=as_is)


@contextmanager
def _by_hand(call: str) -> Iterator[None]:
    if not call:  # a turn is the cause
        yield
        return
    before = CAUSE.set(Cause(0, 0, call))
    try:
        yield
    finally:
        CAUSE.reset(before)
