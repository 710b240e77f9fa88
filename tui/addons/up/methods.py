"""What a running mcptui tells at its door about its servers."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tui.addons.up.peer import Peer
from tui.core.errors import UsageError
from tui.core.servers import ServerStatus
from tui.core.text import clean, quoted_name, text_in, truncated
from tui.core.traffic import Kind, TrafficReader
from tui.core.units import whole
from tui.traffic.record.open_recording import PAGE, whole_entry

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

MOST_LINES = 1_000
LINE_CHARS = 2_000
_TOLD = (
    *("name", "state", "detail", "next_step", "launch", "pid", "exit_code", "protocol", "title", "version"),
    *("tools", "resources", "prompts", "restarts", "stderr_last"),
)
_READ = 20_000
"""Maximum of the newest entries in which lines of a log are looked for."""


async def servers(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> list[dict[str, Any]]:
    """Return the state of each server."""
    return [status_object(status) for status in runtime.host.statuses()]


def status_object(status: ServerStatus) -> dict[str, Any]:
    """Return the status of a server as JSON."""
    told = {name: getattr(status, name) for name in _TOLD}
    return {**told, "problem": status.listing_problem or status.invalid}


async def log(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
    """Return the last lines on stderr of `server`, at most `limit`, oldest first. Raises UsageError."""
    name = text_in(params, "server")
    if name not in [status.name for status in runtime.host.statuses()]:
        raise UsageError(f"server {quoted_name(name, 80)} not found")
    limit = max(1, min(whole(params.get("limit")) or 50, MOST_LINES))
    last = runtime.recording.entries.last
    lines = await asyncio.to_thread(_log_lines, runtime.recording.open_reader, name, last, limit)
    return {"server": name, "lines": lines}


def _log_lines(open_reader: Callable[[], TrafficReader], server: str, last: int, limit: int) -> list[str]:
    lines: list[str] = []
    reader = open_reader()
    try:
        for first in range(last - PAGE, last - _READ, -PAGE):
            page = reader.columns(max(0, first), PAGE + min(0, first))
            for row in reversed([one for one in page if one.kind is Kind.STDERR and one.source == server]):
                entry = whole_entry(reader, row.seq, LINE_CHARS)
                text = "" if entry is None else clean(entry.body.decode("utf-8", "replace"))
                lines += [truncated(line, LINE_CHARS) for line in reversed(text.rstrip("\n").split("\n"))]
            if first <= 0 or len(lines) >= limit:
                break
    finally:
        reader.close()
    return lines[:limit][::-1]
