"""Finds content of untrusted servers in a conversation. Pure.

It may have been written to make the model call other servers, so such calls need approval.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.core.context.built_in_tools import BUILT_IN, LIST, SERVER, is_resource_tool
from tui.core.conversation.conversation import AssistantMessage, Conversation, Message, ToolMessage
from tui.core.ports import TrustStore
from tui.core.text import quoted_name
from tui.core.tools import Tool

UNKNOWN = "an unknown server"
"""The source of a result in a session saved by an earlier version."""

IMPORTED = "the imported session "
"""Prefix of the source that stands for an imported conversation, whatever sources it names."""

MOST_NAMED = 3


def source_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the server whose content a call returns, "" for mcptui's own tools."""
    if is_resource_tool(tool):
        return str(arguments.get("server", ""))
    return "" if tool.digest.startswith(BUILT_IN) else tool.server


def is_listed(conversation: Conversation, tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether the server of a resource has listed its URI in this conversation."""
    server, uri = source_of(tool, arguments), arguments.get("uri")
    return not conversation.imported and any(
        line.partition("  ")[0] == uri
        for message in conversation.messages
        if isinstance(message, ToolMessage) and message.server == server and not message.is_error
        if message.name.endswith(LIST)
        for line in message.text.splitlines()
    )


def untrusted_sources(conversation: Conversation, trust: TrustStore) -> tuple[str, ...]:
    """Return the untrusted servers with results or resources in a conversation, in order.

    An imported conversation is a source too, because the sources that it names may be forged.
    """
    found = dict.fromkeys(_sources(conversation.messages))
    imported = (f"{IMPORTED}{conversation.imported}",) if conversation.imported else ()
    return (*imported, *(one for one in found if not trust.trusts_server(one)))


def _sources(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            continue
        yield from (one.server for one in message.attachments if one.server)
        if isinstance(message, ToolMessage):
            if message.server:
                yield message.server
            elif not (message.why or message.is_error or message.name.startswith(SERVER)):
                yield UNKNOWN


def untrusted_words(servers: Sequence[str]) -> str:
    """Return why a call needs approval after content of these servers, without a full stop."""
    if any(one.startswith(IMPORTED) for one in servers):
        return "This conversation was imported. Its content may be from anybody"
    named = [one if one == UNKNOWN else quoted_name(one, 40) for one in servers[:MOST_NAMED]]
    more = len(servers) - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    if listed != UNKNOWN:
        listed = f"the {'server' if len(servers) == 1 else 'servers'} {listed}"
    return f"This conversation contains a result from {listed}, which you do not trust"
