"""Tools about servers: which there are, how they are, and what they print. Asked of a running mcptui."""

import asyncio
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from tui.addons.agent.answer import Answer, Foreign
from tui.addons.agent.context import AgentContext
from tui.addons.agent.opened import speaker
from tui.addons.agent.tools import AgentTool, arguments, number, text
from tui.commands.recordings import recordings as folder
from tui.core.addons import service
from tui.core.errors import McptuiError, StorageError, UsageError, sentences
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line, quoted_name, truncated
from tui.core.traffic import Kind
from tui.core.units import and_more, plural

MOST_RECORDINGS = 20
"""How many recordings are searched for the log of a server."""

LINE_CHARS = 400
_FACTS = ("detail", "next_step", "problem", "stderr_last")


async def doors(context: AgentContext) -> Sequence[Any]:
    """Return the running mcptuis with the agent's configuration, apps first, that do not refuse."""
    find = service("running")
    found = await asyncio.to_thread(find) if find is not None else []
    found = [door for door in found if _same(str(door.about.get("config")), context.config_path)]
    refusing = (
        f"{door.words} cannot be used: {clean_line(door.refused, 200)}." for door in found if door.refused
    )
    context.refused = next(refusing, "")
    return [door for door in found if not door.refused]


def not_up(context: AgentContext) -> str:
    """Return why there are no doors."""
    return context.refused or "No mcptui is running with this configuration."


def _same(config: str, path: str) -> bool:
    return os.path.realpath(config) == os.path.realpath(path)


async def door_for(context: AgentContext, server: str, *, also_down: bool = False) -> Any | None:
    """Return the running mcptui that has a server up, otherwise an app, which may know why it is not.

    `also_down`: otherwise any.
    """
    found = await doors(context)
    holders = [door for door in found if server in (door.about.get("servers") or ())]
    others = [door for door in found if also_down or door.about.get("kind") == "app"]
    return next(iter((*holders, *others)), None)


async def asked(context: AgentContext, door: Any, method: str, params: Mapping[str, Any]) -> Any:
    """Ask a running mcptui for something, as the agent. Raises McptuiError."""
    client = context.client or "an unknown client"
    label = f"mcptui agent for {client}"
    return await door.request(method, {**params, "agent": client}, label=label, command="mcptui agent")


def quoting(said: str, error: McptuiError, server: str) -> Answer:
    """Return a failure whose reason quotes a server, which must not speak in our name."""
    why = Foreign(sentences(error.message, error.next_step), f"mcptui, which quotes {speaker(server)}")
    return Answer([said, why], is_error=True)


# ---- servers -----------------------------------------------------------------------------------------------


async def _servers(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    if wanted := given.get("server"):
        return await _tools(context, wanted, given.get("tool", ""))
    up = {door.words: await asked(context, door, "servers", {}) for door in await doors(context)}
    if not any(up.values()):
        rows = [f"{one.name}  not running  {_launch(one)}" for one in await _configured(context)]
        said = f"{plural(len(rows), 'configured server')}. {not_up(context)} call_tool starts one for a call."
        return Answer([said, Foreign("\n".join(rows), "the configuration")] if rows else [said])
    parts: list[str | Foreign] = []
    for words, statuses in up.items():
        parts.append(f"{plural(len(statuses), 'server')} in {words}:")
        parts.append(Foreign("\n".join(map(_row, statuses)), "servers and their configuration"))
    parts.append("Its tools: servers(server=NAME). What it printed: log(server=NAME).")
    return Answer(parts)


async def _configured(context: AgentContext) -> Sequence[ServerSpec]:
    from tui.settings.specs import server_specs  # loads the settings

    return await context.reading(lambda: server_specs(context.loaded()))


def _launch(spec: ServerSpec) -> str:
    words = masked(spec.url) if spec.url else shlex.join(masked_arguments([spec.command, *spec.args]))
    return clean_line(words, 160)


def _row(status: Mapping[str, Any]) -> str:
    offers = [plural(status.get(f"{kind}s") or 0, kind) for kind in ("tool", "resource", "prompt")]
    pid = f"pid {status['pid']}" if status.get("pid") else ""
    facts = [status.get("state"), pid, status.get("protocol"), *(offers if pid else ())]
    said = [clean_line(str(status[name]), 300) for name in _FACTS if status.get(name)]
    return "  ".join([clean_line(str(status.get("name")), 80), *(str(one) for one in facts if one), *said])


async def _tools(context: AgentContext, server: str, tool: str) -> Answer:
    """Return the tools of a server that is up, or one of them with its schemas."""
    door = await door_for(context, server)
    if door is None:
        raise UsageError(
            not_up(context),
            next_step=f'What it listed: find_entries(filter="server:{server} method:tools/list").',
        )
    try:
        found = await asked(context, door, "agent.tools", {"server": server, "tool": tool})
    except UsageError as error:
        return quoting("Not found.", error, server)
    origin = speaker(server)
    if tool:
        return Answer([Foreign(json.dumps(found[0], indent=1, ensure_ascii=False), origin)])
    rows = "\n".join(
        f"{one['name']}({', '.join(one['arguments'])})  {truncated(one['description'], 120)}" for one in found
    )
    said = f"{plural(len(found), 'tool')}. Schemas: servers(server=…, tool=…)."
    return Answer([said, Foreign(rows, origin)] if rows else [said])


# ---- log ---------------------------------------------------------------------------------------------------


async def _log(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    server, limit = given["server"], given.get("limit", 30)
    origin = f"stderr of {speaker(server)}"
    door = await door_for(context, server)
    if door is not None:
        lines = (await asked(context, door, "log", {"server": server, "limit": limit}))["lines"]
        where = f"in {door.words}"
    else:
        lines, where = await context.reading(lambda: _recorded_lines(context, server, limit))
    if not lines:
        said = f"{quoted_name(server)} has printed nothing on stderr {where}."
        if door is None and server not in (names := [one.name for one in await _configured(context)]):
            shown = and_more([clean_line(name, 60) for name in names], 40) or "none"
            return quoting(
                "Nothing found.", UsageError(said, next_step=f"Configured servers: {shown}."), server
            )
        return Answer([said])
    shown = "\n".join(truncated(clean(str(line)), LINE_CHARS) for line in lines)
    said = f"The last {plural(len(lines), 'line')} {where}, the newest last. More: limit={limit * 4}."
    return Answer([said, Foreign(shown, origin)])


def _recorded_lines(context: AgentContext, server: str, limit: int) -> tuple[list[str], str]:
    """Return the last lines of a server on stderr in the newest recording that has some, and where."""
    kept = sorted(folder().list(), key=lambda one: one.changed_ns, reverse=True)
    for one in islice(kept, MOST_RECORDINGS):
        with suppress(StorageError):
            traffic = context.traffic(str(one.path))
            seqs = traffic.seqs(Kind.STDERR, server, 1, traffic.columns.last)
            if lines := "\n".join(map(str.rstrip, traffic.texts(seqs[-limit:]))).splitlines():
                return lines[-limit:], f"in {traffic.name}"
    return [], f"in the {MOST_RECORDINGS} newest recordings"


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "servers",
        "List the servers of the running mcptui with their state, or the tools of one with their schemas.",
        arguments(server=text("list the tools of this server"), tool=text("show this tool with its schemas")),
        _servers,
    ),
    AgentTool(
        "log",
        "Read what a server printed on stderr, also if it has died: the last lines.",
        arguments(
            ("server",), server=text("name of the server"), limit=number("lines (default: 30)", 1, 1000)
        ),
        _log,
    ),
)
