"""mcptui's own tool `find_tools`, offered while the model is not offered all tools.

It searches all tools by name, description and arguments, and loads the best matches. The loaded tools are
read from the conversation, so they are the same after resuming, branching and summarizing.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.context.built_in_tools import BUILT_IN, FIND_TOOLS, built_in_tool, own_server
from tui.core.context.tool_ranking import Key, key_of, relevance
from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage
from tui.core.schemas.tool_names import NameTable, fold
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.units import plural

FOUND, MOST_FOUND = 5, 20
"""Tools that a search loads: the default, and the maximum."""

CLOSE = 0.3
"""The share of the best match's score that another match needs to be loaded too."""

MAX_SERVERS = 20
MAX_LINE = 160
MAX_LOADED = 60
"""Maximum number of loaded tools that are remembered, newest first."""

_LINE = re.compile(r"^- ([a-zA-Z_][a-zA-Z0-9_-]{0,63}): ", re.MULTILINE)
_PROPERTIES: Mapping[str, Any] = {
    "query": {"type": "string", "description": "What the tool should do, in a few words, or its name"},
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_FOUND,
        "description": f"Maximum number of tools to load (default: {FOUND})",
    },
}


def find_tools(tools: Sequence[Tool]) -> Tool:
    """Return the tool that searches `tools`; its description changes only with the servers."""
    others = Counter(tool.server for tool in tools if not tool.digest.startswith(BUILT_IN))
    about = (
        "Search all tools and load the best matches. Not all tools are loaded: search before you say "
        "that there is no tool for something. Loaded tools can be called from the next step on. "
    )
    return built_in_tool(own_server(tools), FIND_TOOLS, about + _counts(others), dict(_PROPERTIES), "query")


def _counts(servers: Counter[str]) -> str:
    named = [f"{clean_line(server, 40)} ({number})" for server, number in servers.most_common(MAX_SERVERS)]
    if more := len(servers) - len(named):
        named.append(plural(more, "more server"))
    return f"Tools by server: {', '.join(named)}."


def matches(query: str, table: NameTable, count: int = FOUND) -> list[Tool]:
    """Return the best matches of a query: the tool with that name, then by `relevance`, then in order."""
    tools = [tool for _, tool in table.items() if not tool.digest.startswith(BUILT_IN)]
    scores = relevance(query, tools)
    least = max(scores, default=0.0) * CLOSE
    ranks = sorted((-score, at) for at, score in enumerate(scores) if score and score >= least)
    named = table.resolve(query.strip())
    found = [tools[at] for _, at in ranks]
    if named is not None and not named.digest.startswith(BUILT_IN):
        found = [named, *(tool for tool in found if tool is not named)]
    return found[:count]


def result_text(query: str, table: NameTable, loaded: Sequence[Tool], too_large: Sequence[Tool]) -> str:
    """Return the text for the model: the tools that its search has loaded, one per line.

    Matching tools that are too large to load are named after them.
    """
    if not loaded and not too_large:
        servers = Counter(tool.server for _, tool in table.items() if not tool.digest.startswith(BUILT_IN))
        return f"No tool matches “{clean_line(query, 100)}”. Try other words. {_counts(servers)}"
    lines = [f"- {table.name_of(tool)}: {_summary(tool)}" for tool in loaded]
    text = f"Loaded {plural(len(loaded), 'tool')}:\n" + "\n".join(lines)
    if too_large:
        names = ", ".join(table.name_of(tool) for tool in too_large)
        text = f"{text if loaded else 'Loaded no tools.'}\nTheir definitions are too large to load: {names}"
    return text


def _summary(tool: Tool) -> str:
    return clean_line(tool.description or tool.title or tool.name, MAX_LINE)


def loaded_in(talk: Sequence[Message], table: NameTable, own: Tool) -> tuple[Key, ...]:
    """Return the tools that searches in this conversation have loaded, newest first."""
    ids = {
        call.id
        for message in talk
        if isinstance(message, AssistantMessage)
        for call in message.calls
        if fold(call.name).endswith(FIND_TOOLS) and table.resolve(call.name) is own
    }
    found: dict[Key, None] = {}
    if not ids:
        return ()
    for message in reversed(talk):
        if isinstance(message, ToolMessage) and message.call_id in ids and not message.is_error:
            for one in _LINE.findall(message.text):
                if (tool := table.resolve(one)) is not None:
                    found.setdefault(key_of(tool))
        if len(found) >= MAX_LOADED:
            break
    return tuple(found)[:MAX_LOADED]
