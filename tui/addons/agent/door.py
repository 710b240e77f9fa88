"""What an agent does in the process that has the servers: a running mcptui, asked at its door, or its own."""

import asyncio
import shlex
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tui.addons.agent.consent import OWN, OWN_ACTS, Act, Permission
from tui.commands.call.output import result_text
from tui.core import units
from tui.core.errors import UsageError, sentences
from tui.core.questions import AgentQuestion, QuestionAnswer
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line, object_in, quoted_name, text_in
from tui.core.time_limits import CallTimeout
from tui.core.tools import CallFailure, Tool
from tui.core.traffic import Kind
from tui.settings.problems import hinted
from tui.traffic.record.column_parts import mark_of

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

MOST_SECONDS = 600
MOST_ARGUMENTS = 30
_SHOWN_NAMES = 40
_RECORDED_SECONDS = 1.0
"""How long the recording of a call may take to be on the disk."""

Progress = Callable[[float | None, float | None, str], None]


def act_of(params: Mapping[str, Any], server: str, tool: str, digest: str = "") -> Act:
    """Return what the agent of a request wants to do; `server` is "" for an act of mcptui."""
    agent = clean_line(text_in(params, "agent"), 40) or "an unknown client"
    return Act(agent, server or OWN, tool, dict(object_in(params, "arguments")), digest, not server)


def permission(runtime: "Runtime", peer: Any = None) -> Permission:
    """Return what decides about agents in this process. `peer` is told when the user is asked.

    If this process ends meanwhile, the agent then knows that nothing was done.
    """
    policy = runtime.turn_context.policy

    async def ask(question: AgentQuestion) -> QuestionAnswer:
        if peer is not None:
            peer.note({"wait": True})
        answer = await runtime.questioner.ask(question)
        if peer is not None:
            peer.note({"wait": False})
        return answer

    return Permission(
        lambda: policy.rules,
        policy.session,
        runtime.decisions,
        runtime.approvals.path,
        ask,
    )


async def permit(runtime: "Runtime", params: Mapping[str, Any], peer: Any) -> None:
    """Decide about an act of mcptui that the agent's process then does itself."""
    if (act := text_in(params, "act")) not in OWN_ACTS:
        raise UsageError(f"agents cannot do {quoted_name(act)}")
    folder = text_in(object_in(params, "arguments"), "folder")
    await permission(runtime, peer).require(act_of(params, "", act, folder))


async def restart_server(runtime: "Runtime", params: Mapping[str, Any], peer: Any) -> dict[str, Any]:
    """Restart a server, also one that is stopped, and return how it is then."""
    server = text_in(object_in(params, "arguments"), "server")
    found(runtime, server)
    await permission(runtime, peer).require(act_of(params, "", "restart_server"))
    await runtime.host.restart(server)
    status = runtime.host.status(server)
    return {"state": status.state.value, "said": said_of(status), "tools": status.tools}


async def tools(runtime: "Runtime", params: Mapping[str, Any], peer: Any) -> list[dict[str, Any]]:
    """Return the tools of a server that is up, or one with its schemas. Raises UsageError."""
    status = found(runtime, text_in(params, "server"))
    if name := text_in(params, "tool"):
        one = await offered(runtime, status.name, {"tool": name, "unchecked": True})
        definition = {"name": one.name, "description": one.description, "inputSchema": one.schema}
        output = runtime.workbench.output_schema(one)
        return [definition | ({"outputSchema": output} if output is not None else {})]
    return [
        {
            "name": clean_line(one.name, 120),
            "description": clean_line(one.description, 400),
            "arguments": [clean_line(str(key), 60) for key in object_in(one.schema, "properties")][
                :MOST_ARGUMENTS
            ],
        }
        for one in runtime.workbench.tools(status.name)
    ]


async def call_tool(runtime: "Runtime", params: Mapping[str, Any], peer: Any) -> dict[str, Any]:
    """Call a tool of a running server, and return its result with where it is recorded."""
    server = text_in(params, "server")
    status = found(runtime, server)
    if status.state is not ServerState.RUNNING:
        step = "Call restart_server, or log for what it printed."
        raise UsageError(f"{clean_line(server, 60)} is not running. {said_of(status)}", next_step=step)
    tool = await offered(runtime, server, params)
    digest = runtime.turn_context.policy.key(tool).rpartition("@")[2]
    act = act_of(params, server, tool.name, digest)
    await permission(runtime, peer).require(act)
    if (await offered(runtime, server, params)).digest != tool.digest:
        raise UsageError("The definition of the tool changed meanwhile.", next_step="Call it again.")
    with runtime.door.questions.asking_for(server, peer.words):
        return await called(runtime, act, tool, params)


def found(runtime: "Runtime", server: str) -> ServerStatus:
    """Return the status of a server. Raises UsageError with the names of all."""
    if (status := runtime.host.find(server)) is not None:
        return status
    names = [clean_line(one.name, 60) for one in runtime.host.statuses()]
    raise UsageError(
        hinted(f"server {quoted_name(server, 80)} not found", server, names),
        next_step=f"Servers: {units.and_more(names, _SHOWN_NAMES) or 'none'}.",
    )


async def offered(runtime: "Runtime", server: str, params: Mapping[str, Any]) -> Tool:
    """Return the tool of a call whose arguments are valid. Raises UsageError."""
    workbench, name = runtime.workbench, text_in(params, "tool")
    tool = await workbench.tool(server, name)
    status = runtime.host.status(server)
    if why := dict(status.quarantined).get(name):
        raise UsageError(
            f"{clean_line(name, 80)} cannot be called: {clean_line(why, 300)}",
            next_step="The user decides in the servers pane of mcptui (D), or with: "
            f"mcptui list {shlex.quote(clean_line(server, 60))} --accept-changes",
        )
    if tool is None:
        names = [clean_line(one.name, 80) for one in workbench.tools(server)]
        raise UsageError(
            hinted(f"{clean_line(server, 60)} has no tool {quoted_name(name, 80)}", name, names),
            next_step=f"Its tools: {units.and_more(names, _SHOWN_NAMES) or 'none'}. "
            f"{clean_line(status.listing_problem, 200)}".strip(),
        )
    if params.get("unchecked") is not True:
        arguments = object_in(params, "arguments")
        if problem := clean_line(await workbench.check(tool, arguments), 400):
            raise UsageError(
                f"invalid arguments for {clean_line(name, 80)}: {problem}.",
                next_step="unchecked: true sends them all the same.",
            )
    return tool


async def called(runtime: "Runtime", act: Act, tool: Tool, params: Mapping[str, Any]) -> dict[str, Any]:
    """Call a tool without asking, and return its result with where it is recorded."""
    call = f"hand-agent-{uuid.uuid4().hex[:12]}"
    began = time.monotonic()
    try:
        result = await runtime.workbench.call_tool(
            tool, act.arguments, call=call, seconds=_timeout(runtime, params), progress=lambda *_: None
        )
    except (TimeoutError, asyncio.CancelledError):
        if (task := runtime.workbench.task_of(act.server, call)) is not None:
            await runtime.workbench.cancel_task(task)
        raise
    ms = round((time.monotonic() - began) * 1000)
    runtime.traffic.mark_calls({call: f"by {act.by}"})
    return {
        "text": result_text(result),
        "is_error": result.is_error,
        "failure": "" if result.failure is CallFailure.NONE else result.failure.name.lower(),
        "warning": result.warning,
        "answered": result.raw is not None,
        "ms": ms,
        "entry": await _entry(runtime, call),
        "recording": runtime.traffic.path.stem,
    }


def _timeout(runtime: "Runtime", params: Mapping[str, Any]) -> CallTimeout:
    seconds = params.get("seconds")
    if not isinstance(seconds, int) or not 0 < seconds <= MOST_SECONDS:
        return runtime.turn_context.limits.call_timeout
    return CallTimeout(seconds, 10 * seconds, "seconds", "ten times `seconds`")


async def _entry(runtime: "Runtime", call: str) -> int:
    """Return the number of the last entry of a call, 0 if it is not recorded."""
    columns, mark = runtime.traffic.columns, mark_of(call)
    for _ in range(20):
        for index in reversed(range(len(columns))):
            if columns.call[index] == mark and columns.kind[index] == Kind.REQUEST:
                return int(columns.seq(index))
        await asyncio.sleep(_RECORDED_SECONDS / 20)
    return 0


def said_of(status: ServerStatus, otherwise: str = "") -> str:
    """Return what is known about why a server is as it is, `otherwise` if it does not say."""
    why, last = clean_line(status.detail, 600) or otherwise, clean_line(status.unquoted_line, 300)
    said = f"Its last line: {last}" if last else ""
    return sentences(why, said) if why else said
