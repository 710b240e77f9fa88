"""What can be attached instead of asked for: recordings, entries and sessions, as resources."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from tui.addons.agent.answer import Answer, Foreign, plain
from tui.addons.agent.context import COMMAND, AgentContext
from tui.addons.agent.judging import overview
from tui.addons.agent.reading import listed, page_of
from tui.commands.recordings import About, about
from tui.commands.recordings import recordings as folder
from tui.core.errors import UsageError
from tui.core.text import clean_line
from tui.core.units import day_and_time, plural
from tui.settings.locations import data_dir

RECORDINGS, SESSIONS = "mcptui://recordings", "mcptui://sessions"
MOST_LISTED = 10
"""Maximum recordings and sessions that are listed one by one."""

MIME = "text/plain"

_ONE = re.compile(r"mcptui://(recordings|sessions)/([^/?#]{1,400})(?:/entries/([0-9]{1,15}))?")

TEMPLATES = (
    (f"{RECORDINGS}/{{name}}", "recording", "What failed in a recording; name as in the list, or newest"),
    (f"{RECORDINGS}/{{name}}/entries/{{entry}}", "entry", "The message of an entry, its first page"),
    (f"{SESSIONS}/{{id}}", "session", "A saved conversation, as Markdown"),
)
"""URI, name and description of each template."""


async def resources(context: AgentContext) -> list[dict[str, Any]]:
    """Return the lists, and the newest recordings and sessions."""
    found = [_resource(RECORDINGS, "recordings", "All recordings, the newest first")]
    found += await context.reading(lambda: [*map(_recording, _newest())])
    found.append(_resource(SESSIONS, "sessions", "Saved conversations, the newest first"))
    for info in await _store(context).list(limit=MOST_LISTED):
        # Without its title, which may be a sentence of somebody else.
        text = f"A conversation of {day_and_time(info.changed)}, {plural(info.turns, 'turn')}"
        found.append(_resource(f"{SESSIONS}/{quote(info.id)}", plain(info.id), text))
    return found


def templates() -> list[dict[str, Any]]:
    """Return the templates."""
    return [
        {"uriTemplate": uri, "name": name, "description": text, "mimeType": MIME}
        for uri, name, text in TEMPLATES
    ]


async def resource(context: AgentContext, uri: str) -> Answer:
    """Return what is read at a URI. Raises McptuiError."""
    if uri == RECORDINGS:
        return await context.reading(lambda: listed(20, 0))
    if uri == SESSIONS:
        return await _sessions(context)
    if (found := _ONE.fullmatch(uri)) is not None:
        name, seq = unquote(found[2]), int(found[3]) if found[3] else None
        if found[1] == "recordings":
            return await context.reading(lambda: _of_recording(context, name, seq))
        if seq is None:
            text = await _store(context).exported(name, "markdown")
            said = f"The whole of it: mcptui sessions show {clean_line(name, 80)}"
            return Answer([said, Foreign(text, "a conversation: its user, model and servers")])
    raise UsageError("no such resource", next_step=f"Templates: {', '.join(uri for uri, *_ in TEMPLATES)}")


def _of_recording(context: AgentContext, name: str, seq: int | None) -> Answer:
    traffic = context.traffic(None if name == "newest" else name)
    if seq is None:
        return overview(traffic, {"recording": traffic.name})
    return page_of(traffic, {"recording": traffic.name, "entry": seq})


def _newest() -> list[About]:
    kept = sorted(folder().list(), key=lambda one: one.changed_ns, reverse=True)[: MOST_LISTED * 2]
    readable = (one for one in map(about, kept) if one.command != COMMAND and not one.problem)
    return list(readable)[:MOST_LISTED]


def _recording(one: About) -> dict[str, Any]:
    whose = f"tap of {plain(one.tap)}" if one.tap else f"mcptui {one.command and plain(one.command)}".rstrip()
    text = f"{whose}, {day_and_time(one.began_ns / 1e9)}: what failed in it"
    return _resource(f"{RECORDINGS}/{quote(one.kept.name)}", plain(one.kept.name), text)


def _resource(uri: str, name: str, description: str) -> dict[str, Any]:
    return {"uri": uri, "name": name, "description": description, "mimeType": MIME}


async def _sessions(context: AgentContext) -> Answer:
    found = await _store(context).list(limit=50)
    lines = [
        f"{one.id}  {day_and_time(one.changed)}  {plural(one.turns, 'turn')}  {clean_line(one.title, 80)}"
        for one in found
    ]
    said = f"Read one at {SESSIONS}/ID." if lines else "No saved conversations."
    return Answer([said, *([Foreign("\n".join(lines), "titles of conversations")] if lines else ())])


def _store(context: AgentContext) -> Any:
    from tui.storage.sessions.store import SessionStore  # most agents never ask for one

    return SessionStore(data_dir() / "sessions", lambda: context.redactor)


def contents(uri: str, text: str) -> Mapping[str, Any]:
    """Return the result of reading a resource."""
    return {"contents": [{"uri": uri, "mimeType": MIME, "text": text}]}
