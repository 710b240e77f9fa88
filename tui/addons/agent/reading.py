"""Tools that read recordings: which there are, and their entries."""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.agent.answer import Answer, Foreign
from tui.addons.agent.context import COMMAND, AgentContext
from tui.addons.agent.tools import AgentTool, arguments, number
from tui.commands.recordings import about, last_entry
from tui.commands.recordings import recordings as folder
from tui.commands.traffic import recording_table
from tui.core.units import plural


async def _recordings(context: AgentContext, given: Mapping[str, Any]) -> Answer:
    return await context.reading(lambda: _listed(given.get("limit", 10), given.get("cursor", 0)))


def _listed(limit: int, start: int) -> Answer:
    found = [about(one, with_servers=True) for one in folder().list()]
    found = sorted((one for one in found if one.command != COMMAND), key=last_entry, reverse=True)
    if not found:
        return Answer(["No recordings yet. Record a server with: mcptui tap -- COMMAND"])
    shown = found[start : start + limit]
    end = start + len(shown)
    more = {"cursor": end, "limit": limit} if end < len(found) else {}
    return Answer(
        [
            f"{plural(len(found), 'recording')}, the newest first.",
            Foreign(recording_table(shown), "names of recorded servers"),
        ],
        more,
    )


TOOLS: Sequence[AgentTool] = (
    AgentTool(
        "recordings",
        "List recordings, the one with the newest entry first.",
        arguments(limit=number("rows (default: 10)", 1, 100), cursor=number("where to go on")),
        _recordings,
    ),
)
